//! Work without a database file, to see that two contestants were built alike: a build
//! of SQLite at another optimisation level is slower here too, whatever it says of itself.

use std::hint::black_box;
use std::time::Instant;

use rusqlite::Connection;

use crate::Result;
use crate::random::Random;

/// Nanoseconds of a fixed amount of SQL on an in-memory database that nothing encrypts:
/// the virtual machine, the b-tree, some functions. It holds a row at a time, so that
/// what the allocator went through before (OpenSSL's start, say) does not matter.
pub fn sqlite() -> Result<u64> {
    let db = Connection::open_in_memory()?;
    let mut statement = db.prepare(
        "WITH RECURSIVE n(i, h) AS (
             SELECT 1, 12345
             UNION ALL SELECT i + 1, (h * 1103515245 + 12345) % 2147483648 FROM n WHERE i < ?
         ) SELECT sum(length(substr(h, 2)) * (h % 7)) FROM n",
    )?;
    // Once for the caches, once for the clock.
    let mut nanos = 0;
    for rows in [1_000, 80_000] {
        let start = Instant::now();
        let answer: i64 = statement.query_row([rows], |row| row.get(0))?;
        nanos = start.elapsed().as_nanos();
        black_box(answer);
    }
    Ok(u64::try_from(nanos)?)
}

/// Nanoseconds of a fixed loop in Rust, on the stack.
#[must_use]
pub fn rust() -> u64 {
    let mut random = Random::new(1);
    let mut nanos = 0;
    for repeats in [10, 400] {
        let start = Instant::now();
        for _ in 0..repeats {
            let mut values: [u64; 512] = std::array::from_fn(|_| random.next_u64());
            values.sort_unstable();
            black_box(&values);
        }
        nanos = start.elapsed().as_nanos();
    }
    u64::try_from(nanos).unwrap_or(u64::MAX)
}
