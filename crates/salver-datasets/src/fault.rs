//! Classifies the engine's failures: which are the client's, and which messages the client may read. Causes are logged;
//! paths and the engine's internal messages are never sent.

mod alternatives;
mod sql_faults;

use std::any::Any;

use arrow::error::ArrowError;
use datafusion::common::{DataFusionError, SchemaError};
use salver_model::{Code, Error, SqlFault, suggest};

/// Converts a failure of a plan's execution.
pub(crate) fn execution(error: DataFusionError) -> Error {
    match ours(error) {
        Ok(ours) => ours,
        Err(error) => told(error, executed),
    }
}

/// Converts a failure of planning.
pub(crate) fn planning(error: DataFusionError) -> Error {
    match ours(error) {
        Ok(ours) => ours,
        Err(error) => told(error, planned),
    }
}

/// Converts a failure, and says what is wrong with the statement if that is known.
fn told(error: DataFusionError, convert: fn(DataFusionError) -> Error) -> Error {
    let fault = sql_faults::of(&error);
    let mut made = convert(error);
    made.sql_fault = made.sql_fault.or(fault);
    made
}

fn executed(error: DataFusionError) -> Error {
    executed_by(&error).with_source(error)
}

/// Returns what a failure of a plan's execution is, without its cause.
fn executed_by(error: &DataFusionError) -> Error {
    if let Some(ours) = beneath(error) {
        return ours.shared();
    }
    if is_disk_full(error) {
        tracing::warn!(cause = %error, "a query was ended because the disk is full that queries spill to");
        return Error::new(Code::OutOfMemory, "the query spills more to disk than there is space")
            .with_hint("ask for less: add a filter or a `limit`; or free space on the disk of `data_dir`");
    }
    let (code, message, hint) = match error.find_root() {
        // This is also reported as a failure to write a file.
        root if root.to_string().contains("used disk space during the spilling") => (
            Code::OutOfMemory,
            "the query spills more to disk than is left of `limits.spill_bytes_max`".to_owned(),
            "ask for less: add a filter or a `limit`; or raise `limits.spill_bytes_max`",
        ),
        DataFusionError::ResourcesExhausted(_) => (
            Code::OutOfMemory,
            "the query needs more memory than there is for queries".to_owned(),
            "ask for less: add a filter or a `limit`; or raise `limits.memory_bytes_max`",
        ),
        DataFusionError::ArrowError(error, _) => match &**error {
            ArrowError::IoError(..) | ArrowError::ParquetError(_) => unreadable(),
            other => return computed(other),
        },
        DataFusionError::ParquetError(_) | DataFusionError::ObjectStore(_) | DataFusionError::IoError(_) => {
            unreadable()
        }
        DataFusionError::Execution(message) => {
            (Code::Execution, first_line(message), date_hint(message).unwrap_or(CHECK_VALUES))
        }
        DataFusionError::NotImplemented(message) if names_outer(message) => {
            (Code::InvalidSql, OUTER.0.to_owned(), OUTER.1)
        }
        DataFusionError::NotImplemented(message) => {
            let (message, instead) = lacking(message);
            (Code::InvalidSql, message, instead)
        }
        DataFusionError::ExecutionJoin(_) => {
            return Error::internal("the query hit a fault of the engine")
                .with_hint("write the query another way; the log has the cause");
        }
        _ => (Code::Execution, "the query failed while it ran".to_owned(), "write the query another way"),
    };
    Error::new(code, message).with_hint(hint)
}

/// Returns what the failure of a kernel is.
fn computed(error: &ArrowError) -> Error {
    let message = arrow_message(error);
    let hint = date_hint(&message).unwrap_or(CHECK_VALUES);
    Error::new(Code::Execution, message).with_hint(hint)
}

/// Returns what a failure on an executor is, which others may share, and what is wrong with the statement if that is
/// known.
#[cfg(feature = "ballista")]
pub(crate) fn elsewhere(error: &DataFusionError) -> Error {
    let mut made = executed_by(error);
    made.sql_fault = made.sql_fault.or_else(|| sql_faults::of(error));
    made
}

