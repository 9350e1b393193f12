//! Looks at the served directories for files that came or went, by their names alone where they are known.
//!
//! What is written while it is looked at is not served yet: a file counts when its size and time were the same in two
//! looks, and is gone when it was missing in two.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use salver_datasets::Stamp;
use salver_model::Result;
use salver_model::spec::DatasetSpec;

use crate::output;

/// Shortest time between two looks.
pub(crate) const PAUSE: Duration = Duration::from_secs(2);
/// Pause after a look, in times of what it took: large directories are looked at less often.
pub(crate) const PAUSE_FACTOR: u32 = 50;

/// What was seen at one look. Paths that are served have no stamp.
type Listing = BTreeMap<PathBuf, Option<Stamp>>;

/// The served directories, and what is known of them.
#[derive(Debug)]
pub(crate) struct Watch {
    directories: Vec<PathBuf>,
    discovered: Vec<DatasetSpec>,
    settled: Settled,
    /// Whether the last look failed, which is told once.
    has_failed: bool,
}

impl Watch {
    /// Watches `directories`, in which the `discovered` datasets were found.
    pub(crate) fn new(directories: Vec<PathBuf>, discovered: &[DatasetSpec]) -> Self {
        let mut watch = Self { directories, discovered: Vec::new(), settled: Settled::default(), has_failed: false };
        watch.know(discovered);
        watch
    }

    /// Takes over what was found in the directories otherwise.
    pub(crate) fn know(&mut self, discovered: &[DatasetSpec]) {
        self.discovered = discovered.to_vec();
        let paths = discovered.iter().flat_map(|spec| &spec.sources).map(PathBuf::from);
        self.settled = Settled { paths: paths.map(|path| (path, None)).collect(), ..Settled::default() };
    }

    /// Looks once. Returns all datasets in the directories if they are others than before.
    pub(crate) fn look(&mut self) -> Option<Vec<DatasetSpec>> {
        let found = self.try_look();
        let has_failed = std::mem::replace(&mut self.has_failed, found.is_err());
        match found {
            Ok(found) => found,
            Err(error) if has_failed => {
                tracing::debug!("{}", output::with_hint(&error));
                None
            }
            Err(error) => {
                tracing::warn!("what is served stays as it is: {}", output::with_hint(&error));
                None
            }
        }
    }

    fn try_look(&mut self) -> Result<Option<Vec<DatasetSpec>>> {
        let known: BTreeSet<&Path> = self.discovered.iter().flat_map(|spec| &spec.sources).map(Path::new).collect();
        let mut listing = Listing::new();
        for directory in &self.directories {
            listing.extend(salver_datasets::look(directory, &|path| known.contains(path))?);
        }
        if !self.settled.note(listing) {
            return Ok(None);
        }
        let mut found: Vec<DatasetSpec> = Vec::new();
        for directory in &self.directories {
            let is_settled = |path: &Path| self.settled.paths.contains_key(path);
            let (own, left_out) = salver_datasets::discover_beside(directory, &self.discovered, &is_settled)?;
            left_out.iter().for_each(|error| tracing::warn!("left out: {}", output::with_hint(error)));
            for spec in own {
                if found.iter().any(|other| other.name == spec.name) {
                    tracing::warn!("`{}` is left out: there is a `{}` already", spec.sources.join(", "), spec.name);
                } else {
                    found.push(spec);
                }
            }
        }
        if found == self.discovered {
            return Ok(None);
        }
        self.discovered.clone_from(&found);
        Ok(Some(found))
    }
}

/// The paths that nobody writes to any more, as far as looks can tell.
#[derive(Debug, Default)]
struct Settled {
    paths: Listing,
    /// What the last look saw.
    previous: Listing,
    /// Settled paths that the last look missed.
    missing: BTreeSet<PathBuf>,
}

