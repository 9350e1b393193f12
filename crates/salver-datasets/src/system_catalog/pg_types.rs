//! The types that columns and parameters can have, and those that clients ask for by name.

use std::sync::LazyLock;

/// A type.
pub(super) struct TypeRow {
    /// Number.
    pub(super) oid: i32,
    /// Name, as the catalog has it.
    pub(super) name: &'static str,
    /// Name, as SQL has it.
    pub(super) sql_name: &'static str,
    /// Bytes of a value; negative where they vary.
    pub(super) length: i16,
    /// Whether a value is passed as itself.
    pub(super) is_by_value: bool,
    /// Letter of the category.
    pub(super) category: &'static str,
    /// Number of the type of elements; 0 for none.
    pub(super) element: i32,
    /// Number of the type of arrays of it; 0 for none.
    pub(super) array: i32,
    /// Whether others of the category are converted to it.
    pub(super) is_preferred: bool,
    /// Number of the collation; 0 for none.
    pub(super) collation: i32,
    /// Letter of the alignment.
    pub(super) alignment: &'static str,
    /// Letter of the way of storage.
    pub(super) storage: &'static str,
    /// Letter of the kind.
    pub(super) kind: &'static str,
}

impl TypeRow {
    /// Returns the name of its function for what this says: `in` reads values from text and `out` writes them, `recv`
    /// and `send` do the same in binary.
    pub(super) fn function(&self, does: &str) -> String {
        match self.name {
            _ if self.category == "A" => format!("array_{does}"),
            "json" | "jsonb" | "date" | "time" | "timestamp" | "timestamptz" | "interval" | "numeric" | "record"
            | "void" | "uuid" => format!("{}_{does}", self.name),
            name => format!("{name}{does}"),
        }
    }
}

/// What the functions of types do.
const DOES: [&str; 4] = ["in", "out", "recv", "send"];

/// Returns whether a function reads or writes values of a type.
pub(super) fn is_function(name: &str) -> bool {
    DOES.iter().any(|does| name.ends_with(does) && TYPES.iter().any(|row| row.function(does) == name))
}

static TYPES: LazyLock<Vec<TypeRow>> = LazyLock::new(|| {
    include_str!("pg_types.txt").lines().filter(|line| !line.starts_with('#')).filter_map(parsed).collect()
});

/// Returns all types, by number.
pub(super) fn all() -> &'static [TypeRow] {
    &TYPES
}

/// Returns the type of this name, in the catalog or in SQL.
pub(super) fn named(name: &str) -> Option<&'static TypeRow> {
    TYPES.iter().find(|row| row.name == name || row.sql_name == name)
}

fn parsed(line: &'static str) -> Option<TypeRow> {
    let mut parts = line.split('|');
    let mut next = || parts.next();
    Some(TypeRow {
        oid: next()?.parse().ok()?,
        name: next()?,
        sql_name: next()?,
        length: next()?.parse().ok()?,
        is_by_value: next()? == "t",
        category: next()?,
        element: next()?.parse().ok()?,
        array: next()?.parse().ok()?,
        is_preferred: next()? == "t",
        collation: next()?.parse().ok()?,
        alignment: next()?,
        storage: next()?,
        kind: next()?,
    })
}

#[cfg(test)]
mod tests {
    use salver_model::pg_type::{PgType, Scalar};

    use super::{TypeRow, all, is_function, named};

    #[test]
    fn types_of_columns_are_there() {
        let lines = include_str!("pg_types.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(all().len(), lines);
        let of = |oid: i32| all().iter().find(|row: &&TypeRow| row.oid == oid);
        for scalar in [Scalar::Bool, Scalar::Numeric, Scalar::TimestampTz, Scalar::Json, Scalar::Interval] {
            let own = PgType::of_scalar(scalar);
            let row = of(own.oid as i32).unwrap();
            assert_eq!(row.length, own.size, "{}", row.name);
            assert!(of(row.array).is_some());
        }
        assert_eq!(named("double precision").unwrap().name, "float8");
        assert_eq!(named("_text").unwrap().sql_name, "text[]");
        assert_eq!(named("_text").unwrap().function("recv"), "array_recv");
        for name in ["int8in", "uuid_in", "array_out", "numeric_recv", "boolsend"] {
            assert!(is_function(name), "{name}");
        }
        assert!(!is_function("upper") && !is_function("in"));
    }
}
