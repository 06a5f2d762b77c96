//! The command line.

pub(crate) const USAGE: &str = "\
kills [COUNT] [seed=N]    kill writers, have the other side recover
load [SECONDS] [seed=N]   threads and processes of both sides at once
rekey [COUNT] [pages=N] [seed=N]
                          kill processes that change the key
rewrite [COUNT] [seed=N]  kill each kind of migration, and each change of the salt
worker                    serve requests on standard input (used by the above)";

/// What was asked for.
pub(crate) struct Args {
    pub(crate) command: String,
    pub(crate) number: Option<u64>,
    pub(crate) seed: u64,
    /// Pages of a database.
    pub(crate) pages: Option<u64>,
}

impl Args {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut args = Args {
            command: String::new(),
            number: None,
            seed: 1,
            pages: None,
        };
        for word in words {
            if let Some(seed) = word.strip_prefix("seed=") {
                args.seed = seed.parse().map_err(|_| format!("no seed: {word}"))?;
            } else if let Some(pages) = word.strip_prefix("pages=") {
                let pages = pages.parse().map_err(|_| format!("no number: {word}"))?;
                args.pages = Some(pages);
            } else if let Ok(number) = word.parse() {
                args.number = Some(number);
            } else if args.command.is_empty() && !word.starts_with('-') {
                args.command = word;
            } else if !word.starts_with('-') {
                return Err(format!("cannot understand: {word}"));
            }
            // What cargo and libtest know (`--nocapture`, `-q`) is let through.
        }
        match args.command.as_str() {
            "" | "kills" | "load" | "rekey" | "rewrite" | "worker" => Ok(args),
            other => Err(format!("no command: {other}")),
        }
    }
}
