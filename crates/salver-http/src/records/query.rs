//! Parses TreeQL, the query language of PHP-CRUD-API, with Salver's extensions.
//!
//! ```text
//! query     = [ parameter *( "&" parameter ) ]             ; names and values percent-encoded, "+" is a space
//! name      = word [ "[" *any "]" ]                        ; p, p[] and p[3] are the same parameter
//!
//! ; PHP-CRUD-API
//! filter    = "filter" suffix "=" column "," op [ "," value ]      ; repeatable
//! suffix    = *( 1*DIGIT / 1*LETTER )                      ; filter2a is at [2][a] of the tree
//! column    = *( table "." ) name                          ; the tables are joined by foreign keys
//! op        = [ "n" ] ( "cs" / "sw" / "ew" / "eq" / "lt" / "le" / "ge" / "gt" / "bt" / "in" / "is" / spatial )
//! spatial   = "s" ( "co" / "cr" / "di" / "eq" / "in" / "ov" / "to" / "wi" / "ic" / "is" / "iv" )
//! include   = "include=" columns                           ; the first one wins
//! exclude   = "exclude=" columns                           ; the first one wins
//! columns   = item *( "," item )
//! item      = column / table ".*" / "*" / "*.*"
//! order     = "order=" column [ "," ( "asc" / "desc" ) ]   ; repeatable; a related column: Salver's
//! size      = "size=" number                               ; the last one wins
//! page      = "page=" number [ "," number ]                ; number, and size (default 20); the last one wins
//! join      = "join=" table *( "," table )                 ; repeatable, each a path
//! search    = SEARCH "=" text                              ; SEARCH is named by the database entry
//! format    = "format=" ( "json" / "xml" )
//! geo       = "geometry=" name / "bbox=" 4number / "tile=" 3number      ; /geojson only
//!
//! ; Salver
//! strict    = "strict=" boolean
//! after     = "after=" [ token ]                           ; keyset pagination; the response has "next"
//! distinct  = "distinct=" boolean
//! group     = "group=" columns
//! aggregate = "aggregate=" function "," ( column / "*" ) [ "," name ]   ; repeatable
//! function  = "count" / "count_distinct" / "sum" / "avg" / "min" / "max"
//! having    = "having=" name "," op [ "," value ]          ; repeatable, all must hold
//! child     = path "." ( "filter" suffix / "order" / "size" ) "=" ...   ; of the joined rows at path
//! returning = "returning=" columns                         ; writes return rows
//! upsert    = "upsert=" ( "update" / "ignore" )            ; POST
//! conflict  = "on_conflict=" columns                       ; POST: the unique key to check; implies upsert=update
//! affected  = "max_affected=" number                       ; PUT, PATCH, DELETE with filter and without a key
//! load      = "dry_run=" boolean / "keep_good=" boolean / "bytes=" ("base64" / "hex")  ; POST of NDJSON or CSV
//! ```
//!
//! A node of the filter tree is true when all of its own conditions are true and, if it has child nodes, at least one
//! of those is. `filter=A&filter1=B&filter2=C&filter2=D` is A and (B or (C and D)).
//!
//! Like PHP-CRUD-API, this parser ignores anything unknown, unless the request is strict: by `strict=1`, by the
//! database entry, or because it uses one of Salver's parameters. A strict request is refused, with a suggestion, for
//! anything unknown, malformed or without effect. Parameters of `/api/tables` are errors in any case: a client that
//! sends `limit=10` does not expect all rows.

mod extension;
mod filter;
mod parameter_names;
mod relation_paths;

use salver_model::limits::{FILTER_TERMS_MAX, LIST_ITEMS_MAX, PATTERN_BYTES_MAX};
use salver_model::records::{Area, BytesText, GeoQuery, ListPage, Order, RecordQuery};
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result, suggest};

use self::filter::FilterTree;
pub(super) use self::parameter_names::Purpose;
use crate::request_context::parameters;

