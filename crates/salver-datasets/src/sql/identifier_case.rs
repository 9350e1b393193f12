//! Resolves the case of unquoted names. SQL folds them to lower case, so a column of a CSV header like `City` could not
//! be reached without quotes. Here an unquoted name resolves to the only column or table that it matches in any case,
//! and is folded only if it matches none.

use std::collections::hash_map::Entry;
use std::ops::ControlFlow;

use ahash::{AHashMap, AHashSet};
use arrow::datatypes::{DataType, Fields};
use datafusion::sql::sqlparser::ast::{
    Cte, Expr, Ident, Join, JoinConstraint, JoinOperator, ObjectName, ObjectNamePart, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, Statement, TableAlias, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use salver_model::ports::Tables;
use salver_model::{Code, Error, Result, SqlFault, suggest};

use crate::engine::{CATALOG, SCHEMA};
pub(super) use crate::pg_names::fold;

/// Schema that describes the catalog itself.
const INFORMATION_SCHEMA: &str = "information_schema";

/// Names that a statement uses.
pub(super) struct Named {
    /// Whether the statement reads the list of tables.
    pub(super) reads_every_table: bool,
}

/// Rewrites the names in `statement`.
pub(super) fn resolve(statement: &mut Statement, tables: &dyn Tables) -> Result<Named> {
    let mut seen = Collector::default();
    let _ = Visit::visit(&*statement, &mut seen);
    let catalog: Vec<_> = tables.names();
    let mut table_names = Known::default();
    catalog.iter().for_each(|name| table_names.add(name.as_str()));
    let mut known = Known::default();
    let mut reads_every_table = false;
    for relation in &seen.relations {
        let parts: Vec<&Ident> = relation.0.iter().filter_map(ObjectNamePart::as_ident).collect();
        let Some((last, above)) = parts.split_last() else { continue };
        if above.last().is_some_and(|schema| schema.value.eq_ignore_ascii_case(INFORMATION_SCHEMA)) {
            // Only the operator may see the engine's settings, because they contain paths of this machine.
            if last.value.eq_ignore_ascii_case("df_settings") {
                return Err(unknown_table(relation, last, &catalog));
            }
            reads_every_table = true;
            continue;
        }
        if above.is_empty() && seen.local.contains(&fold(last)) {
            continue;
        }
        let name = table_names.resolve(last);
        let in_catalog = match above {
            [] => true,
            [schema] => fold(schema) == SCHEMA,
            [catalog, schema] => fold(catalog) == CATALOG && fold(schema) == SCHEMA,
            _ => false,
        };
        match tables.table(&name)? {
            Some(table) if in_catalog => add_fields(&mut known, table.describe().schema.fields()),
            _ => return Err(unknown_table(relation, last, &catalog)),
        }
    }
    let qualified = qualified(&seen, &table_names, tables)?;
    for name in &seen.local {
        known.add(name);
        table_names.add(name);
    }
    seen.aliases.iter().for_each(|alias| known.add(alias));
    catalog.iter().for_each(|name| known.add_weakly(name.as_str()));
    let _ = VisitMut::visit(statement, &mut Rewriter { known, table_names, qualified });
    Ok(Named { reads_every_table })
}

/// Returns the columns of each table by its qualifier in lower case; none if a qualifier stands for different tables in
/// different parts of the statement.
fn qualified(seen: &Collector, table_names: &Known, tables: &dyn Tables) -> Result<AHashMap<String, Option<Known>>> {
    let mut meant: AHashMap<&str, Option<String>> = AHashMap::new();
    for (qualifier, relation) in &seen.qualifiers {
        let Some(last) = relation.0.last().and_then(ObjectNamePart::as_ident) else { continue };
        let is_local = relation.0.len() == 1 && seen.local.contains(&fold(last));
        let table = (!is_local).then(|| table_names.resolve(last));
        match meant.entry(qualifier) {
            Entry::Vacant(free) => {
                free.insert(table);
            }
            Entry::Occupied(mut taken) if *taken.get() != table => {
                taken.insert(None);
            }
            Entry::Occupied(_) => {}
        }
    }
    let mut qualified = AHashMap::new();
    for (qualifier, table) in meant {
        let table = table.map(|name| tables.table(&name)).transpose()?.flatten();
        let columns = table.map(|table| {
            let mut columns = Known::default();
            table.describe().schema.fields().iter().for_each(|field| columns.add(field.name()));
            columns
        });
        qualified.insert(qualifier.to_owned(), columns);
    }
    Ok(qualified)
}

fn unknown_table(relation: &ObjectName, last: &Ident, catalog: &[salver_model::Name]) -> Error {
    let at = last.span.start;
    let place = if at.line > 0 { format!(" at line {}, column {}", at.line, at.column) } else { String::new() };
    let names = || catalog.iter().map(salver_model::Name::as_str);
    let whole = relation.to_string().replace('"', "");
    let hint = match names().find(|name| relation.0.len() > 1 && name.eq_ignore_ascii_case(&whole)) {
        Some(name) => Some(format!("the name has a dot: write it in double quotes, as `\"{name}\"`")),
        // One of its own database, rather than of another.
        None => match suggest::nearest(&whole, names()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => suggest::hint(&last.value, names()),
        },
    };
    let error = Error::new(Code::InvalidSql, format!("no table `{whole}`{place}")).with_hint_if(hint);
    error.with_sql_fault(SqlFault::UnknownTable)
}

fn add_fields(known: &mut Known, fields: &Fields) {
    for field in fields {
        known.add(field.name());
        let mut inner = field.data_type();
        while let DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) = inner {
            inner = item.data_type();
        }
        if let DataType::Struct(fields) = inner {
            add_fields(known, fields);
        }
    }
}