/// The same of a kernel.
#[cfg(feature = "ballista")]
pub(crate) fn elsewhere_in_kernel(error: &ArrowError) -> Error {
    match error {
        ArrowError::ExternalError(inner) => {
            inner.downcast_ref::<DataFusionError>().map_or_else(|| computed(error), elsewhere)
        }
        error => computed(error),
    }
}

fn planned(error: DataFusionError) -> Error {
    if let Some(unfit) = unfit(&error.to_string()) {
        return unfit.with_source(error);
    }
    let made = match error.find_root() {
        DataFusionError::SchemaError(schema, _) => return schema_error(schema).with_source(error),
        // A check of the engine failed, and its message contains the plan.
        DataFusionError::Plan(message) if !message.starts_with("Plan: [") => {
            Error::new(Code::InvalidSql, first_line(message)).with_hint_if(hint_of(message))
        }
        DataFusionError::NotImplemented(message) if names_outer(message) => {
            Error::new(Code::InvalidSql, OUTER.0).with_hint(OUTER.1)
        }
        DataFusionError::NotImplemented(message) => {
            let (message, instead) = lacking(message);
            Error::new(Code::InvalidSql, message).with_hint(instead)
        }
        DataFusionError::ArrowError(error, _) => {
            let message = arrow_message(error);
            let hint = date_hint(&message).map(str::to_owned);
            Error::new(Code::InvalidSql, message).with_hint_if(hint)
        }
        DataFusionError::Execution(message) => {
            let hint = hint_of(message).or_else(|| date_hint(message).map(str::to_owned));
            Error::new(Code::InvalidSql, first_line(message)).with_hint_if(hint)
        }
        DataFusionError::ResourcesExhausted(_) | DataFusionError::IoError(_) | DataFusionError::ObjectStore(_) => {
            return executed(error);
        }
        _ => Error::new(Code::InvalidSql, "the statement can't be planned").with_hint("write it another way"),
    };
    made.with_source(error)
}

/// Returns whether planning failed because the engine gave two expressions the same name.
pub(crate) fn is_of_names(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::SchemaError(schema, _) => matches!(
            **schema,
            SchemaError::DuplicateQualifiedField { .. } | SchemaError::DuplicateUnqualifiedField { .. }
        ),
        DataFusionError::Plan(message) => message.contains("require unique expression names"),
        _ => false,
    }
}

/// Converts the failure of a kernel on the values of a query.
pub(crate) fn arrow(error: ArrowError) -> Error {
    execution(error.into())
}

/// Converts the panic of a library, caught at the boundary of a task.
pub(crate) fn panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    // Buffers that exceed their offsets or the address space.
    let error = if OVERFLOWS.iter().any(|overflow| text.contains(overflow)) {
        Error::new(Code::QueryTooLarge, "the query makes more of a column than fits into one batch")
            .with_hint("ask for smaller values, or for fewer of them at once")
    } else {
        Error::internal("the query hit a fault of the engine")
            .with_hint("write the query another way; the log has the cause")
    };
    error.with_source(format!("panic: {text}"))
}

/// Converts the failure of a task that did not complete.
pub(crate) fn stopped(error: tokio::task::JoinError) -> Error {
    Error::internal("the query was stopped before its end").with_source(error)
}

/// Texts with which libraries panic if something is too large.
const OVERFLOWS: [&str; 2] = ["overflow", "illegal offset range"];

const CHECK_VALUES: &str =
    "check the values the query computes with; `try_cast` and `nullif` give null where these fail";

fn unreadable() -> (Code, String, &'static str) {
    (
        Code::EntryUnavailable,
        "a file of the dataset can't be read: it is damaged, or was changed since it was loaded".to_owned(),
        "put a whole file in its place: it is loaded in a few seconds; the log has the cause",
    )
}

/// Returns whether a write failed because the disk is full: what queries spill is all that they write.
fn is_disk_full(error: &DataFusionError) -> bool {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        let failed = error.downcast_ref::<std::io::Error>();
        if failed.is_some_and(|failed| matches!(failed.kind(), StorageFull | QuotaExceeded)) {
            return true;
        }
        // The source of an error of I/O is not what it wraps, but the source of that.
        next = match failed.and_then(std::io::Error::get_ref) {
            Some(wrapped) => Some(wrapped),
            None => error.source(),
        };
    }
    false
}

