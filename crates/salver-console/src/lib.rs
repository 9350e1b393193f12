//! The console: the pages that people see, as files that are part of the program. They are built from `web`, and use
//! nothing but the public API.

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Element of the page that names where the server's paths begin.
const BASE: &str = "<base href=\"/\" />";

/// Part of the page that names where browsers without scripts go on, relative to its base.
const PLAIN: &str = "url=plain\"";

/// A file of the console.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Content.
    pub bytes: &'static [u8],
    /// The same, compressed with gzip.
    pub gzip: &'static [u8],
    /// Media type.
    pub media_type: &'static str,
}

/// Returns the file of this name, which is at `console/assets/` of the server. Its name changes with its content.
#[must_use]
pub fn asset(name: &str) -> Option<Asset> {
    let (_, bytes, gzip) = FILES.iter().find(|(own, ..)| *own == name && *own != PAGE)?;
    Some(Asset { bytes, gzip, media_type: media_type(name) })
}

/// File of the page.
const PAGE: &str = "index.html";

/// Returns the page, for a server whose paths begin with `base_path`, which is empty or begins with a slash. It is the
/// same at each of the console's paths, but that browsers without scripts go on to the path `plain`. That begins with a
/// slash and has no quotes.
#[must_use]
pub fn page(base_path: &str, plain: &str) -> String {
    let page = FILES.iter().find(|(name, ..)| *name == PAGE).map_or(&b""[..], |(_, bytes, _)| bytes);
    String::from_utf8_lossy(page)
        .replace(BASE, &format!("<base href=\"{base_path}/\" />"))
        .replace(PLAIN, &format!("url={base_path}{}\"", plain.replace('&', "&amp;")))
}

/// Returns the media type of a file, by its suffix.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, suffix)| suffix) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, asset, page};

    #[test]
    fn the_page_names_files_that_are_there() {
        let page = page("/data", "/api/tables/a?sort=b&limit=1");
        assert!(page.contains("<base href=\"/data/\" />"), "{page}");
        assert!(page.contains("content=\"0; url=/data/api/tables/a?sort=b&amp;limit=1\""), "{page}");
        let named = page.split('"').filter_map(|part| part.strip_prefix("console/assets/"));
        let named: Vec<&str> = named.collect();
        assert!(!named.is_empty(), "{page}");
        for name in named {
            assert!(!asset(name).unwrap_or_else(|| panic!("no {name}")).bytes.is_empty());
        }
        assert!(asset("index.html").is_none() && asset("none.js").is_none());
    }

    #[test]
    fn no_file_asks_another_host() {
        for (name, bytes, _) in FILES {
            let text = String::from_utf8_lossy(bytes);
            for scheme in ["http://", "https://"] {
                let hosts = text.match_indices(scheme).map(|(at, _)| {
                    let rest = &text[at + scheme.len()..];
                    rest.split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '-'))
                        .next()
                        .unwrap_or("")
                });
                // Names of namespaces, and what the texts of libraries name.
                let known = ["www.w3.org", "commonmark.org", "en.wikipedia.org", "yarnpkg.com"];
                let strange: Vec<&str> = hosts.filter(|host| host.contains('.') && !known.contains(host)).collect();
                assert!(strange.is_empty(), "{name} names {strange:?}");
            }
        }
    }
}
