//! Genuine SQLCipher as another process, driven over standard input and output.
//!
//! The protocol's framing is described in `tests/support/wire.rs`, the content
//! hash in `tests/support/content_hash.rs`. Requests (`[]` may be left out):
//!
//! | request | what it does |
//! |---|---|
//! | `open NAME PATH KEY [ro]` | opens PATH (or a `file:` URI), creating it unless `ro`; KEY is the key's bytes in hexadecimal, or `-` for none |
//! | `key NAME KEY [SCHEMA]`, `rekey NAME KEY [SCHEMA]` | keys or rekeys an open database |
//! | `exec NAME SQL` | runs every statement, dropping the rows |
//! | `query NAME SQL` | runs every statement, answering all rows of all of them |
//! | `content_hash NAME [SCHEMA]` | one row (table, row count) for each table, then `ok HASH` |
//! | `bank_setup NAME ACCOUNTS BALANCE PAD`, `bank NAME COUNT LOG [KNOB=VALUE…]` | see `bank.rs` |
//! | `close NAME` | closes a connection |
//! | `exit` | ends; so does the end of the input |
//!
//! The process may be killed at any time: that is what it is for. SQLCipher's
//! log goes to standard error if `PAGESEAL_PEER_LOG` is set.

mod bank;
#[path = "../../support/content_hash.rs"]
mod content_hash;
mod database;
mod error;
mod server;
#[path = "../../support/wire.rs"]
mod wire;

fn main() -> std::io::Result<()> {
    if std::env::var_os("PAGESEAL_PEER_LOG").is_none() {
        database::silence_log().map_err(|e| std::io::Error::other(e.message))?;
    }
    server::Server::default().serve(std::io::stdin().lock(), std::io::stdout().lock())
}
