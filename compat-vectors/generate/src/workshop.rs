//! The scratch directory where vectors are made, examined and collected.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tempfile::TempDir;

use crate::manifest::{Answer, Content, Entry, Expect, File, Manifest, Observed, Open};
use crate::peer::{Peer, PeerError, Value, to_hex};
use crate::settings::Settings;

/// The side files and their suffixes.
const ROLES: [(&str, &str); 3] = [("db", ""), ("wal", "-wal"), ("journal", "-journal")];

/// Files that read without fault although `cipher_integrity_check` complains:
/// reading takes what the check does not know.
const CHECK_COMPLAINS: [&str; 2] = ["plain-header-page", "auto-vacuum-zero-page"];

/// How a file is opened.
#[derive(Clone)]
pub struct Access {
    pub key: Option<Vec<u8>>,
    pub settings: Settings,
}

impl Access {
    pub fn new(key: &[u8], settings: Settings) -> Self {
        Access {
            key: Some(key.to_vec()),
            settings,
        }
    }

    /// Opens `path` in a peer of its own: some settings belong to the process.
    pub fn open(&self, path: &Path) -> Peer {
        let mut peer = Peer::spawn_program(&peer_program());
        peer.open("db", path, None).expect("open");
        if let Some(key) = &self.key {
            let settings = &self.settings;
            for pragma in settings.pragmas_before_key() {
                peer.exec("db", &pragma).expect("a cipher setting");
            }
            peer.key("db", key).expect("a key");
            for pragma in settings.pragmas() {
                peer.exec("db", &pragma).expect("a cipher setting");
            }
        }
        peer
    }

    fn describe(&self) -> Open {
        let text = self.key.clone().and_then(|k| String::from_utf8(k).ok());
        Open {
            key_hex: self.key.as_deref().map(to_hex),
            key_form: match &text {
                _ if self.key.is_none() => "none",
                Some(text) if is_raw(text) => "raw",
                _ => "passphrase",
            },
            key_text: text.filter(|t| !t.chars().any(char::is_control)),
            pragmas_before_key: match self.key {
                Some(_) => self.settings.pragmas_before_key(),
                None => Vec::new(),
            },
            pragmas: match self.key {
                Some(_) => self.settings.pragmas(),
                None => Vec::new(),
            },
        }
    }
}

/// What is known about a vector before it is examined.
pub struct Draft<'a> {
    pub name: &'a str,
    pub group: &'static str,
    pub note: &'a str,
    /// The database's file name without `.db`, if not `name`.
    pub stem: &'a str,
    pub access: &'a Access,
}

/// Makes, examines and collects vectors.
pub struct Workshop {
    scratch: TempDir,
    entries: Vec<Entry>,
    version: String,
}

impl Workshop {
    pub fn new() -> Self {
        let scratch = TempDir::new().expect("a scratch directory");
        fs::create_dir(scratch.path().join("out")).expect("a directory");
        let mut peer = Peer::spawn_program(&peer_program());
        peer.open("db", ":memory:", None).expect("open");
        let version = text(&mut peer, "PRAGMA cipher_version");
        Workshop {
            scratch,
            entries: Vec::new(),
            version,
        }
    }

    /// Where the finished file of that stem lies.
    pub fn output(&self, stem: &str) -> PathBuf {
        self.scratch.path().join("out").join(format!("{stem}.db"))
    }

