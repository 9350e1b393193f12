//! Lets only statements that read through: an allow-list over the parsed statement. Anything not on it is refused.

use std::ops::ControlFlow;

use datafusion::sql::sqlparser::ast::{ObjectName, Query, Select, Statement, TableFactor, Visit, Visitor};
use salver_model::{Code, Error, Result};

/// Table functions that are allowed. None of them reads files or the network.
const TABLE_FUNCTIONS: [&str; 16] = [
    "generate_series",
    "generate_subscripts",
    "json_array_elements",
    "json_array_elements_text",
    "json_each",
    "json_each_text",
    "json_object_keys",
    "jsonb_array_elements",
    "jsonb_array_elements_text",
    "jsonb_each",
    "jsonb_each_text",
    "jsonb_object_keys",
    "range",
    "regexp_split_to_table",
    "string_to_table",
    "unnest",
];

/// First words of statements that do more than read. Such a statement is refused by this word even if the parser does
/// not know its dialect.
const WRITING: [&str; 27] = [
    "ALTER", "ANALYZE", "ATTACH", "BEGIN", "CALL", "COMMIT", "COPY", "CREATE", "DELETE", "DETACH", "DROP", "EXECUTE",
    "GRANT", "INSERT", "INSTALL", "LISTEN", "LOAD", "LOCK", "MERGE", "NOTIFY", "PRAGMA", "PREPARE", "REVOKE", "SET",
    "TRUNCATE", "UPDATE", "VACUUM",
];

/// Refuses a statement by its first word, for statements that can't be parsed.
pub(crate) fn check_first_word(word: &str) -> Result<()> {
    let upper = word.to_uppercase();
    if WRITING.contains(&upper.as_str()) {
        return Err(refusal(format!("`{upper}` is not a statement that only reads")));
    }
    Ok(())
}

/// Refuses a statement that would do more than read.
pub(crate) fn check(statement: &Statement) -> Result<()> {
    match statement.visit(&mut Guard { depth: 0 }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(*error),
    }
}

struct Guard {
    depth: usize,
}

impl Visitor for Guard {
    type Break = Box<Error>;

    fn pre_visit_statement(&mut self, statement: &Statement) -> ControlFlow<Self::Break> {
        self.depth += 1;
        match statement {
            // The visitor visits an explained statement by itself, one level deeper.
            Statement::Query(_) | Statement::Explain { .. } => ControlFlow::Continue(()),
            Statement::ShowTables { .. } | Statement::ShowColumns { .. } | Statement::ExplainTable { .. }
                if self.depth == 1 =>
            {
                ControlFlow::Continue(())
            }
            other => refuse(format!("`{}` is not a statement that only reads", first_word(other))),
        }
    }

    fn post_visit_statement(&mut self, _: &Statement) -> ControlFlow<Self::Break> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Self::Break> {
        if !query.locks.is_empty() {
            return refuse("`FOR UPDATE` and `FOR SHARE` lock rows, and nothing here can be locked".to_owned());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Self::Break> {
        match &select.into {
            Some(_) => refuse("`SELECT INTO` makes a table".to_owned()),
            None => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<Self::Break> {
        match factor {
            TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } => table_function(name),
            TableFactor::TableFunction { expr, .. } => {
                refuse(format!("`TABLE({expr})` is not one of the table functions that are allowed"))
            }
            _ => ControlFlow::Continue(()),
        }
    }
}

fn table_function(name: &ObjectName) -> ControlFlow<Box<Error>> {
    let lower = name.to_string().to_lowercase();
    if TABLE_FUNCTIONS.contains(&lower.as_str()) {
        return ControlFlow::Continue(());
    }
    refuse(format!("`{name}` is not one of the table functions that are allowed"))
}

fn refuse(message: String) -> ControlFlow<Box<Error>> {
    ControlFlow::Break(Box::new(refusal(message)))
}

fn refusal(message: String) -> Error {
    let hint = "use SELECT, VALUES, WITH, EXPLAIN, DESCRIBE, SHOW TABLES or SHOW COLUMNS, over tables of the catalog; \
                of table functions `generate_series`, `range`, `unnest`, `string_to_table` and the like";
    Error::new(Code::ReadOnly, message).with_hint(hint)
}

fn first_word(statement: &Statement) -> String {
    let text = statement.to_string();
    text.split_whitespace().next().unwrap_or("this").to_uppercase()
}
