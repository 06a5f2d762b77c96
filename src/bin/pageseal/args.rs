//! Arguments that several commands share: keys, settings, the terminal.
//!
//! Keys and settings come three times: for the file that is there, with the prefix
//! `new-` for one that is made, and with `other-` for a second that is there. Each is
//! written down once, in a macro.

use std::path::PathBuf;

use clap::Args;

/// What every command takes.
#[derive(Args, Clone)]
pub(crate) struct Common {
    /// Print the result as JSON
    #[arg(long, global = true, help_heading = "Output")]
    pub(crate) json: bool,

    /// Print no progress and no result, only errors
    #[arg(short, long, global = true, help_heading = "Output")]
    pub(crate) quiet: bool,

    /// Work in so many threads [default: one a core]
    #[arg(long, global = true, value_name = "N", help_heading = "Output",
          value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) threads: Option<u16>,
}

impl Common {
    pub(crate) fn threads(&self) -> usize {
        self.threads
            .map_or_else(pageseal::offline::available_threads, usize::from)
    }
}

/// Where a key comes from, and in which form.
pub(crate) struct KeySource {
    pub(crate) from: KeyFrom,
    pub(crate) form: KeyForm,
}

/// Where a key comes from.
pub(crate) enum KeyFrom {
    /// A file; `-` is standard input.
    File(PathBuf),
    /// A file descriptor that the caller has opened.
    Fd(u32),
    /// An environment variable.
    Env(String),
    /// The command line, where other users can read it.
    Argument(String),
    /// The terminal.
    Prompt,
}

/// How a key is written down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// As `PRAGMA key` takes it: a passphrase, or `x'…'`.
    Text,
    /// Raw key material in hexadecimal.
    Hex,
    /// Raw key material.
    Raw,
}

macro_rules! key_args {
    ($name:ident, $prefix:literal, $heading:literal) => {
        /// The options that say where a key comes from.
        #[derive(Args, Clone, Default)]
        #[group(multiple = false)]
        pub(crate) struct $name {
            /// Passphrase from a file (`-`: standard input), less one line end; or raw key as x'…'
            #[arg(id = concat!($prefix, "key_file"), long = concat!($prefix, "key-file"),
                                                  value_name = "PATH", help_heading = $heading)]
            key_file: Option<PathBuf>,

            /// Passphrase from a file descriptor that the caller has opened
            #[arg(id = concat!($prefix, "key_fd"), long = concat!($prefix, "key-fd"),
                                                  value_name = "N", help_heading = $heading)]
            key_fd: Option<u32>,

            /// Passphrase from an environment variable
            #[arg(id = concat!($prefix, "key_env"), long = concat!($prefix, "key-env"),
                                                  value_name = "NAME", help_heading = $heading)]
            key_env: Option<String>,

            /// Raw key from a file, as 64, 96 (with salt) or 160 (with HMAC key and salt) hexadecimal digits
            #[arg(id = concat!($prefix, "key_hex_file"), long = concat!($prefix, "key-hex-file"),
                                                  value_name = "PATH", help_heading = $heading)]
            key_hex_file: Option<PathBuf>,

            /// Raw key in hexadecimal digits from a file descriptor
            #[arg(id = concat!($prefix, "key_hex_fd"), long = concat!($prefix, "key-hex-fd"),
                                                  value_name = "N", help_heading = $heading)]
            key_hex_fd: Option<u32>,

            /// Raw key in hexadecimal digits from an environment variable
            #[arg(id = concat!($prefix, "key_hex_env"), long = concat!($prefix, "key-hex-env"),
                                                  value_name = "NAME", help_heading = $heading)]
            key_hex_env: Option<String>,

            /// Raw key from a file of 32, 48 (with salt) or 80 (with HMAC key and salt) bytes
            #[arg(id = concat!($prefix, "key_raw_file"), long = concat!($prefix, "key-raw-file"),
                                                  value_name = "PATH", help_heading = $heading)]
            key_raw_file: Option<PathBuf>,

            /// Raw key in bytes from a file descriptor
            #[arg(id = concat!($prefix, "key_raw_fd"), long = concat!($prefix, "key-raw-fd"),
                                                  value_name = "N", help_heading = $heading)]
            key_raw_fd: Option<u32>,

            /// Ask for the passphrase (the default at a terminal, where a key is needed)
            #[arg(id = concat!($prefix, "key_prompt"), long = concat!($prefix, "key-prompt"),
                                                  help_heading = $heading)]
            key_prompt: bool,

            /// Passphrase on the command line: other users and the shell's history can read it
            #[arg(id = concat!("insecure_", $prefix, "key"),
                                                  long = concat!("insecure-", $prefix, "key"),
                                                  value_name = "TEXT", help_heading = $heading)]
            insecure_key: Option<String>,
        }

        impl $name {
            /// Where the key comes from; `None` if no option says so.
            pub(crate) fn source(&self) -> Option<KeySource> {
                use {KeyForm::*, KeyFrom::*};
                let file = |path: &Option<PathBuf>, form| {
                    path.clone().map(|path| KeySource {
                        from: File(path),
                        form,
                    })
                };
                let fd = |fd: Option<u32>, form| fd.map(|fd| KeySource { from: Fd(fd), form });
                let env = |name: &Option<String>, form| {
                    name.clone().map(|name| KeySource {
                        from: Env(name),
                        form,
                    })
                };
                let argument = self.insecure_key.clone();
                file(&self.key_file, Text)
                    .or(fd(self.key_fd, Text))
                    .or(env(&self.key_env, Text))
                    .or(file(&self.key_hex_file, Hex))
                    .or(fd(self.key_hex_fd, Hex))
                    .or(env(&self.key_hex_env, Hex))
                    .or(file(&self.key_raw_file, Raw))
                    .or(fd(self.key_raw_fd, Raw))
                    .or(argument.map(|text| KeySource {
                        from: Argument(text),
                        form: Text,
                    }))
                    .or(self.key_prompt.then_some(KeySource {
                        from: Prompt,
                        form: Text,
                    }))
            }
        }
    };
}

