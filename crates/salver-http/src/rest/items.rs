//! Projection, grouping and order of a result: `columns`, `group` and `sort`.

use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::{Aggregate, AggregateFunction, Code, ColumnPath, Error, Item, Query, Result, Sort, suggest};

use super::path::Columns;

/// Parses `columns=city,lat`, `columns=color,total:sum(amount),count()`: columns, nested fields and aggregates, each
/// with an optional `name:` before it.
pub(super) fn columns(text: &str, columns: &Columns<'_>) -> Result<Vec<Item>> {
    list("columns", text)?.into_iter().map(|part| item(&part, columns)).collect()
}

/// Parses `group=color,links.kind`.
pub(super) fn group(text: &str, columns: &Columns<'_>) -> Result<Vec<ColumnPath>> {
    list("group", text)?.iter().map(|part| columns.resolve(part, Code::InvalidColumn)).collect()
}

/// Completes a grouped query. Without `columns` it returns the groups and the number of rows of each; with `columns` it
/// may name, apart from aggregates, only grouping columns. Names of result columns must be unique.
pub(super) fn complete(query: &mut Query, columns: &Columns<'_>) -> Result<()> {
    if query.is_grouped() {
        complete_groups(query)?;
    }
    let mut names: Vec<&str> = query.items.iter().map(Item::name).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Error::new(Code::InvalidColumn, format!("two columns of the answer are called `{}`", twice[0]))
            .with_hint(format!("name one of them: `other:{}`", columns.names().next().unwrap_or("column"))));
    }
    Ok(())
}

fn complete_groups(query: &mut Query) -> Result<()> {
    if query.items.is_empty() {
        query.items = query.group.iter().cloned().map(Item::column).collect();
        let aggregate = Aggregate { function: AggregateFunction::Count, column: None };
        query.items.push(Item::Aggregate { aggregate, name: "count".to_owned() });
    }
    for item in &query.items {
        if let Item::Column { path, .. } = item
            && !query.group.contains(path)
        {
            return Err(Error::new(
                Code::InvalidColumn,
                format!("column `{path}` is neither grouped by nor aggregated"),
            )
            .with_hint(format!("add it to `group=`, or write an aggregate like `max({path})`")));
        }
    }
    Ok(())
}

/// Parses `sort=a,-b,+c,-d.nullslast,-"e,f"`.
pub(super) fn sort(text: &str, query: &Query, columns: &Columns<'_>) -> Result<Vec<Sort>> {
    bounded("sort", sort_parts(text))?.iter().map(|part| sort_key(part, query, columns)).collect()
}

/// A part of `sort`.
#[derive(Debug, PartialEq)]
struct SortPart {
    descending: bool,
    name: String,
    nulls_first: bool,
    /// Whether the part was nothing but a name in double quotes, in which older requests have the sign, too.
    is_only_quoted: bool,
}

fn sort_key(part: &SortPart, query: &Query, columns: &Columns<'_>) -> Result<Sort> {
    if part.name.is_empty() {
        return Err(Error::new(Code::InvalidSort, "`sort` has an empty part").with_hint("write `sort=a,-b`"));
    }
    let column = if query.is_grouped() {
        of_answer(&part.name, query, Code::InvalidSort)
    } else {
        columns.resolve(&part.name, Code::InvalidSort)
    };
    match column {
        Ok(column) => Ok(Sort { column, descending: part.descending, nulls_first: part.nulls_first }),
        Err(_) if part.is_only_quoted => sort_key(&plain_sort_part(&part.name), query, columns),
        Err(error) => Err(error),
    }
}

/// Splits `sort` at commas. A name in double quotes is taken as it is; its sign and where nulls stand are outside.
fn sort_parts(text: &str) -> Vec<SortPart> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((part, tail)) = quoted_sort_part(rest) {
            parts.push(part);
            rest = tail;
        } else {
            let (part, tail) = rest.split_once(',').unwrap_or((rest, ""));
            if !part.is_empty() {
                parts.push(plain_sort_part(part));
            }
            rest = tail;
        }
    }
    parts
}

fn quoted_sort_part(text: &str) -> Option<(SortPart, &str)> {
    let (descending, name) = sign(text);
    let is_signed = name.len() < text.len();
    let (name, rest) = unquoted(name)?;
    let (end, tail) = rest.split_once(',').unwrap_or((rest, ""));
    let nulls_first = match end {
        "" | ".nullsfirst" => true,
        ".nullslast" => false,
        _ => return None,
    };
    Some((SortPart { descending, name, nulls_first, is_only_quoted: !is_signed && end.is_empty() }, tail))
}

fn plain_sort_part(text: &str) -> SortPart {
    let (descending, name) = sign(text);
    let (name, nulls_first) = match name.rsplit_once('.') {
        Some((name, "nullslast")) => (name, false),
        Some((name, "nullsfirst")) => (name, true),
        _ => (name, true),
    };
    SortPart { descending, name: name.to_owned(), nulls_first, is_only_quoted: false }
}

/// Returns whether a part is descending, with what follows its sign.
fn sign(part: &str) -> (bool, &str) {
    match part.strip_prefix('-') {
        Some(name) => (true, name),
        // A `+` in a query string is decoded to a space.
        None => (false, part.trim_start_matches(['+', ' '])),
    }
}

