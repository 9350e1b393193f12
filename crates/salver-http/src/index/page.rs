//! The index as a page: every table with its columns, its first rows and URLs to try. A single file without scripts.

use std::fmt::Write;

use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::html;
use salver_model::{Batches, Item, Permission, Query, Result};
use salver_service::{Entry, Snapshot};
use salver_text::percent;

use crate::body::Body;
use crate::exit;
use crate::page_ways;
use crate::redaction;
use crate::request_context::RequestContext;

/// Rows shown per table.
const ROWS: u64 = 5;
/// Tables whose rows are shown; of further ones only the head is.
const TABLES: usize = 50;
/// Columns shown per table.
const COLUMNS: usize = 64;
/// Characters shown per value.
const CELL_CHARS: usize = 80;
/// Length of the page from which on tables are shown without rows, in bytes.
const SAMPLED_BYTES: usize = 80 * 1024;
/// Length of the page from which on further tables are only counted, in bytes.
const LISTED_BYTES: usize = 92 * 1024;

const STYLE: &str = "\
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:72rem;padding:0 1rem;color:#1c2430;background:#fff}\
h1{font-size:1.6rem;margin:0}h2{font-size:1.15rem;margin:2.2rem 0 .2rem}a{color:#0b5cad}\
.meta{color:#5b6675;margin:.1rem 0 .6rem}.failed{color:#a40000}.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-size:.87rem}th,td{border:1px solid #d5dbe3;padding:.25rem .55rem;text-align:left;\
white-space:nowrap;max-width:24rem;overflow:hidden;text-overflow:ellipsis}th{background:#f3f6f9}\
th small{display:block;font-weight:normal;color:#5b6675}code{background:#f3f6f9;padding:.1rem .3rem}\
@media(prefers-color-scheme:dark){body{background:#14181d;color:#dde3ea}a{color:#7ab8ff}th,code{background:#1f262e}\
th,td{border-color:#333d48}.meta,th small{color:#98a4b3}.failed{color:#ff8a80}}";

