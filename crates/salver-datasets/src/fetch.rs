//! Downloads http(s) sources and standard input to disk.

mod slow_sender;

use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use salver_model::limits::{
    DOWNLOAD_BYTES_MAX, DOWNLOAD_CONNECT_S_MAX, DOWNLOAD_REDIRECTS_MAX, DOWNLOAD_SILENCE_S_MAX,
};
use salver_model::spec::SourceFormat;
use salver_model::{Code, Error, Result, Version};
use tempfile::TempDir;
use ureq::http::{HeaderMap, Response, StatusCode};

use slow_sender::Paced;

/// A source that was downloaded to disk.
#[derive(Clone, Debug)]
pub(crate) struct Fetched {
    /// Path of the file.
    pub(crate) path: PathBuf,
    /// Version of the content.
    pub(crate) tag: Version,
    /// The format by the media type, if the server sent a known one.
    pub(crate) format: Option<SourceFormat>,
    /// The directory of `path`, deleted when the last reference is dropped.
    pub(crate) dir: Arc<TempDir>,
}

/// Returns a URL without the parts that may be secret: user, password and query.
pub(crate) fn shown(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
    let rest = rest.split(['?', '#']).next().unwrap_or(rest);
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    format!("{scheme}://{}{path}", host.rsplit('@').next().unwrap_or(host))
}

/// Downloads `url` into a new directory below `data_dir`.
pub(crate) fn download(url: &str, headers: &[(String, String)], data_dir: &Path) -> Result<Fetched> {
    let response = request("GET", url, headers)?;
    check_status(url, &response)?;
    let tag = tag_of(response.headers());
    let format = format_of(response.headers());
    let dir = Arc::new(scratch(data_dir)?);
    let path = dir.path().join("download");
    let mut body = body_of(response, DOWNLOAD_BYTES_MAX);
    let hash = spool(&mut body, &path).map_err(|cause| {
        Error::new(Code::Source, format!("the download of `{}` broke off: {cause}", shown(url)))
            .with_hint("try again; check that the server sends the whole file")
            .with_source(cause)
    })?;
    Ok(Fetched { path, tag: tag.unwrap_or(hash), format, dir })
}

/// Returns the version of the content at `url`: from its ETag or date if the server sends one, else from its bytes.
pub(crate) fn tag(url: &str, headers: &[(String, String)]) -> Result<Version> {
    let response = request("HEAD", url, headers)?;
    if response.status().is_success()
        && let Some(tag) = tag_of(response.headers())
    {
        return Ok(tag);
    }
    // Some servers don't support HEAD, or send no validators with it.
    let response = request("GET", url, headers)?;
    check_status(url, &response)?;
    if let Some(tag) = tag_of(response.headers()) {
        return Ok(tag);
    }
    let mut body = body_of(response, DOWNLOAD_BYTES_MAX);
    copy_hashed(&mut body, &mut io::sink()).map_err(|cause| {
        Error::new(Code::Source, format!("the download of `{}` broke off: {cause}", shown(url))).with_source(cause)
    })
}

/// Returns a client that follows so many redirects and waits no longer than downloads may take.
pub(crate) fn agent(redirects: u32) -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(redirects)
        .timeout_connect(Some(Duration::from_secs(DOWNLOAD_CONNECT_S_MAX)))
        .timeout_recv_response(Some(Duration::from_secs(DOWNLOAD_SILENCE_S_MAX)))
        .timeout_per_read(Some(Duration::from_secs(DOWNLOAD_SILENCE_S_MAX)))
        .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
        .build()
        .new_agent()
}

/// Returns a reader of the body, which fails beyond `bytes_max` bytes, and when the sender is too slow.
pub(crate) fn body_of(response: Response<ureq::Body>, bytes_max: u64) -> impl Read {
    Paced::new(response.into_body().into_with_config().limit(bytes_max).reader())
}

fn request(method: &str, url: &str, headers: &[(String, String)]) -> Result<Response<ureq::Body>> {
    let mut builder = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        builder = builder.header(name, value);
    }
    let request = builder.body(()).map_err(|cause| {
        Error::new(Code::Source, format!("can't ask for `{}`: {cause}", shown(url)))
            .with_hint("check the URL and `headers`")
            .with_source(cause)
    })?;
    agent(DOWNLOAD_REDIRECTS_MAX).run(request).map_err(|cause| {
        Error::new(Code::Source, format!("can't reach `{}`: {cause}", shown(url)))
            .with_hint("check the URL, the network and that the server runs")
            .with_source(cause)
    })
}

fn check_status(url: &str, response: &Response<ureq::Body>) -> Result<()> {
    let status = response.status();
    if status == StatusCode::PARTIAL_CONTENT {
        return Err(Error::new(Code::Source, format!("`{}` answers a part that nobody asked for", shown(url)))
            .with_hint("a cache or a proxy on the way may be broken; the whole file is 200"));
    }
    if status.is_success() {
        return Ok(());
    }
    let hint = match status.as_u16() {
        401 | 403 => "the server wants authorization: set it in `headers`",
        404 | 410 => "check the path of the URL",
        429 | 500..=599 => "the server has trouble; try again later",
        _ => "check the URL",
    };
    Err(Error::new(Code::Source, format!("`{}` answers {status}", shown(url))).with_hint(hint))
}

