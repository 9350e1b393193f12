//! The console: the pages that people see, as files that are part of the program. They are built from `web`, and use
//! nothing but the public API.

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// Element of the page that names where the server's paths begin.
const BASE: &str = "<base href=\"/\">";

/// A file of the console.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Content.
    pub bytes: &'static [u8],
    /// Media type.
    pub media_type: &'static str,
}

/// Returns the file at this path below the root of the server, like `console/assets/index-abc.js`. Its name changes with
/// its content.
#[must_use]
pub fn asset(path: &str) -> Option<Asset> {
    let (_, bytes) = FILES.iter().find(|(name, _)| *name == path && *name != PAGE)?;
    Some(Asset { bytes, media_type: media_type(path) })
}

/// Returns every file but the page, by its path.
pub fn assets() -> impl Iterator<Item = (&'static str, Asset)> {
    FILES
        .iter()
        .filter(|(name, _)| *name != PAGE)
        .map(|(name, bytes)| (*name, Asset { bytes, media_type: media_type(name) }))
}

/// File of the page.
const PAGE: &str = "index.html";

/// Returns the page, for a server whose paths begin with `base_path`, which is empty or begins with a slash. It is the
/// same at each of the console's paths.
#[must_use]
pub fn page(base_path: &str) -> String {
    let page = FILES.iter().find(|(name, _)| *name == PAGE).map_or(&b""[..], |(_, bytes)| bytes);
    String::from_utf8_lossy(page).replace(BASE, &format!("<base href=\"{base_path}/\">"))
}

/// Returns the media type of a file, by its suffix.
fn media_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, suffix)| suffix) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "html" => "text/html; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::{FILES, asset, page};

    #[test]
    fn the_page_names_files_that_are_there() {
        let page = page("/data");
        assert!(page.contains("<base href=\"/data/\">"), "{page}");
        let named = page.split('"').filter(|part| part.starts_with("console/assets/"));
        let named: Vec<&str> = named.collect();
        assert!(!named.is_empty(), "{page}");
        for path in named {
            assert!(!asset(path).unwrap_or_else(|| panic!("no {path}")).bytes.is_empty());
        }
        assert!(asset("index.html").is_none() && asset("console/assets/none.js").is_none());
    }

    #[test]
    fn no_file_asks_another_host() {
        for (name, bytes) in FILES {
            let text = String::from_utf8_lossy(bytes);
            for scheme in ["http://", "https://"] {
                let hosts = text.match_indices(scheme).map(|(at, _)| {
                    let rest = &text[at + scheme.len()..];
                    rest.split(|char: char| !char.is_ascii_alphanumeric() && !matches!(char, '.' | '-'))
                        .next()
                        .unwrap_or("")
                });
                // Names of namespaces, and what texts for people name.
                let strange: Vec<&str> = hosts.filter(|host| host.contains('.') && !host.ends_with("w3.org")).collect();
                assert!(strange.is_empty(), "{name} names {strange:?}");
            }
        }
    }
}
