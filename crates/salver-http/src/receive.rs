//! Takes in the body of a request.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, header};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use salver_model::{Code, Error, Result};

use crate::app::App;

/// Receives the body, as far as it is allowed to go.
pub(crate) async fn whole(app: &App, headers: &HeaderMap, body: Incoming) -> Result<Bytes> {
    let bytes_max = app.service.limits().body_bytes_max;
    let too_large = || {
        Error::new(Code::BodyTooLarge, format!("the body has more than {bytes_max} bytes"))
            .with_hint("send less, or raise `limits.body_bytes_max`")
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|v| v.to_str().ok()).and_then(|v| v.parse().ok());
    if declared.is_some_and(|length: u64| length > bytes_max) {
        return Err(too_large());
    }
    let ms_max = app.service.limits().head_ms_max;
    let receiving = Limited::new(body, usize::try_from(bytes_max).unwrap_or(usize::MAX)).collect();
    match tokio::time::timeout(Duration::from_millis(ms_max), receiving).await {
        Err(_) => Err(Error::new(Code::InvalidBody, format!("the body did not arrive within {ms_max} ms"))
            .with_hint("send it faster, or raise `limits.head_ms_max`")),
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Error::new(Code::InvalidBody, "the body broke off or is malformed").with_source(error)),
    }
}