fn tag_of(headers: &HeaderMap) -> Option<Version> {
    let text = |name: &str| headers.get(name).map(|value| value.as_bytes().to_vec());
    match (text("etag"), text("last-modified")) {
        (Some(etag), _) => Some(Version::of(&("etag", etag))),
        (None, Some(date)) => Some(Version::of(&("date", date, text("content-length")))),
        (None, None) => None,
    }
}

fn format_of(headers: &HeaderMap) -> Option<SourceFormat> {
    let media_type = headers.get("content-type")?.to_str().ok()?.split(';').next()?.trim().to_ascii_lowercase();
    Some(match media_type.as_str() {
        "text/csv" | "application/csv" => SourceFormat::Csv,
        "text/tab-separated-values" => SourceFormat::Tsv,
        "application/json" => SourceFormat::Json,
        "application/geo+json" | "application/geo+json-seq" => SourceFormat::GeoJson,
        "application/x-ndjson" | "application/jsonl" | "application/ndjson" => SourceFormat::NdJson,
        "application/vnd.apache.parquet" => SourceFormat::Parquet,
        "application/vnd.apache.arrow.file" => SourceFormat::ArrowFile,
        "application/vnd.apache.arrow.stream" => SourceFormat::ArrowStream,
        "application/vnd.ms-excel"
        | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        | "application/vnd.oasis.opendocument.spreadsheet" => SourceFormat::Sheet,
        _ => return None,
    })
}

/// Standard input can be read only once, but a dataset may be loaded again.
static STDIN: Mutex<Stdin> = Mutex::new(Stdin::Unread);

/// The state of standard input.
enum Stdin {
    Unread,
    Kept(Fetched),
    /// Part of it is lost; the rest must not be taken for the whole.
    Broken(String),
}

/// Returns everything on standard input, read on the first call and kept until the process ends.
pub(crate) fn stdin(data_dir: &Path) -> Result<Fetched> {
    let mut state = STDIN.lock().unwrap_or_else(PoisonError::into_inner);
    once(&mut state, &mut io::stdin().lock(), data_dir)
}

fn once(state: &mut Stdin, from: &mut dyn Read, data_dir: &Path) -> Result<Fetched> {
    let broken = |cause: &str| {
        Error::new(Code::Source, format!("can't read standard input: {cause}"))
            .with_hint("start again: what was read of it is gone")
    };
    match state {
        Stdin::Kept(fetched) => return Ok(fetched.clone()),
        Stdin::Broken(cause) => return Err(broken(cause)),
        Stdin::Unread => {}
    }
    let dir = Arc::new(scratch(data_dir)?);
    let path = dir.path().join("stdin");
    // The state if reading panics.
    *state = Stdin::Broken("reading it broke off".to_owned());
    match spool(from, &path) {
        Ok(tag) => {
            let fetched = Fetched { path, tag, format: None, dir };
            *state = Stdin::Kept(fetched.clone());
            Ok(fetched)
        }
        Err(cause) => {
            *state = Stdin::Broken(cause.to_string());
            Err(broken(&cause.to_string()).with_source(cause))
        }
    }
}

/// Creates a new directory below `data_dir`, deleted when dropped.
pub(crate) fn scratch(data_dir: &Path) -> Result<TempDir> {
    std::fs::create_dir_all(data_dir)
        .and_then(|()| tempfile::Builder::new().prefix("dataset-").tempdir_in(data_dir))
        .map_err(|cause| {
            Error::new(Code::Source, format!("can't write in `{}`: {cause}", data_dir.display()))
                .with_hint("set `--data-dir` to a directory that may be written")
                .with_source(cause)
        })
}

/// Writes everything to a file and returns the version of the content.
pub(crate) fn spool(from: &mut dyn Read, to: &Path) -> io::Result<Version> {
    let mut file = File::create(to)?;
    let tag = copy_hashed(from, &mut file)?;
    file.flush()?;
    Ok(tag)
}

fn copy_hashed(from: &mut dyn Read, to: &mut dyn Write) -> io::Result<Version> {
    // `DefaultHasher::new` has fixed keys: the version must be the same after a restart.
    let mut hasher = std::hash::DefaultHasher::new();
    let mut length = 0_u64;
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) => return Err(cause),
        };
        hasher.write(&buffer[..count]);
        length += count as u64;
        to.write_all(&buffer[..count])?;
    }
    Ok(Version::of(&("bytes", length, hasher.finish())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails once, then goes on reading.
    struct Hiccup(u8);

    impl Read for Hiccup {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0 += 1;
            match self.0 {
                1 | 3 => {
                    buffer[..4].copy_from_slice(b"a\n1\n");
                    Ok(4)
                }
                2 => Err(io::Error::other("gone")),
                _ => Ok(0),
            }
        }
    }

    #[test]
    fn half_of_standard_input_is_never_the_whole() {
        let dir = tempfile::tempdir().expect("a directory");
        let (mut state, mut from) = (Stdin::Unread, Hiccup(0));
        for _ in 0..2 {
            let error = once(&mut state, &mut from, dir.path()).expect_err("it broke off");
            assert!(error.message.contains("gone"), "{error:?}");
        }
        let (mut state, mut from) = (Stdin::Unread, &b"a\n1\n"[..]);
        let first = once(&mut state, &mut from, dir.path()).expect("read");
        let second = once(&mut state, &mut from, dir.path()).expect("kept");
        assert_eq!((first.tag, first.path), (second.tag, second.path));
    }
}
