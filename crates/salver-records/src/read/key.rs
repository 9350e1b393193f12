//! Reads by key: one row as an object, several as an array in the order of the request, with null for missing ones.

use std::borrow::Cow;
use std::ops::Range;

use ahash::{AHashMap, AHashSet};
use salver_model::limits::{CHANGES_MAX, READ_BYTES_MAX};
use salver_model::records::{Document, Operation, RecordKey, RecordQuery, TableInfo};
use salver_model::{Code, Error, Result, memory};

use super::batched_key;
use super::etag::{EtagColumns, marks, tag, unmark};
use super::join::branch_fetch;
use super::list;
use super::point::{NoSuchKey, Point};
use super::root_rows::Root;
use super::rows::{Envelope, RowsWriter};
use super::statements::{self, Parts};
use crate::buffered_rows::Gathered;
use crate::cell::{Cell, RowSink};
use crate::condition::{ComparedColumn, key_bind};
use crate::scope::Scope;
use crate::statement::{Bind, Read};

/// Returns the table, if its rows can be addressed by key.
///
/// # Errors
/// `UnknownTable`, `NoPrimaryKey`, and `ArgumentCount` for a key with another number of parts than the table's.
pub(crate) fn table<'s>(scope: &'s Scope<'s>, name: &str, keys: &[RecordKey]) -> Result<&'s TableInfo> {
    let table = scope.table(Operation::Read, name)?;
    if !scope.access.is_keyed(Operation::Read, table) {
        return Err(Error::new(Code::NoPrimaryKey, format!("Primary key for table '{name}' not found")));
    }
    if let Some(key) = keys.iter().find(|key| key.len() != table.key.len()) {
        let names: Vec<String> = table.key.iter().map(|index| format!("`{}`", table.columns[*index].name)).collect();
        let message = format!("Argument count mismatch in '{}'", key.join(","));
        return Err(Error::new(Code::ArgumentCount, message)
            .with_hint(format!("the key of `{name}` is {}", names.join(" and "))));
    }
    if keys.len() > CHANGES_MAX {
        return Err(Error::new(Code::InvalidRequest, "too many keys").with_hint(format!("name at most {CHANGES_MAX}")));
    }
    Ok(table)
}

/// Returns the error for a record that does not exist. It names a composite key as a path does.
pub(crate) fn not_found(key: &RecordKey) -> Error {
    let named = match key.as_slice() {
        [part] => Cow::Borrowed(part.as_str()),
        parts => parts.iter().map(|part| part.replace('~', "%7E")).collect::<Vec<_>>().join("~").into(),
    };
    Error::new(Code::RecordNotFound, format!("Record '{named}' not found"))
}

/// Reads the whole row with a key.
pub(crate) async fn row(scope: &Scope<'_>, table: &str, key: &RecordKey) -> Result<Document> {
    if let Some(document) = point(scope, table, key).await? {
        return Ok(document);
    }
    let query = RecordQuery { table: table.to_owned(), ..RecordQuery::default() };
    by_key(scope, &query, std::slice::from_ref(key), false).await
}

/// Reads rows by key.
pub(crate) async fn by_key(scope: &Scope<'_>, query: &RecordQuery, keys: &[RecordKey], many: bool) -> Result<Document> {
    let table = table(scope, &query.table, keys)?;
    let mut root = Root::new(list::ground(scope, Operation::Read, query), table);
    // PHP-CRUD-API has no conditions here and ignores them.
    root.filters.extend(query.filter.as_ref().filter(|_| root.ground.strict));
    root.keys = Some(keys.iter().collect());
    let (parts, rows) = statements::joined(&root, query, &[], |shape, _| (shape, Envelope::Record))?;
    // The entity tag of a single row covers its whole content.
    let part = !many && keys.len() == 1 && !query.is_whole();
    let told = if part {
        EtagScope::By(EtagColumns::of(scope, table, &parts.fetched))
    } else {
        EtagScope::in_full(!many && keys.len() == 1)
    };
    let KeyedRows { rows, tag } = fetch(&root, keys, parts, (rows, told)).await?;
    document(rows, keys, many, tag)
}

