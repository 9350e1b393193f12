//! What a statement asks of the session. Everything else is a query, for the engine to run or to refuse.

use super::copy::CopyOut;
use super::refusal::Refusal;
use super::statement_text::words;

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// Rows, from the engine.
    Query,
    /// Begins a transaction, in which nothing changes.
    Begin,
    /// Ends it.
    Commit,
    /// Ends it, also one that has failed.
    Rollback,
    /// Marks or forgets a place in a transaction, or goes back to it.
    Savepoint(Savepoint, String),
    /// Sets a setting; an unnamed one has no effect.
    Set(Option<(String, String)>),
    /// Gives a setting its default, or all of them.
    Reset(Option<String>),
    /// Reads a setting, or all of them.
    Show(Option<String>),
    /// Forgets what the session has.
    DiscardAll,
    /// Closes a prepared statement, or all of them.
    Deallocate(Option<String>),
    /// Makes a cursor of the query that begins there.
    Declare { name: String, query_at: usize, is_held: bool },
    /// Reads rows of a cursor, or skips them.
    Fetch { name: String, rows: Rows, is_move: bool },
    /// Closes a cursor, or all of them.
    Close(Option<String>),
    /// Unfollows notifications, of which there are none.
    Unlisten,
    /// Copies rows to the client, or can't be read as that.
    Copy(Result<Box<CopyOut>, Box<Refusal>>),
}

/// A statement about a place in a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Savepoint {
    Mark,
    Release,
    GoBack,
}

/// How many rows of a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rows {
    Next(usize),
    All,
    /// Those before, or at a place: cursors go forward only.
    Elsewhere,
}

/// Words of `FETCH` for rows elsewhere.
const ELSEWHERE: [&str; 7] = ["prior", "backward", "first", "last", "absolute", "relative", "-"];

impl Command {
    /// Returns what a statement asks.
    pub(super) fn of(text: &str) -> Self {
        Self::known(text).unwrap_or(Self::Query)
    }

    fn known(text: &str) -> Option<Self> {
        let mut words = Words(words(text).take(64).collect());
        Some(match words.next()?.as_str() {
            "begin" => {
                words.skip(&["work", "transaction"]);
                words.modes()?;
                Self::Begin
            }
            "start" if words.is("transaction") => {
                words.modes()?;
                Self::Begin
            }
            "commit" | "end" => Self::Commit,
            "rollback" | "abort" => {
                words.skip(&["work", "transaction"]);
                if words.is("to") { Self::Savepoint(Savepoint::GoBack, words.savepoint()?) } else { Self::Rollback }
            }
            "savepoint" => Self::Savepoint(Savepoint::Mark, words.next()?),
            "release" => Self::Savepoint(Savepoint::Release, words.savepoint()?),
            "set" => Self::Set(words.setting()?),
            "reset" => Self::Reset(words.name_or_all()?),
            "show" => words.shown()?,
            "discard" => words.is("all").then_some(Self::DiscardAll)?,
            "deallocate" => {
                words.skip(&["prepare"]);
                Self::Deallocate(words.name_or_all()?)
            }
            "declare" => words.cursor()?,
            "fetch" => words.fetch(false)?,
            "move" => words.fetch(true)?,
            "close" => Self::Close(words.name_or_all()?),
            "unlisten" => Self::Unlisten,
            "copy" => Self::Copy(CopyOut::read(text).map(Box::new).map_err(Box::new)),
            _ => return None,
        })
    }

    /// Returns whether a failed transaction lets it through.
    pub(super) fn ends_transaction(&self) -> bool {
        matches!(self, Self::Commit | Self::Rollback | Self::Savepoint(Savepoint::GoBack, _))
    }

    /// Returns the memory for what was read of the statement and is not small, in bytes.
    pub(super) fn bytes(&self) -> usize {
        if let Self::Copy(Ok(copy)) = self { copy.bytes() } else { 0 }
    }
}

/// The words of a statement that are not read yet, in reverse.
struct Words<'t>(Vec<(usize, &'t str)>);

