//! `GET /api/export/{name}[.ext]`: all rows of an entry in one body, or the rest of a body that was interrupted.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use salver_formats::{Coding, Encoder, Format};
use salver_model::ports::{Held, HeldFile};
use salver_model::{Code, Error, Permission, Result, Version};
use salver_service::{Service, Snapshot};

use super::body_encoder::{Work, is_repeatable, too_many_rows};
use super::count_header;
use super::file;
use super::outlet::Sink;
use super::params::{ExportParams, Parameters, split};
use super::range::RangeRequest;
use super::resume;
use super::source::HeldRows;
use crate::app::App;
use crate::body::{self, Body, Broken, Encoding};
use crate::conditional;
use crate::dialect::Refusal;
use crate::exit;
use crate::export_state::{ExportToken, Measured, Tag};
use crate::refuse::observed;
use crate::request_context::RequestContext;

/// The query parameters.
const PARAMETERS: [&str; 2] = ["columns", "format"];

/// A body to be encoded.
struct Export<'a> {
    app: &'a Arc<App>,
    context: &'a RequestContext<'a>,
    ask: ExportParams,
    held: Arc<dyn Held>,
    /// The file with exactly these bytes, if there is one.
    file: Option<Arc<dyn HeldFile>>,
    encoding: Encoding,
    /// The entity tag; `None` when the same rows may not be available again.
    tag: Option<Tag>,
}

/// Handles an export of an entry.
pub(super) async fn answer(
    app: &Arc<App>,
    context: &RequestContext<'_>,
    target: &str,
) -> Result<Response<Body>, Refusal> {
    let service = &app.service;
    let (name, suffix) = split(&service.snapshot(context.caller, Permission::Export), target);
    let snapshot = service.snapshot_with(context.caller, Permission::Export, name).await;
    let description = snapshot.resolve(name)?.describe();
    let parameters = Parameters::of(context, &PARAMETERS)?;
    let ask = ExportParams::read(context, &parameters, description, suffix)?;
    if *context.method == Method::HEAD && !description.kind.is_fixed() {
        return Ok(head_of_table(context, &ask, name));
    }
    let wish = RangeRequest::of(context.headers).filter(|_| *context.method == Method::GET);
    let held = held_for(service, &snapshot, name, context, wish.is_some()).await?;
    let file = file::of(&held, &ask).await?;
    let export = Export::new(app, context, (ask, held, file), wish.is_some());
    if let Some(tag) = &export.tag
        && context.if_none_match().is_some_and(|known| conditional::matches(&known, &tag.header()))
    {
        return Ok(export.not_modified(tag));
    }
    export.check()?;
    let bound = context.caller.limits.rows(service.limits().rows_max);
    if export.held.describe().rows.is_some_and(|rows| bound.is_exceeded_by(rows)) {
        return Err(too_many_rows(bound).into());
    }
    match (wish, export.tag) {
        (Some(wish), Some(tag)) if export.may_resume() => export.part(wish, tag).await,
        _ => Ok(export.whole()),
    }
}

/// Takes a snapshot of the rows: at the version named by `If-Range` when that is still available, else at the current
/// one.
async fn held_for(
    service: &Service,
    snapshot: &Snapshot,
    name: &str,
    context: &RequestContext<'_>,
    is_resumed: bool,
) -> Result<Arc<dyn Held>> {
    let description = snapshot.resolve(name)?.describe();
    let had = context.header(header::IF_RANGE).and_then(Tag::read).map(|tag| tag.content);
    if is_resumed
        && description.kind.is_fixed()
        && let Some(version) = had.filter(|version| *version != description.version)
        && let Some(held) = service.hold_at(context.caller, (snapshot, name), version, 1).await?
    {
        return Ok(held);
    }
    service.hold(context.caller, snapshot, name, 1).await
}

/// Responds to HEAD for a table without taking a snapshot.
fn head_of_table(context: &RequestContext<'_>, ask: &ExportParams, name: &str) -> Response<Body> {
    let mut response = exit::empty(StatusCode::OK);
    let coding = context.encoding(ask.choice.format, name).coding;
    describe(response.headers_mut(), ask.choice.media_type, coding, None);
    response
}

impl<'a> Export<'a> {
    fn new(
        app: &'a Arc<App>,
        context: &'a RequestContext<'a>,
        (ask, held, file): (ExportParams, Arc<dyn Held>, Option<Arc<dyn HeldFile>>),
        is_part: bool,
    ) -> Self {
        let mut encoding = context.encoding(ask.choice.format, held.describe().name.as_str());
        // Ranges refer to the uncompressed body, since compressed bytes differ each time. A file is compressed already.
        if file.is_some() || (is_part && held.describe().kind.is_fixed() && is_repeatable(ask.choice.format)) {
            encoding.coding = Coding::Identity;
        }
        let how = if file.is_some() { "file" } else { encoding.coding.token() };
        let (content, is_fixed) = (held.describe().version, held.describe().kind.is_fixed());
        let tag = is_fixed.then(|| Tag { content, shape: Self::shape(context, &ask, how, &encoding) });
        Self { app, context, ask, held, file, encoding, tag }
    }

