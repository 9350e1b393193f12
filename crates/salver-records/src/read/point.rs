//! The fast path to one row by its key: one statement and one writer per table, prepared once per schema, so that a
//! request adds nothing but its value.

use std::mem::Discriminant;
use std::sync::Arc;

use salver_model::records::{ColumnKind, Operation, RecordKey, TableInfo};
use salver_model::{Result, memory};

use super::etag::marks;
use super::key_batch::Gather;
use crate::cell::{Cell, RowSink};
use crate::condition::{ComparedColumn, Operand, key_bind, place};
use crate::dialect::Dialect;
use crate::json::{self, JsonRow};
use crate::prepared_cache::PreparedKind;
use crate::scope::Scope;
use crate::statement::{Bind, Read};

/// Initial capacity for a row.
pub(super) const ROW_BYTES: usize = 512;

/// The prepared read of one row of a table by its key.
#[derive(Debug)]
pub(crate) struct Point {
    sql: Arc<str>,
    kinds: Arc<[ColumnKind]>,
    row: JsonRow,
    key: usize,
    /// The variant of the placeholder's value.
    form: Discriminant<Bind>,
    /// Batches concurrent reads: for integer keys, which a row returns as they were requested, of databases behind a
    /// round trip.
    pub(super) gather: Option<Gather>,
}

impl Point {
    /// Returns the prepared read of the table's row with this key, and the statement; `Err` means that no row can have
    /// the key, `Ok(None)` that it takes the regular path.
    pub(super) fn find(
        scope: &Scope<'_>,
        table: &str,
        key: &RecordKey,
    ) -> Result<Option<(Arc<Self>, Read)>, NoSuchKey> {
        let ([part], Some(position)) = (key.as_slice(), scope.schema.position(table)) else { return Ok(None) };
        let Some(point) = Self::of(scope, position) else { return Ok(None) };
        let read = point.read(scope, &scope.schema.tables()[position], part)?;
        Ok(read.map(|read| (point, read)))
    }

    /// Returns the prepared read for the table at this position of the scope's schema.
    fn of(scope: &Scope<'_>, position: usize) -> Option<Arc<Self>> {
        if !scope.access.is_uniform() {
            return None;
        }
        scope
            .prepared
            .get((&scope.schema, scope.access.class()), position, PreparedKind::Point, || Self::new(scope, position))
    }

    /// Prepares it only where every caller gets the same statement: rules over rows and with exceptions depend on the
    /// caller.
    fn new(scope: &Scope<'_>, position: usize) -> Option<Arc<Self>> {
        let table = scope.schema.tables().get(position)?;
        let key = table.single_key()?;
        let seen = |name: &str| scope.access.column(Operation::Read, &table.name, name);
        if !scope.access.is_keyed(Operation::Read, table) || scope.access.is_masked(Operation::Read, table) {
            return None;
        }
        if !scope.access.table(Operation::Read, &table.name) || !scope.access.rows(Operation::Read, table).is_empty() {
            return None;
        }
        let shown: Vec<usize> = (0..table.columns.len()).filter(|index| seen(&table.columns[*index].name)).collect();
        if shown.is_empty() {
            return None;
        }
        // The cast of its placeholder depends on the value's digits: no single statement serves all.
        if scope.dialect == Dialect::Mysql && table.columns[key].kind == ColumnKind::Decimal {
            return None;
        }
        let operand = Operand::column_by_text(scope.dialect, &table.columns[key], "");
        let sample = sample(table.columns[key].kind);
        let form = std::mem::discriminant(&sample);
        let select = |with_key: bool| {
            let mut sql = scope.sql();
            let mut first = true;
            sql.push("SELECT ");
            for index in shown.iter().chain(with_key.then_some(&key)) {
                sql.separate(&mut first, ", ");
                scope.dialect.select(&table.columns[*index], "", &mut sql);
            }
            sql.push(" FROM ").name(&table.real_name).push(" WHERE ").push(operand.text());
            sql
        };
        let mut sql = select(false);
        sql.push(" = ");
        place(&operand, sample.clone(), &mut sql);
        let gathers = scope.dialect != Dialect::Sqlite && matches!(sample, Bind::Int(_));
        let gather = gathers.then(|| {
            let kinds = shown.iter().chain([&key]).map(|index| table.columns[*index].kind).collect();
            Gather::new(kinds, |keys| {
                let mut sql = select(true);
                let mut first = true;
                sql.push(" IN (");
                for _ in 0..keys {
                    sql.separate(&mut first, ", ");
                    place(&operand, sample.clone(), &mut sql);
                }
                sql.push(")");
                sql.text.into()
            })
        });
        let row = JsonRow::new(scope.spec(), table, &shown);
        Some(Arc::new(Self { sql: sql.text.into(), kinds: json::kinds(table, &shown), row, key, form, gather }))
    }

    /// Returns the statement for the row with this key.
    fn read(&self, scope: &Scope<'_>, table: &TableInfo, key: &str) -> Result<Option<Read>, NoSuchKey> {
        let compared = ComparedColumn::by_text(scope.dialect, &table.columns[self.key]);
        let bind = key_bind(scope.dialect, compared, key).ok_or(NoSuchKey)?;
        if std::mem::discriminant(&bind) != self.form {
            return Ok(None);
        }
        Ok(Some(Read { sql: Arc::clone(&self.sql), binds: vec![bind], kinds: Arc::clone(&self.kinds), point: true }))
    }

    /// Appends the row, with its marks.
    pub(super) fn write(&self, cells: &[Cell<'_>], out: &mut Vec<u8>) {
        self.row.write(cells, out);
        marks(cells, out);
    }
}

/// No row can have the key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoSuchKey;

/// Returns a sample value for keys of this kind.
fn sample(kind: ColumnKind) -> Bind {
    match kind {
        ColumnKind::Integer | ColumnKind::BigInt => Bind::Int(0),
        ColumnKind::Boolean => Bind::Bool(false),
        ColumnKind::Float | ColumnKind::Double => Bind::Float(0.0),
        ColumnKind::Varbinary | ColumnKind::Blob => Bind::Bytes(Vec::new()),
        _ => Bind::Text(String::new()),
    }
}

/// The sink for the row.
#[derive(Debug)]
pub(crate) struct PointSink {
    point: Arc<Point>,
    out: Vec<u8>,
}

impl PointSink {
    pub(crate) fn new(point: &Arc<Point>) -> Self {
        Self { point: Arc::clone(point), out: Vec::with_capacity(ROW_BYTES) }
    }

    /// Returns the row, if there is one.
    pub(crate) fn finish(self) -> Option<Vec<u8>> {
        (!self.out.is_empty()).then_some(self.out)
    }
}

impl RowSink for PointSink {
    type Piece = ();

    fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> Result<()> {
        if self.out.is_empty() {
            self.point.write(cells, &mut self.out);
            memory::room_for(self.out.len())?;
        }
        Ok(())
    }

    fn full(&self) -> bool {
        !self.out.is_empty()
    }

    fn held_bytes(&self) -> usize {
        self.out.len()
    }
}
