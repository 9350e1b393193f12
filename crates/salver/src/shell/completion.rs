//! Completion at the prompt: commands, keywords, entries, and their columns.

use std::collections::{BTreeMap, BTreeSet};

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use salver_service::Snapshot;

use super::dot_command::DotCommand;

/// Words of SQL.
const KEYWORDS: [&str; 62] = [
    "all",
    "and",
    "as",
    "asc",
    "avg",
    "between",
    "by",
    "case",
    "cast",
    "count",
    "cross",
    "current_date",
    "date",
    "desc",
    "describe",
    "distinct",
    "else",
    "end",
    "except",
    "exists",
    "explain",
    "false",
    "filter",
    "from",
    "full",
    "group",
    "having",
    "ilike",
    "in",
    "inner",
    "intersect",
    "interval",
    "is",
    "join",
    "lateral",
    "left",
    "like",
    "limit",
    "max",
    "min",
    "not",
    "null",
    "nulls",
    "offset",
    "on",
    "or",
    "order",
    "outer",
    "over",
    "partition",
    "right",
    "select",
    "show",
    "sum",
    "then",
    "timestamp",
    "true",
    "union",
    "using",
    "when",
    "where",
    "with",
];
/// Names that are offered for one word, at most.
const OFFERED: usize = 200;
/// Columns of all entries that are known, at most; those of further entries are not offered.
const COLUMNS: usize = 20_000;

/// What there is to complete.
#[derive(Debug, Default)]
pub(super) struct Completion {
    /// Entries with their columns.
    entries: BTreeMap<String, Vec<String>>,
}

impl Completion {
    /// Learns the entries of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let (mut entries, mut left) = (BTreeMap::new(), COLUMNS);
        for entry in snapshot.entries() {
            let fields = entry.table().map(|table| table.describe().schema.fields().clone());
            let columns: Vec<String> =
                fields.iter().flat_map(|fields| fields.iter()).take(left).map(|field| field.name().clone()).collect();
            left -= columns.len();
            entries.insert(entry.name.as_str().to_owned(), columns);
        }
        Self { entries }
    }

    /// Returns where the word before the cursor begins, and what it can become.
    fn offers(&self, line: &str, at: usize) -> (usize, Vec<String>) {
        let before = line.get(..at).unwrap_or_default();
        if before.starts_with('.') && !before.contains(char::is_whitespace) {
            let commands = DotCommand::names().filter(|name| name.starts_with(before));
            return (0, commands.map(str::to_owned).collect());
        }
        let is_word = |sign: char| sign.is_alphanumeric() || sign == '_';
        let start = before.trim_end_matches(is_word).len();
        // A quoted name is completed with its quotes.
        let quoted = before.get(..start).is_some_and(|text| text.ends_with('"') && text.matches('"').count() % 2 == 1);
        let start = start - usize::from(quoted);
        let word = before.get(start..).unwrap_or_default().trim_start_matches('"').to_lowercase();
        let mut found = BTreeSet::new();
        match before.get(..start).and_then(|text| text.strip_suffix('.')) {
            Some(owner) => {
                let name = owner.trim_end_matches('"');
                let name = name.get(name.trim_end_matches(is_word).len()..).unwrap_or_default();
                // Any other owner is the alias of an entry.
                let of_entry = self.entries.get(name).map(|columns| vec![columns]);
                for columns in of_entry.unwrap_or_else(|| self.entries.values().collect()) {
                    found.extend(columns.iter().filter(|column| begins(column, &word)).map(|column| written(column)));
                }
            }
            None => {
                let names = self.entries.keys().chain(self.entries.values().flatten());
                found.extend(names.filter(|name| begins(name, &word)).map(|name| written(name)));
                if !quoted && !word.is_empty() {
                    found.extend(KEYWORDS.iter().filter(|keyword| keyword.starts_with(&word)).map(|keyword| {
                        let is_upper = before.get(start..).is_some_and(|word| word.chars().all(char::is_uppercase));
                        if is_upper { keyword.to_uppercase() } else { (*keyword).to_owned() }
                    }));
                }
            }
        }
        (start, found.into_iter().take(OFFERED).collect())
    }
}

fn begins(name: &str, word: &str) -> bool {
    name.to_lowercase().starts_with(word)
}

/// Returns a name as it is written in SQL, where names without quotes are in lower case.
fn written(name: &str) -> String {
    let mut signs = name.chars();
    let is_plain = signs.next().is_some_and(|first| first.is_ascii_lowercase() || first == '_')
        && signs.all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || sign == '_')
        && !KEYWORDS.contains(&name);
    if is_plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

impl Completer for Completion {
    type Candidate = String;

    fn complete(&self, line: &str, pos: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.offers(line, pos))
    }
}

impl Hinter for Completion {
    type Hint = String;
}

impl Highlighter for Completion {}

impl Validator for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Completion;

    #[test]
    fn what_is_offered() {
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let entries = BTreeMap::from([
            ("people".to_owned(), columns(&["id", "name", "Full Name"])),
            ("my table".to_owned(), columns(&["price", "order"])),
        ]);
        let completion = Completion { entries };
        let check = |line: &str, start: usize, expected: &[&str]| {
            assert_eq!(completion.offers(line, line.len()), (start, columns(expected)), "{line}");
        };
        check(".t", 0, &[".tables", ".timing"]);
        check("sele", 0, &["select"]);
        check("SELE", 0, &["SELECT"]);
        check("select p", 7, &["partition", "people", "price"]);
        check("select people.n", 14, &["name"]);
        check("select p.f", 9, &["\"Full Name\""]);
        check("select people.", 14, &["\"Full Name\"", "id", "name"]);
        check("from \"my", 5, &["\"my table\""]);
        check("select ord", 7, &["\"order\"", "order"]);
        check("select zz", 7, &[]);
    }
}
