//! Numbers for people: three figures, and the unit that fits.

use pageseal_bench_contestant::protocol::Unit;

/// Nanoseconds.
pub(crate) fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        n if n >= 1e9 => (n / 1e9, "s"),
        n if n >= 1e6 => (n / 1e6, "ms"),
        n => (n / 1e3, "us"),
    };
    format!("{} {unit}", three(value))
}

/// Three significant figures.
pub(crate) fn three(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A ratio. Two digits after the point are all that a machine like this can hold.
pub(crate) fn ratio(value: f64) -> String {
    if value >= 100.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Bytes, in binary units.
pub(crate) fn bytes(count: f64) -> String {
    format!("{} MiB", three(count / 1_048_576.0))
}

/// So many units in so many nanoseconds.
pub(crate) fn throughput(unit: Unit, amount: f64, nanos: f64) -> String {
    let per_second = amount / (nanos / 1e9);
    let name = match unit {
        Unit::Bytes => return format!("{} MB/s", three(per_second / 1e6)),
        Unit::Rows => "rows",
        Unit::Statements => "statements",
        Unit::Commits => "commits",
        Unit::Lookups => "lookups",
        Unit::Opens => "opens",
    };
    if per_second >= 1e6 {
        format!("{} M {name}/s", three(per_second / 1e6))
    } else if per_second >= 1e3 {
        format!("{} k {name}/s", three(per_second / 1e3))
    } else {
        format!("{} {name}/s", three(per_second))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(time(1_234_567.0), "1.23 ms");
        assert_eq!(time(12_345.0), "12.3 us");
        assert_eq!(time(2.5e9), "2.50 s");
        assert_eq!(throughput(Unit::Bytes, 5e8, 1e9), "500 MB/s");
        assert_eq!(throughput(Unit::Rows, 12_000.0, 1e9), "12.0 k rows/s");
        assert_eq!(ratio(1.004), "1.00");
    }
}
