//! Compiles `<table>_aggregate`: grouping, functions over groups, conditions on groups.

use std::sync::Arc;

use salver_model::{Aggregate, AggregateFunction, Code, ColumnPath, Error, Filter, Item, Query, Result, Sort, suggest};

use crate::graphql::collect::Collected;
use crate::graphql::condition;
use crate::graphql::graph::{ColumnField, TableType};
use crate::graphql::input::{Arguments, Input};
use crate::graphql::level::{Compiler, field_plan};
use crate::graphql::plan::{FieldPlan, Level, Part, Selection, ValuePlan};

/// Compiles the level of groups that `root` selects.
pub(crate) fn compile<'a>(
    compiler: &Compiler<'a>,
    table: usize,
    root: &Collected<'a>,
    arguments: &Arguments,
) -> Result<Level> {
    let of = &compiler.graph.tables[table];
    let mut groups = Groups { table: of, items: Vec::new(), group: Vec::new() };
    let given = arguments.get("group_by");
    if let Some(input) = given {
        condition::prove_length("group_by", input)?;
        for item in input.items() {
            let Input::Text(name) = item else { continue };
            groups.group_by(groups.find(name)?);
        }
    }
    let mut fields = Vec::new();
    for field in compiler.fields(&root.sets) {
        let value = match field.field.name.as_str() {
            "count" => {
                let column = compiler.arguments(&field).text("column").map(|name| groups.find(name)).transpose()?;
                ValuePlan::Column(groups.aggregate(AggregateFunction::Count, column), Part::Whole)
            }
            "__typename" => ValuePlan::Constant(format!("\"{}\"", of.aggregate).into_bytes()),
            name => ValuePlan::Object(groups.object(compiler, name, &field, given.is_some())?),
        };
        fields.push(field_plan(field.key(), fields.is_empty(), value));
    }
    let having = match arguments.get("having") {
        Some(input) => Some(groups.having(input)?),
        None => None,
    };
    let sort = match arguments.get("sort") {
        Some(input) => {
            condition::prove_length("sort", input)?;
            input.items().iter().map(|item| groups.sort(item)).collect::<Result<Vec<_>>>()?
        }
        None => Vec::new(),
    };
    if !groups.items.iter().any(|item| matches!(item, Item::Aggregate { .. })) {
        groups.aggregate(AggregateFunction::Count, None);
    }
    let query = Query {
        filter: condition::filter(of, arguments)?,
        items: groups.items,
        group: groups.group,
        having,
        sort,
        limit: arguments.count("limit")?,
        offset: arguments.count("offset")?.unwrap_or(0),
        ..Query::default()
    };
    Ok(Level { table, query, selection: Arc::new(Selection { fields, relations: Vec::new() }) })
}

struct Groups<'a> {
    table: &'a TableType,
    items: Vec<Item>,
    group: Vec<ColumnPath>,
}

impl<'a> Groups<'a> {
    fn find(&self, name: &str) -> Result<&'a ColumnField> {
        self.table.column(name).ok_or_else(|| {
            let names = self.table.column_names();
            Error::unknown_column(Code::InvalidColumn, name, self.table.entry.as_str(), names)
        })
    }

    fn item(&mut self, wanted: impl Fn(&Item) -> bool, make: impl FnOnce(String) -> Item) -> usize {
        if let Some(place) = self.items.iter().position(wanted) {
            return place;
        }
        self.items.push(make(format!("item_{}", self.items.len())));
        self.items.len() - 1
    }

    /// Returns the index of a grouping column, which is added if need be.
    fn group_by(&mut self, column: &ColumnField) -> usize {
        let column = ColumnPath::column(&column.column);
        if !self.group.contains(&column) {
            self.group.push(column.clone());
        }
        self.item(
            |item| matches!(item, Item::Column { path, .. } if *path == column),
            |name| Item::Column { path: column.clone(), name },
        )
    }

    /// Returns the index of an aggregate of a column, which is added if need be.
    fn aggregate(&mut self, function: AggregateFunction, column: Option<&ColumnField>) -> usize {
        let wanted = Aggregate { function, column: column.map(|c| ColumnPath::column(&c.column)) };
        self.item(
            |item| matches!(item, Item::Aggregate { aggregate, .. } if *aggregate == wanted),
            |name| Item::Aggregate { aggregate: wanted.clone(), name },
        )
    }

    /// Compiles the columns selected under `group` or under a function.
    fn object(
        &mut self,
        compiler: &Compiler<'a>,
        name: &str,
        field: &Collected<'a>,
        given: bool,
    ) -> Result<Vec<FieldPlan>> {
        let mut fields = Vec::new();
        for inner in compiler.fields(&field.sets) {
            let column_name = inner.field.name.as_str();
            let value = if column_name == "__typename" {
                ValuePlan::Constant(format!("\"{}_{name}\"", self.table.prefix).into_bytes())
            } else {
                let column = self.find(column_name)?;
                let place = match AggregateFunction::named(name) {
                    Some(function) => self.aggregate(function, Some(column)),
                    None if given && !self.group.contains(&ColumnPath::column(&column.column)) => {
                        return Err(Error::new(
                            Code::InvalidColumn,
                            format!("`{column_name}` is selected in `group` but is not in `group_by`"),
                        )
                        .with_hint("add it to `group_by`, or leave `group_by` out to group by what `group` selects"));
                    }
                    None => self.group_by(column),
                };
                ValuePlan::Column(place, Part::Whole)
            };
            fields.push(field_plan(inner.key(), fields.is_empty(), value));
        }
        Ok(fields)
    }

    /// Returns the name of the item that an element of `having` or `sort` refers to.
    fn subject(&mut self, entry: &Arguments, column: Option<&str>) -> Result<String> {
        let column = column.map(|name| self.find(name)).transpose()?;
        let place = match (condition::function(entry)?, column) {
            (Some(AggregateFunction::Count), column) => self.aggregate(AggregateFunction::Count, column),
            (Some(function), Some(column)) => self.aggregate(function, Some(column)),
            (Some(function), None) => {
                let message = format!("`{}` needs a column", function.name());
                return Err(Error::new(Code::InvalidRequest, message));
            }
            (None, Some(column)) => {
                if !self.group.contains(&ColumnPath::column(&column.column)) {
                    let message = format!("the groups have no column `{}`", column.name);
                    let grouped: Vec<String> = self.group.iter().map(ToString::to_string).collect();
                    return Err(Error::new(Code::InvalidRequest, message)
                        .with_hint_if(suggest::hint(&column.name, grouped.iter().map(String::as_str))));
                }
                self.group_by(column)
            }
            (None, None) => {
                return Err(Error::new(Code::InvalidRequest, "say which `function` or column of the groups is meant"));
            }
        };
        Ok(self.items[place].name().to_owned())
    }

    fn having(&mut self, input: &Input) -> Result<Filter> {
        condition::prove_length("having", input)?;
        let mut all = Vec::new();
        for item in input.items() {
            let Input::Object(fields) = item else { continue };
            let entry = Arguments(fields.clone());
            let name = self.subject(&entry, entry.text("column"))?;
            all.push(condition::having(fields, &name)?);
        }
        Ok(Filter::And(all))
    }

    fn sort(&mut self, item: &Input) -> Result<Sort> {
        let entry = condition::sort_entry(item)?;
        let name = self.subject(&entry, entry.text("field"))?;
        condition::direction(&entry, ColumnPath::column(name))
    }
}
