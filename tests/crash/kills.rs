//! A writer is killed at a random moment; the next process, of either side, must
//! find exactly what had been committed.
//!
//! The writer answers each request once it is done, so what it had committed is
//! known to within the one request whose answer it may not have lived to give.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::model::{self, State, Step};
use crate::process::{Answer, Process, Side};
use crate::random::Random;
use crate::scenario::{KEY, Mode, Scenario};
use crate::tally::Tally;
use crate::wire::Value;

/// Kills that one database goes through.
const KILLS_A_DATABASE: u64 = 12;
/// Requests that are sent at once.
const STEPS: usize = 60;
/// The longest that a writer lives after its first answer.
const LIFE: u64 = 12_000;

const COLUMNS: [&str; 9] = [
    "ours>SQLC",
    "SQLC>ours",
    "ours>ours",
    "SQLC>SQLC",
    "hot",
    "unacked",
    "twins",
    "opening",
    "committed",
];

/// Kills `count` writers. Returns whether all went well.
pub(crate) fn run(count: u64, seed: u64) -> bool {
    let start = Instant::now();
    let mut random = Random::new(seed);
    let mut tally = Tally::new(&COLUMNS);
    let mut done = 0;
    let mut chain = 0;
    while done < count {
        let mode = Mode::TURNS[chain % Mode::TURNS.len()];
        let scenario = Scenario::choose(mode, &mut random);
        let kills = KILLS_A_DATABASE.min(count - done);
        let mut database = Database::create(&scenario, chain, &mut random);
        for _ in 0..kills {
            if let Err(error) = database.kill_once(&mut random, &mut tally) {
                let kept = database.dir.keep();
                println!(
                    "FAILED (seed {seed}, database {chain}, after {done} kills): {error}\n{scenario:?}\nkept: {}",
                    kept.display()
                );
                tally.print();
                return false;
            }
            done += 1;
        }
        chain += 1;
    }
    println!(
        "{done} kills of {chain} databases survived in {:.0} s (seed {seed}):",
        start.elapsed().as_secs_f64()
    );
    tally.print();
    println!(
        "a>b: killed writer > who recovers; hot: with a journal or log left behind; unacked: \
         committed without the writer's having told; twins: recovered by both sides from copies; \
         opening: killed while recovering, then recovered; committed: transactions"
    );
    true
}

struct Database<'a> {
    scenario: &'a Scenario,
    dir: tempfile::TempDir,
    writer: Option<(Process, Side)>,
    state: State,
}

/// Where files are quick: only processes die here, not the machine.
pub(crate) fn scratch() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory)
    } else {
        tempfile::tempdir()
    }
    .expect("a scratch directory")
}

fn check(condition: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what()) }
}

impl<'a> Database<'a> {
    fn create(scenario: &'a Scenario, chain: usize, random: &mut Random) -> Self {
        let dir = scratch();
        let side = random.pick(&Side::BOTH);
        let mut writer = Process::start(side);
        for words in opening(scenario, dir.path(), true) {
            let answer = writer.ask(&as_strs(&words));
            assert!(matches!(answer, Some(Ok(_))), "{words:?}: {answer:?}");
        }
        let answer = writer.ask(&["exec", "db", &model::create(scenario)]);
        assert!(
            matches!(answer, Some(Ok(_))),
            "database {chain}: {answer:?}"
        );
        Self {
            scenario,
            dir,
            writer: Some((writer, side)),
            state: State::new(scenario),
        }
    }

