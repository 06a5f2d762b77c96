//! At a terminal, which the program `script` (of util-linux) provides: keys are asked
//! for, SQL has a prompt, and what takes long has a bar.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::session::Session;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program at a terminal.
struct Terminal {
    child: Child,
    keyboard: ChildStdin,
    screen: Receiver<Vec<u8>>,
    /// Everything that was shown.
    shown: String,
    /// How much of it has been waited for.
    seen: usize,
}

impl Terminal {
    fn run(session: &Session, command: &str) -> Self {
        let command = format!("{} {command}", env!("CARGO_BIN_EXE_pageseal"));
        let mut child = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .current_dir(session.path(""))
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("`script`, of util-linux");
        let keyboard = child.stdin.take().expect("piped");
        let mut output = child.stdout.take().expect("piped");
        let (sender, screen) = channel();
        std::thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(n @ 1..) = output.read(&mut piece) {
                if sender.send(piece[..n].to_vec()).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            keyboard,
            screen,
            shown: String::new(),
            seen: 0,
        }
    }

    /// Waits for a text behind what was waited for before.
    fn wait_for(&mut self, text: &str) {
        loop {
            if let Some(at) = self.shown[self.seen..].find(text) {
                self.seen += at + text.len();
                return;
            }
            match self.screen.recv_timeout(PATIENCE) {
                Ok(piece) => self.shown += &String::from_utf8_lossy(&piece),
                Err(_) => panic!("no {text:?} in {:?}", self.shown),
            }
        }
    }

    fn type_in(&mut self, text: &str) {
        self.keyboard
            .write_all(text.as_bytes())
            .expect("a program that reads");
        self.keyboard.flush().expect("a program that reads");
    }

    /// Waits for the question, gives it time to hide what is typed, and answers.
    fn answer(&mut self, question: &str, text: &str) {
        self.wait_for(question);
        std::thread::sleep(Duration::from_millis(200));
        self.type_in(text);
    }

    /// Waits for the end: the exit code, and all that was shown.
    fn end(mut self) -> (Option<i32>, String) {
        while let Ok(piece) = self.screen.recv_timeout(PATIENCE) {
            self.shown += &String::from_utf8_lossy(&piece);
        }
        (self.child.wait().expect("it ends").code(), self.shown)
    }
}

#[test]
fn a_key_is_asked_for_and_not_shown() {
    let session = Session::new();
    session.vector("preset-3");
    let mut terminal = Terminal::run(&session, "verify preset-3.db --compat 3");
    terminal.answer("Key of preset-3.db: ", "correct horse\n");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("all authentic"), "{shown}");
    assert!(!shown.contains("correct horse"), "{shown}");
}

#[test]
fn a_new_key_is_asked_for_twice() {
    let session = Session::new();
    session.vector("preset-3");
    for (second, code) in [("other\n", 2), ("another\n", 0)] {
        let rekey = "rekey preset-3.db --compat 3 --key-file key";
        let mut terminal = Terminal::run(&session, rekey);
        terminal.answer("New key of preset-3.db: ", "another\n");
        terminal.answer("The same again: ", second);
        let (ended, shown) = terminal.end();
        assert_eq!(ended, Some(code), "{shown}");
        assert_eq!(session.is_unchanged("preset-3"), code != 0, "{shown}");
    }
    let args = [
        "verify",
        "preset-3.db",
        "--compat",
        "3",
        "--insecure-key",
        "another",
    ];
    session.run(&args).fine();
}

#[test]
fn sql_has_a_prompt() {
    let session = Session::new();
    session.vector("preset-3");
    let mut terminal = Terminal::run(&session, "sql preset-3.db --compat 3 --key-file key");
    terminal.answer("pageseal> ", "SELECT 6 * 7 AS answer;\r");
    terminal.wait_for("│ 42 ");
    // A statement goes on until its semicolon; an error does not end the session.
    terminal.answer("pageseal> ", "SELECT name\r");
    terminal.answer("     ...> ", "FROM item WHERE id = 1;\r");
    terminal.wait_for("│ apple │");
    terminal.answer("pageseal> ", "SELEKT;\r");
    terminal.wait_for("syntax error");
    terminal.answer("pageseal> ", ".tables\r");
    terminal.wait_for("│ item │");
    terminal.answer("pageseal> ", ".quit\r");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(0), "{shown}");
    assert!(session.is_unchanged("preset-3"));
}

/// A file that takes more than a second: a sparse one, whose pages are bad.
#[test]
fn what_takes_long_has_a_bar_at_a_terminal_only() {
    let session = Session::new();
    let path = session.vector("page-65536");
    let file = OpenOptions::new()
        .write(true)
        .open(path)
        .expect("the vector");
    file.set_len(768 << 20).expect("a hole");
    let verify =
        "verify page-65536.db --page-size 65536 --kdf-iter 1000 --key-file key --threads 1";
    let mut terminal = Terminal::run(&session, verify);
    terminal.wait_for("verifying [");
    terminal.wait_for("of 768.00 MiB");
    let (code, shown) = terminal.end();
    assert_eq!(code, Some(4), "{shown}");
    let args: Vec<&str> = verify.split(' ').collect();
    let piped = session.run(&args);
    assert_eq!((piped.code, &piped.stderr[..]), (Some(4), ""));
    let quiet = Terminal::run(&session, &format!("{verify} --quiet"));
    assert_eq!(quiet.end(), (Some(4), String::new()));
}
