//! Whoever uses the database: a thread of this process, or another process of
//! either side. All of them are asked in the same words.

use crate::process::{Answer, Process, Side};
use crate::wire::Value;
use crate::worker::Worker;

/// Where a client lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// pageseal, in a thread of this process.
    Thread,
    /// pageseal, in a process of its own.
    Ours,
    /// Genuine SQLCipher, in a process of its own.
    Theirs,
}

impl Place {
    pub(crate) const ALL: [Self; 3] = [Self::Thread, Self::Ours, Self::Theirs];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Thread => "threads",
            Self::Ours => "processes",
            Self::Theirs => "SQLCipher",
        }
    }
}

enum Line {
    Here(Worker),
    There(Box<Process>),
}

/// One connection and the way to it.
pub(crate) struct Client {
    line: Line,
    who: String,
}

/// A result code that SQLite gives where someone else was first.
pub(crate) struct Busy;

impl Client {
    /// Starts one; `number` is for messages.
    pub(crate) fn start(place: Place, number: u64) -> Self {
        let there = |side| Line::There(Box::new(Process::start(side)));
        Self {
            line: match place {
                Place::Thread => Line::Here(Worker::default()),
                Place::Ours => there(Side::Pageseal),
                Place::Theirs => there(Side::Sqlcipher),
            },
            who: format!("client {number} ({})", place.name()),
        }
    }

    fn answer(&mut self, words: &[&str]) -> Option<Answer> {
        match &mut self.line {
            Line::Here(worker) => Some(worker.ask(words)),
            Line::There(process) => process.ask(words),
        }
    }

    /// Asks; whatever goes wrong but for `SQLITE_BUSY` is an error.
    pub(crate) fn try_ask(
        &mut self,
        words: &[&str],
    ) -> Result<Result<Vec<Vec<Value>>, Busy>, String> {
        match self.answer(words) {
            Some(Ok(rows)) => Ok(Ok(rows)),
            // SQLITE_BUSY, by its primary code.
            Some(Err((code, _))) if code & 0xff == 5 => Ok(Err(Busy)),
            Some(Err((code, text))) => Err(format!("{}: {code} {text}: {words:?}", self.who)),
            None => Err(format!("{} has ended: {words:?}", self.who)),
        }
    }

    /// As [`Client::try_ask`], where nobody may be in the way.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Result<Vec<Vec<Value>>, String> {
        let answer = self.try_ask(words)?;
        answer.map_err(|Busy| format!("{}: busy: {words:?}", self.who))
    }

    pub(crate) fn who(&self) -> &str {
        &self.who
    }
}
