//! Tells how the entries are: on a terminal while they are being loaded, where that takes longer than a moment, and for
//! the service manager at any time.

use std::time::{Duration, Instant};

use salver_service::Catalog;

use crate::grouped_digits::thousands;
use crate::progress_line::ProgressLine;

/// Time after which it is worth telling.
const MOMENT: Duration = Duration::from_secs(1);
/// Time between two looks.
const PACE: Duration = Duration::from_millis(250);
/// Most characters of the names of entries in the line, so that it fits into a terminal.
const NAMES_CHARS: usize = 40;

/// Waits until every entry of the catalog is loaded or has failed.
pub(crate) async fn settled(catalog: &Catalog) {
    during(catalog.settled(), || line_of(catalog)).await;
}

/// Runs `work`, and tells on a line what `line` says meanwhile.
pub(crate) async fn during<T>(work: impl Future<Output = T>, line: impl Fn() -> String) -> T {
    let (mut shown, begun) = (Shown(ProgressLine::new()), Instant::now());
    let mut work = std::pin::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::sleep(PACE) => {
                if begun.elapsed() >= MOMENT && shown.0.is_due() {
                    shown.0.write(&format!("{}, {} s", line(), begun.elapsed().as_secs()));
                }
            }
        }
    }
}

/// A line that is cleared also when the wait for what it tells of is given up.
struct Shown(ProgressLine);

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// Says how many entries are served, and how many are not, in one line.
pub(crate) fn state_of(catalog: &Catalog) -> String {
    let snapshot = catalog.snapshot();
    let (mut served, mut failed, mut loading) = (0, 0, 0);
    for entry in snapshot.entries() {
        match (entry.table(), entry.failure()) {
            (Some(_), _) => served += 1,
            (None, Some(_)) => failed += 1,
            (None, None) => loading += 1,
        }
    }
    state(served, failed, loading)
}

fn state(served: u64, failed: u64, loading: u64) -> String {
    let mut text = match served {
        1 => "1 entry is served".to_owned(),
        more => format!("{} entries are served", thousands(more)),
    };
    if loading > 0 {
        text.push_str(&format!(", {} not loaded yet", thousands(loading)));
    }
    if failed > 0 {
        text.push_str(&format!(", {} can't be loaded", thousands(failed)));
    }
    text
}

/// Says how many entries are loaded, and which are not.
fn line_of(catalog: &Catalog) -> String {
    let snapshot = catalog.snapshot();
    let (mut all, mut loading) = (0_u64, Vec::new());
    for entry in snapshot.entries() {
        all += 1;
        if entry.table().is_none() && entry.failure().is_none() {
            loading.push(entry.name.as_str());
        }
    }
    let done = all - loading.len() as u64;
    format!("loading: {} of {} entries are done{}", thousands(done), thousands(all), named(&loading))
}

fn named(names: &[&str]) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        if text.chars().count() + name.chars().count() > NAMES_CHARS && at > 0 {
            text.push_str(&format!(" and {} more", names.len() - at));
            break;
        }
        text.push_str(if at == 0 { "; not yet " } else { ", " });
        text.extend(name.chars().take(NAMES_CHARS));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{named, state};

    #[test]
    fn the_state_of_the_entries() {
        assert_eq!(state(0, 0, 0), "0 entries are served");
        assert_eq!(state(1, 0, 2), "1 entry is served, 2 not loaded yet");
        assert_eq!(state(12, 3, 1), "12 entries are served, 1 not loaded yet, 3 can't be loaded");
    }

    #[test]
    fn names_that_are_too_many_are_counted() {
        assert_eq!(named(&[]), "");
        assert_eq!(named(&["a", "b"]), "; not yet a, b");
        let long = "x".repeat(25);
        assert_eq!(named(&[&long, &long, "c"]), format!("; not yet {long} and 2 more"));
        assert_eq!(named(&[&"y".repeat(99)]), format!("; not yet {}", "y".repeat(40)));
    }
}
