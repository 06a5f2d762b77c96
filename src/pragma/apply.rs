//! What pragmas, a URI and an ATTACH do to a session.

use crate::error::{Failure, KeyError};
use crate::format::Choice;
use crate::secret::{Key, Salt};
use crate::session::{self, Session};
use crate::stats;

use super::attach::{self, AttachKey};
use super::command::{self, Command, ReadAhead, STORE_PASS_DEPRECATION};
use super::error::PragmaError;
use super::log::LogTarget;
use super::log_output;
use super::settings::{self, PageSize, Setting, SettingName};
use super::uri;

/// What a pragma answers.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The pragma is SQLite's, or nobody's.
    NotOurs,
    /// No row, and no column.
    Nothing,
    /// The same for a pragma that SQLite knows too, and must not act on.
    Withheld,
    /// One row of one text.
    Row(String),
    /// A setting that would be another, but comes after the first use: it is ignored,
    /// which the log should tell.
    Late {
        /// The setting.
        pragma: &'static str,
        /// The answer, if there is one.
        row: Option<&'static str>,
    },
    /// An error with this text.
    Error(String),
    /// The database file is to be checked page by page.
    IntegrityCheck,
    /// The database is to be sealed anew with this key.
    Rekey(Key),
    /// The database is to be brought to SQLCipher 4's settings.
    Migrate,
    /// The connection's statements are to be timed.
    Profile(LogTarget),
    /// Scans are to do that from now on, if anything; the row is what they do.
    ReadAhead(Option<ReadAhead>),
}

impl From<PragmaError> for Reply {
    fn from(error: PragmaError) -> Self {
        Self::Error(error.to_string())
    }
}

/// What a pragma may want to know of the database file.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// The first 16 bytes, where there are so many.
    pub head: Option<Salt>,
    /// The file is empty.
    pub empty: bool,
}

/// The version of SQLCipher whose files and interface these are, in the form in
/// which programs parse it.
const CIPHER_VERSION: &str = "4.20.0 community";

const NOT_ENCRYPTED: &str = "rekey: the database has no key; to encrypt a plaintext database, ATTACH a new one with a KEY and use sqlcipher_export()";

/// Runs a pragma on a database. `facts` is asked for only where it is needed.
pub fn run(
    session: &Session,
    name: &str,
    value: Option<&[u8]>,
    facts: impl FnOnce() -> Facts,
) -> Reply {
    match command::parse(name, value) {
        Ok(Some(command)) => apply(session, command, facts),
        Ok(None) => Reply::NotOurs,
        Err(error) => {
            if matches!(error, PragmaError::Key(_)) && !session.is_keyed() {
                session.note_failed_key();
            }
            error.into()
        }
    }
}

fn apply(session: &Session, command: Command, facts: impl FnOnce() -> Facts) -> Reply {
    let keyed = session.is_keyed();
    let row = |text: &str| Reply::Row(text.to_owned());
    // SQLCipher answers these only where there is a key.
    let if_keyed = |text: &str| if keyed { row(text) } else { Reply::Nothing };
    match command {
        Command::Nothing => Reply::Nothing,
        Command::Key(key) => match session.set_key(key) {
            Ok(_) => row("ok"),
            Err(error) => PragmaError::from(error).into(),
        },
        Command::Get(setting) if keyed => setting
            .get(&session.settings())
            .map_or(Reply::Nothing, Reply::Row),
        Command::Set(setting) => {
            let name = setting.name();
            let row = name.deprecation();
            let mut wanted = session.choice();
            setting.apply(&mut wanted);
            if session.is_proved() && wanted != session.choice() {
                let pragma = name.pragma();
                return Reply::Late { pragma, row };
            }
            session.change_settings(|choice| setting.apply(choice));
            row.map_or(Reply::Nothing, if_keyed)
        }
        Command::GetSalt if keyed => match session.salt(facts().head.as_ref()) {
            Ok(salt) => Reply::Row(salt.iter().map(|byte| format!("{byte:02x}")).collect()),
            Err(failure) => Reply::Error(failure.to_string()),
        },
        Command::SetSalt(salt) => {
            if keyed {
                session.set_salt(salt);
            }
            Reply::Nothing
        }
        Command::GetPageSize if keyed => SettingName::PageSize
            .get(&session.settings())
            .map_or(Reply::NotOurs, Reply::Row),
        Command::SetPageSize(setting) if keyed => match setting {
            Err(error) => PragmaError::from(error).into(),
            // Of a database that has pages it must not reach SQLite, unless they are of
            // that size: a VACUUM would write pages of the new size, in pieces of the
            // old.
            Ok(setting) => {
                let taken = session.change_settings(|choice| setting.apply(choice));
                let size = PageSize::Fixed(session.settings().page_size);
                if taken && facts().empty
                    || session.is_proved() && setting == Setting::PageSize(size)
                {
                    Reply::NotOurs
                } else {
                    Reply::Withheld
                }
            }
        },
        Command::GetPageSize | Command::SetPageSize(_) => Reply::NotOurs,
        Command::GetDefault(setting) => setting
            .get(&session::defaults().settings)
            .map_or(Reply::Nothing, Reply::Row),
        Command::SetDefault(setting) => {
            session::change_defaults(|choice| setting.apply(choice));
            Reply::Nothing
        }
        Command::Settings if keyed => {
            Reply::Row(settings::settings_rows(&session.settings()).join("\n"))
        }
        Command::DefaultSettings => {
            Reply::Row(settings::default_settings_rows(&session::defaults().settings).join("\n"))
        }
        Command::Version => row(CIPHER_VERSION),
        Command::Provider => if_keyed("pageseal"),
        Command::ProviderVersion => if_keyed(concat!(
            "pageseal ",
            env!("CARGO_PKG_VERSION"),
            " (RustCrypto)"
        )),
        Command::Cipher => if_keyed("AES-256-CBC"),
        Command::Status => Reply::Row(status(session)),
        Command::AttachStatus => match session.attach_failure() {
            Some(failure) => Reply::Row(failure.to_string()),
            None => Reply::Nothing,
        },
        Command::FipsStatus => if_keyed("0"),
        Command::Stats => Reply::Row(session.counters().snapshot().to_string()),
        Command::StatsTiming(on) => {
            stats::set_timing(on);
            Reply::Nothing
        }
        Command::GetSharedWal => row(if session.shared_log(|log| log.always) {
            "1"
        } else {
            "0"
        }),
        Command::SetSharedWal(on) => {
            session.shared_log(|log| log.always = on);
            Reply::Nothing
        }
        Command::IntegrityCheck if keyed => Reply::IntegrityCheck,
        Command::GetMemorySecurity => row("0"),
        Command::GetStorePass => if_keyed("0"),
        Command::SetStorePass(_) => if_keyed(STORE_PASS_DEPRECATION),
        Command::AddRandom { valid } => if_keyed(if valid { "0" } else { "1" }),
        Command::NoLongerSupported(text) if text.contains("rekey") => row(text),
        Command::NoLongerSupported(text) => if_keyed(text),
        Command::Log(target) => row(done(log_output::set_target(target))),
        Command::LogLevel(level) => row(log_output::level(level).as_str()),
        Command::LogSource(change) => Reply::Row(log_output::sources(change).to_string()),
        Command::Profile(target) => Reply::Profile(target),
        Command::ReadAhead(wanted) => Reply::ReadAhead(wanted),
        #[cfg(feature = "fail-on-demand")]
        Command::Test(fault, on) => {
            if let Some(fault) = fault {
                session.faults().set(fault, on);
            }
            Reply::Nothing
        }
        Command::Rekey(_) if !keyed => Reply::Error(NOT_ENCRYPTED.to_owned()),
        Command::Rekey(key) => Reply::Rekey(key),
        Command::Migrate if keyed => Reply::Migrate,
        _ => Reply::Nothing,
    }
}