/// Reads the row by its prepared statement, if there is one.
async fn point(scope: &Scope<'_>, table: &str, key: &RecordKey) -> Result<Option<Document>> {
    let Some((point, read)) = Point::find(scope, table, key).map_err(|NoSuchKey| not_found(key))? else {
        return Ok(None);
    };
    whole(batched_key::row(scope.backend, &point, read).await?, key).map(Some)
}

/// Returns the document of one whole row, with an entity tag of its bytes and marks.
pub(crate) fn whole(mut row: Option<Vec<u8>>, key: &RecordKey) -> Result<Document> {
    let tag = row.as_deref().map(tag);
    row.iter_mut().for_each(unmark);
    single(row, key, tag)
}

/// Returns the document of one row with the entity tag `tag`.
pub(crate) fn single(row: Option<Vec<u8>>, key: &RecordKey, tag: Option<String>) -> Result<Document> {
    let mut document = Document::whole(row.ok_or_else(|| not_found(key))?);
    document.tag = tag;
    Ok(document)
}

/// Rows by key.
#[derive(Debug)]
pub(crate) struct KeyedRows {
    /// In the order of the keys; `None` for missing ones.
    pub(crate) rows: Vec<Option<Vec<u8>>>,
    /// The tag of the last one, if requested.
    pub(crate) tag: Option<String>,
}

/// The content that a row's entity tag covers.
#[derive(Debug)]
pub(crate) enum EtagScope {
    /// Nothing: there is no tag.
    No,
    /// These columns.
    By(EtagColumns),
    /// The whole row, which comes with its marks.
    Whole,
}

impl EtagScope {
    fn in_full(whole: bool) -> Self {
        if whole { Self::Whole } else { Self::No }
    }
}

/// Fetches the rows, and of a single one its tag or its marks.
pub(crate) async fn fetch(
    root: &Root<'_>,
    keys: &[RecordKey],
    mut parts: Parts,
    (rows, told): (RowsWriter, EtagScope),
) -> Result<KeyedRows> {
    let scope = root.ground.scope;
    let joined = parts.reads.len();
    let whole = whole_keys(scope, root.table, keys);
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut key_cell = None;
    if let Some(key) = root.table.single_key().filter(|_| whole.is_some() && keys.len() > 1) {
        branch_fetch(&mut parts.fetched, &[key]);
        key_cell = parts.fetched.iter().position(|index| *index == key);
        let read = statements::select(root, &parts, false)?;
        parts.reads.push(read);
    } else {
        for key in keys {
            let mut one = root.clone();
            one.keys = Some(vec![key]);
            let possible = is_possible(scope, root.table, key);
            places.push(possible.then_some(parts.reads.len()));
            if possible {
                let read = statements::select(&one, &parts, false)?;
                parts.reads.push(Read { point: joined == 0, ..read });
            }
        }
    }
    if parts.reads.len() == joined {
        return Ok(KeyedRows { rows: vec![None; keys.len()], tag: None });
    }
    let fetched = parts.fetched;
    let (by_read, by_key) = (AHashMap::new(), AHashMap::new());
    let gathered = Gathered::within(READ_BYTES_MAX);
    let sink = KeySink { rows, key_cell, gathered, out: Vec::new(), by_read, by_key, told, fetched, tag: None };
    let mut sink = scope.backend.read(parts.reads, sink, None).await?;
    let mut found = Vec::with_capacity(keys.len());
    let mut taken = AHashSet::new();
    for at in 0..keys.len() {
        let range = match (&whole, key_cell) {
            (Some(whole), Some(_)) => whole[at].and_then(|key| sink.by_key.get(&key)),
            _ => places[at].and_then(|read| sink.by_read.get(&read)),
        };
        let range = range.cloned();
        // The database gives a row once, however often the path names its key.
        if let Some(range) = range.as_ref().filter(|range| !taken.insert(range.start)) {
            sink.count(range.len())?;
        }
        found.push(range.map(|range| sink.out[range].to_vec()));
    }
    Ok(KeyedRows { rows: found, tag: sink.tag })
}

