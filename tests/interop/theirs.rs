//! SQLCipher's side.

use std::path::Path;

use crate::configuration::Configuration;
use crate::database::{Database, Side};
use crate::peer::{Peer, PeerError, Rows};

/// The peer's name for the one connection.
const NAME: &str = "db";

/// A connection of SQLCipher's, in a process that has no other.
pub(crate) struct Theirs(Peer);

impl Theirs {
    /// Opens `path`, creating it if need be, and keys it through the library.
    pub(crate) fn open(path: &Path, how: &Configuration) -> Self {
        let mut theirs = Self::open_unkeyed(path);
        theirs.exec(&how.peer_defaults);
        let keyed = theirs.0.key(NAME, &how.key);
        keyed.unwrap_or_else(|e| panic!("key: {e}"));
        theirs.exec(&how.settings());
        theirs
    }

    /// The process identifier.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }

    /// Ends the process at once, as a crash would.
    pub(crate) fn kill(self) {
        self.0.kill();
    }

    /// Opens `path`, or a `file:` URI.
    pub(crate) fn open_unkeyed(path: &Path) -> Self {
        // A relative name in a statement is a file beside the database.
        let mut peer = match path.parent() {
            Some(dir) if dir.is_dir() => Peer::spawn_in(dir),
            // A `file:` URI.
            _ => Peer::spawn(),
        };
        peer.open(NAME, path, None)
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self(peer)
    }
}

impl Database for Theirs {
    fn side(&self) -> Side {
        Side::SqlCipher
    }

    fn try_query(&mut self, sql: &str) -> Result<Rows, PeerError> {
        self.0.query(NAME, sql)
    }

    fn content_hash(&mut self) -> String {
        let hash = self.0.content_hash(NAME);
        hash.unwrap_or_else(|e| panic!("content hash: {e}")).0
    }

    fn close(mut self: Box<Self>) {
        let closed = self.0.close(NAME);
        closed.unwrap_or_else(|e| panic!("close: {e}"));
    }
}
