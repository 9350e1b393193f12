//! Reads the schema from the catalogs: two queries in one snapshot.

use std::sync::Arc;

use ahash::AHashMap;
use salver_model::records::{ColumnInfo, ColumnKind, ForeignKey, TableInfo, TableKind};
use salver_model::{Error, Result};

use super::Postgres;
use crate::cell::{Collect, OwnedCell};
use crate::statement::Read;

/// Every column of every table, in order; a table without columns has one row without one. Partitions are seen through
/// their tables, and objects of an extension (like PostGIS's catalogs) are left out. A type is ordered when an index
/// can be, in the order of `<`: it has an operator class for it, or is an enumeration, a range, or composed of such. A
/// type that refers to a database object, like `regtype`, is shown by name, which is not what orders it.
const COLUMNS: &str = "\
WITH RECURSIVE truth(oid, base, typmod, required, preset) AS (
    SELECT t.oid, t.oid, -1, false, false FROM pg_catalog.pg_type t WHERE t.typtype <> 'd'
    UNION ALL
    SELECT d.oid, truth.base, CASE WHEN d.typtypmod >= 0 THEN d.typtypmod ELSE truth.typmod END,
           d.typnotnull OR truth.required, d.typdefault IS NOT NULL OR truth.preset
    FROM pg_catalog.pg_type d JOIN truth ON truth.oid = d.typbasetype WHERE d.typtype = 'd'
), classes(oid) AS (
    SELECT o.opcintype FROM pg_catalog.pg_opclass o
    JOIN pg_catalog.pg_am m ON m.oid = o.opcmethod AND m.amname = 'btree'
    JOIN pg_catalog.pg_amop a ON a.amopfamily = o.opcfamily AND a.amopstrategy = 1
                             AND a.amoplefttype = o.opcintype AND a.amoprighttype = o.opcintype
    JOIN pg_catalog.pg_operator p ON p.oid = a.amopopr AND p.oprname = '<'
    WHERE o.opcdefault
), ordered(oid) AS (
    SELECT oid FROM classes
    UNION
    SELECT c.castsource FROM pg_catalog.pg_cast c JOIN classes ON classes.oid = c.casttarget
    WHERE c.castmethod = 'b' AND c.castcontext = 'i' AND c.casttarget <> 'pg_catalog.oid'::pg_catalog.regtype
), parts(part, whole) AS (
    SELECT t.typelem, t.oid FROM pg_catalog.pg_type t WHERE t.typtype = 'b' AND t.typelem <> 0 AND t.typlen = -1
    UNION ALL
    SELECT t.typbasetype, t.oid FROM pg_catalog.pg_type t WHERE t.typtype = 'd'
    UNION ALL
    SELECT a.atttypid, t.oid FROM pg_catalog.pg_type t
    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE t.typtype = 'c'
), unordered(oid) AS (
    SELECT t.oid FROM pg_catalog.pg_type t
    WHERE t.typtype IN ('b', 'p') AND NOT (t.typelem <> 0 AND t.typlen = -1) AND t.oid NOT IN (SELECT oid FROM ordered)
    UNION
    SELECT parts.whole FROM unordered JOIN parts ON parts.part = unordered.oid
)
SELECT c.relname::text, c.relkind::text, pg_catalog.obj_description(c.oid, 'pg_class'),
       a.attnum::int8, a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
       CASE WHEN tn.nspname = 'pg_catalog' OR t.typname IN ('geometry', 'geography', 'citext') THEN t.typname::text END,
       t.typtype::text, (CASE WHEN a.atttypmod >= 0 THEN a.atttypmod ELSE truth.typmod END)::int8,
       a.attnotnull OR truth.required,
       d.adbin IS NOT NULL OR a.attidentity <> '' OR truth.preset,
       a.attidentity <> ''
           OR (a.attgenerated = '' AND coalesce(pg_catalog.pg_get_expr(d.adbin, d.adrelid) LIKE 'nextval(%', false)),
       a.attgenerated <> '',
       (SELECT pg_catalog.json_agg(e.enumlabel ORDER BY e.enumsortorder)::text
        FROM pg_catalog.pg_enum e WHERE e.enumtypid = truth.base),
       pg_catalog.col_description(c.oid, a.attnum),
       truth.base NOT IN (SELECT oid FROM unordered),
       CASE WHEN truth.base <> a.atttypid THEN pg_catalog.format_type(truth.base, truth.typmod) END,
       c.relkind IN ('v', 'f') OR c.relhassubclass OR c.relhasrules
           OR EXISTS (SELECT FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal),
       c.relkind IN ('v', 'm')
           OR c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN truth ON truth.oid = a.atttypid