/// The parsed query string of a request.
#[derive(Debug, Default)]
pub(super) struct RecordParams {
    /// Rows and columns.
    pub(super) query: RecordQuery,
    /// The geometry column, for `/geojson` only.
    pub(super) geometry: Option<String>,
    /// Areas, for `/geojson`.
    pub(super) areas: Vec<Area>,
    /// The columns of changed rows to return.
    pub(super) returning: Option<Vec<String>>,
    /// The conflict policy of POST: `Some(false)` updates existing rows, `Some(true)` leaves them unchanged.
    pub(super) upsert: Option<bool>,
    /// The unique key that detects conflicts.
    pub(super) on_conflict: Vec<String>,
    /// Maximum number of rows that a change by filter may affect.
    pub(super) affected_max: Option<u64>,
    /// Whether a load is a dry run.
    pub(super) dry_run: bool,
    /// Whether a load keeps the valid rows when others are refused.
    pub(super) keep_good: bool,
    /// The encoding of bytes in a load; `None` for the default of its format.
    pub(super) bytes: Option<BytesText>,
}

impl RecordParams {
    /// Converts it to a query of `/geojson`.
    pub(super) fn into_geo(self) -> GeoQuery {
        GeoQuery { query: self.query, geometry: self.geometry, areas: self.areas }
    }
}

/// Parses the query string of a request for `purpose` on `table`.
///
/// # Errors
/// `InvalidRequest` and similar errors for a strict request; names that can't be decoded are always errors.
pub(super) fn read(query: &str, table: &str, purpose: Purpose, spec: &DatabaseSpec) -> Result<RecordParams> {
    let mut ask = RecordParams { query: plain(table, spec), ..RecordParams::default() };
    if query.is_empty() {
        return Ok(ask);
    }
    let parameters = parameters(query)?;
    if parameters.len() > LIST_ITEMS_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("there are {} parameters", parameters.len()))
            .with_hint(format!("use at most {LIST_ITEMS_MAX}; `in` puts many values into one filter")));
    }
    ask.query.strict = is_strict(&parameters, spec)?;
    let mut reader = ParamParser { ask, tree: FilterTree::default(), having: FilterTree::default(), purpose, spec };
    for (name, value) in &parameters {
        if let Some(hint) = parameter_names::foreign(name).filter(|_| spec.search.as_deref() != Some(name.as_str())) {
            let message = format!("`{name}` is not a parameter of `/api/records`");
            return Err(Error::new(Code::InvalidRequest, message).with_hint(hint));
        }
        reader.take(parameter_names::bare(name), value)?;
    }
    reader.finish()
}

/// Returns the query of a request without parameters.
pub(super) fn plain(table: &str, spec: &DatabaseSpec) -> RecordQuery {
    RecordQuery { table: table.to_owned(), strict: spec.strict, ..RecordQuery::default() }
}

/// Returns whether the request is strict.
fn is_strict(parameters: &[(String, String)], spec: &DatabaseSpec) -> Result<bool> {
    let mut strict = spec.strict;
    for (name, value) in parameters {
        match parameter_names::bare(name) {
            "strict" => return boolean("strict", value),
            name => strict |= parameter_names::is_own(name),
        }
    }
    Ok(strict)
}

/// Builds an [`RecordParams`], parameter by parameter.
struct ParamParser<'s> {
    ask: RecordParams,
    tree: FilterTree,
    having: FilterTree,
    purpose: Purpose,
    spec: &'s DatabaseSpec,
}

