//! Ways between pages of rows for browsers without scripts: names of columns that sort, the rows before and after, and
//! a form for a condition. The form leads to `GET /plain`, which leads on to the rows.

use arrow::datatypes::{DataType, Schema};
use http::{HeaderValue, Response, StatusCode, header};
use salver_formats::{FilterForm, Navigation};
use salver_model::{Code, Error, Permission, Result};
use salver_text::percent;

use crate::body::Body;
use crate::exit;
use crate::request_context::{RequestContext, parameters};

/// Comparisons of the form: what stands in its field, and what people read.
const COMPARISONS: [(&str, &str); 9] = [
    ("eq", "is"),
    ("neq", "is not"),
    ("contains", "contains"),
    ("lt", "&lt;"),
    ("lte", "\u{2264}"),
    ("gt", "&gt;"),
    ("gte", "\u{2265}"),
    ("null", "has no value"),
    ("filled", "has a value"),
];

/// Names and values of parameters, in order.
type Parameters = Vec<(String, String)>;

/// What is known of a page before its rows are there.
#[derive(Debug)]
pub(crate) struct PageWays {
    base: String,
    path: String,
    entry: String,
    /// The parameters of the request but for those that say which rows come first.
    kept: Parameters,
    /// The place of the first row, where it is known.
    first: Option<u64>,
    limit: Option<u64>,
    is_grouped: bool,
}

impl PageWays {
    /// Returns the ways from the rows of an entry, the first of which has the place `first`.
    ///
    /// # Errors
    /// For parameters that are no text.
    pub(crate) fn of(
        context: &RequestContext<'_>,
        entry: &str,
        (first, limit): (Option<u64>, Option<u64>),
        is_grouped: bool,
    ) -> Result<Self> {
        let mut kept = parameters(context.query)?;
        kept.retain(|(name, _)| !matches!(name.as_str(), "after" | "offset" | "page"));
        let base = context.app.options.base_path.to_string();
        let path = format!("{base}{}", context.path);
        Ok(Self { base, path, entry: entry.to_owned(), kept, first, limit, is_grouped })
    }

    /// Returns the ways from a page that shows `shown` rows of at most `rows_max`, and not all if it `is_cut`.
    pub(crate) fn navigation(&self, schema: &Schema, (shown, rows_max): (usize, usize), is_cut: bool) -> Navigation {
        let (shown, rows_max) = (shown as u64, rows_max.max(1) as u64);
        let at = |offset: u64| {
            let offset = (offset > 0).then(|| ("offset".to_owned(), offset.to_string()));
            self.url(self.kept.iter().cloned().chain(offset))
        };
        let step = self.limit.unwrap_or(rows_max).clamp(1, rows_max);
        let has_more = is_cut || shown > 0 && self.limit == Some(shown);
        let is_condition = |name: &str| matches!(name, "or" | "and" | "not") || name.starts_with("filter[");
        let without = self.kept.iter().filter(|(name, _)| !is_condition(name)).cloned();
        Navigation {
            sorts: schema.fields().iter().map(|field| self.sorted_by(field.name(), field.data_type())).collect(),
            before: self.first.filter(|first| *first > 0).map(|first| at(first.saturating_sub(step))),
            after: self.first.filter(|_| has_more).map(|first| at(first + shown)),
            all: self.kept.iter().any(|(name, _)| is_condition(name)).then(|| self.url(without)),
            form: (!self.is_grouped && !schema.fields().is_empty()).then(|| self.form()),
        }
    }

    /// Returns the same rows sorted by a column, the other way round if they are already. `None` for names that a sort
    /// would take for something else.
    fn sorted_by(&self, name: &str, data_type: &DataType) -> Option<String> {
        let is_plain = !name.is_empty() && !name.starts_with(['-', '+', ' ']) && !name.contains(['"', '.']);
        if !is_plain || data_type.is_nested() {
            return None;
        }
        let quoted = |name: String| if name.contains(',') { format!("\"{name}\"") } else { name };
        let ascending = quoted(name.to_owned());
        let is_sorted = self.kept.iter().any(|(own, value)| own == "sort" && *value == ascending);
        let sort = if is_sorted { quoted(format!("-{name}")) } else { ascending };
        let others = self.kept.iter().filter(|(own, _)| own != "sort").cloned();
        Some(self.url(others.chain([("sort".to_owned(), sort)])))
    }

    fn form(&self) -> FilterForm {
        let hidden = vec![("entry", self.entry.clone()), ("with", query(self.kept.iter().cloned()))];
        FilterForm { action: format!("{}/plain", self.base), hidden, comparisons: &COMPARISONS }
    }

    fn url(&self, parameters: impl Iterator<Item = (String, String)>) -> String {
        let query = query(parameters);
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }
}