/// Returns the item `name` of a grouped result.
pub(super) fn of_answer(name: &str, query: &Query, code: Code) -> Result<ColumnPath> {
    let names = query.items.iter().map(Item::name);
    if names.clone().any(|item| item == name) {
        return Ok(ColumnPath::column(name));
    }
    Err(Error::new(code, format!("no column `{name}` in the grouped answer"))
        .with_hint_if(suggest::hint(name, names.collect::<Vec<_>>())))
}

fn item(part: &str, columns: &Columns<'_>) -> Result<Item> {
    // An exact match comes first, so that names with colons can be used as they are.
    if columns.has(part) {
        return Ok(Item::column(part));
    }
    let Some((name, rest)) = part.split_once(':').filter(|(name, _)| !name.is_empty()) else {
        return unnamed(part, columns);
    };
    Ok(match unnamed(rest, columns)? {
        Item::Column { path, .. } => Item::Column { path, name: name.to_owned() },
        Item::Aggregate { aggregate, .. } => Item::Aggregate { aggregate, name: name.to_owned() },
    })
}

/// Parses a column, a nested field or an aggregate, without a name before it.
fn unnamed(part: &str, columns: &Columns<'_>) -> Result<Item> {
    if columns.has(part) {
        return Ok(Item::column(part));
    }
    match part.strip_suffix(')').and_then(|call| call.split_once('(')) {
        Some((function, argument)) => aggregate(function.trim(), argument.trim(), columns),
        None => {
            let path = columns.resolve(part, Code::InvalidColumn)?;
            Ok(Item::Column { path, name: part.to_owned() })
        }
    }
}

fn aggregate(name: &str, argument: &str, columns: &Columns<'_>) -> Result<Item> {
    let Some(function) = AggregateFunction::named(name) else {
        let known = AggregateFunction::ALL.iter().map(|(name, _)| *name);
        return Err(
            Error::new(Code::InvalidColumn, format!("no aggregate `{name}`")).with_hint_if(suggest::hint(name, known))
        );
    };
    let column = match argument {
        "" | "*" if function == AggregateFunction::Count => None,
        "" | "*" => {
            return Err(Error::new(Code::InvalidColumn, format!("`{name}()` needs a column"))
                .with_hint(format!("write `{name}(column)`")));
        }
        column => Some(columns.resolve(column, Code::InvalidColumn)?),
    };
    let shown = column.as_ref().map_or_else(|| name.to_owned(), |column| format!("{name}({column})"));
    Ok(Item::Aggregate { aggregate: Aggregate { function, column }, name: shown })
}

/// Splits the list in `parameter` into its parts.
fn list(parameter: &str, text: &str) -> Result<Vec<String>> {
    bounded(parameter, split(text))
}

/// Returns the parts of the list in `parameter`, unless there are too many.
fn bounded<T>(parameter: &str, parts: Vec<T>) -> Result<Vec<T>> {
    if parts.len() > LIST_ITEMS_MAX {
        return Err(Error::new(Code::InvalidRequest, format!("`{parameter}` lists {} things", parts.len()))
            .with_hint(format!("up to {LIST_ITEMS_MAX} are taken")));
    }
    Ok(parts)
}

/// Splits at commas. A part in double quotes may contain commas; a doubled quote inside stands for one.
fn split(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some((part, tail)) = quoted(rest) {
            parts.push(part);
            rest = tail.strip_prefix(',').unwrap_or(tail);
        } else {
            let (part, tail) = rest.split_once(',').unwrap_or((rest, ""));
            if !part.is_empty() {
                parts.push(part.to_owned());
            }
            rest = tail;
        }
    }
    parts
}

/// Parses a leading part in double quotes, and returns it with the rest; only if a comma or the end follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    unquoted(text).filter(|(_, rest)| rest.is_empty() || rest.starts_with(','))
}

/// Parses a leading text in double quotes, and returns it with the rest.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let mut part = String::new();
    let mut rest = text.strip_prefix('"')?;
    loop {
        let (before, after) = rest.split_once('"')?;
        part.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                part.push('"');
                rest = more;
            }
            None => return Some((part, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SortPart, sort_parts, split};

    #[test]
    fn lists() {
        assert_eq!(split("a,b"), ["a", "b"]);
        assert_eq!(split("a,\"b,c\",d"), ["a", "b,c", "d"]);
        assert_eq!(split("\"a\"\"b\""), ["a\"b"]);
        assert_eq!(split("\"a"), ["\"a"]);
        assert_eq!(split(""), Vec::<String>::new());
    }

    #[test]
    fn parts_of_an_order() {
        let part = |descending, name: &str, nulls_first, is_only_quoted| SortPart {
            descending,
            name: name.to_owned(),
            nulls_first,
            is_only_quoted,
        };
        assert_eq!(
            sort_parts("a,-b,+c,-d.nullslast,e.f"),
            [
                part(false, "a", true, false),
                part(true, "b", true, false),
                part(false, "c", true, false),
                part(true, "d", false, false),
                part(false, "e.f", true, false)
            ]
        );
        assert_eq!(
            sort_parts(r#"-"a,b","-neg",+"+plus".nullslast,-"dq""x".nullsfirst,"c.nullslast""#),
            [
                part(true, "a,b", true, false),
                part(false, "-neg", true, true),
                part(false, "+plus", false, false),
                part(true, "dq\"x", true, false),
                part(false, "c.nullslast", true, true)
            ]
        );
        // What is no name in quotes is a name with quotes.
        assert_eq!(sort_parts(r#""a"b,-"c"#), [part(false, "\"a\"b", true, false), part(true, "\"c", true, false)]);
        assert!(sort_parts("").is_empty());
    }
}
