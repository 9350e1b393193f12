//! Fetches the key set that an issuer of tokens publishes, from a URL or a file.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use salver_model::limits::{JWK_SET_BYTES_MAX, JWK_SET_MS_MAX};
use salver_model::ports::KeySetSource;
use salver_model::{Code, Error, Result};
use tokio::io::AsyncReadExt;
use ureq::Agent;

/// Returns the source at this URL or path.
pub(crate) fn key_set_source(location: &str) -> Arc<dyn KeySetSource> {
    if location.contains("://") {
        Arc::new(UrlKeySet::new(location, "check the URL of `jwt_key_set`"))
    } else {
        Arc::new(KeySetFile { path: PathBuf::from(location) })
    }
}

/// A key set at a URL.
#[derive(Debug)]
pub(crate) struct UrlKeySet {
    url: String,
    /// What to do when it can't be fetched.
    hint: &'static str,
    agent: Agent,
}

impl UrlKeySet {
    pub(crate) fn new(url: &str, hint: &'static str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            // Who publishes keys has no reason to redirect, and a redirect may leave TLS.
            .max_redirects(0)
            .timeout_global(Some(Duration::from_millis(JWK_SET_MS_MAX)))
            .user_agent(concat!("salver/", env!("CARGO_PKG_VERSION")))
            .build()
            .new_agent();
        Self { url: url.to_owned(), hint, agent }
    }
}

#[async_trait]
impl KeySetSource for UrlKeySet {
    async fn fetch(&self) -> Result<Bytes> {
        let (agent, url) = (self.agent.clone(), self.url.clone());
        let failed = {
            let (url, hint) = (url.clone(), self.hint);
            move |why: String| Error::new(Code::Source, format!("`{url}` {why}")).with_hint(hint)
        };
        let ask = move || -> Result<Bytes, String> {
            let broken = |cause: ureq::Error| format!("can't be fetched: {cause}");
            let mut response = agent.get(&url).header("accept", "application/json").call().map_err(broken)?;
            if response.status().as_u16() != 200 {
                return Err(format!("answers {}", response.status()));
            }
            // One byte more, without which the library does not find the end of a body of this size.
            let body = response.body_mut().with_config().limit(JWK_SET_BYTES_MAX + 1).read_to_vec();
            match body.map_err(broken)? {
                text if text.len() as u64 > JWK_SET_BYTES_MAX => {
                    Err(format!("has more than {JWK_SET_BYTES_MAX} bytes"))
                }
                text => Ok(Bytes::from(text)),
            }
        };
        match tokio::task::spawn_blocking(ask).await {
            Ok(fetched) => fetched.map_err(failed),
            Err(broken) => Err(failed("can't be fetched".to_owned()).with_source(broken)),
        }
    }
}

/// A key set in a file.
#[derive(Debug)]
struct KeySetFile {
    path: PathBuf,
}

#[async_trait]
impl KeySetSource for KeySetFile {
    async fn fetch(&self) -> Result<Bytes> {
        let failed = |why: String| {
            Error::new(Code::Source, format!("`{}` {why}", self.path.display()))
                .with_hint("`jwt_key_set` names a URL, or a file that the user of this program may read")
        };
        let unreadable = |error: std::io::Error| failed(format!("can't be read: {error}"));
        if !tokio::fs::metadata(&self.path).await.map_err(unreadable)?.is_file() {
            // A pipe would have no end.
            return Err(failed("is not a file".to_owned()));
        }
        let file = tokio::fs::File::open(&self.path).await.map_err(unreadable)?;
        let mut text = Vec::new();
        file.take(JWK_SET_BYTES_MAX + 1).read_to_end(&mut text).await.map_err(unreadable)?;
        if text.len() as u64 > JWK_SET_BYTES_MAX {
            return Err(failed(format!("has more than {JWK_SET_BYTES_MAX} bytes")));
        }
        Ok(Bytes::from(text))
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::sync::{Arc, Mutex};

    use super::key_set_source;

    #[tokio::test(flavor = "multi_thread")]
    async fn the_contract_of_the_port_for_files() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys.json");
        let source = key_set_source(path.to_str().unwrap());
        let publish = |text: Option<&[u8]>| match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => drop(std::fs::remove_file(&path)),
        };
        salver_testkit::contract::key_set_source::run(&*source, &publish).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_contract_of_the_port_for_urls() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/keys", listener.local_addr().unwrap());
        let published = Arc::new(Mutex::new(None::<Vec<u8>>));
        let served = Arc::clone(&published);
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut asked = [0; 4096];
                let _ = connection.read(&mut asked);
                let body = served.lock().unwrap().clone();
                // A redirect is not followed.
                let status = if body.is_some() { "200 OK" } else { "302 Found\r\nLocation: /other" };
                let body = body.unwrap_or_default();
                let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                let _ = connection.write_all(head.as_bytes()).and_then(|()| connection.write_all(&body));
            }
        });
        let publish = |text: Option<&[u8]>| *published.lock().unwrap() = text.map(<[u8]>::to_vec);
        salver_testkit::contract::key_set_source::run(&*key_set_source(&url), &publish).await;
    }
}
