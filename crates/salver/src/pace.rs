//! How fast something goes, and how long it still takes, as progress lines say it.

/// How many a second that is.
pub(crate) fn rate(count: u64, seconds: f64) -> u64 {
    (count as f64 / seconds.max(0.001)).round() as u64
}

/// `, 1:05 left`: the time for what is left, at the pace of what was done in `seconds`; nothing before any was done.
pub(crate) fn left(left: u64, done: u64, seconds: f64) -> String {
    if done == 0 {
        return String::new();
    }
    let seconds = (seconds * left as f64 / done as f64).round() as u64;
    format!(", {}:{:02} left", seconds / 60, seconds % 60)
}