impl Words<'_> {
    /// Reads the next word, as it is compared: in lower case, or what stands in its quotes.
    fn next(&mut self) -> Option<String> {
        (!self.0.is_empty()).then(|| meant(self.0.remove(0).1))
    }

    fn peek(&self) -> Option<String> {
        self.0.first().map(|(_, word)| meant(word))
    }

    /// Reads the next word if it is this.
    fn is(&mut self, word: &str) -> bool {
        let is = self.peek().is_some_and(|next| next == word);
        if is {
            self.0.remove(0);
        }
        is
    }

    fn skip(&mut self, words: &[&str]) {
        while words.iter().any(|word| self.is(word)) {}
    }

    /// Reads modes of a transaction, to the end: `ISOLATION LEVEL ...`, `READ ONLY`, `[NOT] DEFERRABLE`.
    fn modes(&mut self) -> Option<()> {
        let _ = self.is(";");
        while !self.0.is_empty() {
            let isolation = |words: &mut Self| {
                words.is("isolation")
                    && words.is("level")
                    && (words.is("serializable")
                        || words.is("repeatable") && words.is("read")
                        || words.is("read") && (words.is("committed") || words.is("uncommitted")))
            };
            let read = |words: &mut Self| words.is("read") && (words.is("only") || words.is("write"));
            let deferred = |words: &mut Self| words.is("deferrable") || words.is("not") && words.is("deferrable");
            (isolation(self) || read(self) || deferred(self)).then_some(())?;
            let _ = self.is(",") || self.is(";");
        }
        Some(())
    }

    /// Reads `[SAVEPOINT] name`.
    fn savepoint(&mut self) -> Option<String> {
        self.skip(&["savepoint"]);
        self.next()
    }

    fn name_or_all(&mut self) -> Option<Option<String>> {
        if self.is("all") { Some(None) } else { self.next().map(Some) }
    }

    /// Reads what is set: `[SESSION | LOCAL] name {TO | =} value`, `TIME ZONE value`, or what has no effect here.
    fn setting(&mut self) -> Option<Option<(String, String)>> {
        let is_of_session = self.is("local") || self.is("session");
        if is_of_session && self.is("characteristics") || self.is("transaction") || self.is("constraints") {
            return Some(None);
        }
        let mut name = match self.next()?.as_str() {
            "time" if self.is("zone") => "timezone".to_owned(),
            "authorization" if is_of_session => "session_authorization".to_owned(),
            name => name.to_owned(),
        };
        while self.is(".") {
            name = format!("{name}.{}", self.next()?);
        }
        if name == "names" {
            "client_encoding".clone_into(&mut name);
        }
        let _ = self.is("to") || self.is("=");
        let values: Vec<String> = std::iter::from_fn(|| self.next()).filter(|word| word != ",").collect();
        (!values.is_empty()).then(|| Some((name, values.join(", "))))
    }

    /// Reads which setting is shown. The engine shows its tables and columns.
    fn shown(&mut self) -> Option<Command> {
        let name = match self.next()?.as_str() {
            "tables" | "columns" | "functions" | "variables" | "create" => return None,
            "all" => return Some(Command::Show(None)),
            "time" if self.is("zone") => "timezone".to_owned(),
            "transaction" if self.is("isolation") && self.is("level") => "transaction_isolation".to_owned(),
            name => name.to_owned(),
        };
        Some(Command::Show(Some(name)))
    }

    /// Reads `name [BINARY] [ASENSITIVE | INSENSITIVE] [[NO] SCROLL] CURSOR [{WITH | WITHOUT} HOLD] FOR query`.
    fn cursor(&mut self) -> Option<Command> {
        let name = self.next()?;
        self.skip(&["binary", "asensitive", "insensitive", "no", "scroll"]);
        self.is("cursor").then_some(())?;
        let is_held = self.is("with");
        self.skip(&["without", "hold"]);
        self.is("for").then_some(())?;
        let query_at = self.0.first()?.0;
        Some(Command::Declare { name, query_at, is_held })
    }

    /// Reads `[direction] [count | ALL] [FROM | IN] name`.
    fn fetch(&mut self, is_move: bool) -> Option<Command> {
        // A cursor can have one of these words for its name.
        let is_elsewhere = self.0.len() > 1 && self.peek().is_some_and(|word| ELSEWHERE.contains(&word.as_str()));
        self.skip(&ELSEWHERE);
        self.skip(&["next", "forward"]);
        let rows = match self.peek()?.parse::<usize>() {
            Ok(count) => {
                self.next();
                Rows::Next(count)
            }
            Err(_) if self.is("all") => Rows::All,
            Err(_) => Rows::Next(1),
        };
        let _ = self.is("from") || self.is("in");
        let name = self.next()?;
        let rows = if is_elsewhere { Rows::Elsewhere } else { rows };
        self.0.is_empty().then_some(Command::Fetch { name, rows, is_move })
    }
}

