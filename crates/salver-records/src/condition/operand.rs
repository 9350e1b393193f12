//! The left side of a comparison: an expression, and its comparison semantics.

use salver_model::records::{ColumnInfo, ColumnKind};

use crate::dialect::Dialect;

/// The text before and after an expression.
pub(crate) type Around = (&'static str, &'static str);

/// A column, or an expression whose values are like the column's, as values are compared with it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ComparedColumn<'c> {
    pub(crate) column: &'c ColumnInfo,
    /// Whether only the text form compares.
    pub(super) as_text: bool,
}

impl<'c> ComparedColumn<'c> {
    /// Returns how a column compares with possibly invalid values of its type.
    pub(crate) fn by_text(dialect: Dialect, column: &'c ColumnInfo) -> Self {
        Self::new(dialect, column, true)
    }

    fn new(dialect: Dialect, column: &'c ColumnInfo, by_text: bool) -> Self {
        let as_text = match column.kind {
            ColumnKind::Varchar | ColumnKind::Clob => !dialect.is_plain_text(column) && (by_text || !column.ordered),
            ColumnKind::Json => dialect == Dialect::Postgres && (by_text || !column.ordered),
            ColumnKind::Geometry => dialect != Dialect::Sqlite,
            _ => false,
        };
        Self { column, as_text }
    }

    /// Returns whether SQLite stores and compares its values without conversion, so that a number and its text are
    /// different values: a column without a type, and a computed column of a view.
    pub(crate) fn is_untyped(&self, dialect: Dialect) -> bool {
        let native = &self.column.native;
        let has = |word: &str| native.to_ascii_uppercase().contains(word);
        dialect == Dialect::Sqlite
            && matches!(self.column.kind, ColumnKind::Clob | ColumnKind::Blob)
            && (native.is_empty() || native.eq_ignore_ascii_case("any") || has("BLOB"))
            && !(has("CHAR") || has("CLOB") || has("TEXT"))
    }
}

/// The left side of a comparison: an expression without bound values, and the column that it is like.
#[derive(Clone, Debug)]
pub(crate) struct Operand<'c> {
    pub(crate) column: &'c ColumnInfo,
    /// The bare expression.
    pub(super) bare: String,
    /// The expression in the form that compares with values of the column's kind.
    text: String,
    /// Whether only the text form compares.
    pub(super) as_text: bool,
}

impl<'c> Operand<'c> {
    /// Creates the operand of a column, from the table called `alias`.
    pub(crate) fn column(dialect: Dialect, column: &'c ColumnInfo, alias: &str) -> Self {
        let mut bare = String::with_capacity(column.real_name.len() + alias.len() + 3);
        dialect.reference(column, alias, &mut bare);
        Self::expression(dialect, column, bare)
    }

    /// Creates a column that is compared with possibly invalid values of its type: by the text of a type that only
    /// PostgreSQL parses.
    pub(crate) fn column_by_text(dialect: Dialect, column: &'c ColumnInfo, alias: &str) -> Self {
        let mut bare = String::with_capacity(column.real_name.len() + alias.len() + 3);
        dialect.reference(column, alias, &mut bare);
        Self::new(dialect, column, bare, true)
    }

    /// Creates an operand from an expression whose values are like the column's.
    pub(crate) fn expression(dialect: Dialect, column: &'c ColumnInfo, bare: String) -> Self {
        Self::new(dialect, column, bare, false)
    }

    fn new(dialect: Dialect, column: &'c ColumnInfo, bare: String, by_text: bool) -> Self {
        let ComparedColumn { as_text, .. } = ComparedColumn::new(dialect, column, by_text);
        let text = if as_text {
            let (before, behind) = dialect.selected(column);
            format!("{before}{bare}{behind}")
        } else if let Some(compared) = &column.compared {
            format!("({bare})::{compared}")
        } else {
            bare.clone()
        };
        Self { column, bare, text, as_text }
    }

    /// Returns how values are compared with it.
    pub(crate) fn compared(&self) -> ComparedColumn<'c> {
        ComparedColumn { column: self.column, as_text: self.as_text }
    }

    /// Returns whether only its text compares; geometries have an equality of their own.
    pub(crate) fn is_by_text(&self) -> bool {
        self.as_text && self.column.kind != ColumnKind::Geometry
    }

    /// Returns the expression in the form that compares and sorts.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the expression for a sort key; inside a geometry function that is the bare one.
    pub(crate) fn sorted(&self, around: Around) -> &str {
        if self.as_text && around.0.contains("ST_AsText") { &self.bare } else { &self.text }
    }

    /// Returns the expression as text, for `LIKE`.
    pub(super) fn like(&self, dialect: Dialect) -> String {
        let is_text = self.as_text || (self.column.kind.is_text() && dialect.is_plain_text(self.column));
        if dialect == Dialect::Postgres && !is_text { format!("{}::text", self.bare) } else { self.text.clone() }
    }
}
