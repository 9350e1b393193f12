//! An HTML page with one table: it needs no scripts, and can be read while it still loads.

use arrow::datatypes::Schema;

use crate::column::Column;
use crate::escape;
use crate::html;
use crate::style::{FilterForm, Navigation, Style};

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>";

const STYLE: &str = "</title>\n<style>\n\
    :root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }\n\
    body { margin: 1.5rem; }\n\
    h1 { font-size: 1.25rem; font-weight: 600; }\n\
    table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n\
    th, td { padding: .25rem .6rem; border-bottom: 1px solid #8884; text-align: left; vertical-align: top; }\n\
    th { position: sticky; top: 0; background: Canvas; white-space: nowrap; }\n\
    th small { display: block; font-weight: 400; opacity: .65; }\n\
    td { max-width: 40rem; overflow-wrap: break-word; }\n\
    p { opacity: .65; }\n\
    th a { color: inherit; }\n\
    nav, form { margin: .6rem 0; }\n\
    nav a { margin-right: 1rem; }\n\
    td.number { text-align: right; white-space: nowrap; }\n\
    td.null::after { content: \"null\"; opacity: .45; font-style: italic; }\n\
    tbody tr:hover { background: #8881; }\n\
    </style>\n</head>\n<body>\n";

/// The frame around the rows.
#[derive(Debug)]
pub(super) struct Page {
    title: String,
    note: String,
    cell_bytes: Option<usize>,
    navigation: Option<Box<Navigation>>,
}

impl Page {
    pub(super) fn new(style: &Style) -> Self {
        Self {
            title: style.title.clone(),
            note: style.note.clone(),
            cell_bytes: style.cell_bytes,
            navigation: style.navigation.clone(),
        }
    }

    pub(super) fn begin(&self, schema: &Schema, out: &mut Vec<u8>) {
        out.extend_from_slice(HEAD.as_bytes());
        let title = if self.title.is_empty() { "Rows".into() } else { html::undirected(&self.title) };
        escape::html(title.as_bytes(), out);
        out.extend_from_slice(STYLE.as_bytes());
        if !self.title.is_empty() {
            out.extend_from_slice(b"<h1>");
            content(&self.title, out);
            out.extend_from_slice(b"</h1>\n");
        }
        if !self.note.is_empty() {
            out.extend_from_slice(b"<p>");
            content(&self.note, out);
            out.extend_from_slice(b"</p>\n");
        }
        if let Some(navigation) = &self.navigation {
            ways(navigation, schema, out);
        }
        out.extend_from_slice(b"<table>\n<thead>\n<tr>");
        for (at, field) in schema.fields().iter().enumerate() {
            out.extend_from_slice(b"<th scope=\"col\">");
            let sorted = self.navigation.as_ref().and_then(|navigation| navigation.sorts.get(at)?.as_deref());
            link(sorted, field.name(), out);
            out.extend_from_slice(b"<small>");
            let start = out.len();
            escape::html(field.data_type().to_string().as_bytes(), out);
            self.cut(start, out);
            html::isolate(start, out);
            out.extend_from_slice(b"</small></th>");
        }
        out.extend_from_slice(b"</tr>\n</thead>\n<tbody>\n");
    }

    /// Writes rows. A null is an empty cell whose text comes from the style sheet, so that it is not copied.
    pub(super) fn rows(&self, columns: &[Column<'_>], rows: usize, out: &mut Vec<u8>) {
        for row in 0..rows {
            out.extend_from_slice(b"<tr>");
            for column in columns {
                out.extend_from_slice(match column {
                    _ if column.is_null(row) => b"<td class=\"null\">".as_slice(),
                    _ if column.is_numeric() => b"<td class=\"number\">",
                    _ => b"<td>",
                });
                let start = out.len();
                column.html(row, out);
                self.cut(start, out);
                html::isolate(start, out);
                out.extend_from_slice(b"</td>");
            }
            out.extend_from_slice(b"</tr>\n");
        }
    }

    /// Cuts off the end of a text that begins at `start` and is longer than cells may be, between characters.
    fn cut(&self, start: usize, out: &mut Vec<u8>) {
        let Some(end) = self.cell_bytes.map(|most| start + most).filter(|end| *end < out.len()) else { return };
        let is_inside = |byte: &u8| byte & 0xC0 == 0x80;
        let mut end = (start..=end).rev().find(|at| !is_inside(&out[*at])).unwrap_or(start);
        // A reference like `&amp;` stays whole.
        if let Some(at) = out[start..end].iter().rposition(|byte| matches!(byte, b'&' | b';'))
            && out[start + at] == b'&'
        {
            end = start + at;
        }
        out.truncate(end);
        out.extend_from_slice("…".as_bytes());
    }

    pub(super) fn end(out: &mut Vec<u8>) {
        out.extend_from_slice(b"</tbody>\n</table>\n</body>\n</html>\n");
    }
}

/// Writes the links to the pages around this one, and the form for a condition.
fn ways(navigation: &Navigation, schema: &Schema, out: &mut Vec<u8>) {
    let Navigation { before, after, all, form, .. } = navigation;
    let links = [(before, "Rows before"), (after, "Rows after"), (all, "All rows")];
    if links.iter().any(|(url, _)| url.is_some()) {
        out.extend_from_slice(b"<nav aria-label=\"Pages\">");
        for (url, label) in links {
            if url.is_some() {
                link(url.as_deref(), label, out);
            }
        }
        out.extend_from_slice(b"</nav>\n");
    }
    if let Some(form) = form {
        filter_form(form, schema, out);
    }
}

fn filter_form(form: &FilterForm, schema: &Schema, out: &mut Vec<u8>) {
    let mut put = |text: &str| out.extend_from_slice(text.as_bytes());
    put("<form action=\"");
    put(&html::attribute(&form.action));
    put("\">");
    for (name, value) in &form.hidden {
        put(&format!("<input type=\"hidden\" name=\"{name}\" value=\"{}\">", html::attribute(value)));
    }
    put("<select name=\"column\" aria-label=\"Column\">");
    for field in schema.fields() {
        let name = html::attribute(field.name());
        put(&format!("<option value=\"{name}\">{}</option>", html::attribute(&html::undirected(field.name()))));
    }
    put("</select> <select name=\"comparison\" aria-label=\"Comparison\">");
    for (comparison, label) in form.comparisons {
        put(&format!("<option value=\"{comparison}\">{label}</option>"));
    }
    put("</select> <input name=\"value\" aria-label=\"Value\"> <button>Filter</button></form>\n");
}

/// Writes text, as a link if it leads anywhere.
fn link(url: Option<&str>, text: &str, out: &mut Vec<u8>) {
    if let Some(url) = url {
        out.extend_from_slice(b"<a href=\"");
        out.extend_from_slice(html::attribute(url).as_bytes());
        out.extend_from_slice(b"\">");
    }
    content(text, out);
    if url.is_some() {
        out.extend_from_slice(b"</a>");
    }
}

/// Writes text as the content of an element.
fn content(text: &str, out: &mut Vec<u8>) {
    let start = out.len();
    escape::html(text.as_bytes(), out);
    html::isolate(start, out);
}