/// Existing names.
#[derive(Default)]
pub(super) struct Known {
    exact: AHashSet<String>,
    /// Names by their folded form; `None` if several share it.
    folded: AHashMap<String, Option<String>>,
}

impl Known {
    pub(super) fn add(&mut self, name: &str) {
        if self.exact.insert(name.to_owned()) {
            let entry = self.folded.entry(name.to_lowercase());
            entry.and_modify(|one| *one = None).or_insert_with(|| Some(name.to_owned()));
        }
    }

    /// Returns whether the name is one of them, in any case unless it is quoted.
    fn finds(&self, ident: &Ident) -> bool {
        self.exact.contains(&ident.value)
            || (ident.quote_style.is_none() && self.folded.contains_key(&ident.value.to_lowercase()))
    }

    /// Adds a name over which others take precedence.
    fn add_weakly(&mut self, name: &str) {
        if !self.folded.contains_key(&name.to_lowercase()) {
            self.add(name);
        }
    }

    pub(super) fn resolve(&self, ident: &Ident) -> String {
        if ident.quote_style.is_some() || self.exact.contains(&ident.value) {
            return ident.value.clone();
        }
        let lower = ident.value.to_lowercase();
        if self.exact.contains(&lower) {
            return lower;
        }
        match self.folded.get(&lower) {
            Some(Some(name)) => name.clone(),
            _ => lower,
        }
    }
}

/// Collects the tables that a statement reads, and the names that it defines.
#[derive(Default)]
struct Collector {
    relations: Vec<ObjectName>,
    /// Names of common table expressions and aliases of tables.
    local: AHashSet<String>,
    /// Aliases of columns.
    aliases: AHashSet<String>,
    /// Qualifiers of columns, in lower case, with their tables.
    qualifiers: Vec<(String, ObjectName)>,
}

impl Collector {
    fn table_alias(&mut self, alias: &TableAlias, is_relation: bool) {
        if is_relation {
            self.local.insert(fold(&alias.name));
        } else {
            self.aliases.insert(fold(&alias.name));
        }
        self.aliases.extend(alias.columns.iter().map(|column| fold(&column.name)));
    }
}

