//! Rates and remaining times of progress lines.

/// Returns a rate per second.
pub(crate) fn rate(count: u64, seconds: f64) -> u64 {
    (count as f64 / seconds.max(0.001)).round() as u64
}

/// Returns `, 1:05 left`: the remaining time, at the pace of what was done in `seconds`; empty before any progress.
pub(crate) fn left(left: u64, done: u64, seconds: f64) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = (seconds * left as f64 / done as f64).round() as u64;
    format!(", {}:{:02} left", seconds / 60, seconds % 60)
}