    fn shape(context: &RequestContext<'_>, ask: &ExportParams, how: &str, encoding: &Encoding) -> Version {
        Version::of(&(ask.shape(context, how), &encoding.style.title))
    }

    /// Refuses columns whose types the format does not support, and more rows than it holds, before the status line is
    /// sent.
    fn check(&self) -> Result<()> {
        if self.file.is_some() {
            return Ok(());
        }
        Encoder::check(self.encoding.format, &self.held.schema_of(&self.ask.columns))?;
        self.held.describe().rows.map_or(Ok(()), |rows| Encoder::check_rows(self.encoding.format, rows))
    }

    /// Returns whether a range may be served: `If-Range` is missing or names this body.
    fn may_resume(&self) -> bool {
        let Some(tag) = self.tag.filter(|_| self.is_divisible()) else { return false };
        match self.context.headers.get(header::IF_RANGE) {
            None => true,
            Some(given) => given.to_str().ok().and_then(Tag::read) == Some(tag),
        }
    }

    /// Returns whether ranges of the body are supported.
    fn is_divisible(&self) -> bool {
        self.file.is_some()
            || (self.tag.is_some() && self.encoding.coding == Coding::Identity && is_repeatable(self.encoding.format))
    }

    fn not_modified(&self, tag: &Tag) -> Response<Body> {
        let mut headers = HeaderMap::with_capacity(5);
        describe(&mut headers, self.ask.choice.media_type, self.encoding.coding, Some(tag));
        exit::not_modified(
            [header::VARY, header::CACHE_CONTROL, header::ETAG]
                .into_iter()
                .filter_map(|name| headers.remove(&name).map(|value| (name, value))),
        )
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(10);
        describe(&mut headers, self.ask.choice.media_type, self.encoding.coding, self.tag.as_ref());
        let ranges = if self.is_divisible() { "bytes" } else { "none" };
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static(ranges));
        headers
    }

    fn work(&self) -> Work {
        Work::all(
            self.app,
            self.context.caller,
            Arc::clone(&self.held),
            self.ask.columns.clone(),
            self.encoding.clone(),
        )
    }

    /// Responds with the whole body.
    fn whole(&self) -> Response<Body> {
        let mut headers = self.headers();
        if let Some(rows) = self.held.describe().rows {
            count_header(&mut headers, "salver-rows", rows);
        }
        let known = self.tag.filter(|_| self.is_divisible()).and_then(|tag| self.app.exports.measures.get(&tag));
        let says_rows = takes_trailers(self.context) && self.file.is_none();
        let bytes = self.file.as_ref().map(|file| file.bytes()).or(known.map(|known| known.bytes));
        if *self.context.method == Method::HEAD {
            if let Some(bytes) = bytes {
                headers.insert(header::CONTENT_LENGTH, HeaderValue::from(bytes));
            }
            return answer_with(StatusCode::OK, headers, Body::Full(Bytes::new()));
        }
        if says_rows {
            headers.insert(header::TRAILER, HeaderValue::from_static("salver-rows"));
        }
        let body = match &self.file {
            Some(file) => file::body(self.app, file, 0, file.bytes()),
            // The fast path, when only rows are needed: no trailer, no length to learn, no Parquet.
            None if !says_rows && bytes.is_none() && self.encoding.format != Format::Parquet => {
                let work = self.work();
                let schema = work.held.schema_of(&work.columns);
                body::rows(schema, HeldRows::behind(&work, 0), self.encoding.clone(), observed(self.app))
            }
            None => {
                let tag = self.tag.filter(|_| self.is_divisible());
                // A body with a `Content-Length` can't be followed by trailers.
                let bytes = bytes.filter(|_| !says_rows);
                made_whole(self.app, self.work(), bytes, Ending { skip: 0, says_rows, tag, keeps: None })
            }
        };
        answer_with(StatusCode::OK, headers, body)
    }

    /// Responds with the requested range of the body.
    async fn part(&self, wish: RangeRequest, tag: Tag) -> Result<Response<Body>, Refusal> {
        let measured = match &self.file {
            Some(_) => None,
            None => Some(self.app.exports.measures.find(tag, measure(self.work())).await?),
        };
        let total = match (&self.file, &measured) {
            (Some(file), _) => file.bytes(),
            (None, Some(measured)) => measured.bytes,
            (None, None) => 0,
        };
        let Some((first, end)) = wish.within(total) else { return Err(self.unsatisfiable(total)) };
        let mut headers = self.headers();
        headers.insert(header::CONTENT_RANGE, text(format!("bytes {first}-{}/{total}", end - 1)));
        let body = match (&self.file, measured) {
            (Some(file), _) => file::body(self.app, file, first, end),
            (None, measured) => self.made_part(measured.as_deref(), first, end),
        };
        Ok(answer_with(StatusCode::PARTIAL_CONTENT, headers, body))
    }

    fn made_part(&self, measured: Option<&Measured>, first: u64, end: u64) -> Body {
        let mark = measured.filter(|_| self.encoding.format.is_text()).and_then(|known| known.before(first));
        let (byte, row) = mark.unwrap_or((0, 0));
        // The header before the first row belongs to it.
        let (byte, row) = if row == 0 { (0, 0) } else { (byte, row) };
        let work = self.work().behind(row);
        body::made(Some(end - first), observed(self.app), |outlet| async move {
            let mut sink = Sink::part(outlet, first - byte, end - first);
            work.run(&mut sink).await?;
            if let (Some(outlet), _) = sink.finish().await? {
                outlet.end(None);
            }
            Ok(())
        })
    }

    fn unsatisfiable(&self, total: u64) -> Refusal {
        let name = &self.held.describe().name;
        let error = Error::new(
            Code::InvalidRequest,
            format!("this body of `{name}` has {total} bytes, none of them in this range"),
        )
        .with_hint("a body that is whole already needs no more; another one begins at `bytes=0-`");
        Refusal::from(error)
            .with_status(StatusCode::RANGE_NOT_SATISFIABLE)
            .with_header(header::CONTENT_RANGE, format!("bytes */{total}"))
            .with_header(header::ACCEPT_RANGES, "bytes")
    }
}

