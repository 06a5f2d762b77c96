//! A contestant's process.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use pageseal_bench_contestant::protocol::{Reply, Request};

use crate::Result;
use crate::contestants::Contestant;

/// Started anew for every round; gone when dropped.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Process {
    pub(crate) fn start(contestant: &Contestant) -> Result<Self> {
        let mut child = Command::new(&contestant.program)
            .args(&contestant.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", contestant.program.display()))?;
        let from = BufReader::new(child.stdout.take().expect("piped"));
        Ok(Self {
            name: contestant.id.clone(),
            to: child.stdin.take(),
            child,
            from,
        })
    }

    /// Asks, and waits for the reply.
    pub(crate) fn ask(&mut self, request: &Request) -> Result<Reply> {
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        let to = self.to.as_mut().expect("open until dropped");
        to.write_all(line.as_bytes())?;
        to.flush()?;
        line.clear();
        if self.from.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            return Err(format!("{} ended early: {status}", self.name).into());
        }
        let reply = serde_json::from_str(&line)
            .map_err(|error| format!("{} speaks another protocol: {error}", self.name))?;
        match reply {
            Reply::Failed(reason) => Err(format!("{}: {reason}", self.name).into()),
            reply => Ok(reply),
        }
    }

    /// The reply that a request must have, or an error.
    pub(crate) fn expect<T>(
        &mut self,
        request: &Request,
        pick: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T> {
        let reply = self.ask(request)?;
        pick(reply).ok_or_else(|| format!("{}: another reply was due", self.name).into())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // End of input ends the contestant.
        self.to = None;
        let _ = self.child.wait();
    }
}