LEFT JOIN pg_catalog.pg_type t ON t.oid = truth.base
LEFT JOIN pg_catalog.pg_namespace tn ON tn.oid = t.typnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x
                  WHERE x.classid = 'pg_catalog.pg_class'::regclass AND x.objid = c.oid AND x.deptype = 'e')
ORDER BY c.relname COLLATE \"C\", a.attnum";

/// Every key: `p` primary, `u` unique, `f` foreign; its columns in its own order, as JSON. Unique indexes count as keys
/// when they cover all rows and bare columns.
const KEYS: &str = "\
SELECT c.relname::text, CASE WHEN i.indisprimary THEN 'p' ELSE 'u' END AS kind, k.relname::text AS name,
       (SELECT pg_catalog.json_agg(i.indkey[p] ORDER BY p)
        FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) p)::text AS columns,
       NULL::text AS target, NULL::text AS target_columns
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_class k ON k.oid = i.indexrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
UNION ALL
SELECT c.relname::text, 'f', f.conname::text, pg_catalog.array_to_json(f.conkey)::text, r.relname::text,
       (SELECT pg_catalog.json_agg(a.attname ORDER BY p)
        FROM pg_catalog.generate_subscripts(f.confkey, 1) p
        JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = f.confkey[p])::text
FROM pg_catalog.pg_constraint f
JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
JOIN pg_catalog.pg_class r ON r.oid = f.confrelid AND r.relnamespace = c.relnamespace
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
WHERE f.contype = 'f'
ORDER BY 1, 2, 3";

