//! Words of a file that decide who may call it. A newer version that says more of them and can't be loaded must not
//! leave the one before in use, which lacks what they ask for.

use std::path::Path;

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

/// How often each of the words stands in a version of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Guards([usize; WORDS.len()]);

impl Guards {
    /// Counts the words of a file; none where it can't be read.
    pub(super) async fn of(path: &Path) -> Self {
        tokio::fs::read(path).await.map(|text| Self::of_text(&text)).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::Guards;

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