/// Returns Salver's own error from below those of libraries.
fn beneath(error: &DataFusionError) -> Option<&Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(ours) = error.downcast_ref::<Error>() {
            return Some(ours);
        }
        next = error.source();
    }
    None
}

/// Returns Salver's own error if the engine only wrapped it.
fn ours(error: DataFusionError) -> Result<Error, DataFusionError> {
    match error {
        DataFusionError::External(inner) => match inner.downcast::<Error>() {
            Ok(ours) => Ok(*ours),
            Err(inner) => match inner.downcast::<DataFusionError>() {
                Ok(nested) => ours(*nested),
                Err(inner) => Err(DataFusionError::External(inner)),
            },
        },
        // Other tasks on the same partitions share the error, so it can't be taken out.
        DataFusionError::Shared(shared) => match shared.find_root() {
            DataFusionError::External(inner) => match inner.downcast_ref::<Error>() {
                Some(ours) => Ok(ours.shared()),
                None => Err(DataFusionError::Shared(shared)),
            },
            _ => Err(DataFusionError::Shared(shared)),
        },
        DataFusionError::Context(text, inner) => ours(*inner).map_err(|inner| inner.context(text)),
        other => Err(other),
    }
}

fn schema_error(error: &SchemaError) -> Error {
    match error {
        SchemaError::FieldNotFound { field, valid_fields } => {
            let written = match &field.relation {
                Some(relation) => format!("{}.{}", relation.table(), field.name),
                None => field.name.clone(),
            };
            let is_table = field.relation.is_none()
                && valid_fields.iter().any(|column| {
                    column.relation.as_ref().is_some_and(|table| table.table().eq_ignore_ascii_case(&field.name))
                });
            if is_table {
                return Error::new(Code::InvalidSql, format!("`{written}` is a table, and here stands a value"))
                    .with_hint(
                        "name its columns, as in `json_build_object('id', id, 'name', name)` or `row(id, name)`",
                    );
            }
            if GENERATED.iter().any(|own| field.name.starts_with(own)) {
                return Error::new(Code::InvalidSql, OUTER.0).with_hint(OUTER.1);
            }
            let names: Vec<&str> = valid_fields.iter().map(|column| column.name.as_str()).collect();
            // The columns that a subquery compares have generated names by now, so the name was sought one level
            // further out than the engine looks.
            if names.iter().any(|name| name.starts_with(GENERATED[0])) {
                return Error::new(Code::InvalidSql, format!("`{written}` belongs to a query two levels further out"))
                    .with_hint(OUTER.1);
            }
            Error::new(Code::InvalidSql, format!("no column `{written}`"))
                .with_hint_if(suggest::hint(&field.name, names.iter().copied()))
        }
        SchemaError::AmbiguousReference { field } => {
            Error::new(Code::InvalidSql, format!("column `{}` is in more than one table", field.name))
                .with_hint("write the table's name before it, as in `t.column`")
        }
        SchemaError::DuplicateQualifiedField { name, .. } | SchemaError::DuplicateUnqualifiedField { name } => {
            Error::new(Code::InvalidSql, format!("column `{name}` stands twice in the same place"))
                .with_hint("give one of them another name with `as`")
        }
    }
}

fn arrow_message(error: &ArrowError) -> String {
    match error {
        ArrowError::DivideByZero => "division by zero".to_owned(),
        ArrowError::CastError(message)
        | ArrowError::ParseError(message)
        | ArrowError::ComputeError(message)
        | ArrowError::InvalidArgumentError(message)
        | ArrowError::ArithmeticOverflow(message) => first_line(message),
        _ => "the query failed on a value".to_owned(),
    }
}

/// Returns the hint for text that was cast to a date or timestamp and is none in ISO 8601.
fn date_hint(message: &str) -> Option<&'static str> {
    const TYPES: [&str; 2] = ["Date", "Timestamp"];
    let is_cast = message.strip_prefix("Cannot cast string '").and_then(|rest| rest.rsplit_once("' to value of "));
    let is_date = is_cast.is_some_and(|(_, wanted)| TYPES.iter().any(|kind| wanted.starts_with(kind)));
    (is_date || message.starts_with("Error parsing timestamp from '")).then_some(WITH_PATTERN)
}

