//! `COPY ... TO STDOUT`: a statement that sends the rows of a query as text, as CSV or in binary. It is read here, and
//! becomes the query that runs; nothing here knows how that is done.

mod layout;
mod literal;
mod options;
mod statement;
mod tokens;
mod writer;

use salver_model::{Code, Error};

use self::options::Options;
use self::statement::Source;
use self::tokens::Tokens;
pub(super) use self::writer::CopyWriter;
use super::column::Column;
use super::outbox::Outbox;
use super::refusal::{NOT_ALLOWED, NOT_SUPPORTED, READ_ONLY, Refusal, move_place};

/// A copy to the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CopyOut {
    /// The query whose rows are copied. One that the statement has stands where it stands there, so that both have the
    /// same places.
    pub(super) query: String,
    /// Where the names of a query that was made of a table stand, in it and in the statement, in characters from 1.
    places: Vec<(usize, usize)>,
    /// The table that the query was made of.
    table: Option<String>,
    /// Whether the statement says which columns.
    has_columns: bool,
    options: Options,
}

impl CopyOut {
    /// Reads a statement.
    ///
    /// # Errors
    /// What PostgreSQL says of what is no such statement, or would write, or is about files of the server.
    pub(super) fn read(text: &str) -> Result<Self, Refusal> {
        let mut tokens = Tokens::of(text);
        let (source, given) = statement::read(&mut tokens, text)?;
        let options = options::check(given, &tokens)?;
        Ok(match source {
            Source::Query { begin, end } => {
                let blank = |char| if char == '\n' { char } else { ' ' };
                let query = text[..begin].chars().map(blank).chain(text[begin..end].chars()).collect();
                Self { query, places: Vec::new(), table: None, has_columns: false, options }
            }
            Source::Table { path, columns } => {
                let mut made =
                    Made { text, query: "select ".to_owned(), read: (0, 0), made: (0, 0), places: Vec::new() };
                for (number, column) in columns.iter().enumerate() {
                    made.query.push_str(if number > 0 { ", " } else { "" });
                    made.name(column.written, column.at);
                }
                made.query.push_str(if columns.is_empty() { "* from " } else { " from " });
                for (number, name) in path.iter().enumerate() {
                    made.query.push_str(if number > 0 { "." } else { "" });
                    made.name(name.written, name.at);
                }
                let table = path.last().map(|name| name.meant.clone());
                Self { query: made.query, places: made.places, table, has_columns: !columns.is_empty(), options }
            }
        })
    }

    /// Returns an error of the query with its place in the statement `text`.
    pub(super) fn placed(&self, mut error: Error, text: &str) -> Error {
        if let Some((_, first)) = self.places.first() {
            let own = |at: usize| self.places.iter().rev().find(|(begin, _)| *begin <= at).map_or(*first, |own| own.1);
            move_place(&mut error.message, &self.query, text, own);
        }
        error
    }

    /// Begins the copy of rows with these columns.
    ///
    /// # Errors
    /// `42703` and `42P10` for an option about a column that is not among them.
    pub(super) fn begin(&self, columns: &[Column], out: &mut Outbox) -> Result<CopyWriter, Refusal> {
        let mut quoted = vec![self.options.quoted.is_none(); columns.len()];
        for named in self.options.quoted.iter().flatten() {
            let place = named.place(columns.iter().map(|column| column.name.as_str()));
            quoted[place.ok_or_else(|| self.no_column(&named.name))?] = true;
        }
        let mut writer = CopyWriter::new(self.options.layout.clone(), quoted);
        out.copy_begun(columns.len(), writer.format());
        if self.options.has_header {
            writer.header(columns, out);
        }
        Ok(writer)
    }

    fn no_column(&self, name: &str) -> Refusal {
        if self.has_columns {
            return Refusal::new("42P10", format!("FORCE_QUOTE column \"{name}\" not referenced by COPY"));
        }
        let of = self.table.as_ref().map_or_else(String::new, |table| format!(" of relation \"{table}\""));
        Refusal::new("42703", format!("column \"{name}\"{of} does not exist"))
    }

    /// Returns the memory for it, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let names = self.options.quoted.iter().flatten().map(|named| named.name.len() + size_of_val(named));
        size_of::<Self>() + self.query.len() + size_of_val(&self.places[..]) + names.sum::<usize>()
    }
}

/// A query while it is made of a table.
struct Made<'t> {
    text: &'t str,
    query: String,
    /// How much of the text was counted, in bytes and in characters.
    read: (usize, usize),
    /// How much of the query was counted, in bytes and in characters.
    made: (usize, usize),
    places: Vec<(usize, usize)>,
}

impl Made<'_> {
    /// Adds a name that stands there in the statement, in bytes.
    fn name(&mut self, written: &str, at: usize) {
        // The table comes behind its columns here, and before them there.
        if at < self.read.0 {
            self.read = (0, 0);
        }
        let counted = |(bytes, chars): (usize, usize), text: &str| (text.len(), chars + text[bytes..].chars().count());
        self.read = counted(self.read, &self.text[..at]);
        self.made = counted(self.made, &self.query);
        self.places.push((self.made.1 + 1, self.read.1 + 1));
        self.query.push_str(written);
    }
}

/// Returns the word that a refused copy is counted under.
pub(super) fn code_of(refusal: &Refusal) -> Code {
    match refusal.state {
        READ_ONLY => Code::ReadOnly,
        NOT_ALLOWED => Code::Forbidden,
        NOT_SUPPORTED => Code::Unsupported,
        _ => Code::InvalidSql,
    }
}

#[cfg(test)]
mod tests;