impl Settled {
    /// Takes in what a look saw, and returns whether other paths are settled now.
    fn note(&mut self, listing: Listing) -> bool {
        let mut is_other = false;
        for (path, stamp) in &listing {
            // What is served stays so, whatever is written to it.
            if stamp.is_none() || self.paths.get(path) == Some(stamp) {
                continue;
            }
            if self.previous.get(path) == Some(stamp) {
                self.paths.insert(path.clone(), *stamp);
                is_other = true;
            } else {
                self.paths.remove(path);
            }
        }
        let missed: BTreeSet<PathBuf> =
            self.paths.keys().filter(|path| !listing.contains_key(*path)).cloned().collect();
        for path in missed.intersection(&self.missing) {
            self.paths.remove(path);
            is_other = true;
        }
        self.missing = missed;
        self.previous = listing;
        is_other
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Watch;

    fn names(found: Option<Vec<salver_model::spec::DatasetSpec>>) -> Option<Vec<String>> {
        found.map(|found| found.iter().map(|spec| spec.name.to_string()).collect())
    }

    /// The names that the second of two looks finds: one that finds anything after a single look is wrong.
    #[track_caller]
    fn looked_twice(watch: &mut Watch) -> Option<Vec<String>> {
        assert_eq!(names(watch.look()), None);
        let found = names(watch.look());
        assert_eq!(names(watch.look()), None);
        found
    }

    fn place() -> (tempfile::TempDir, PathBuf, Watch) {
        let place = tempfile::tempdir().unwrap();
        let dir = place.path().to_owned();
        std::fs::write(dir.join("a.csv"), "x\n1\n").unwrap();
        let (found, _) = salver_datasets::discover(&dir).unwrap();
        let watch = Watch::new(vec![dir.clone()], &found);
        (place, dir, watch)
    }

    fn list(names: &[&str]) -> Option<Vec<String>> {
        Some(names.iter().map(|name| (*name).to_owned()).collect())
    }

    #[test]
    fn files_come_and_go() {
        let (_place, dir, mut watch) = place();
        assert_eq!(looked_twice(&mut watch), None);
        std::fs::write(dir.join("b.csv"), "x\n1\n").unwrap();
        std::fs::write(dir.join(".hidden.csv"), "x\n1\n").unwrap();
        std::fs::write(dir.join("b.txt"), "x\n1\n").unwrap();
        assert_eq!(looked_twice(&mut watch), list(&["a", "b"]));
        // What is served may be written to.
        std::fs::write(dir.join("b.csv"), "x\n1\n2\n").unwrap();
        assert_eq!(looked_twice(&mut watch), None);
        std::fs::remove_file(dir.join("a.csv")).unwrap();
        assert_eq!(looked_twice(&mut watch), list(&["b"]));
        // Another file takes the place within one look.
        std::fs::remove_file(dir.join("b.csv")).unwrap();
        assert_eq!(names(watch.look()), None);
        std::fs::write(dir.join("b.csv"), "x\n7\n").unwrap();
        assert_eq!(looked_twice(&mut watch), None);
    }

    #[test]
    fn what_is_written_is_not_served_yet() {
        let (_place, dir, mut watch) = place();
        let mut text = "x\n".to_owned();
        for n in 0..5 {
            text.push_str(&format!("{n}\n"));
            std::fs::write(dir.join("b.csv"), &text).unwrap();
            assert_eq!(names(watch.look()), None);
        }
        assert_eq!(names(watch.look()), list(&["a", "b"]));
        // A directory, file by file.
        std::fs::create_dir_all(dir.join("c/d")).unwrap();
        for n in 0..3 {
            assert_eq!(names(watch.look()), None);
            std::fs::write(dir.join(format!("c/d/{n}.csv")), "x\n1\n").unwrap();
        }
        assert_eq!(looked_twice(&mut watch), list(&["a", "b", "c"]));
    }

    /// Names are addresses: a new file takes none away.
    #[test]
    fn names_stay() {
        let (_place, dir, mut watch) = place();
        std::fs::write(dir.join("a.arrow"), "x").unwrap();
        assert_eq!(looked_twice(&mut watch), list(&["a", "a_arrow"]));
        let found = salver_datasets::discover_beside(&dir, &watch.discovered, &|_| true).unwrap().0;
        assert!(Path::new(&found[0].sources[0]).ends_with("a.csv"), "{found:?}");
    }

    #[test]
    fn a_directory_that_can_not_be_read_changes_nothing() {
        let (place, dir, mut watch) = place();
        drop(place);
        assert!(!dir.exists());
        for _ in 0..3 {
            assert_eq!(names(watch.look()), None);
        }
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("a.csv"), "x\n1\n").unwrap();
        for _ in 0..3 {
            assert_eq!(names(watch.look()), None);
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