impl Visitor for Collector {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &ObjectName) -> ControlFlow<()> {
        self.relations.push(relation.clone());
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.table_alias(&cte.alias, true);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            let last = name.0.last().and_then(ObjectNamePart::as_ident);
            let qualifier = alias.as_ref().map(|alias| &alias.name).or(last);
            self.qualifiers.extend(qualifier.map(|ident| (ident.value.to_lowercase(), name.clone())));
        }
        match factor {
            // A table function is not a table of the catalog.
            TableFactor::Table { name, alias, args: Some(_), .. } => {
                self.local.insert(name.to_string().to_lowercase());
                alias.iter().for_each(|alias| self.table_alias(alias, false));
            }
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::NestedJoin { alias: Some(alias), .. } => self.table_alias(alias, false),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        for item in &select.projection {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                self.aliases.insert(fold(alias));
            }
        }
        ControlFlow::Continue(())
    }
}

/// Replaces names by those that they resolve to.
struct Rewriter {
    known: Known,
    table_names: Known,
    qualified: AHashMap<String, Option<Known>>,
}

impl Rewriter {
    /// Resolves `table.column`, and fields below it, to a column of that table if it has one.
    fn path(&self, idents: &mut [Ident]) {
        let own = idents.first().and_then(|first| self.qualified.get(&first.value.to_lowercase()));
        let own = own.and_then(Option::as_ref);
        for (number, ident) in idents.iter_mut().enumerate() {
            match own {
                Some(own) if number == 1 && own.finds(ident) => ident.value = own.resolve(ident),
                _ => self.column(ident),
            }
        }
    }

    fn column(&self, ident: &mut Ident) {
        ident.value = self.known.resolve(ident);
    }

    fn object(&self, name: &mut ObjectName) {
        for part in &mut name.0 {
            if let ObjectNamePart::Identifier(ident) = part {
                self.column(ident);
            }
        }
    }
}

fn fold_in_place(ident: &mut Ident) {
    ident.value = fold(ident);
}

fn fold_alias(alias: &mut TableAlias) {
    fold_in_place(&mut alias.name);
    alias.columns.iter_mut().for_each(|column| fold_in_place(&mut column.name));
}

fn using(join: &mut Join) -> Option<&mut Vec<ObjectName>> {
    use JoinOperator::{Anti, FullOuter, Inner, Left, LeftAnti, LeftOuter, LeftSemi, Right, RightAnti, RightOuter};
    match &mut join.join_operator {
        JoinOperator::Join(constraint)
        | Inner(constraint)
        | Left(constraint)
        | LeftOuter(constraint)
        | Right(constraint)
        | RightOuter(constraint)
        | FullOuter(constraint)
        | LeftSemi(constraint)
        | LeftAnti(constraint)
        | RightAnti(constraint)
        | Anti(constraint) => match constraint {
            JoinConstraint::Using(columns) => Some(columns),
            _ => None,
        },
        _ => None,
    }
}

impl VisitorMut for Rewriter {
    type Break = ();

    fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<()> {
        let last = relation.0.len().saturating_sub(1);
        for (number, part) in relation.0.iter_mut().enumerate() {
            if let ObjectNamePart::Identifier(ident) = part {
                ident.value = if number == last { self.table_names.resolve(ident) } else { fold(ident) };
            }
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => self.column(ident),
            Expr::CompoundIdentifier(idents) => self.path(idents),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let ctes = query.with.iter_mut().flat_map(|with| &mut with.cte_tables);
        ctes.for_each(|cte: &mut Cte| fold_alias(&mut cte.alias));
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            match item {
                SelectItem::ExprWithAlias { alias, .. } => fold_in_place(alias),
                SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) => {
                    self.object(name)
                }
                _ => {}
            }
        }
        for join in select.from.iter_mut().flat_map(|from| &mut from.joins) {
            using(join).into_iter().flatten().for_each(|name| self.object(name));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        match factor {
            TableFactor::Table { alias: Some(alias), .. }
            | TableFactor::Derived { alias: Some(alias), .. }
            | TableFactor::Function { alias: Some(alias), .. }
            | TableFactor::UNNEST { alias: Some(alias), .. }
            | TableFactor::NestedJoin { alias: Some(alias), .. } => fold_alias(alias),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
