//! The files that the script finds.

use std::fs;
use std::path::Path;

use crate::peer::Peer;

/// A directory with files of SQLCipher 1, 2 and 3, and one with a damaged page.
pub(crate) fn directory() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("compat-vectors");
    for version in 1..=3 {
        fs::copy(
            vectors.join(format!("witness-shell-v{version}.db")),
            dir.path().join(format!("v{version}.db")),
        )
        .expect("a vector");
    }
    let path = dir.path().join("damaged.db");
    let mut peer = Peer::spawn();
    peer.open("db", &path, Some(b"correct horse")).unwrap();
    peer.exec(
        "db",
        "CREATE TABLE small(a); CREATE TABLE t(a); INSERT INTO small VALUES('fine');
         WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)
         INSERT INTO t SELECT hex(zeroblob(500)) FROM n",
    )
    .unwrap();
    peer.close("db").unwrap();
    let mut file = fs::read(&path).unwrap();
    // In the middle of page 6, one of t's leaves.
    file[5 * 4096 + 1000] ^= 1;
    fs::write(&path, file).unwrap();
    dir
}