    /// A path for work in progress.
    pub fn scratch(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    /// Copies a database with its side files.
    pub fn copy(&self, from: &Path, to: &Path) {
        for (_, suffix) in ROLES {
            let (from, to) = (beside(from, suffix), beside(to, suffix));
            let _ = fs::remove_file(&to);
            if from.exists() {
                fs::copy(from, to).expect("copy");
            }
        }
    }

    /// Adds a vector that reads without fault, after checking that it does.
    pub fn add_good(&mut self, draft: &Draft<'_>) -> Content {
        let version = self.version.clone();
        self.add_good_by(draft, version)
    }

    /// The same for a file that another build wrote.
    pub fn add_good_by(&mut self, draft: &Draft<'_>, written_by: String) -> Content {
        let observed = self.observe(draft);
        let content = self.content(draft);
        let name = draft.name;
        let lines = &observed.cipher_integrity_check;
        let checkable = draft.access.key.is_some()
            && draft.access.settings.hmac
            && !CHECK_COMPLAINS.contains(&name);
        assert!(!checkable || lines.is_empty(), "{name}: {lines:?}");
        self.add(
            draft,
            written_by,
            "ok",
            &[],
            Some(content.clone()),
            observed,
        );
        content
    }

    /// Adds a vector that cannot be read, wholly or in part.
    pub fn add_bad(&mut self, draft: &Draft<'_>, class: &'static str, pages: &[u32]) {
        let observed = self.observe(draft);
        let name = draft.name;
        assert!(observed.full_read.is_error(), "{name} can be read");
        let code = observed.schema_count.code();
        let expected = match class {
            "wrong_key_or_settings" => 26,
            "truncated" => 11,
            _ => 0,
        };
        assert_eq!(code, expected, "{name}");
        self.add(draft, self.version.clone(), class, pages, None, observed);
    }

    /// Copies the finished files and writes the manifest.
    pub fn publish(self, target: &Path) {
        for old in fs::read_dir(target).expect("a directory").flatten() {
            let name = old.file_name().to_string_lossy().into_owned();
            if ROLES
                .iter()
                .any(|(_, s)| name.ends_with(&format!(".db{s}")))
            {
                fs::remove_file(old.path()).expect("remove");
            }
        }
        for entry in &self.entries {
            for file in &entry.files {
                let from = self.scratch.path().join("out").join(&file.file);
                fs::copy(from, target.join(&file.file)).expect("copy");
            }
        }
        let manifest = Manifest {
            format: 1,
            vectors: self.entries,
        };
        let json = serde_json::to_string_pretty(&manifest).expect("JSON");
        fs::write(target.join("manifest.json"), json + "\n").expect("write");
    }

    fn add(
        &mut self,
        draft: &Draft<'_>,
        written_by: String,
        class: &'static str,
        pages: &[u32],
        content: Option<Content>,
        observed: Observed,
    ) {
        println!("{}: {class}", draft.name);
        self.entries.push(Entry {
            name: draft.name.to_owned(),
            group: draft.group,
            note: draft.note.to_owned(),
            files: files(&self.output(draft.stem)),
            written_by,
            open: draft.access.describe(),
            settings: draft.access.settings.clone(),
            expect: Expect {
                class,
                pages: pages.to_vec(),
                content,
                observed,
            },
        });
    }

    /// Opens a fresh copy of the finished file.
    fn open_copy(&self, draft: &Draft<'_>) -> Peer {
        let copy = self.scratch("copy.db");
        self.copy(&self.output(draft.stem), &copy);
        let _ = fs::remove_file(beside(&copy, "-shm"));
        draft.access.open(&copy)
    }

    fn content(&self, draft: &Draft<'_>) -> Content {
        let mut peer = self.open_copy(draft);
        let (content_hash, tables) = peer.content_hash("db").expect("readable");
        assert_eq!(
            text(&mut peer, "PRAGMA integrity_check"),
            "ok",
            "{}",
            draft.name
        );
        Content {
            content_hash,
            tables: tables.into_iter().collect(),
            page_count: number(&mut peer, "PRAGMA page_count"),
            freelist_count: number(&mut peer, "PRAGMA freelist_count"),
            auto_vacuum: number(&mut peer, "PRAGMA auto_vacuum"),
            user_version: number(&mut peer, "PRAGMA user_version"),
            application_id: number(&mut peer, "PRAGMA application_id"),
        }
    }

    fn observe(&self, draft: &Draft<'_>) -> Observed {
        let schema_count = self
            .open_copy(draft)
            .query("db", "SELECT count(*) FROM sqlite_schema");
        let full_read = self.open_copy(draft).content_hash("db");
        let check = self
            .open_copy(draft)
            .query("db", "PRAGMA cipher_integrity_check");
        let mut table_reads = BTreeMap::new();
        if schema_count.is_ok() && full_read.is_err() {
            let tables = "SELECT name FROM sqlite_schema WHERE type = 'table'";
            for row in self
                .open_copy(draft)
                .query("db", tables)
                .expect("a readable schema")
            {
                let [Value::Text(table)] = &row[..] else {
                    panic!("not a name: {row:?}")
                };
                let sql = format!("SELECT * FROM \"{table}\" NOT INDEXED");
                let rows = self.open_copy(draft).query("db", &sql);
                table_reads.insert(table.clone(), answer(rows.map(|r| r.len() as i64)));
            }
        }
        Observed {
            schema_count: answer(schema_count.map(|rows| integer(&rows[0][0]))),
            full_read: answer(full_read.map(|(_, t)| t.iter().map(|(_, n)| *n as i64).sum())),
            cipher_integrity_check: match check {
                Ok(rows) => rows.iter().map(|row| plain(&row[0])).collect(),
                Err(e) => vec![e.to_string()],
            },
            table_reads,
        }
    }
}

/// The first value of the first row, as text.
pub fn text(peer: &mut Peer, sql: &str) -> String {
    plain(&peer.query("db", sql).expect(sql)[0][0])
}

/// The first value of the first row, as a number.
pub fn number(peer: &mut Peer, sql: &str) -> i64 {
    integer(&peer.query("db", sql).expect(sql)[0][0])
}

/// `path` with a suffix on its file name.
pub fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn answer(result: Result<i64, PeerError>) -> Answer {
    match result {
        Ok(rows) => Answer::Rows(rows),
        Err(e) => Answer::Error {
            code: e.code,
            extended: e.extended,
            message: e.message,
        },
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        other => panic!("neither text nor a number: {other:?}"),
    }
}

fn integer(value: &Value) -> i64 {
    plain(value).parse().expect("a number")
}

fn files(database: &Path) -> Vec<File> {
    let mut files = Vec::new();
    for (role, suffix) in ROLES {
        let path = beside(database, suffix);
        if let Ok(bytes) = fs::read(&path) {
            files.push(File {
                role,
                file: path
                    .file_name()
                    .expect("a name")
                    .to_string_lossy()
                    .into_owned(),
                bytes: bytes.len() as u64,
                sha256: to_hex(&Sha256::digest(&bytes)),
            });
        }
    }
    files
}

fn is_raw(key: &str) -> bool {
    let digits = key
        .strip_prefix(['x', 'X'])
        .and_then(|k| k.strip_prefix('\'')?.strip_suffix('\''));
    digits.is_some_and(|d| {
        [64, 96, 160].contains(&d.len()) && d.bytes().all(|b| b.is_ascii_hexdigit())
    })
}

fn peer_program() -> PathBuf {
    std::env::var_os("PAGESEAL_PEER").map_or_else(
        || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../tests/peer/target/release/pageseal-peer")
        },
        PathBuf::from,
    )
}