/// A number that changes with the schema: for each catalog the number of rows about tables, columns, keys, defaults,
/// comments and types, and the sum of the transactions that wrote them. Rows of a catalog are never changed in place
/// but replaced, and a later transaction has a larger number: when the count is the same, the sum is larger.
const STAMP: &str = "\
WITH tables AS (
    SELECT c.oid, c.xmin FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema()
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
)
SELECT pg_catalog.concat_ws(' ', pg_catalog.current_schema(),
    (SELECT count(*) || ' ' || coalesce(sum(xmin::text::int8), 0) FROM tables),
    (SELECT count(*) || ' ' || coalesce(sum(a.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_attribute a ON a.attrelid = tables.oid),
    (SELECT count(*) || ' ' || coalesce(sum(d.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_attrdef d ON d.adrelid = tables.oid),
    (SELECT count(*) || ' ' || coalesce(sum(k.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_constraint k ON k.conrelid = tables.oid),
    (SELECT count(*) || ' ' || coalesce(sum(i.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_index i ON i.indrelid = tables.oid),
    (SELECT count(*) || ' ' || coalesce(sum(g.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_trigger g ON g.tgrelid = tables.oid AND NOT g.tgisinternal),
    (SELECT count(*) || ' ' || coalesce(sum(x.xmin::text::int8), 0) FROM tables
        JOIN pg_catalog.pg_description x
        ON x.objoid = tables.oid AND x.classoid = 'pg_catalog.pg_class'::regclass),
    (SELECT count(*) || ' ' || coalesce(sum(e.xmin::text::int8), 0) FROM pg_catalog.pg_enum e),
    (SELECT count(*) || ' ' || coalesce(sum(t.xmin::text::int8), 0) FROM pg_catalog.pg_type t WHERE t.typtype = 'd'))";

/// The kinds of the columns of [`COLUMNS`].
const COLUMN_KINDS: [ColumnKind; 19] = {
    use ColumnKind::{BigInt, Boolean as Bool, Clob};
    [
        Clob, Clob, Clob, BigInt, Clob, Clob, Clob, Clob, BigInt, Bool, Bool, Bool, Bool, Clob, Clob, Bool, Clob, Bool,
        Bool,
    ]
};

impl Postgres {
    /// See [`crate::backend::Backend::reflect`].
    pub(crate) async fn reflect(&self) -> Result<Vec<TableInfo>> {
        let read = |sql: &str, kinds: &[ColumnKind]| Read {
            sql: Arc::from(sql),
            binds: Vec::new(),
            kinds: Arc::from(kinds),
            point: false,
        };
        let reads = vec![read(COLUMNS, &COLUMN_KINDS), read(KEYS, &[ColumnKind::Clob; 6])];
        let found = Box::pin(self.read(reads, Collect::default(), None)).await?;
        let mut answers = found.rows.into_iter();
        let mut schema = Assembly::default();
        for row in answers.next().unwrap_or_default() {
            schema.column(&Fields(row))?;
        }
        for row in answers.next().unwrap_or_default() {
            schema.key(&Fields(row))?;
        }
        Ok(schema.finish())
    }

    /// See [`crate::backend::Backend::stamp`].
    pub(crate) async fn stamp(&self) -> Result<u64> {
        let read =
            Read { sql: Arc::from(STAMP), binds: Vec::new(), kinds: Arc::from([ColumnKind::Clob]), point: false };
        let found = Box::pin(self.read(vec![read], Collect::default(), None)).await?;
        let row = found.rows.into_iter().flatten().next().map(Fields).unwrap_or_default();
        let text = row.text(0).unwrap_or_default();
        // FNV-1a: the same number in every process.
        Ok(text
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)))
    }
}

/// One row of a catalog.
#[derive(Debug, Default)]
struct Fields(Vec<OwnedCell>);

impl Fields {
    fn text(&self, index: usize) -> Option<&str> {
        match self.0.get(index) {
            Some(OwnedCell::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn owned(&self, index: usize) -> Option<String> {
        self.text(index).map(str::to_owned)
    }

    fn int(&self, index: usize) -> Option<i64> {
        match self.0.get(index) {
            Some(OwnedCell::Int(value)) => Some(*value),
            _ => None,
        }
    }

    fn is(&self, index: usize) -> bool {
        matches!(self.0.get(index), Some(OwnedCell::Bool(true)))
    }
}

/// Tables under construction.
#[derive(Debug, Default)]
struct Assembly {
    tables: Vec<TableInfo>,
    by_name: AHashMap<String, usize>,
    /// Index of the column with this number in the catalog; numbers of dropped columns are missing.
    numbers: AHashMap<(usize, i64), usize>,
    foreign: Vec<(usize, ForeignKey)>,
}

impl Assembly {
    fn column(&mut self, row: &Fields) -> Result<()> {
        let name = row.text(0).ok_or_else(|| damaged("a table"))?;
        let index = match self.by_name.get(name) {
            Some(index) => *index,
            None => self.table(name, row),
        };
        let (Some(number), Some(column)) = (row.int(3), row.text(4)) else { return Ok(()) };
        let words = row.text(13).map(serde_json::from_str).transpose();
        let words: Vec<String> = words.map_err(|error| damaged(column).with_source(error))?.unwrap_or_default();
        let base = row.text(6).unwrap_or_default();
        let kind = if row.text(7) == Some("e") { ColumnKind::Varchar } else { kind(base) };
        let bounds = TypeBounds::of(base, row.int(8).unwrap_or(-1));
        let below = row.owned(16);
        let compared = match row.text(7) {
            Some("e") => below.clone(),
            Some("c") => below.clone().or_else(|| row.owned(5)),
            _ => None,
        };
        let table = &mut self.tables[index];
        self.numbers.insert((index, number), table.columns.len());
        table.columns.push(ColumnInfo {
            name: column.to_owned(),
            real_name: column.to_owned(),
            kind,
            native: row.owned(5).unwrap_or_default(),
            base: below,
            compared,
            length: bounds.length,
            precision: bounds.precision,
            scale: bounds.scale,
            nullable: !row.is(9),
            has_default: row.is(10) && !row.is(12),
            auto_increment: row.is(11),
            generated: row.is(12),
            ordered: row.is(15),
            words,
            comment: row.owned(14),
        });
        Ok(())
    }

    fn table(&mut self, name: &str, row: &Fields) -> usize {
        let view = matches!(row.text(1), Some("v" | "m"));
        self.tables.push(TableInfo {
            name: name.to_owned(),
            real_name: name.to_owned(),
            kind: if view { TableKind::View } else { TableKind::Table },
            columns: Vec::new(),
            key: Vec::new(),
            foreign_keys: Vec::new(),
            unique: Vec::new(),
            key_assumed: row.is(18),
            has_triggers: row.is(17),
            comment: row.owned(2),
        });
        self.by_name.insert(name.to_owned(), self.tables.len() - 1);
        self.tables.len() - 1
    }

    fn key(&mut self, row: &Fields) -> Result<()> {
        // Keys of partitions and of extensions' tables are skipped.
        let Some(&index) = row.text(0).and_then(|name| self.by_name.get(name)) else { return Ok(()) };
        let numbers: Vec<i64> = list(row, 3)?;
        let columns: Option<Vec<usize>> =
            numbers.iter().map(|number| self.numbers.get(&(index, *number)).copied()).collect();
        let Some(columns) = columns.filter(|columns| !columns.is_empty()) else { return Ok(()) };
        let table = &mut self.tables[index];
        match row.text(1) {
            // A materialised view may have a unique index, which makes sure of its key; no row of it can be written.
            _ if table.kind == TableKind::View => {
                table.key_assumed &= columns.iter().any(|column| table.columns[*column].name != "id");
            }
            Some("p") => table.key = columns,
            Some("u") => {
                if !table.unique.contains(&columns) {
                    table.unique.push(columns);
                }
            }
            _ => {
                let key = ForeignKey {
                    constraint: row.owned(2).unwrap_or_default(),
                    columns,
                    target: row.owned(4).unwrap_or_default(),
                    target_columns: list(row, 5)?,
                };
                self.foreign.push((index, key));
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<TableInfo> {
        for (index, key) in self.foreign {
            if self.by_name.contains_key(&key.target) {
                self.tables[index].foreign_keys.push(key);
            }
        }
        for table in &mut self.tables {
            // Ordered by column, because constraint names are arbitrary.
            table.foreign_keys.sort_by(|a, b| (&a.columns, &a.constraint).cmp(&(&b.columns, &b.constraint)));
            if table.kind == TableKind::View {
                table.key = table.column("id").into_iter().collect();
            }
        }
        self.tables
    }
}

/// The bounds of a type.
#[derive(Debug, Default)]
struct TypeBounds {
    length: Option<u32>,
    precision: Option<u32>,
    scale: Option<u32>,
}

impl TypeBounds {
    /// Decodes a type modifier: for text the length plus four, for numerics precision and scale packed in one number
    /// plus four.
    fn of(base: &str, modifier: i64) -> Self {
        let after_header = u32::try_from(modifier - 4).ok();
        match base {
            "varchar" | "bpchar" => Self { length: after_header, ..Self::default() },
            "bit" | "varbit" => Self { length: u32::try_from(modifier).ok(), ..Self::default() },
            "name" => Self { length: Some(63), ..Self::default() },
            "numeric" => {
                // Eleven bits, signed. A negative scale rounds before the point: so many zeros follow the digits, and
                // no fraction.
                let scale = after_header.map(|both| both & 0x7ff);
                let noughts = scale.filter(|scale| *scale > 0x3ff).map_or(0, |scale| 0x800 - scale);
                Self {
                    precision: after_header.map(|both| (both >> 16) + noughts),
                    scale: scale.map(|scale| if noughts > 0 { 0 } else { scale }),
                    ..Self::default()
                }
            }
            _ => Self::default(),
        }
    }
}

/// Returns the kind of a PostgreSQL type by its catalog name; a type without a kind of its own is text.
fn kind(base: &str) -> ColumnKind {
    match base {
        "bool" => ColumnKind::Boolean,
        "int2" | "int4" => ColumnKind::Integer,
        "int8" | "oid" => ColumnKind::BigInt,
        "float4" => ColumnKind::Float,
        "float8" => ColumnKind::Double,
        "numeric" | "money" => ColumnKind::Decimal,
        "varchar" | "bpchar" | "name" => ColumnKind::Varchar,
        "json" | "jsonb" => ColumnKind::Json,
        "uuid" => ColumnKind::Uuid,
        "bytea" => ColumnKind::Blob,
        "date" => ColumnKind::Date,
        "time" | "timetz" => ColumnKind::Time,
        "timestamp" | "timestamptz" => ColumnKind::Timestamp,
        "geometry" | "geography" => ColumnKind::Geometry,
        _ => ColumnKind::Clob,
    }
}

fn list<T: serde::de::DeserializeOwned>(row: &Fields, index: usize) -> Result<Vec<T>> {
    serde_json::from_str(row.text(index).unwrap_or("[]")).map_err(|error| damaged("a key").with_source(error))
}

fn damaged(what: &str) -> Error {
    Error::internal(format!("the catalog of the database can't be read: {what}"))
}