fn query(parameters: impl Iterator<Item = (String, String)>) -> String {
    let pairs = parameters.map(|(name, value)| format!("{}={}", percent::encode(&name), percent::encode(&value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// Leads a browser from the form to the rows that it asks for; `None` if the request has no form.
///
/// # Errors
/// For an entry or a comparison that there is not.
pub(crate) fn lead(context: &RequestContext<'_>) -> Result<Option<Response<Body>>> {
    let sent = parameters(context.query)?;
    let field = |name: &str| sent.iter().find(|(own, _)| own == name).map_or("", |(_, value)| value.as_str());
    let (entry, column) = (field("entry"), field("column"));
    if entry.is_empty() {
        return Ok(None);
    }
    let snapshot = context.app.service.snapshot(context.caller, Permission::Read);
    let schema = &snapshot.resolve(entry)?.describe().schema;
    let is_text = schema.field_with_name(column).is_ok_and(|field| is_text(field.data_type()));
    let (operator, value) = condition(field("comparison"), field("value"), is_text)?;
    let kept = parameters(field("with"))?;
    let all = kept.into_iter().chain([(format!("filter[{column}]{operator}"), value)]);
    let base = &context.app.options.base_path;
    let url = format!("{base}/api/tables/{}?{}", percent::encode(entry), query(all));
    let location = HeaderValue::from_str(&url).map_err(|error| Error::internal("a redirect").with_source(error))?;
    let mut response = exit::empty(StatusCode::SEE_OTHER);
    response.headers_mut().insert(header::LOCATION, location);
    Ok(Some(response))
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        other => matches!(other, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View),
    }
}

/// Returns the operator and the value of a condition in the grammar of `/api/tables`.
fn condition(comparison: &str, value: &str, is_text: bool) -> Result<(&'static str, String)> {
    let Some((comparison, _)) = COMPARISONS.iter().find(|(known, _)| *known == comparison) else {
        let known: Vec<&str> = COMPARISONS.iter().map(|(known, _)| *known).collect();
        return Err(Error::new(Code::InvalidFilter, format!("no comparison `{comparison}`"))
            .with_hint(format!("there are {}", known.join(", "))));
    };
    Ok(match *comparison {
        "contains" => {
            let escaped = value.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            ("ilike", format!("%{escaped}%"))
        }
        "null" => ("null", "true".to_owned()),
        "filled" => ("null", "false".to_owned()),
        operator => (operator, if is_text { quoted(value) } else { value.to_owned() }),
    })
}

/// Returns a text as it stands in a condition: in quotes where it would mean something else without them.
fn quoted(text: &str) -> String {
    let is_plain = !text.is_empty() && text.trim() == text && !text.starts_with('\'');
    if is_plain && !text.eq_ignore_ascii_case("null") {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use arrow::datatypes::{DataType, Field, Schema};

    use super::{PageWays, condition};

    fn ways(kept: &[(&str, &str)], first: Option<u64>, limit: Option<u64>) -> PageWays {
        let kept = kept.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (base, path) = ("/b".to_owned(), "/b/api/tables/t".to_owned());
        PageWays { base, path, entry: "t".to_owned(), kept, first, limit, is_grouped: false }
    }

    #[test]
    fn pages_follow_one_another() {
        let fields = vec![Field::new("a b", DataType::Int32, true), Field::new("-c", DataType::Utf8, true)];
        let schema = Schema::new(fields);
        let first = ways(&[("sort", "a b")], Some(0), None).navigation(&schema, (100, 100), true);
        assert_eq!((first.before, first.all), (None, None));
        assert_eq!(first.after.as_deref(), Some("/b/api/tables/t?sort=a%20b&offset=100"));
        assert_eq!(first.sorts, [Some("/b/api/tables/t?sort=-a%20b".to_owned()), None]);
        let last = ways(&[], Some(150), None).navigation(&schema, (7, 100), false);
        assert_eq!((last.before.as_deref(), last.after), (Some("/b/api/tables/t?offset=50"), None));
        let second = ways(&[("limit", "10"), ("filter[a b]gt", "1")], Some(10), Some(10));
        let second = second.navigation(&schema, (10, 100), false);
        assert_eq!(second.before.as_deref(), Some("/b/api/tables/t?limit=10&filter%5Ba%20b%5Dgt=1"));
        assert_eq!(second.after.as_deref(), Some("/b/api/tables/t?limit=10&filter%5Ba%20b%5Dgt=1&offset=20"));
        assert_eq!(second.all.as_deref(), Some("/b/api/tables/t?limit=10"));
        // Where a cursor says which rows come first, their place is not known.
        let after = ways(&[], None, Some(10)).navigation(&schema, (10, 100), true);
        assert_eq!((after.before, after.after), (None, None));
    }

    #[test]
    fn conditions_mean_what_was_typed() {
        let of = |comparison: &str, value: &str, is_text: bool| condition(comparison, value, is_text).unwrap();
        assert_eq!(of("eq", "5", false), ("eq", "5".to_owned()));
        assert_eq!(of("eq", "null", true), ("eq", "'null'".to_owned()));
        assert_eq!(of("neq", "'x", true), ("neq", "'''x'".to_owned()));
        assert_eq!(of("eq", "", true), ("eq", "''".to_owned()));
        assert_eq!(of("contains", "50%_\\", true), ("ilike", "%50\\%\\_\\\\%".to_owned()));
        assert_eq!(of("filled", "ignored", true), ("null", "false".to_owned()));
        assert!(condition("like", "", true).is_err());
    }
}
