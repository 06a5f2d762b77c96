//! `pageseal info`: what is this file?

use std::process::ExitCode;

use clap::Args;
use pageseal::format::PageCodec;
use pageseal::offline::{
    Access, Files, Header, JournalState, Look, OfflineError, Snapshot, WalState,
};
use serde_json::{Map, Value, json};

use crate::args::Common;
use crate::describe::{Description, hex};
use crate::error::Result;
use crate::key::{self, Ask};
use crate::open::{SourceArgs, find_settings};
use crate::report::{self, Lines, bytes, count};

/// Arguments of `info`.
#[derive(Args)]
pub(crate) struct Info {
    #[command(flatten)]
    source: SourceArgs,
}

pub(crate) fn run(args: &Info, common: &Common) -> Result<ExitCode> {
    let (target, chosen) = args.source.choose()?;
    let files = Files::open(&target.path)?;
    let look = Look::at(&files)?;
    let mut report = Report::without_key(&files, &look);
    let encrypted = !matches!(look, Look::Plaintext(_) | Look::Empty);
    if let Look::Plaintext(header) = &look {
        report.add_header(header);
    }
    match args.source.key.source() {
        Some(source) if encrypted => {
            let mut access = Access {
                key: key::get(Some(source), Ask::Existing(&target.path))?,
                choice: chosen.choice,
                salt: chosen.salt,
            };
            if chosen.probe {
                find_settings(&files, &mut access, common)?;
            }
            let snapshot = match Snapshot::open_damaged(files, Some(&access)) {
                // Nothing was said of settings: they may be others.
                Err(OfflineError::WrongKey(_)) if chosen.by_default => {
                    let files = Files::open(&target.path)?;
                    find_settings(&files, &mut access, common)?;
                    Snapshot::open_damaged(files, Some(&access))?
                }
                other => other?,
            };
            report.add_key(&snapshot, &access);
        }
        Some(_) if matches!(look, Look::Plaintext(_)) => {
            return Err(OfflineError::NotEncrypted(target.path).into());
        }
        _ => {}
    }
    let Report { title, parts, json } = report;
    report::print(common, &Value::Object(json), || {
        let mut text = format!("{title}\n");
        for (heading, lines) in &parts {
            text += &format!("{heading}\n{}", lines.text());
        }
        text
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is told, twice over.
struct Report {
    title: String,
    parts: Vec<(&'static str, Lines)>,
    json: Map<String, Value>,
}

impl Report {
    fn without_key(files: &Files, look: &Look) -> Self {
        let mut json = Map::new();
        json.insert("file".into(), json!(files.path().to_string_lossy()));
        json.insert("bytes".into(), json!(files.database().len()));
        let (kind, words) = match look {
            Look::Empty => (
                "empty",
                "empty; any key makes a new database of it".to_owned(),
            ),
            Look::Plaintext(_) => ("plaintext", "a plaintext SQLite database".to_owned()),
            Look::PlaintextHeader(_) => (
                "plaintext_header",
                "encrypted, with a plaintext header (it needs --plaintext-header and the salt)"
                    .to_owned(),
            ),
            Look::Random => (
                "encrypted",
                "encrypted, by its looks (random bytes)".to_owned(),
            ),
            Look::PartlyRandom => (
                "encrypted_in_part",
                "encrypted, by its looks, and damaged (some of it is not random)".to_owned(),
            ),
            Look::Other(Some(name)) => ("other", format!("no database; it looks like {name}")),
            Look::Other(None) => (
                "other",
                "no database; neither SQLite's header nor random bytes".to_owned(),
            ),
            _ => ("other", "unknown".to_owned()),
        };
        json.insert("looks".into(), json!(kind));
        let mut file = Lines::default();
        let len = files.database().len();
        file.add("size", format!("{len} bytes ({})", bytes(len)));
        let random = matches!(look, Look::Random | Look::PartlyRandom);
        if random || matches!(look, Look::PlaintextHeader(_)) {
            let fitting = fitting_page_sizes(len);
            json.insert("possible_page_sizes".into(), json!(fitting));
            let known = files.side_page_size().or(match look {
                Look::PlaintextHeader(Some(header)) => Some(header.page_size),
                _ => None,
            });
            json.insert("page_size".into(), json!(known));
            file.add(
                "page size",
                match (known, fitting.last()) {
                    (Some(size), _) => format!("{size} bytes"),
                    (None, None) => {
                        "unknown; the length is no multiple of any (cut short?)".to_owned()
                    }
                    (None, Some(largest)) => format!("at most {largest} bytes, by the length"),
                },
            );
        }
        if random {
            // Public: it is stored in the clear.
            let mut salt = [0; 16];
            if files.database().read(&mut salt, 0).unwrap_or(false) {
                json.insert("salt".into(), json!(hex(&salt)));
                file.add("salt", format!("{} (if it is SQLCipher's)", hex(&salt)));
            }
        }
        let mut report = Self {
            title: format!("{}: {words}", files.path().display()),
            parts: vec![("file", file)],
            json,
        };
        report.add_side_files(files);
        report
    }

    fn add_side_files(&mut self, files: &Files) {
        let mut lines = Lines::default();
        let (wal, words) = wal(files.wal());
        lines.add("-wal", words);
        let (journal, words) = journal(files.journal());
        lines.add("-journal", words);
        self.json.insert("wal".into(), wal);
        self.json.insert("journal".into(), journal);
        self.parts.push(("side files", lines));
    }

    fn add_key(&mut self, snapshot: &Snapshot, access: &Access) {
        let Some(codec) = snapshot.codec() else {
            return;
        };
        let description =
            Description::with_key(codec.settings(), access.outside_salt(), &access.key);
        self.title = format!(
            "{}: encrypted, {}",
            snapshot.files().path().display(),
            description.in_words()
        );
        self.json.insert("settings".into(), description.json());
        self.json.insert("salt".into(), json!(hex(codec.salt())));
        self.json.insert("pages".into(), json!(snapshot.pages()));
        self.json
            .insert("page_size".into(), json!(snapshot.page_size()));
        if let Some((_, file)) = self.parts.first_mut() {
            *file = Lines::default();
            let len = snapshot.files().database().len();
            file.add("size", format!("{len} bytes ({})", bytes(len)));
            file.add(
                "pages",
                format!("{} of {} bytes", snapshot.pages(), snapshot.page_size()),
            );
            file.add("salt", hex(codec.salt()));
        }
        let mut lines = Lines::default();
        for (name, value) in description.all() {
            lines.add(name, value);
        }
        lines.add("reserve", reserve(codec));
        self.parts.push(("settings", lines));
        match snapshot.header() {
            Some(header) => self.add_header(header),
            None => {
                let mut lines = Lines::default();
                lines.add("page 1", "damaged; other pages authenticate with this key");
                self.parts.push(("database", lines));
                self.json.insert("header".into(), Value::Null);
            }
        }
    }

    fn add_header(&mut self, header: &Header) {
        let mut lines = Lines::default();
        lines
            .add("journal mode", header.journal_mode())
            .add("encoding", header.encoding.name())
            .add("auto_vacuum", header.auto_vacuum())
            .add("user_version", header.user_version)
            .add("application_id", format!("{:#010x}", header.application_id))
            .add("free pages", header.freelist_pages)
            .add(
                "schema",
                format!(
                    "format {}, cookie {}",
                    header.schema_format, header.schema_cookie
                ),
            )
            .add("change counter", header.change_counter)
            .add("written by", format!("SQLite {}", header.sqlite_version()));
        self.parts.push(("database", lines));
        self.json.insert(
            "header".into(),
            json!({
                "page_size": header.page_size,
                "page_count": header.page_count,
                "reserve": header.reserve,
                "journal_mode": if header.write_version == 2 { "wal" } else { "rollback" },
                "encoding": header.encoding.name(),
                "auto_vacuum": header.auto_vacuum(),
                "user_version": header.user_version,
                "application_id": header.application_id,
                "freelist_pages": header.freelist_pages,
                "schema_format": header.schema_format,
                "schema_cookie": header.schema_cookie,
                "change_counter": header.change_counter,
                "version_valid_for": header.version_valid_for,
                "sqlite_version": header.sqlite_version(),
            }),
        );
    }
}

fn reserve(codec: &PageCodec) -> String {
    let layout = codec.layout();
    match layout.mac_len() {
        0 => format!("{} bytes a page: IV", layout.reserve()),
        mac => format!("{} bytes a page: IV and {mac} of HMAC", layout.reserve()),
    }
}

fn fitting_page_sizes(len: u64) -> Vec<u32> {
    (9..=16)
        .map(|bits| 1u32 << bits)
        .filter(|&size| len >= size.into() && len.is_multiple_of(size.into()))
        .collect()
}

fn wal(state: &WalState) -> (Value, String) {
    let wal = match state {
        WalState::Valid(wal) => wal,
        WalState::Absent => return (Value::Null, "none".to_owned()),
        WalState::Empty => return (json!({ "state": "empty" }), "empty".to_owned()),
        WalState::Invalid => {
            return (
                json!({ "state": "invalid" }),
                "its header is wrong: SQLite ignores it".to_owned(),
            );
        }
    };
    let valid = wal.valid_frames().len() as u64;
    let json = json!({
        "state": "valid",
        "bytes": wal.file().len(),
        "page_size": wal.page_size(),
        "frames": wal.frames_in_file(),
        "frames_with_right_checksum": valid,
        "committed_frames": wal.committed_frames(),
        "distinct_pages": wal.distinct_pages(),
        "pages_after_last_commit": wal.pages(),
    });
    let mut words = format!(
        "{} of {} bytes, {valid} with the right checksum, {} committed",
        count(wal.frames_in_file(), "frame"),
        wal.page_size(),
        wal.committed_frames()
    );
    if wal.committed_frames() > 0 {
        words += &format!(
            " ({} of the {} that the database then has)",
            count(wal.distinct_pages() as u64, "page"),
            wal.pages()
        );
    }
    (json, words)
}

fn journal(state: &JournalState) -> (Value, String) {
    match state {
        JournalState::Absent => (Value::Null, "none".to_owned()),
        JournalState::Finished => (
            json!({ "state": "finished" }),
            "cold: its transaction has ended".to_owned(),
        ),
        JournalState::Invalid => (
            json!({ "state": "invalid" }),
            "its header is wrong: SQLite ignores it".to_owned(),
        ),
        JournalState::Committed { super_journal } => (
            json!({ "state": "committed", "super_journal": super_journal.to_string_lossy() }),
            format!(
                "names the super-journal {}, which is gone: its transaction has committed",
                super_journal.display()
            ),
        ),
        JournalState::Hot(journal) => (
            json!({
                "state": "hot",
                "bytes": journal.file().len(),
                "page_size": journal.page_size(),
                "segments": journal.segments(),
                "pages_to_roll_back": journal.records(),
                "pages_before": journal.pages(),
            }),
            format!(
                "HOT: {} of {} bytes to roll back, to a database of {}",
                count(journal.records() as u64, "page"),
                journal.page_size(),
                count(journal.pages().into(), "page")
            ),
        ),
    }
}