    /// Lets the writer work, kills it, and recovers.
    fn kill_once(&mut self, random: &mut Random, tally: &mut Tally) -> Result<(), String> {
        let row = self.scenario.mode.name();
        let (writer, killed) = self.writer.take().expect("someone is writing");
        let steps = self.plan(random);
        let requests: Vec<Vec<String>> = steps
            .iter()
            .map(|step| vec!["exec".into(), "db".into(), step.sql.clone()])
            .collect();
        let delay = Duration::from_micros(random.below(LIFE));
        let answers = writer.run_and_kill(&requests, delay, false);
        let unsure = self.acknowledge(&steps, &answers, row, tally)?;
        if self.side_files_left() {
            tally.count(row, "hot");
        }

        // Copies for the twins, before anyone touches the files.
        // (The name of a super-journal is absolute, so that copies of several
        // databases would lead back to the originals.)
        let single = self.scenario.mode.schemas().len() == 1;
        let twin = (single && random.one_in(4)).then(|| copy(self.dir.path()));
        if random.one_in(4) {
            let side = random.pick(&Side::BOTH);
            let mut requests = opening(self.scenario, self.dir.path(), false);
            requests.push(vec![
                "query".into(),
                "db".into(),
                "SELECT count(*) FROM account".into(),
            ]);
            let delay = Duration::from_micros(random.below(3000));
            Process::start(side).run_and_kill(&requests, delay, random.one_in(2));
            tally.count(row, "opening");
        }

        let side = if random.one_in(4) {
            killed
        } else {
            other(killed)
        };
        let (process, state) =
            self.recover(side, self.dir.path(), unsure.as_ref(), random.one_in(4))?;
        if let Some(twin) = twin {
            let (process, of_twin) =
                self.recover(other(side), twin.path(), unsure.as_ref(), true)?;
            process.kill();
            check(of_twin == state, || {
                format!(
                    "the sides recover different states: {} and {}",
                    state.txn, of_twin.txn
                )
            })?;
            tally.count(row, "twins");
        }
        if state.txn > self.state.txn {
            tally.count(row, "unacked");
        }
        self.state = state;
        self.writer = Some((process, side));
        tally.count(
            row,
            match (killed, side) {
                (Side::Pageseal, Side::Sqlcipher) => "ours>SQLC",
                (Side::Sqlcipher, Side::Pageseal) => "SQLC>ours",
                (Side::Pageseal, Side::Pageseal) => "ours>ours",
                (Side::Sqlcipher, Side::Sqlcipher) => "SQLC>SQLC",
            },
        );
        Ok(())
    }

    fn plan(&self, random: &mut Random) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut state = self.state.clone();
        while steps.len() < STEPS {
            let more = model::step(self.scenario, &state, random);
            if let Some(next) = more.last().and_then(|step| step.commits.clone()) {
                state = next;
            }
            steps.extend(more);
        }
        steps
    }

    /// Takes the answers in: moves `state` to the last transaction that was
    /// acknowledged, and returns the one that may have been committed behind it.
    fn acknowledge(
        &mut self,
        steps: &[Step],
        answers: &[Answer],
        row: &str,
        tally: &mut Tally,
    ) -> Result<Option<State>, String> {
        for (step, answer) in steps.iter().zip(answers) {
            let code = answer.as_ref().map_or_else(|(code, _)| code & 0xff, |_| 0);
            check(code == step.code, || {
                format!("{answer:?} instead of {} from: {}", step.code, step.sql)
            })?;
            if let Some(state) = &step.commits {
                self.state = state.clone();
                tally.count(row, "committed");
            }
        }
        Ok(steps
            .get(answers.len())
            .and_then(|step| step.commits.clone()))
    }

    fn side_files_left(&self) -> bool {
        let files = std::fs::read_dir(self.dir.path())
            .into_iter()
            .flatten()
            .flatten();
        files.into_iter().any(|file| {
            let name = file.file_name().to_string_lossy().into_owned();
            let start = std::fs::read(file.path()).unwrap_or_default();
            (name.ends_with("-journal") || name.ends_with("-wal"))
                && start.iter().take(8).any(|&byte| byte != 0)
        })
    }

    /// Opens what the crash left, and checks it.
    fn recover(
        &self,
        side: Side,
        dir: &Path,
        unsure: Option<&State>,
        checkpoint: bool,
    ) -> Result<(Process, State), String> {
        let mut process = Process::start(side);
        let mut ask = |words: &[&str]| match process.ask(words) {
            Some(Ok(rows)) => Ok(rows),
            Some(Err((code, text))) => Err(format!(
                "{} recovering: {code} {text}: {words:?}",
                side.name()
            )),
            None => Err(format!("{} died: {words:?}", side.name())),
        };
        for words in opening(self.scenario, dir, false) {
            ask(&as_strs(&words))?;
        }
        let mut found = None;
        for schema in self.scenario.mode.schemas() {
            let [accounts, ledger, extra] = model::queries(self.scenario, schema);
            let accounts = ask(&["query", "db", &accounts])?;
            let ledger = integers(&ask(&["query", "db", &ledger])?[0]);
            let extra = integers(&ask(&["query", "db", &extra])?[0]);
            let state = State {
                txn: ledger[1] as u64,
                accounts: accounts
                    .iter()
                    .map(|row| integers(row))
                    .map(|row| (row[0], row[1] as u64))
                    .collect(),
                extra: extra[0] as u64,
            };
            check(ledger[0] == ledger[1], || {
                format!("{schema}: the ledger has gaps")
            })?;
            let expected = if state.txn == self.state.txn {
                Some(&self.state)
            } else {
                unsure.filter(|unsure| unsure.txn == state.txn)
            };
            check(expected == Some(&state), || {
                format!(
                    "{schema}, recovered by {}: transaction {} is not what it was; {} was acknowledged",
                    side.name(),
                    state.txn,
                    self.state.txn
                )
            })?;
            check(found.is_none() || found.as_ref() == Some(&state), || {
                format!("{schema} is at another transaction than main")
            })?;
            found = Some(state);
            let ok = ask(&["query", "db", &format!("PRAGMA {schema}.integrity_check")])?;
            check(ok == [[Value::Text("ok".into())]], || {
                format!("{schema}: {ok:?}")
            })?;
            // It reads the database file alone, where a checkpoint that was killed
            // may have left half a page that the log still has.
            let whole = self.scenario.mode != Mode::Wal || {
                let busy = "PRAGMA wal_checkpoint(TRUNCATE)";
                checkpoint && integers(&ask(&["query", "db", busy])?[0])[0] == 0
            };
            if whole && !self.scenario.cipher.contains("use_hmac") {
                let sql = format!("PRAGMA {schema}.cipher_integrity_check");
                let mut faults = ask(&["query", "db", &sql])?;
                // A rollback by SQLCipher that makes an auto-vacuumed database longer
                // leaves holes, which it reports as damaged itself.
                if self.scenario.auto_vacuum != "NONE" {
                    let path = dir.join(format!("{schema}.db"));
                    let page_size = ask(&["query", "db", &format!("PRAGMA {schema}.page_size")])?;
                    let page_size = number(&page_size[0][0]);
                    faults.retain(|row| !is_hole(&path, page_size, row));
                }
                check(faults.is_empty(), || format!("{schema}: {faults:?}"))?;
            }
        }
        Ok((process, found.expect("there is a schema")))
    }
}

