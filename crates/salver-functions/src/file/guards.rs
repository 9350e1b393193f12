//! Words of a file and its modules that decide who may call it. A newer version that says more of them and can't be
//! loaded must not leave the one before in use, which lacks what they ask for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Words of RestRserve, of plumber and of HTTP, in lower case.
const WORDS: [&str; 16] = [
    "@filter",
    "@preempt",
    "@plumber",
    "pr_filter",
    "$filter(",
    "addfilter",
    "pr_hook",
    "registerhook",
    "sharedsecret",
    "authbackend",
    "authorization",
    "middleware",
    "unauthorized",
    "forbidden",
    "401",
    "403",
];

/// How often each of the words stands in a version of a file and its modules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Guards([usize; WORDS.len()]);

impl Guards {
    /// Counts the words of a file, of the files in `beside` that are parts of it, and of modules that it imports from
    /// its folder; none of what can't be read.
    pub(super) async fn of(path: &Path, beside: impl Iterator<Item = PathBuf>) -> Self {
        let (path, mut parts) = (path.to_owned(), beside.collect::<BTreeSet<_>>());
        let count = move || {
            let text = std::fs::read(&path).unwrap_or_default();
            parts.extend(imported(&path, &String::from_utf8_lossy(&text)));
            parts.remove(&path);
            let texts = parts.iter().filter_map(|part| std::fs::read(part).ok()).chain([text]);
            texts.fold(Self::default(), |sum, text| sum.and(&Self::of_text(&text)))
        };
        tokio::task::spawn_blocking(count).await.unwrap_or_default()
    }

    fn and(mut self, other: &Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(sum, count)| *sum += count);
        self
    }

    fn of_text(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text).to_ascii_lowercase();
        Self(WORDS.map(|word| text.matches(word).count()))
    }

    /// Returns a word that stands here more often than in `served`, the version in use.
    pub(super) fn beyond(&self, served: &Self) -> Option<&'static str> {
        let counts = self.0.iter().zip(&served.0);
        WORDS.iter().zip(counts).find(|(_, (new, old))| new > old).map(|(word, _)| *word)
    }
}

/// Returns the modules in the folder of a file of Python that its text imports, as far as lines tell: before the first
/// load nothing else does.
fn imported(path: &Path, text: &str) -> Vec<PathBuf> {
    let Some(folder) = path.parent().filter(|_| path.extension().is_some_and(|suffix| suffix == "py")) else {
        return Vec::new();
    };
    let named = text.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("import ").or_else(|| line.strip_prefix("from "))
    });
    let is_of_name = |character: char| character.is_alphanumeric() || character == '_';
    let names = named.flat_map(|names| names.split(" import ").next().unwrap_or_default().split(','));
    let modules = names.filter_map(|name| {
        let name = name.trim_start_matches([' ', '\t', '.']).split(|character| !is_of_name(character)).next()?;
        let module = folder.join(format!("{name}.py"));
        module.is_file().then_some(module)
    });
    modules.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Guards;

    #[tokio::test]
    async fn modules_count() {
        let folder = tempfile::tempdir().unwrap();
        let [file, known, new] = ["shop.py", "known.py", "access.py"].map(|name| folder.path().join(name));
        for (path, text) in [(&known, "FORBIDDEN = 1"), (&new, "raise HTTPError(401, 'no')")] {
            fs::write(path, text).unwrap();
        }
        for (text, words) in [
            ("def f(): return 1", vec!["forbidden"]),
            ("import json, access as a", vec!["forbidden", "401"]),
            ("  from .access import check", vec!["forbidden", "401"]),
            ("from other import access", vec!["forbidden"]),
            ("import shop, known", vec!["forbidden"]),
        ] {
            fs::write(&file, text).unwrap();
            let counted = Guards::of(&file, [known.clone()].into_iter()).await;
            assert_eq!(counted, Guards::of_text(words.join(" ").as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_word_that_is_new() {
        let plain = Guards::of_text(b"#* @get /x\nfunction() dplyr::filter(rows, author == 1)");
        assert_eq!(plain, Guards::default());
        for (text, word) in [
            (&b"#* @Filter auth\nfunction(req"[..], "@filter"),
            (b"pr() |> pr_filter('a', f)", "pr_filter"),
            (b"options(plumber.sharedSecret = 'x'", "sharedsecret"),
            (b"AuthMiddleware$new(b, '/')", "middleware"),
            (b"raise HTTPError(401, 'no')", "401"),
        ] {
            let guards = Guards::of_text(text);
            assert_eq!(
                (guards.beyond(&plain), guards.beyond(&guards), plain.beyond(&guards)),
                (Some(word), None, None)
            );
        }
        let twice = Guards::of_text(b"# @filter a\n# @filter b");
        assert_eq!(twice.beyond(&Guards::of_text(b"# @filter a")), Some("@filter"));
    }
}
