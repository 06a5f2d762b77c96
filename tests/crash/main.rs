//! pageseal and genuine SQLCipher take databases over from each other in whatever
//! state a crash or a busy moment leaves them.
//!
//! SQLCipher runs as another process (`tests/peer`, which must have been built);
//! so does pageseal, as this very program with the word `worker`.
//!
//! ```sh
//! cargo build --release --manifest-path tests/peer/Cargo.toml
//! cargo test --features interop --test crash -- kills 500     # SIGKILL, then the other side opens
//! cargo test --features interop --test crash -- kills 20000 seed=7
//! cargo test --features interop --test crash -- load 60       # both sides at once, 60 seconds
//! cargo test --features interop --test crash -- rekey 200     # killed while the key changes
//! cargo test --release --features interop --test crash -- rekey 200 pages=25600 # of 100 MB
//! cargo test --features interop --test crash -- rewrite 20   # killed in migrations, and with new salts
//! ```
//!
//! Without words after `--` it runs a little of everything.

mod args;
mod kills;
mod load;
mod model;
mod process;
mod rekey;
mod rewrite;
mod scenario;
mod tally;
mod worker;

#[path = "../support/random.rs"]
mod random;
#[path = "../support/switches.rs"]
mod switches;
#[path = "../support/wire.rs"]
mod wire;

use std::process::ExitCode;

use args::Args;

fn main() -> ExitCode {
    let args = match Args::parse(std::env::args().skip(1)) {
        Ok(args) => args,
        Err(error) => {
            eprintln!("{error}\n{}", args::USAGE);
            return ExitCode::FAILURE;
        }
    };
    let passed = match args.command.as_str() {
        "worker" => return worker::run(),
        "kills" => kills::run(args.number.unwrap_or(500), args.seed),
        "load" => load::run(args.number.unwrap_or(60), args.seed),
        "rekey" => rekey::run(args.number.unwrap_or(200), args.pages, args.seed),
        "rewrite" => rewrite::run(args.number.unwrap_or(20), args.seed),
        _ => {
            kills::run(60, args.seed)
                && load::run(3, args.seed)
                && rekey::run(10, None, args.seed)
                && rewrite::run(4, args.seed)
        }
    };
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