/// Returns whether the client accepts trailers.
pub(super) fn takes_trailers(context: &RequestContext<'_>) -> bool {
    let Some(list) = context.header_list(header::TE) else { return false };
    list.split(',').any(|part| part.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("trailers"))
}

/// The actions at the end of a body that was encoded in full.
pub(super) struct Ending {
    /// Number of bytes to skip at the beginning.
    pub(super) skip: u64,
    /// Whether the number of rows is sent as a trailer.
    pub(super) says_rows: bool,
    /// The tag under which the length is remembered.
    pub(super) tag: Option<Tag>,
    /// The export whose lease is renewed meanwhile.
    pub(super) keeps: Option<ExportToken>,
}

/// Returns a body that is encoded while it is sent; its length is `bytes` when that is known.
pub(super) fn made_whole(app: &Arc<App>, work: Work, bytes: Option<u64>, ending: Ending) -> Body {
    let own = Arc::clone(app);
    body::made(bytes, observed(app), |outlet| async move {
        let _kept = ending.keeps.map(|token| resume::keep_alive(&own, token));
        let mut sink = Sink::whole(outlet, work.encoding.coding)?.without(ending.skip);
        let rows = work.run(&mut sink).await?.unwrap_or(0);
        let (outlet, measured) = sink.finish().await?;
        if let Some(tag) = ending.tag {
            own.exports.measures.put(tag, measured);
        }
        if let Some(outlet) = outlet {
            outlet.end(ending.says_rows.then(|| HeaderMap::from_iter([rows_trailer(rows)])));
        }
        Ok(())
    })
}

fn rows_trailer(rows: u64) -> (http::HeaderName, HeaderValue) {
    (http::HeaderName::from_static("salver-rows"), HeaderValue::from(rows))
}

/// Encodes a body without sending it, to measure it.
async fn measure(work: Work) -> Result<Measured> {
    let mut sink = Sink::counting();
    let made = async {
        work.run(&mut sink).await?;
        sink.finish().await
    };
    match made.await {
        Ok((_, measured)) => Ok(measured),
        Err(Broken::Failed(error)) => Err(error),
        Err(Broken::Gone) => Err(Error::internal("the client left before the body was complete")),
    }
}

fn answer_with(status: StatusCode, headers: HeaderMap, body: Body) -> Response<Body> {
    let mut response = exit::reply(status, body);
    *response.headers_mut() = headers;
    response
}

/// Sets the headers common to all bodies.
fn describe(headers: &mut HeaderMap, media_type: &'static str, coding: Coding, tag: Option<&Tag>) {
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::VARY, HeaderValue::from_static("accept, accept-encoding"));
    if coding != Coding::Identity {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.token()));
    }
    let caching = if tag.is_some() { "no-cache" } else { "no-store" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag.header());
    }
}

fn text(text: String) -> HeaderValue {
    HeaderValue::try_from(text).unwrap_or_else(|_| HeaderValue::from_static(""))
}
