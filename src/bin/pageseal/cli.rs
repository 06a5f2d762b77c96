//! The commands and their arguments.

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Parser, Subcommand};

use crate::args::Common;
use crate::commands::{
    completions, copy, decrypt, diff, encrypt, info, migrate, probe, recover, rekey, sql, verify,
};
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

    /// Copy a database that may be in use, still encrypted, by the same or another key
    #[command(
        visible_alias = "backup",
        after_help = "\
Examples:
  pageseal copy app.db backup.db
  pageseal copy app.db for-support.db --key-file key.txt --new-key-file other.txt
  pageseal copy --compat 3 old.db new.db --new-compat 4

The copy is the database at one moment, whatever is written meanwhile. Without new
settings it is page for page; another page size or HMAC lays pages out anew."
    )]
    Copy(copy::Copy),

    /// Give a database another key, in place
    #[command(after_help = "\
Examples:
  pageseal rekey app.db
  pageseal rekey app.db --key-file old.txt --new-key-file new.txt
  pageseal rekey app.db --new-key-raw-file key.bin --new-kdf-iter 600000

The whole file first goes into a rollback journal, then is sealed anew: after a crash
at any point exactly one of the two keys opens it, and SQLite or SQLCipher undoes what
was half done. It takes as much free space again as the file is large.")]
    Rekey(rekey::Rekey),

    /// Give a database the settings of SQLCipher 4, or others, in place
    #[command(after_help = "\
Examples:
  pageseal migrate old.db
  pageseal migrate old.db --compat 3 --key-file key.txt
  pageseal migrate app.db --compat 4 --new-compat 4 --new-page-size 8192

Without settings of the source they are found out, as `pageseal probe` does. The new
pages are built in a second file beside it, then put in place under a rollback journal
of the old ones: after a crash at any point either the old or the new settings open it.
It takes free space for the file twice over.")]
    Migrate(migrate::Migrate),

    /// Save what can be saved from a damaged database into a new one
    #[command(after_help = "\
Examples:
  pageseal recover damaged.db saved.db
  pageseal recover --compat 3 damaged.db saved.db --plain --key-file key.txt
  pageseal recover damaged.db saved.db --salt 000102030405060708090a0b0c0d0e0f

Every page that authenticates is read, also from older copies in -wal; rows whose table
can't be told go to the table lost_and_found. The source is not touched. Exit code 4
where something was lost.")]
    Recover(recover::Recover),

    /// Run SQL, or open a prompt
    #[command(after_help = "\
Examples:
  pageseal sql app.db
  pageseal sql app.db 'SELECT count(*) FROM note' --key-file key.txt
  pageseal sql --mode csv --readonly app.db 'SELECT * FROM note' > note.csv
  pageseal sql --create new.db < schema.sql")]
    Sql(sql::Sql),

    /// Compare two databases page by page, after decryption
    #[command(after_help = "\
Examples:
  pageseal diff app.db backup.db
  pageseal diff app.db rekeyed.db --key-file a.txt --other-key-file b.txt
  pageseal diff app.db plain.db

Exit code 0: the same; 1: different. Counters of changes, which a backup sets anew, are not held against them.")]
    Diff(diff::Diff),

    /// Print completions for a shell
    #[command(after_help = "\
Example:
  pageseal completions bash > ~/.local/share/bash-completion/completions/pageseal")]
    Completions(completions::Completions),

    /// Print the man page
    #[command(after_help = "\
Examples:
  pageseal man | man -l -
  pageseal man --dir /usr/local/share/man/man1")]
    Man(completions::ManPages),
}