/// Returns a word in lower case, or what stands in its quotes.
fn meant(word: &str) -> String {
    for quote in ['"', '\''] {
        if let Some(inner) = word.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.replace(&String::from(quote).repeat(2), &String::from(quote));
        }
    }
    word.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{Command, Rows, Savepoint};

    #[test]
    fn what_statements_ask() {
        let elsewhere = |is_move| Command::Fetch { name: "c".to_owned(), rows: Rows::Elsewhere, is_move };
        let set = |name: &str, value: &str| Command::Set(Some((name.to_owned(), value.to_owned())));
        for (text, wanted) in [
            ("select 1", Command::Query),
            ("BEGIN ISOLATION LEVEL READ COMMITTED", Command::Begin),
            ("begin;", Command::Begin),
            ("begin work isolation level repeatable read, read only, not deferrable", Command::Begin),
            ("begin isolation level nothing", Command::Query),
            ("/* x */ start transaction read only", Command::Begin),
            ("end", Command::Commit),
            ("ROLLBACK", Command::Rollback),
            ("rollback work to savepoint a", Command::Savepoint(Savepoint::GoBack, "a".to_owned())),
            ("SAVEPOINT \"A b\"", Command::Savepoint(Savepoint::Mark, "A b".to_owned())),
            ("release a", Command::Savepoint(Savepoint::Release, "a".to_owned())),
            ("set session authorization ann", set("session_authorization", "ann")),
            ("set role ann", set("role", "ann")),
            ("listen news", Command::Query),
            ("set extra_float_digits = 3", set("extra_float_digits", "3")),
            ("SET SESSION \"TimeZone\" TO 'Europe/Rome'", set("TimeZone", "Europe/Rome")),
            ("set time zone utc", set("timezone", "utc")),
            ("set search_path = a, \"B\"", set("search_path", "a, B")),
            ("set a.b = 1", set("a.b", "1")),
            ("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", Command::Set(None)),
            ("set", Command::Query),
            ("SHOW TRANSACTION ISOLATION LEVEL", Command::Show(Some("transaction_isolation".to_owned()))),
            ("show tables", Command::Query),
            ("discard all", Command::DiscardAll),
            ("deallocate prepare \"S_1\"", Command::Deallocate(Some("S_1".to_owned()))),
            ("deallocate all", Command::Deallocate(None)),
            (
                "declare \"c\" no scroll cursor with hold for select 1",
                Command::Declare { name: "c".to_owned(), query_at: 43, is_held: true },
            ),
            (
                "fetch forward 100 from c",
                Command::Fetch { name: "c".to_owned(), rows: Rows::Next(100), is_move: false },
            ),
            ("FETCH ALL c", Command::Fetch { name: "c".to_owned(), rows: Rows::All, is_move: false }),
            ("move c", Command::Fetch { name: "c".to_owned(), rows: Rows::Next(1), is_move: true }),
            ("fetch backward 1 from c", elsewhere(false)),
            ("fetch last c", elsewhere(false)),
            ("move -2 from c", elsewhere(true)),
            ("close all", Command::Close(None)),
            ("UNLISTEN *", Command::Unlisten),
            ("insert into t values (1)", Command::Query),
        ] {
            assert_eq!(Command::of(text), wanted, "{text}");
        }
    }
}
