//! SQL text under construction, with the values for its placeholders. Values never become text of the statement, except
//! for `COPY`.

use salver_model::Result;
use salver_model::records::TableInfo;

use crate::dialect::Dialect;
use crate::statement::Bind;

/// A statement under construction.
#[derive(Clone, Debug)]
pub(crate) struct Sql {
    pub(crate) dialect: Dialect,
    pub(crate) text: String,
    pub(crate) binds: Vec<Bind>,
    /// Whether values become literals, for PostgreSQL statements that take no parameters.
    literal: bool,
}

impl Sql {
    pub(crate) fn new(dialect: Dialect) -> Self {
        Self { dialect, text: String::with_capacity(256), binds: Vec::new(), literal: false }
    }

    /// Creates a statement with its values in its text, because `COPY` takes no parameters. Only for PostgreSQL, in
    /// sessions with `standard_conforming_strings`.
    pub(crate) fn literal() -> Self {
        Self { literal: true, ..Self::new(Dialect::Postgres) }
    }

    /// Appends trusted text, which no client wrote.
    pub(crate) fn push(&mut self, text: &str) -> &mut Self {
        self.text.push_str(text);
        self
    }

    /// Appends a quoted name.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.dialect.name(name, &mut self.text);
        self
    }

    /// Appends `alias."column"`; an empty alias means none.
    pub(crate) fn column(&mut self, alias: &str, table: &TableInfo, index: usize) -> &mut Self {
        if !alias.is_empty() {
            self.text.push_str(alias);
            self.text.push('.');
        }
        self.name(&table.columns[index].real_name)
    }

    /// Appends a placeholder for `bind`.
    pub(crate) fn bind(&mut self, bind: Bind) -> &mut Self {
        if self.literal {
            push_literal(&bind, &mut self.text);
            return self;
        }
        self.dialect.placeholder(self.binds.len(), &mut self.text);
        self.binds.push(bind);
        self
    }

    /// Appends another placeholder for the value that was bound last. Not for MySQL, which has no numbered
    /// placeholders.
    pub(crate) fn bind_again(&mut self) -> &mut Self {
        self.text.push(if self.dialect == Dialect::Postgres { '$' } else { '?' });
        self.text.push_str(itoa::Buffer::new().format(self.binds.len()));
        self
    }

    /// Appends `separator` unless `first`.
    pub(crate) fn separate(&mut self, first: &mut bool, separator: &str) -> &mut Self {
        if !std::mem::replace(first, false) {
            self.text.push_str(separator);
        }
        self
    }
}

/// Conditions side by side in one pair of parentheses. To SQLite a chain is nested as deep as it is long, and its limit
/// is 1,000 levels.
const CHAIN_TERMS: usize = 128;

/// Appends `parts` with `word` between them, in nested parentheses, so that any number of them stays flat. `push`
/// appends one, and returns whether it did; the result is whether any did.
pub(crate) fn chain<P>(
    parts: &[P],
    word: &str,
    sql: &mut Sql,
    push: &mut dyn FnMut(&P, &mut Sql) -> Result<bool>,
) -> Result<bool> {
    let mut first = true;
    let mut one = |sql: &mut Sql, push: &mut dyn FnMut(&mut Sql) -> Result<bool>| -> Result<()> {
        let before = sql.text.len();
        sql.push(if first { "(" } else { word });
        if push(sql)? {
            first = false;
        } else {
            sql.text.truncate(before);
        }
        Ok(())
    };
    if parts.len() > CHAIN_TERMS {
        let (left, right) = parts.split_at(parts.len() / 2);
        one(sql, &mut |sql| chain(left, word, sql, push))?;
        one(sql, &mut |sql| chain(right, word, sql, push))?;
    } else {
        for part in parts {
            one(sql, &mut |sql| push(part, sql))?;
        }
    }
    if !first {
        sql.push(")");
    }
    Ok(!first)
}

/// Appends the value as a literal. Text is quoted and untyped, like a placeholder.
fn push_literal(bind: &Bind, text: &mut String) {
    match bind {
        Bind::Null | Bind::Back { .. } | Bind::BackKey { .. } | Bind::BackOr { .. } => text.push_str("NULL"),
        Bind::Bool(value) => text.push_str(if *value { "TRUE" } else { "FALSE" }),
        // The sign could merge with an operator before it.
        Bind::Int(value) if *value < 0 => {
            text.push_str("('");
            text.push_str(itoa::Buffer::new().format(*value));
            text.push_str("'::bigint)");
        }
        Bind::Int(value) => text.push_str(itoa::Buffer::new().format(*value)),
        Bind::Float(value) => push_quoted(&value.to_string(), text),
        Bind::Text(value) => push_quoted(value, text),
        Bind::Bytes(value) => {
            text.push_str("'\\x");
            for byte in value {
                for digit in [byte >> 4, byte & 15] {
                    text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
                }
            }
            text.push('\'');
        }
    }
}

/// Appends a quoted string that its content can't terminate: a quote is doubled, and a backslash is literal.
fn push_quoted(value: &str, text: &mut String) {
    text.push('\'');
    for c in value.chars() {
        if c == '\'' {
            text.push(c);
        }
        // No text of PostgreSQL contains NUL, and the server would end the statement there.
        if c != '\0' {
            text.push(c);
        }
    }
    text.push('\'');
}

#[cfg(test)]
mod tests {
    use super::{Sql, chain};
    use crate::dialect::Dialect;
    use crate::statement::Bind;

    #[test]
    fn chains_of_any_length_are_flat() {
        let chained = |parts: &[u32]| {
            let mut sql = Sql::new(Dialect::Sqlite);
            let push = &mut |part: &u32, sql: &mut Sql| {
                sql.push(&part.to_string());
                Ok(*part > 0)
            };
            let any = chain(parts, "|", &mut sql, push).unwrap();
            assert_eq!(any, !sql.text.is_empty());
            sql.text
        };
        assert_eq!((chained(&[]), chained(&[0, 0])), (String::new(), String::new()));
        assert_eq!((chained(&[1]), chained(&[0, 1, 0, 2])), ("(1)".to_owned(), "(1|2)".to_owned()));
        assert_eq!(chained(&[[0; 100], [1; 100]].concat()).len(), "((1))".len() + 99 * 2);
        let long = chained(&[7; 10_000]);
        assert_eq!(long.matches('7').count(), 10_000);
        let (mut depth, mut deepest) = (0_i32, 0);
        for sign in long.chars() {
            depth += i32::from(sign == '(') - i32::from(sign == ')');
            deepest = deepest.max(depth);
        }
        assert_eq!((depth, deepest), (0, 8));
    }

    #[test]
    fn literals_stay_in_their_quotes() {
        let mut sql = Sql::literal();
        for bind in [
            Bind::Text("it's \\' or \0 1=1 --".to_owned()),
            Bind::Int(-7),
            Bind::Int(7),
            Bind::Bytes(vec![0, 0xab]),
            Bind::Bool(true),
            Bind::Float(-0.5),
            Bind::Null,
        ] {
            sql.bind(bind).push(",");
        }
        assert_eq!(sql.text, r"'it''s \'' or  1=1 --',('-7'::bigint),7,'\x00ab',TRUE,'-0.5',NULL,");
        assert!(sql.binds.is_empty());
    }
}