/// What SQLCipher answers an order with: 0 where it is carried out, else 1.
#[must_use]
pub fn done(ok: bool) -> &'static str {
    if ok { "0" } else { "1" }
}

/// `1` where there is a key and nothing has gone wrong with it, as SQLCipher
/// answers; else `0`, and what went wrong.
fn status(session: &Session) -> String {
    match session.failure() {
        Some(failure) => format!("0: {failure}"),
        None if session.is_keyed() => "1".to_owned(),
        None => "0".to_owned(),
    }
}

/// Gives a session the key and settings of its database's URI.
///
/// # Errors
/// A parameter of ours that makes no sense.
pub fn configure_from_uri<N: AsRef<[u8]>, V: AsRef<[u8]>>(
    session: &Session,
    parameters: &[(N, V)],
) -> Result<(), PragmaError> {
    let options = uri::parse(
        parameters
            .iter()
            .map(|(name, value)| (name.as_ref(), value.as_ref())),
    )?;
    if !options.settings.is_empty() {
        let mut choice: Choice = session::defaults();
        for setting in options.settings {
            setting.apply(&mut choice);
        }
        session.set_base(choice);
    }
    session.shared_log(|log| log.always = options.shared_wal.unwrap_or(log.always));
    if let Some(salt) = options.salt {
        session.set_salt(salt);
    }
    if let Some(key) = options.key {
        session.set_key(key)?;
    }
    Ok(())
}

/// Gives a database that an ATTACH has opened its key: the one that the statement
/// names; or else the one of its URI, which it has already; or else the main
/// database's, with its settings and salt. `text` is the statement with the bound
/// values in their places, or `None` where SQLite could not make it.
pub fn key_attached(session: &Session, main: Option<&Session>, text: Option<&[u8]>) {
    let refuse = |reason: String| session.refuse(Failure::AttachKey(reason));
    let Some(text) = text else {
        return refuse("the statement's text is not to be had".to_owned());
    };
    match attach::attach_key(text) {
        AttachKey::NoKey | AttachKey::Null | AttachKey::NotAttach => {
            if session.is_keyed() {
                return;
            }
            match main.map(|main| (main.legacy(), main.key_failed())) {
                Some((Some(legacy), _)) => session.inherit(legacy),
                // What was meant to be the main database's key was meant for it, too.
                Some((None, true)) => session.note_failed_key(),
                _ => {}
            }
        }
        AttachKey::Empty => session.clear_key(),
        AttachKey::Numeric => refuse(
            "Invalid key value: a number is no key; quote it if its digits are the passphrase"
                .to_owned(),
        ),
        AttachKey::CannotTell(doubt) => refuse(doubt.to_string()),
        AttachKey::Literal(key) => {
            match crate::format::key_text::parse_key(&key).and_then(|key| session.set_key(key)) {
                Ok(_) => {}
                // `KEY ''` says so on purpose; nothing else comes to nothing.
                Err(KeyError::Empty) => session.clear_key(),
                Err(error) => session.refuse(error.into()),
            }
        }
    }
}