const WITH_PATTERN: &str = "a cast reads '2024-03-05'; for other text say the pattern, as in \
    `to_date('05 Mar 2024', 'DD Mon YYYY')` or `to_timestamp`; `try_cast` gives null where a cast fails";

/// Extracts the hint from a planner's message; for functions only if it names a similar one, or a better name is known.
fn hint_of(message: &str) -> Option<String> {
    if let Some((_, hint)) = HINTS.iter().find(|(theirs, _)| message.contains(theirs)) {
        return Some((*hint).to_owned());
    }
    let meant = message.lines().nth(1).filter(|line| line.starts_with("Did you mean"));
    let near = || meant.map(|line| line.replace('\'', "`").replace("Did", "did"));
    let Some(name) = message.strip_prefix("Invalid function '").and_then(|rest| rest.split('\'').next()) else {
        return near();
    };
    if let Some(instead) = alternatives::of(name) {
        return Some(instead.to_owned());
    }
    let is_near =
        meant.and_then(|line| line.split('\'').nth(1)).is_some_and(|other| suggest::nearest(name, [other]).is_some());
    if is_near { near() } else { Some(NO_FUNCTION.to_owned()) }
}

/// Parts of the planner's messages, and the hint for each.
const HINTS: [(&str, &str); 8] = [
    ("no array of shares", "write the shares out, as in `percentile_disc(array[0.25, 0.5])`"),
    (
        "names columns of both sides",
        "compute it in a subquery of the left side, as in `from (select t.*, (select ...) as x from t) as t left \
         join`, or write `left join lateral`",
    ),
    ("names a column of an outer query", "join a subquery that has the column, or compare in `where`"),
    (
        "Cannot access field at argument",
        "if the name before the point is that of an outer query's table, and also that of a column here: name the \
         table otherwise, as in `from t as other`",
    ),
    ("group by several sets", "write it as a join, or combine groupings with `union all`"),
    (
        "over the rows of one outer row",
        "say `partition by` the columns that are compared, in a subquery that is joined, or write `cross join lateral`",
    ),
    (
        "subquery should only return one column",
        "compare several columns by `in`, as in `(x, y) in (select a, b from t)`",
    ),
    ("specified more than once", "give one of them another name"),
];

const NO_FUNCTION: &str = "docs/sql.md says what there is; functions of your own are written in files of R or Python";

/// Message and hint for a subquery that can't be decorrelated.
const OUTER: (&str, &str) = (
    "a subquery names columns of the query around it where it can't be computed for all rows at once",
    "write it as a join; for the first rows of each, number them in a subquery, as in `select ..., row_number() over \
     (partition by k order by x) as n`, and filter by `n`",
);

/// The engine's message for an unsupported feature, the message for the client, and the hint.
const LACKING: [(&str, &str, &str); 5] = [
    ("'AtArrow'", "`@>` compares lists, and JSON that is cast", CAST_JSON),
    ("'ArrowAt'", "`<@` compares lists, and JSON that is cast", CAST_JSON),
    (
        "retract_batch",
        "the aggregate can't be computed over a frame that moves on",
        "begin the frame with `unbounded preceding`; for `bool_or` write `max(x::int)`, for `string_agg` \
         `array_to_string(array_agg(x) over (...), ',')`",
    ),
    (
        "Conflicting ordering requirements",
        "aggregates that want their rows in different orders can't be computed together",
        "compute each in a subquery with the same groups, and join them",
    ),
    (
        "ANY in LIKE",
        "`like any` is not supported",
        "write a pattern of alternatives, as in `x ~ '^(n|s)'`, or `x like 'n%' or x like 's%'`",
    ),
];

/// JSON is text, of which only a cast tells what it is.
const CAST_JSON: &str = "write `x::jsonb @> '{\"key\": 1}'`";

/// Returns the message and the hint for an unsupported feature.
fn lacking(message: &str) -> (String, &'static str) {
    match LACKING.iter().find(|(theirs, ..)| message.contains(theirs)) {
        Some((_, own, instead)) => ((*own).to_owned(), instead),
        None => (format!("not supported: {}", without_insides(message)), "write it another way"),
    }
}