/// Responds with the page, or leads on to the rows that the form of another page asks for.
pub(crate) async fn answer(context: &RequestContext<'_>) -> Result<Response<Body>> {
    if let Some(response) = page_ways::lead(context)? {
        return Ok(response);
    }
    let snapshot = context.app.service.snapshot_settled(context.caller, Permission::Read).await;
    let base = &context.app.options.base_path;
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <title>Salver</title><style>{STYLE}</style><h1>Salver</h1><p class=meta>{} tables over REST, \
         <a href=\"{base}/api/sql?q=select%20table_name%20from%20information_schema.tables\">SQL</a> and \
         <a href=\"{base}/api/graphql\">GraphQL</a> · <a href=\"{base}/api/schema\">schemas</a> · \
         <a href=\"{base}/ready\">state</a></p>",
        snapshot.entries().count(),
    );
    let count = snapshot.entries().count();
    for (index, entry) in snapshot.entries().enumerate() {
        let mut head = String::new();
        section(&mut head, base, entry);
        if page.len() + head.len() > LISTED_BYTES {
            let _ = write!(page, "<p class=meta>… and {} more: <a href=\"{base}/ready\">all</a></p>", count - index);
            break;
        }
        page.push_str(&head);
        if entry.table().is_some() && index < TABLES && page.len() < SAMPLED_BYTES {
            let mut rows = String::new();
            // A table whose rows can't be read still has its head; the error shows when its rows are requested.
            let is_read = sample(&mut rows, context, &snapshot, entry).await.is_ok();
            if is_read && page.len() + rows.len() < SAMPLED_BYTES {
                page.push_str(&rows);
            }
        }
    }
    let mut response = exit::reply(StatusCode::OK, Body::Full(page.into()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

fn section(page: &mut String, base: &str, entry: &Entry) {
    let name = entry.name.as_str();
    let path = format!("{base}/api/tables/{}", percent::encode(name));
    let _ = write!(page, "<h2 id=\"{}\">{}</h2>", html::attribute(name), html::content(name));
    if let Some(failure) = entry.failure() {
        page.push_str("<p class=failed>");
        page.push_str(&html::content(&redaction::text(&failure.message)));
        if let Some(hint) = &failure.hint {
            page.push_str(" — ");
            page.push_str(&html::content(&redaction::text(hint)));
        }
        page.push_str("</p>");
    }
    let Some(table) = entry.table() else {
        if entry.failure().is_none() {
            page.push_str("<p class=meta>is being loaded</p>");
        }
        return;
    };
    let description = table.describe();
    page.push_str("<p class=meta>");
    if let Some(rows) = description.rows {
        let _ = write!(page, "{rows} rows · ");
    }
    page.push_str(&html::content(&redaction::text(&description.source)));
    let first = description.schema.fields().first().map_or("", |field| field.name().as_str());
    let first = percent::encode(first);
    for (label, target) in [
        ("rows", path.clone()),
        ("JSON", format!("{path}.json?limit=10")),
        ("CSV", format!("{path}.csv")),
        ("Parquet", format!("{path}.parquet")),
        ("sorted", format!("{path}?sort=-{first}&limit=10")),
        ("not null", format!("{path}?filter[{first}]null=false&limit=10")),
        ("schema", format!("{base}/api/schema/{}", percent::encode(name))),
    ] {
        let _ = write!(page, " · <a href=\"{}\">{label}</a>", html::attribute(&target));
    }
    page.push_str("</p>");
}

/// Writes the first rows as a table, with the types below the column names.
async fn sample(page: &mut String, context: &RequestContext<'_>, snapshot: &Snapshot, entry: &Entry) -> Result<()> {
    let Some(table) = entry.table() else { return Ok(()) };
    let fields = table.describe().schema.fields();
    let more = fields.len().saturating_sub(COLUMNS);
    // Only the columns that are shown are read: a table may have thousands.
    let items = fields.iter().take(COLUMNS).map(|field| Item::column(field.name().as_str()));
    let query = Query { items: items.collect(), limit: Some(ROWS), ..Query::default() };
    let rows = context.app.service.read(context.caller, snapshot, entry.name.as_str(), &query).await?;
    let batches = match rows.batches {
        Batches::Ready(batches) => batches,
        Batches::Stream(stream) => stream.try_collect().await?,
    };
    page.push_str("<div class=scroll><table><tr>");
    for field in rows.schema.fields() {
        let (name, data_type) = (html::content(field.name()), html::content(&field.data_type().to_string()));
        let _ = write!(page, "<th>{name}<small>{data_type}</small>");
    }
    if more > 0 {
        let _ = write!(page, "<th>{more} more");
    }
    let options = FormatOptions::default().with_display_error(true);
    for batch in &batches {
        let cells: Vec<_> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column.as_ref(), &options).ok()).collect();
        for row in 0..batch.num_rows() {
            page.push_str("<tr>");
            for cell in &cells {
                page.push_str("<td>");
                if let Some(cell) = cell {
                    let mut text = String::new();
                    // Fails early where the value is long.
                    let _ = write!(Short { text: &mut text, left: CELL_CHARS }, "{}", cell.value(row));
                    page.push_str(&html::content(&text));
                }
            }
        }
    }
    page.push_str("</table></div>");
    Ok(())
}

/// A writer of the beginning of a value.
struct Short<'a> {
    text: &'a mut String,
    /// Number of characters that may still be written.
    left: usize,
}

impl Write for Short<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        let end = text.char_indices().nth(self.left).map_or(text.len(), |(end, _)| end);
        self.text.push_str(&text[..end]);
        if end < text.len() {
            self.text.push('…');
            return Err(std::fmt::Error);
        }
        self.left -= text.chars().count();
        Ok(())
    }
}
