//! The commands and their arguments.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

use crate::args::Common;
use crate::commands::{decrypt, encrypt, info, probe, verify};
use crate::error::EXIT_CODES;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Inspect, verify, decrypt, encrypt, re-key, migrate and repair SQLCipher databases
///
/// FILE is a path, or a URI such as `file:app.db?cipher_compatibility=3`.
/// Keys are asked for at the terminal, or come from a file, a file descriptor or an
/// environment variable; see the options under "Key".
#[derive(Parser)]
#[command(name = "pageseal", version, styles = STYLES, after_help = EXIT_CODES,
          propagate_version = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Tell what a file is: without a key what can be told, with one everything
    #[command(after_help = "\
Examples:
  pageseal info app.db
  pageseal info app.db --key-prompt
  pageseal info --json app.db --key-file key.txt")]
    Info(info::Info),

    /// Find the settings that fit a key
    #[command(after_help = "\
Examples:
  pageseal probe old.db
  pageseal probe old.db --key-file key.txt --try-iterations 10000
  pageseal probe ios.db --key-file key.txt --salt 000102030405060708090a0b0c0d0e0f

Tried are the versions 1 to 4, each hash with each version's iterations, HMAC by each
hash or off, all page sizes, both page-number orders, plaintext headers up to 256
bytes or of the whole page, and the key derivation of 2.0 betas.")]
    Probe(probe::Probe),

    /// Authenticate every page and every WAL frame
    #[command(after_help = "\
Examples:
  pageseal verify app.db
  pageseal verify --compat 3 old.db --key-env APP_KEY && echo intact")]
    Verify(verify::Verify),

    /// Write a plaintext copy of the last commit, page for page
    #[command(after_help = "\
Examples:
  pageseal decrypt app.db plain.db
  pageseal decrypt --compat 3 /mnt/evidence/old.db plain.db --key-file key.txt

The copy includes what is committed in -wal, and an unfinished transaction is rolled
back from -journal. The source is not touched and may lie on read-only media.")]
    Decrypt(decrypt::Decrypt),

    /// Write an encrypted copy of a plaintext SQLite database
    #[command(after_help = "\
Examples:
  pageseal encrypt plain.db app.db
  pageseal encrypt plain.db old.db --compat 3 --key-file key.txt
  pageseal encrypt plain.db 'file:app.db?cipher_page_size=8192' --key-raw-file key.bin")]
    Encrypt(encrypt::Encrypt),
}
