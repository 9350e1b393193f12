//! The relations that tell of entries: `pg_class` has them, `pg_attribute` their columns, and so on.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int16Array, Int32Array, StringArray};
use salver_model::pg_type::{PgType, Scalar};
use salver_model::ports::Table;
use salver_model::{EntryKind, Name};

use super::filled_table::Columns;
use super::settings::SETTINGS;
use super::{oids, pg_types};
use crate::engine::CATALOG;

/// Name of the role that everything belongs to.
const OWNER: &str = "salver";

/// Entries, in order of their names, with the numbers of their relations.
#[derive(Debug)]
pub(super) struct Relations {
    entries: Vec<(Name, Arc<dyn Table>)>,
    numbers: Vec<i32>,
}

impl Relations {
    /// Names of the relations that can have rows.
    pub(super) const KNOWN: [&str; 12] = [
        "pg_am",
        "pg_attribute",
        "pg_authid",
        "pg_class",
        "pg_database",
        "pg_namespace",
        "pg_roles",
        "pg_settings",
        "pg_tables",
        "pg_type",
        "pg_user",
        "pg_views",
    ];

    /// Returns the relations of these entries.
    pub(super) fn new(mut entries: Vec<(Name, Arc<dyn Table>)>) -> Self {
        entries.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        let numbers = oids::of_entries(entries.iter().map(|(name, _)| name.as_str()));
        Self { entries, numbers }
    }

    /// Returns the number of an entry.
    pub(super) fn number(&self, name: &str) -> Option<i32> {
        let place = self.entries.iter().position(|(own, _)| own.as_str() == name)?;
        self.numbers.get(place).copied()
    }

    /// Returns the entries by their numbers.
    pub(super) fn names(&self) -> impl Iterator<Item = (i32, &str)> {
        self.numbers.iter().copied().zip(self.entries.iter().map(|(name, _)| name.as_str()))
    }

    /// Returns the entries by their names.
    pub(super) fn tables(&self) -> impl Iterator<Item = (&str, &Arc<dyn Table>)> {
        self.entries.iter().map(|(name, table)| (name.as_str(), table))
    }

    /// Returns the number of rows of a relation, and its known columns. Those that have nothing to tell of are empty.
    pub(super) fn rows(&self, relation: &str) -> (usize, Columns) {
        match relation {
            "pg_class" => (self.entries.len(), self.classes()),
            "pg_attribute" => self.attributes(),
            "pg_tables" => self.listed(false, ["schemaname", "tablename", "tableowner"]),
            "pg_views" => self.listed(true, ["schemaname", "viewname", "viewowner"]),
            "pg_namespace" => (3, namespaces()),
            "pg_database" => (1, databases()),
            "pg_type" => (pg_types::all().len(), of_types()),
            "pg_roles" | "pg_authid" => (1, roles()),
            "pg_settings" => (SETTINGS.len(), settings()),
            "pg_user" => (1, Columns::from([("usename", texts([OWNER])), ("usesysid", numbers([oids::OWNER]))])),
            "pg_am" => (
                1,
                Columns::from([("oid", numbers([oids::HEAP])), ("amname", texts(["heap"])), ("amtype", texts(["t"]))]),
            ),
            _ => (0, Columns::new()),
        }
    }

    fn classes(&self) -> Columns {
        let count = self.entries.len();
        let tables = || self.entries.iter().map(|(_, table)| table.describe());
        let rows = tables().map(|about| about.rows.map_or(-1.0, |rows| rows as f64));
        let widths = tables().map(|about| i16::try_from(about.schema.fields().len()).unwrap_or(i16::MAX));
        Columns::from([
            ("oid", numbers(self.numbers.iter().copied())),
            ("relname", texts(self.entries.iter().map(|(name, _)| name.as_str()))),
            ("relnamespace", numbers(std::iter::repeat_n(oids::PUBLIC, count))),
            ("relowner", numbers(std::iter::repeat_n(oids::OWNER, count))),
            ("relam", numbers(std::iter::repeat_n(oids::HEAP, count))),
            ("reltuples", Arc::new(Float64Array::from_iter_values(rows)) as ArrayRef),
            ("relkind", texts(tables().map(|about| if about.kind == EntryKind::View { "v" } else { "r" }))),
            ("relnatts", Arc::new(Int16Array::from_iter_values(widths)) as ArrayRef),
            ("relpersistence", texts(std::iter::repeat_n("p", count))),
            ("relreplident", texts(std::iter::repeat_n("n", count))),
            ("relispopulated", Arc::new(BooleanArray::from(vec![true; count])) as ArrayRef),
        ])
    }

    fn attributes(&self) -> (usize, Columns) {
        let (mut relations, mut names, mut places, mut of) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let mut required = Vec::new();
        for ((_, table), number) in self.entries.iter().zip(&self.numbers) {
            for (field, place) in table.describe().schema.fields().iter().zip(1_i16..) {
                relations.push(*number);
                names.push(field.name().as_str());
                places.push(place);
                of.push(PgType::of(field.data_type()));
                required.push(!field.is_nullable());
            }
        }
        let count = names.len();
        let collation = |own: &PgType| if own.scalar == Scalar::Text { 100 } else { 0 };
        let columns = Columns::from([
            ("attrelid", numbers(relations)),
            ("attname", texts(names)),
            ("atttypid", numbers(of.iter().map(|own| own.oid as i32))),
            ("attstattarget", numbers(std::iter::repeat_n(-1, count))),
            ("attlen", Arc::new(Int16Array::from_iter_values(of.iter().map(|own| own.size))) as ArrayRef),
            ("attnum", Arc::new(Int16Array::from(places)) as ArrayRef),
            ("attndims", numbers(of.iter().map(|own| i32::from(own.is_array)))),
            ("attcacheoff", numbers(std::iter::repeat_n(-1, count))),
            ("atttypmod", numbers(of.iter().map(|own| own.modifier))),
            ("attbyval", flags(of.iter().map(|own| own.size > 0))),
            ("attalign", texts(std::iter::repeat_n("i", count))),
            ("attstorage", texts(of.iter().map(|own| if own.size > 0 { "p" } else { "x" }))),
            ("attnotnull", flags(required)),
            ("attislocal", flags(std::iter::repeat_n(true, count))),
            ("attcollation", numbers(of.iter().map(collation))),
        ]);
        (count, columns)
    }