/// Returns the keys as integers, if each is an integer or, as an inner `None`, a key that no row can have.
fn whole_keys(scope: &Scope<'_>, table: &TableInfo, keys: &[RecordKey]) -> Option<Vec<Option<i64>>> {
    let column = &table.columns[table.single_key()?];
    // Digits may be base64 there.
    if column.kind.is_binary() {
        return None;
    }
    let compared = ComparedColumn::by_text(scope.dialect, column);
    // A text may be shown as the same digits.
    if compared.is_untyped(scope.dialect) {
        return None;
    }
    let whole = |key: &RecordKey| match key_bind(scope.dialect, compared, key.first()?) {
        Some(Bind::Int(number)) => Some(Some(number)),
        None => Some(None),
        Some(_) => None,
    };
    keys.iter().map(whole).collect()
}

/// Returns whether a row can have the key.
fn is_possible(scope: &Scope<'_>, table: &TableInfo, key: &RecordKey) -> bool {
    table.key.iter().zip(key).all(|(index, part)| {
        let compared = ComparedColumn::by_text(scope.dialect, &table.columns[*index]);
        key_bind(scope.dialect, compared, part).is_some()
    })
}

fn document(rows: Vec<Option<Vec<u8>>>, keys: &[RecordKey], many: bool, tag: Option<String>) -> Result<Document> {
    let mut rows = rows.into_iter();
    if let ([key], false) = (keys, many) {
        let row = rows.next().flatten();
        return if tag.is_some() { single(row, key, tag) } else { whole(row, key) };
    }
    let mut out = Vec::new();
    out.push(b'[');
    for (at, row) in rows.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(row.as_deref().unwrap_or(b"null"));
    }
    out.push(b']');
    Ok(Document::whole(out))
}

/// The sink for rows by key: each is stored under its key, or under the number of its statement.
#[derive(Debug)]
struct KeySink {
    rows: RowsWriter,
    key_cell: Option<usize>,
    gathered: Gathered,
    out: Vec<u8>,
    by_read: AHashMap<usize, Range<usize>>,
    by_key: AHashMap<i64, Range<usize>>,
    told: EtagScope,
    /// The fetched columns.
    fetched: Vec<usize>,
    tag: Option<String>,
}

impl KeySink {
    /// Counts a row that is there once more.
    fn count(&mut self, bytes: usize) -> Result<()> {
        self.rows.count()?;
        self.gather(bytes)
    }

    fn gather(&mut self, bytes: usize) -> Result<()> {
        self.gathered.add(bytes).map_err(|error| {
            error.with_hint("ask for fewer at once, or list them with a filter, which is sent as it is read")
        })
    }
}

impl RowSink for KeySink {
    type Piece = ();

    fn row(&mut self, read: usize, cells: &[Cell<'_>]) -> Result<()> {
        if read < self.rows.branches() {
            return self.rows.joined(read, cells);
        }
        let start = self.out.len();
        self.rows.root(cells, &mut self.out)?;
        memory::room_for(self.out.len() - start)?;
        self.gather(self.out.len() - start)?;
        match &self.told {
            EtagScope::By(seen) => self.tag = Some(seen.tag(&self.fetched, cells)),
            EtagScope::Whole => marks(cells, &mut self.out),
            EtagScope::No => {}
        }
        let range = start..self.out.len();
        match self.key_cell.map(|cell| cells.get(cell)) {
            Some(Some(Cell::Int(key))) => {
                self.by_key.insert(*key, range);
            }
            Some(_) => {}
            None => {
                self.by_read.insert(read, range);
            }
        }
        Ok(())
    }
}