impl ParamParser<'_> {
    fn take(&mut self, name: &str, value: &str) -> Result<()> {
        let strict = self.ask.query.strict;
        if Some(name) == self.spec.search.as_deref() && self.purpose.knows("search") {
            if value.len() > PATTERN_BYTES_MAX {
                let message = format!("`{name}` looks for at most {PATTERN_BYTES_MAX} bytes of text");
                return Err(Error::new(Code::InvalidRequest, message));
            }
            self.ask.query.search = Some(value.to_owned()).filter(|text| !text.is_empty());
            return Ok(());
        }
        if let Some((path, word)) = parameter_names::of_child(name) {
            if strict && !self.purpose.knows("join") {
                return Err(self.without_meaning(name));
            }
            return extension::child(&mut self.ask.query, path, word, value);
        }
        if let Some(suffix) = name.strip_prefix("filter") {
            return self.filter(name, suffix, value);
        }
        if !self.purpose.knows(name) {
            return if strict { Err(self.without_meaning(name)) } else { Ok(()) };
        }
        match name {
            "include" => once(&mut self.ask.query.include, name, value, strict),
            "exclude" => once(&mut self.ask.query.exclude, name, value, strict),
            "order" => self.order(value),
            "size" => {
                self.ask.query.size = size(name, value, strict)?;
                Ok(())
            }
            "page" => self.page(value),
            "join" => {
                let path = relation_paths::join(value)?;
                if !path.is_empty() {
                    self.ask.query.joins.push(path);
                } else if strict {
                    return Err(Error::new(Code::InvalidRequest, "`join` names no table"));
                }
                Ok(())
            }
            "format" if strict && !matches!(value, "json" | "xml") => {
                Err(Error::new(Code::UnknownFormat, format!("no format `{value}`"))
                    .with_hint("records are written as `json` or `xml`"))
            }
            "format" | "strict" => Ok(()),
            "geometry" => {
                self.ask.geometry = Some(value.to_owned());
                Ok(())
            }
            "bbox" | "tile" => self.area(name, value),
            "having" => {
                let condition = filter::condition(value, true)?;
                self.having.put(&[], condition);
                Ok(())
            }
            _ => extension::take(&mut self.ask, name, value),
        }
    }

    fn filter(&mut self, name: &str, suffix: &str, value: &str) -> Result<()> {
        let strict = self.ask.query.strict;
        if !self.purpose.knows("filter") {
            return if strict { Err(self.without_meaning(name)) } else { Ok(()) };
        }
        if strict && !suffix.is_empty() && !suffix.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.unknown(name));
        }
        if let Some(condition) = filter::condition(value, strict)? {
            self.tree.put(&filter::path(suffix), Some(condition));
        }
        if self.tree.len() > FILTER_TERMS_MAX {
            return Err(Error::new(Code::InvalidFilter, format!("there are more than {FILTER_TERMS_MAX} filters")));
        }
        Ok(())
    }

    fn order(&mut self, value: &str) -> Result<()> {
        match order(value, self.ask.query.strict)? {
            Some(order) => self.ask.query.order.push(order),
            None if self.ask.query.strict => return Err(Error::new(Code::InvalidSort, "`order` names no column")),
            None => {}
        }
        Ok(())
    }

    fn page(&mut self, value: &str) -> Result<()> {
        let strict = self.ask.query.strict;
        let (number, rows) = value.split_once(',').map_or((value, None), |(number, rows)| (number, Some(rows)));
        if strict && number.trim() == "0" {
            return Err(
                Error::new(Code::InvalidNumber, "`page` counts from 1").with_hint("use `page=1` for the first page")
            );
        }
        let number = size("page", number, strict)?.unwrap_or(1).max(1);
        let size = rows.map(|rows| size("page", rows, strict)).transpose()?.flatten();
        self.ask.query.page = Some(ListPage { number, size });
        Ok(())
    }

    fn area(&mut self, name: &str, value: &str) -> Result<()> {
        let read = if name == "bbox" { numbers(value).map(Area::Box) } else { numbers(value).map(Area::Tile) };
        match read {
            Some(area) => self.ask.areas.push(area),
            // Ignoring it would return more rows than requested.
            None => {
                let hint = if name == "bbox" { "`bbox=west,south,east,north`" } else { "`tile=zoom,column,row`" };
                return Err(Error::new(Code::InvalidRequest, format!("`{name}={value}` is not an area"))
                    .with_hint(format!("write it as {hint}")));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<RecordParams> {
        self.ask.query.filter = self.tree.into_condition();
        self.ask.query.having = self.having.into_condition();
        relation_paths::check(&self.ask.query)?;
        extension::check(&self.ask)?;
        Ok(self.ask)
    }

    fn without_meaning(&self, name: &str) -> Error {
        let is_known = parameter_names::ALL.contains(&name) || self.spec.search.as_deref() == Some(name);
        if !is_known && !name.starts_with("filter") {
            return self.unknown(name);
        }
        Error::new(Code::InvalidRequest, format!("`{name}` has no meaning here")).with_hint(format!(
            "{} takes {}",
            self.purpose.shown(),
            self.purpose.words().join(", ")
        ))
    }

    fn unknown(&self, name: &str) -> Error {
        let search = self.spec.search.as_deref();
        if search == Some(name) {
            return self.without_meaning(name);
        }
        let search = search.filter(|_| self.purpose.knows("search"));
        let words: Vec<&str> = self.purpose.words().into_iter().chain(search).collect();
        Error::new(Code::InvalidRequest, format!("unknown parameter `{name}`"))
            .with_hint_if(suggest::hint(name, words.iter().copied()))
    }
}

/// Sets a list of which only the first occurrence counts.
fn once(slot: &mut Option<Vec<String>>, name: &str, value: &str, strict: bool) -> Result<()> {
    match slot {
        Some(_) if strict => Err(Error::new(Code::InvalidRequest, format!("`{name}` is given twice"))
            .with_hint(format!("put all columns into one, like `{name}=id,name`"))),
        Some(_) => Ok(()),
        None => {
            let names = relation_paths::names(name, value)?;
            if strict && names.is_empty() {
                return Err(Error::new(Code::InvalidColumn, format!("`{name}` names no column")));
            }
            *slot = Some(names).filter(|names| !names.is_empty());
            Ok(())
        }
    }
}

/// Parses `column[,direction]`; `None` when the column is missing.
fn order(value: &str, strict: bool) -> Result<Option<Order>> {
    let mut parts = value.splitn(3, ',');
    let column = parts.next().unwrap_or_default();
    let direction = parts.next().unwrap_or_default();
    let lower = direction.to_ascii_lowercase();
    if strict && (parts.next().is_some() || !matches!(lower.as_str(), "" | "asc" | "desc")) {
        return Err(Error::new(Code::InvalidSort, format!("`{value}` is not an order")).with_hint(format!(
            "write `{column}`, `{column},asc` or `{column},desc`; repeat `order` for more columns"
        )));
    }
    let path = relation_paths::path("order", column, Code::InvalidSort)?;
    Ok((!column.is_empty()).then_some(Order { path, descending: lower.starts_with("desc") }))
}

/// Parses a number of rows or pages. A malformed number counts as 0, as in PHP, or is an error in a strict request; a
/// negative one is `None`.
fn size(name: &str, value: &str, strict: bool) -> Result<Option<u64>> {
    if strict {
        return value.parse().map(Some).map_err(|error| {
            Error::new(Code::InvalidNumber, format!("`{value}` is not a number for `{name}`: {error}"))
                .with_hint(format!("write a whole number from 0, like `{name}=10`"))
        });
    }
    let text = value.trim_start();
    if text.starts_with('-') {
        return Ok(None);
    }
    let digits: String = text.trim_start_matches('+').chars().take_while(char::is_ascii_digit).collect();
    Ok(Some(if digits.is_empty() { 0 } else { digits.parse().unwrap_or(u64::MAX) }))
}

/// Parses exactly `N` comma-separated numbers.
fn numbers<T: std::str::FromStr, const N: usize>(value: &str) -> Option<[T; N]> {
    let numbers: Vec<T> = value.split(',').map(|part| part.trim().parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

/// Parses `true` or `false`.
fn boolean(name: &str, value: &str) -> Result<bool> {
    match value {
        "" | "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(Error::new(Code::InvalidRequest, format!("`{name}` is true or false, not `{value}`"))
            .with_hint(format!("write `{name}=1` or `{name}=0`"))),
    }
}