fn names_outer(message: &str) -> bool {
    ["OuterReferenceColumn", "outer_ref(", "does not support logical expression", "Correlated scalar subquery"]
        .iter()
        .any(|words| message.contains(words))
}

/// Converts a planner's message about arguments that match no signature of a function.
fn unfit(message: &str) -> Option<Error> {
    let is_unfit = message.contains("No function matches") || message.contains("failed to match any signature");
    let (_, rest) = message.rsplit_once("argument types '").filter(|_| is_unfit)?;
    let (call, _) = rest.split_once("'.")?;
    let (name, types) = call.split_once('(')?;
    let hint = match name {
        "avg" if types.starts_with("Interval") => "write `sum(x) / count(x)`",
        "percentile_cont" => {
            "write the shares out, as in `percentile_cont(array[0.25, 0.5]) within group (order by x)`"
        }
        "date_trunc" => "write the zone apart, as in `date_trunc('day', x at time zone 'America/New_York')`",
        _ => "cast what it is given, as in `x::bigint` or `x::text`",
    };
    let message = format!("`{name}` does not take ({types}");
    Some(Error::new(Code::InvalidSql, message).with_hint(hint).with_sql_fault(SqlFault::UnknownFunction))
}

/// Truncates a message before internal structures.
fn without_insides(message: &str) -> String {
    let line = first_line(message);
    let end = line.find(['{', '(']).filter(|at| line[*at..].contains("{") || line[*at..].contains("Some("));
    line[..end.unwrap_or(line.len())].trim_end_matches([' ', ':']).to_owned()
}

/// Returns the readable part of a message, without a backtrace, a request to report bugs, or generated tables' names.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(". This issue was likely caused").next().unwrap_or(line);
    let mut text = line.to_owned();
    for prefix in GENERATED {
        while let Some(at) = text.find(prefix) {
            let name = text[at..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len() - at);
            let is_table = text[at + name..].starts_with('.');
            text.replace_range(at..at + name + usize::from(is_table), if is_table { "" } else { "…" });
        }
    }
    text.trim_end_matches('.').chars().take(500).collect()
}

/// How the names of generated columns and tables begin.
const GENERATED: [&str; 2] = ["__salver_", "__correlated_sq_"];

#[cfg(test)]
mod tests {
    use std::io::{Error as IoError, ErrorKind};

    use super::{ArrowError, Code, DataFusionError, execution, planning};

    #[test]
    fn text_that_is_no_date_of_iso_has_a_pattern() {
        let cast = |wanted: &str| ArrowError::CastError(format!("Cannot cast string 'of x' to value of {wanted} type"));
        for (error, has_pattern) in [
            (cast("Date32"), true),
            (cast("Timestamp(ns)"), true),
            (ArrowError::ParseError("Error parsing timestamp from 'x': too short".into()), true),
            (cast("Int64"), false),
            (cast("Time64(ns)"), false),
        ] {
            let again = ArrowError::CastError(super::arrow_message(&error));
            for found in [execution(error.into()), planning(again.into())] {
                let hint = found.hint.unwrap_or_default();
                assert_eq!(hint.contains("`to_date('05 Mar 2024', 'DD Mon YYYY')`"), has_pattern, "{}", found.message);
            }
        }
    }

    #[test]
    fn a_full_disk_is_not_a_damaged_file() {
        let full = || IoError::from(ErrorKind::StorageFull);
        for error in [
            DataFusionError::IoError(full()),
            ArrowError::IoError("can't write".into(), full()).into(),
            ArrowError::ExternalError(Box::new(full())).into(),
            DataFusionError::External(Box::new(full())).context("while sorting"),
            IoError::from(ErrorKind::QuotaExceeded).into(),
            DataFusionError::IoError(IoError::other(DataFusionError::IoError(full()))),
            DataFusionError::IoError(IoError::other(full())),
        ] {
            let found = execution(error);
            assert!(found.code == Code::OutOfMemory && found.hint.unwrap().contains("data_dir"), "{}", found.message);
        }
        let other = execution(IoError::from(ErrorKind::UnexpectedEof).into());
        assert_eq!(other.code, Code::EntryUnavailable);
    }
}
