//! Their side: genuine SQLCipher.

use std::path::Path;

use crate::peer::{Peer, PeerError, Rows, Value};
use crate::script::{Step, What};

const NAME: &str = "db";

/// The lines of each step's answer, as the `sqlite3` shell would print them.
pub(crate) fn run(dir: &Path, steps: &[Step]) -> Vec<Vec<String>> {
    let mut peer = Peer::spawn_in(dir);
    let mut open = false;
    steps
        .iter()
        .map(|step| match &step.what {
            What::Open(name) => {
                if open {
                    peer.close(NAME).unwrap();
                }
                open = true;
                peer.open(NAME, dir.join(name), None).unwrap();
                Vec::new()
            }
            What::Sql(sql) => answer(peer.query(NAME, sql)),
        })
        .collect()
}

fn answer(result: Result<Rows, PeerError>) -> Vec<String> {
    match result {
        Ok(rows) => rows
            .iter()
            .flat_map(|row| {
                let line = row.iter().map(shown).collect::<Vec<_>>().join("|");
                line.split('\n').map(str::to_owned).collect::<Vec<_>>()
            })
            .collect(),
        // The shell names every code but the general one.
        Err(error) if error.code == 1 => vec![format!("error: {}", error.message)],
        Err(error) => vec![format!("error: {} ({})", error.message, error.code)],
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Integer(number) => number.to_string(),
        Value::Real(number) => format!("{number:?}"),
        Value::Text(text) => text.clone(),
        Value::Blob(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    }
}