    /// Returns the tables, or the views, with the columns that have their schema, name and owner.
    fn listed(&self, are_views: bool, [schema, name, owner]: [&'static str; 3]) -> (usize, Columns) {
        let is_wanted = |table: &Arc<dyn Table>| (table.describe().kind == EntryKind::View) == are_views;
        let wanted = self.entries.iter().filter(|(_, table)| is_wanted(table));
        let names: Vec<&str> = wanted.map(|(name, _)| name.as_str()).collect();
        let count = names.len();
        let columns = Columns::from([
            (schema, texts(std::iter::repeat_n("public", count))),
            (name, texts(names)),
            (owner, texts(std::iter::repeat_n(OWNER, count))),
        ]);
        (count, columns)
    }
}

fn namespaces() -> Columns {
    Columns::from([
        ("oid", numbers([oids::PG_CATALOG, oids::PUBLIC, oids::INFORMATION_SCHEMA])),
        ("nspname", texts(["pg_catalog", "public", "information_schema"])),
        ("nspowner", numbers([oids::OWNER; 3])),
    ])
}

fn databases() -> Columns {
    Columns::from([
        ("oid", numbers([oids::DATABASE])),
        ("datname", texts([CATALOG])),
        ("datdba", numbers([oids::OWNER])),
        // UTF-8.
        ("encoding", numbers([6])),
        ("datlocprovider", texts(["c"])),
        ("datcollate", texts(["C.UTF-8"])),
        ("datctype", texts(["C.UTF-8"])),
        ("datallowconn", flags([true])),
        ("datconnlimit", numbers([-1])),
    ])
}

fn roles() -> Columns {
    Columns::from([
        ("oid", numbers([oids::OWNER])),
        ("rolname", texts([OWNER])),
        ("rolinherit", flags([true])),
        ("rolcanlogin", flags([true])),
        ("rolconnlimit", numbers([-1])),
    ])
}

fn settings() -> Columns {
    let count = SETTINGS.len();
    let values = || texts(SETTINGS.iter().map(|(_, value)| *value));
    Columns::from([
        ("name", texts(SETTINGS.iter().map(|(name, _)| *name))),
        ("setting", values()),
        ("boot_val", values()),
        ("reset_val", values()),
        ("category", texts(std::iter::repeat_n("Preset Options", count))),
        ("short_desc", texts(std::iter::repeat_n("", count))),
        ("context", texts(std::iter::repeat_n("internal", count))),
        ("vartype", texts(std::iter::repeat_n("string", count))),
        ("source", texts(std::iter::repeat_n("default", count))),
        ("pending_restart", flags(std::iter::repeat_n(false, count))),
    ])
}

fn of_types() -> Columns {
    let all = pg_types::all();
    let functions =
        |does: &str| -> ArrayRef { Arc::new(StringArray::from_iter_values(all.iter().map(|row| row.function(does)))) };
    Columns::from([
        ("oid", numbers(all.iter().map(|row| row.oid))),
        ("typname", texts(all.iter().map(|row| row.name))),
        ("typnamespace", numbers(all.iter().map(|_| oids::PG_CATALOG))),
        ("typowner", numbers(all.iter().map(|_| oids::OWNER))),
        ("typlen", Arc::new(Int16Array::from_iter_values(all.iter().map(|row| row.length))) as ArrayRef),
        ("typbyval", flags(all.iter().map(|row| row.is_by_value))),
        ("typtype", texts(all.iter().map(|row| row.kind))),
        ("typcategory", texts(all.iter().map(|row| row.category))),
        ("typispreferred", flags(all.iter().map(|row| row.is_preferred))),
        ("typisdefined", flags(all.iter().map(|_| true))),
        ("typdelim", texts(all.iter().map(|_| ","))),
        ("typelem", numbers(all.iter().map(|row| row.element))),
        ("typarray", numbers(all.iter().map(|row| row.array))),
        ("typinput", functions("in")),
        ("typoutput", functions("out")),
        ("typreceive", functions("recv")),
        ("typsend", functions("send")),
        ("typalign", texts(all.iter().map(|row| row.alignment))),
        ("typstorage", texts(all.iter().map(|row| row.storage))),
        ("typtypmod", numbers(all.iter().map(|_| -1))),
        ("typcollation", numbers(all.iter().map(|row| row.collation))),
    ])
}

fn numbers(values: impl IntoIterator<Item = i32>) -> ArrayRef {
    Arc::new(Int32Array::from_iter_values(values))
}

fn texts<'t>(values: impl IntoIterator<Item = &'t str>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn flags(values: impl IntoIterator<Item = bool>) -> ArrayRef {
    Arc::new(BooleanArray::from(values.into_iter().collect::<Vec<_>>()))
}