/// Whether a fault that `cipher_integrity_check` reports is a page of zeros. (The
/// process that has the database open is another one, so reading it here costs nobody
/// a lock.)
fn is_hole(path: &Path, page_size: usize, fault: &[Value]) -> bool {
    let [Value::Text(text)] = fault else {
        return false;
    };
    let pgno = text.rsplit(' ').next().and_then(|word| word.parse().ok());
    let (Some(pgno), Ok(bytes)) = (pgno.filter(|&pgno: &usize| pgno > 1), fs::read(path)) else {
        return false;
    };
    let page = bytes.chunks(page_size).nth(pgno - 1);
    page.is_some_and(|page| page.iter().all(|&byte| byte == 0))
}

/// A whole number; pragmas give some as text.
fn number(value: &Value) -> usize {
    match value {
        Value::Integer(number) => usize::try_from(*number).expect("a count"),
        Value::Text(text) => text.parse().expect("a number"),
        other => panic!("{other:?}"),
    }
}

/// The requests that open the databases.
fn opening(scenario: &Scenario, dir: &Path, create: bool) -> Vec<Vec<String>> {
    let path = |schema: &str| -> PathBuf { dir.join(format!("{schema}.db")) };
    let text = |path: PathBuf| path.to_str().expect("a UTF-8 path").to_owned();
    let exec = |sql: String| vec!["exec".to_owned(), "db".to_owned(), sql];
    let mut requests = vec![vec![
        "open".to_owned(),
        "db".to_owned(),
        text(path("main")),
        crate::wire::to_hex(KEY.as_bytes()),
    ]];
    let mut sql = scenario.pragmas(create);
    for schema in &scenario.mode.schemas()[1..] {
        sql += &format!("ATTACH '{}' AS {schema} KEY \"{KEY}\";", text(path(schema)));
        if create {
            sql += &format!("PRAGMA {schema}.auto_vacuum = {};", scenario.auto_vacuum);
        }
    }
    requests.push(exec(sql));
    requests.push(exec(scenario.tuning()));
    requests
}

pub(crate) fn as_strs(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn other(side: Side) -> Side {
    match side {
        Side::Pageseal => Side::Sqlcipher,
        Side::Sqlcipher => Side::Pageseal,
    }
}

fn integers(row: &[Value]) -> Vec<i64> {
    row.iter()
        .map(|value| match value {
            Value::Integer(n) => *n,
            _ => i64::MIN,
        })
        .collect()
}

/// Copies the files, but for the shared index of a log: its processes are dead.
fn copy(dir: &Path) -> tempfile::TempDir {
    let to = scratch();
    for file in std::fs::read_dir(dir).expect("a directory").flatten() {
        if !file.file_name().to_string_lossy().ends_with("-shm") {
            std::fs::copy(file.path(), to.path().join(file.file_name())).expect("a copy");
        }
    }
    to
}