key_args!(KeyArgs, "", "Key");
key_args!(NewKeyArgs, "new-", "New key");
key_args!(OtherKeyArgs, "other-", "Key of the other database");

/// Settings as they were given, by the names of their pragmas and in the order in
/// which to apply them.
pub(crate) type GivenSettings = Vec<(&'static str, String)>;

macro_rules! settings_args {
    ($name:ident, $prefix:literal, $heading:literal, $compat:literal) => {
        /// The options for `cipher_*` settings.
        #[derive(Args, Clone, Default)]
        pub(crate) struct $name {
            #[doc = $compat]
            #[arg(id = concat!($prefix, "compat"), long = concat!($prefix, "compat"),
                          value_name = "VERSION", help_heading = $heading)]
            pub(crate) compat: Option<String>,

            /// Bytes of a page: a power of two from 512 to 65536, or `auto`
            #[arg(id = concat!($prefix, "page_size"), long = concat!($prefix, "page-size"),
                          value_name = "BYTES", help_heading = $heading)]
            page_size: Option<String>,

            /// Pages carry no HMAC
            #[arg(id = concat!($prefix, "no_hmac"), long = concat!($prefix, "no-hmac"),
                          help_heading = $heading)]
            no_hmac: bool,

            /// Pages carry an HMAC, where the version says otherwise
            #[arg(id = concat!($prefix, "hmac"), long = concat!($prefix, "hmac"),
                          conflicts_with = concat!($prefix, "no_hmac"), help_heading = $heading)]
            hmac: bool,

            /// Hash of the page HMAC: sha1, sha256 or sha512
            #[arg(id = concat!($prefix, "hmac_algorithm"),
                          long = concat!($prefix, "hmac-algorithm"),
                          value_name = "HASH", help_heading = $heading)]
            hmac_algorithm: Option<String>,

            /// Hash of the key derivation: sha1, sha256 or sha512
            #[arg(id = concat!($prefix, "kdf_algorithm"),
                          long = concat!($prefix, "kdf-algorithm"),
                          value_name = "HASH", help_heading = $heading)]
            kdf_algorithm: Option<String>,

            /// Iterations of the key derivation
            #[arg(id = concat!($prefix, "kdf_iter"), long = concat!($prefix, "kdf-iter"),
                          value_name = "N", help_heading = $heading)]
            kdf_iter: Option<String>,

            /// Iterations from key to HMAC key (2.0 betas)
            #[arg(id = concat!($prefix, "fast_kdf_iter"),
                          long = concat!($prefix, "fast-kdf-iter"),
                          value_name = "N", help_heading = $heading)]
            fast_kdf_iter: Option<String>,

            /// Bytes of page 1 that are in the clear; needs the salt
            #[arg(id = concat!($prefix, "plaintext_header"),
                          long = concat!($prefix, "plaintext-header"),
                          value_name = "BYTES", help_heading = $heading)]
            plaintext_header: Option<String>,

            /// The salt, as 32 hexadecimal digits, where it is not in the file
            #[arg(id = concat!($prefix, "salt"), long = concat!($prefix, "salt"),
                          value_name = "HEX", help_heading = $heading)]
            pub(crate) salt: Option<String>,

            /// Byte order of page numbers in the HMAC: le, be or native
            #[arg(id = concat!($prefix, "hmac_pgno"), long = concat!($prefix, "hmac-pgno"),
                          value_name = "ORDER", help_heading = $heading)]
            hmac_pgno: Option<String>,

            /// Mask of the salt for the HMAC key, as two hexadecimal digits (2.0 betas: 00)
            #[arg(id = concat!($prefix, "hmac_salt_mask"),
                          long = concat!($prefix, "hmac-salt-mask"),
                          value_name = "HEX", help_heading = $heading)]
            hmac_salt_mask: Option<String>,
        }

        impl $name {
            /// What was given, but the version and the salt.
            pub(crate) fn given(&self) -> GivenSettings {
                let mut given = Vec::new();
                let mut add = |name, value: Option<String>| {
                    given.extend(value.map(|value| (name, value)));
                };
                add("cipher_page_size", self.page_size.clone());
                add("cipher_use_hmac", self.no_hmac.then(|| "off".to_owned()));
                add("cipher_use_hmac", self.hmac.then(|| "on".to_owned()));
                add(
                    "cipher_hmac_algorithm",
                    label("HMAC_", &self.hmac_algorithm),
                );
                add(
                    "cipher_kdf_algorithm",
                    label("PBKDF2_HMAC_", &self.kdf_algorithm),
                );
                add("kdf_iter", self.kdf_iter.clone());
                add("fast_kdf_iter", self.fast_kdf_iter.clone());
                add(
                    "cipher_plaintext_header_size",
                    self.plaintext_header.clone(),
                );
                add("cipher_hmac_pgno", self.hmac_pgno.clone());
                let mask = self.hmac_salt_mask.as_ref();
                add(
                    "cipher_hmac_salt_mask",
                    mask.map(|digits| format!("x'{digits}'")),
                );
                given
            }
        }
    };
}

settings_args!(
    SettingsArgs,
    "",
    "Settings",
    "Settings of this SQLCipher version (1, 2, 3, 4), or `auto` to find them out [default: 4; info, probe and migrate find them out]"
);
settings_args!(
    NewSettingsArgs,
    "new-",
    "New settings",
    "Settings of this SQLCipher version (1, 2, 3, 4) [default: those of the source]"
);

settings_args!(
    OtherSettingsArgs,
    "other-",
    "Settings of the other database",
    "Settings of this SQLCipher version, or `auto` [default: those of the first]"
);

/// SQLCipher's name of an algorithm; `sha512` and `HMAC_SHA512` are the same.
fn label(prefix: &str, hash: &Option<String>) -> Option<String> {
    let hash = hash.as_ref()?.to_ascii_uppercase();
    Some(match hash.starts_with(prefix) {
        true => hash,
        false => format!("{prefix}{hash}"),
    })
}
