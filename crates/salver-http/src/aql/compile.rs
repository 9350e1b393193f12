//! Compiles a statement to a query of the model, with the columns of its entry and the values of its bind variables.

use ahash::{AHashMap, AHashSet};
use arrow::datatypes::Schema;
use salver_model::{Filter, Item, Query, Sort, Value};

use super::bind::Binds;
use super::columns::Columns;
use super::condition::filter;
use super::syntax::{Answer, Collection, Operand, Statement};
use super::{BIND_PARAMETER_TYPE, Mistake, NUMBER_OUT_OF_RANGE};

/// A statement that is ready to run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compiled {
    /// The query. Without filter, order and `distinct` it is only a projection with an offset and a limit.
    pub(crate) query: Query,
    /// The shape of the result for each row.
    pub(crate) shape: ResultShape,
}

/// The shape of the result for a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultShape {
    /// An object.
    Objects,
    /// The value of the only column.
    Values,
    /// An object without members, one per row.
    Empty,
}

impl Statement {
    /// Returns the name of the entry that the statement reads.
    pub(crate) fn entry<'a>(&'a self, binds: &Binds<'a>) -> Result<&'a str, Mistake> {
        match &self.collection {
            Collection::Name(name) => Ok(name),
            Collection::Bound(name) => binds.collection(name),
        }
    }
}

/// Compiles `statement` to a query over an entry with the columns of `schema`.
pub(crate) fn compile(statement: &Statement, schema: &Schema, binds: &Binds<'_>) -> Result<Compiled, Mistake> {
    let columns = Columns::of(schema);
    let filters = statement.filters.iter().map(|one| filter(one, false, columns, binds));
    let mut filters: Vec<Filter> = filters.collect::<Result<_, _>>()?;
    let sort = statement.sort.iter().map(|key| Sort {
        column: columns.path(&key.path),
        descending: key.descending,
        // Null is less than any other value.
        nulls_first: !key.descending,
    });
    let (items, shape) = answer(&statement.answer, columns, binds)?;
    let (offset, limit) = match &statement.limit {
        None => (0, None),
        Some((offset, Operand::Value(Value::Null))) => (number(offset, binds)?, None),
        Some((offset, limit)) => (number(offset, binds)?, Some(number(limit, binds)?)),
    };
    let filter = if filters.len() > 1 { Some(Filter::And(filters)) } else { filters.pop() };
    let sort = sort.collect();
    let query = Query { items, filter, sort, offset, limit, distinct: statement.distinct, ..Query::default() };
    binds.finish()?;
    Ok(Compiled { query, shape })
}

fn answer(answer: &Answer, columns: Columns<'_>, binds: &Binds<'_>) -> Result<(Vec<Item>, ResultShape), Mistake> {
    Ok(match answer {
        Answer::Document => (Vec::new(), ResultShape::Objects),
        Answer::Field(path) => {
            let path = columns.path(path);
            (vec![Item::Column { name: path.to_string(), path }], ResultShape::Values)
        }
        Answer::Object(fields) if fields.is_empty() => (Vec::new(), ResultShape::Empty),
        Answer::Object(fields) => {
            // Among members of the same name the last one wins.
            let last: AHashMap<&String, usize> = fields.iter().enumerate().map(|(at, (name, _))| (name, at)).collect();
            let items = fields.iter().enumerate().filter(|(at, (name, _))| last.get(name) == Some(at));
            let items = items.map(|(_, (name, path))| Item::Column { path: columns.path(path), name: name.clone() });
            (items.collect(), ResultShape::Objects)
        }
        Answer::Keep(names) => {
            let names = texts(names, binds)?;
            kept(columns, |column| names.contains(column))
        }
        Answer::Unset(names) => {
            let names = texts(names, binds)?;
            kept(columns, |column| !names.contains(column))
        }
    })
}

/// Returns the columns selected by `is_kept`, as items; a name that is not a column is not a member of any document.
fn kept(columns: Columns<'_>, is_kept: impl Fn(&str) -> bool) -> (Vec<Item>, ResultShape) {
    let items: Vec<Item> = columns.names().filter(|name| is_kept(name)).map(Item::column).collect();
    let shape = if items.is_empty() { ResultShape::Empty } else { ResultShape::Objects };
    (items, shape)
}

/// Returns the names given to KEEP and UNSET, alone or in lists.
fn texts(operands: &[Operand], binds: &Binds<'_>) -> Result<AHashSet<String>, Mistake> {
    let mut names = AHashSet::new();
    for operand in operands {
        let values = match operand {
            Operand::Value(value) => vec![value.clone()],
            Operand::Bound(name) => binds.list(name).or_else(|_| binds.value(name).map(|value| vec![value]))?,
            Operand::List(operands) => {
                names.extend(texts(operands, binds)?);
                continue;
            }
            Operand::Path(_) => vec![Value::Null],
        };
        for value in values {
            match value {
                Value::Text(name) => {
                    names.insert(name);
                }
                _ => {
                    let message = "AQL: KEEP and UNSET take names of fields (while parsing)";
                    return Err(Mistake::new(BIND_PARAMETER_TYPE, message));
                }
            }
        }
    }
    Ok(names)
}

fn number(operand: &Operand, binds: &Binds<'_>) -> Result<u64, Mistake> {
    let value = match operand {
        Operand::Bound(name) => binds.value(name)?,
        Operand::Value(value) => value.clone(),
        Operand::List(_) | Operand::Path(_) => Value::Null,
    };
    match value {
        Value::Int(number) => u64::try_from(number).ok(),
        Value::UInt(number) => Some(number),
        _ => None,
    }
    .ok_or_else(|| {
        Mistake::new(NUMBER_OUT_OF_RANGE, "AQL: number out of range: LIMIT takes whole numbers from 0 (while parsing)")
    })
}
