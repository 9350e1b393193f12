//! Generated data and rules, as a server with rules and as one without what they keep back.

use std::path::Path;
use std::process::{Command, Stdio};

use super::questions::{self, Question};
use crate::it::server::Server;

/// Who asks: the name of a key, or nobody.
pub(super) const CALLERS: [Option<&str>; 3] = [None, Some("north"), Some("7")];

/// xorshift64*, seeded: the same worlds in every run.
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }

    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

/// A value of a cell.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cell {
    Null,
    Int(i64),
    Text(String),
}

/// A table, in a file or in the database.
pub(super) struct Table {
    pub(super) name: &'static str,
    /// Whether it is one of the database.
    pub(super) is_of_database: bool,
    pub(super) columns: Vec<&'static str>,
    rows: Vec<Vec<Cell>>,
}

/// Whether a row is there for a user.
type Meaning = fn(&Row<'_>, Option<&str>) -> bool;

/// What a caller sees of a table.
#[derive(Default)]
struct Sight {
    hidden: Vec<&'static str>,
    /// What holds for every row that is there, as it is.
    rows: Vec<Meaning>,
    /// Columns with their masks.
    masked: Vec<(&'static str, Masking)>,
}

/// What a mask makes of a value.
type Masking = fn(&Cell) -> Cell;

/// A row by the names of its columns.
pub(super) struct Row<'r>(&'r Table, &'r [Cell]);

impl Row<'_> {
    fn int(&self, column: &str) -> Option<i64> {
        match self.cell(column) {
            Cell::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn text(&self, column: &str) -> Option<&str> {
        match self.cell(column) {
            Cell::Text(value) => Some(value),
            _ => None,
        }
    }

    fn cell(&self, column: &str) -> &Cell {
        let at = self.0.columns.iter().position(|own| *own == column).expect("a column");
        &self.1[at]
    }
}

/// Expressions of `rows`, each with its meaning.
const ROWS: [(&str, Meaning); 7] = [
    ("region = caller.user", |row, user| user.is_some() && row.text("region") == user),
    ("grade = caller.user", |row, user| row.int("grade").is_some_and(|grade| user == Some(grade.to_string().as_str()))),
    ("not region = 'north'", |row, _| row.text("region").is_some_and(|region| region != "north")),
    ("region in ('north', 'east') and grade >= 3", |row, _| {
        matches!(row.text("region"), Some("north" | "east")) && row.int("grade").is_some_and(|grade| grade >= 3)
    }),
    ("region is null or grade < 5", |row, _| {
        row.text("region").is_none() || row.int("grade").is_some_and(|grade| grade < 5)
    }),
    ("name like 'a%'", |row, _| row.text("name").is_some_and(|name| name.starts_with('a'))),
    ("caller.user is null", |_, user| user.is_none()),
];

/// Masks of columns of text, where `C` is the column, each with its meaning.
const TEXT_MASKS: [(&str, Masking); 4] = [
    ("null", |_| Cell::Null),
    ("'north'", |_| Cell::Text("north".to_owned())),
    ("left(C, 1) || '*'", |cell| text(cell, |text| format!("{}*", &text[..1]))),
    ("right(C, 1) || left(C, 1)", |cell| text(cell, |text| format!("{}{}", &text[text.len() - 1..], &text[..1]))),
];

/// Masks of columns of whole numbers.
const NUMBER_MASKS: [(&str, Masking); 3] = [
    ("null", |_| Cell::Null),
    ("3", |_| Cell::Int(3)),
    ("floor(C, 4)", |cell| match cell {
        Cell::Int(number) => Cell::Int(number.div_euclid(4) * 4),
        _ => Cell::Null,
    }),
];

fn text(cell: &Cell, put: impl Fn(&str) -> String) -> Cell {
    match cell {
        Cell::Text(text) => Cell::Text(put(text)),
        _ => Cell::Null,
    }
}

/// One rule, for one table.
struct Rule {
    table: usize,
    /// The caller it is for; `None` for everybody.
    caller: Option<usize>,
    deny: bool,
    hidden: Vec<&'static str>,
    /// Columns with the text of their mask, and its meaning.
    masked: Vec<(&'static str, String, Masking)>,
    rows: Option<usize>,
}

/// A rule of the database for one of its tables, which holds besides for all callers but one.
struct OwnRule {
    table: usize,
    except: Option<usize>,
    deny: bool,
    hidden: Vec<&'static str>,
    rows: Option<usize>,
}

/// Tables and rules.
pub(super) struct World {
    dice: Dice,
    tables: Vec<Table>,
    /// Without any, everybody may do everything but for the rules of the database.
    rules: Vec<Rule>,
    own_rules: Vec<OwnRule>,
    /// The table of the database with rows for each `caller.user`, in the column `region`.
    tenancy: Option<usize>,
}

impl World {
    pub(super) fn generated(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let columns = |last| vec!["id", "name", "region", "grade", last];
        let mut tables: Vec<Table> = [("people", false), ("orders", false), ("items", true), ("tags", true)]
            .into_iter()
            .map(|(name, is_of_database)| {
                let last = if matches!(name, "people" | "items") { "salary" } else { "owner" };
                Table { name, is_of_database, columns: columns(last), rows: Vec::new() }
            })
            .collect();
        for table in &mut tables {
            for id in 1..=40 {
                let nullable = |dice: &mut Dice, cell: Cell| if dice.below(6) == 0 { Cell::Null } else { cell };
                let name = format!("{}{}", dice.pick(&["a", "b", "ab", "c"]), dice.below(9));
                let region = dice.pick(&["north", "south", "east", "7"]);
                let (grade, last) = (dice.below(9) as i64, dice.below(40) as i64 + 1);
                table.rows.push(vec![
                    Cell::Int(id),
                    Cell::Text(name),
                    nullable(&mut dice, Cell::Text(region.to_owned())),
                    nullable(&mut dice, Cell::Int(grade)),
                    nullable(&mut dice, Cell::Int(last)),
                ]);
            }
        }
        let mut rules = Vec::new();
        // Every third world has the rules of the database alone.
        for _ in 0..if seed.is_multiple_of(3) { 0 } else { 9 } {
            let caller = dice.below(CALLERS.len() + 1);
            let hidden = ["region", "grade", "salary", "owner", "name"];
            let hidden: Vec<&str> = hidden.into_iter().filter(|_| dice.below(4) == 0).collect();
            // A column may be both: then it is hidden.
            let masked = ["region", "grade", "salary", "owner", "name"].into_iter().filter(|_| dice.below(3) == 0);
            let masked: Vec<&str> = masked.collect();
            let masked = masked.into_iter().map(|column| {
                let is_text = matches!(column, "region" | "name");
                let (mask, meaning) = dice.pick(if is_text { &TEXT_MASKS[..] } else { &NUMBER_MASKS[..] });
                (column, mask.replace('C', column), meaning)
            });
            let masked = masked.collect();
            rules.push(Rule {
                masked,
                table: dice.below(tables.len()),
                caller: (caller > 0 && caller < CALLERS.len()).then_some(caller),
                deny: dice.below(6) == 0,
                hidden,
                rows: (dice.below(3) > 0).then(|| dice.below(ROWS.len())),
            });
        }
        let mut own_rules = Vec::new();
        for _ in 0..dice.below(4) + usize::from(rules.is_empty()) {
            let except = dice.below(CALLERS.len() * 2);
            let hidden = ["region", "grade", "salary", "owner", "name"].into_iter().filter(|_| dice.below(4) == 0);
            own_rules.push(OwnRule {
                hidden: hidden.collect(),
                table: 2 + dice.below(2),
                except: (1..CALLERS.len()).contains(&except).then_some(except),
                deny: dice.below(5) == 0,
                rows: (dice.below(3) > 0).then(|| dice.below(ROWS.len())),
            });
        }
        let tenancy = dice.below(4);
        let tenancy = (2..4).contains(&tenancy).then_some(tenancy);
        Self { dice, tables, rules, own_rules, tenancy }
    }

    pub(super) fn questions(&mut self) -> Vec<Question> {
        questions::generated(&mut self.dice, &self.tables)
    }

    /// The settings of the server with rules.
    pub(super) fn settings(&self) -> String {
        let keys: Vec<String> =
            CALLERS.iter().flatten().map(|name| format!("\"{name}:key-of-{name}-0123456789\"")).collect();
        let mut text = format!("[auth]\nmode = \"optional\"\napi_keys = [{}]\n", keys.join(", "));
        for name in CALLERS.iter().flatten().filter(|_| !self.rules.is_empty()) {
            text.push_str(&format!("[[role]]\nname = \"{name}\"\ncallers = [\"api_key:{name}\"]\n"));
        }
        for rule in &self.rules {
            let table = &self.tables[rule.table];
            let entry = if table.is_of_database { format!("shop.{}", table.name) } else { table.name.to_owned() };
            text.push_str(&format!("[[access]]\nentries = [\"{entry}\"]\n"));
            if let Some(name) = rule.caller.and_then(|caller| CALLERS[caller]) {
                text.push_str(&format!("roles = [\"{name}\"]\n"));
            }
            if rule.deny {
                text.push_str("deny = true\n");
                continue;
            }
            text.push_str(&format!("columns_hidden = {:?}\n", rule.hidden));
            let masks: Vec<String> =
                rule.masked.iter().map(|(column, mask, _)| format!("{column} = {mask:?}")).collect();
            text.push_str(&format!("columns_masked = {{ {} }}\n", masks.join(", ")));
            if let Some(rows) = rule.rows {
                text.push_str(&format!("rows = \"{}\"\n", ROWS[rows].0));
            }
        }
        text.push_str(&datasets(&self.tables.iter().collect::<Vec<_>>(), &|_| Vec::new()));
        if let Some(table) = self.tenancy {
            text.push_str(&format!("tenant = {{ \"{}.region\" = \"caller.user\" }}\n", self.tables[table].name));
        }
        for rule in &self.own_rules {
            text.push_str(&format!("[[database.rule]]\ntables = [\"{}\"]\n", self.tables[rule.table].name));
            text.push_str(&format!("deny = {}\ncolumns_hidden = {:?}\n", rule.deny, rule.hidden));
            if let Some(rows) = rule.rows {
                text.push_str(&format!("rows = \"{}\"\n", ROWS[rows].0));
            }
            if let Some(name) = rule.except.and_then(|caller| CALLERS[caller]) {
                text.push_str(&format!("except = \"caller.user = '{name}'\"\n"));
            }
        }
        text
    }

    /// The server with rules.
    pub(super) fn ruled(&self) -> Server {
        serve(
            &self.settings(),
            &self.tables.iter().map(|table| (table, table.rows.clone())).collect::<Vec<_>>(),
            &|_| Vec::new(),
        )
    }

    /// The server without what is kept back from a caller.
    pub(super) fn reduced(&self, caller: usize) -> Server {
        let user = CALLERS[caller];
        let mut left = Vec::new();
        let mut hidden = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            let Some(sight) = self.sight(caller, index) else { continue };
            let is_row = |row: &&Vec<Cell>| sight.rows.iter().all(|holds| holds(&Row(table, row), user));
            let masked = |(column, cell): (&&str, &Cell)| {
                let mask = sight.masked.iter().find(|(own, _)| own == column);
                mask.map_or_else(|| cell.clone(), |(_, mask)| mask(cell))
            };
            let stored = |row: &Vec<Cell>| -> Vec<Cell> { table.columns.iter().zip(row).map(masked).collect() };
            let rows = table.rows.iter().filter(is_row).map(stored).collect();
            left.push((table, rows));
            hidden.push((table.name, sight.hidden));
        }
        let hidden = |name: &str| {
            hidden.iter().find(|(own, _)| *own == name).map(|(_, columns)| columns.clone()).unwrap_or_default()
        };
        let settings = datasets(&left.iter().map(|(table, _)| *table).collect::<Vec<_>>(), &hidden);
        serve(&settings, &left, &hidden)
    }

    /// Returns what the caller sees of the table; `None` for nothing.
    fn sight(&self, caller: usize, table: usize) -> Option<Sight> {
        let is_about = |rule: &&Rule| rule.table == table && rule.caller.is_none_or(|own| own == caller);
        let Sight { mut hidden, mut rows, mut masked } = Sight::default();
        if !self.rules.is_empty() {
            let rule = self.rules.iter().find(is_about).filter(|rule| !rule.deny)?;
            hidden.clone_from(&rule.hidden);
            masked.extend(rule.masked.iter().map(|(column, _, meaning)| (*column, *meaning)));
            rows.extend(rule.rows.map(|rows| ROWS[rows].1));
        }
        for own in self.own_rules.iter().filter(|own| own.table == table && own.except != Some(caller)) {
            if own.deny {
                return None;
            }
            hidden.extend(&own.hidden);
            rows.extend(own.rows.map(|rows| ROWS[rows].1));
        }
        if self.tenancy == Some(table) {
            // The first of them has this meaning.
            rows.push(ROWS[0].1);
        }
        Some(Sight { hidden, rows, masked })
    }
}

/// The settings of what is served.
fn datasets(tables: &[&Table], hidden: &dyn Fn(&str) -> Vec<&'static str>) -> String {
    let mut text = String::new();
    for table in tables.iter().filter(|table| !table.is_of_database) {
        let (name, hidden) = (table.name, hidden(table.name));
        let columns = table.columns.iter().filter(|column| !hidden.contains(column));
        let declared: Vec<String> = columns
            .map(|column| {
                let kind = if matches!(*column, "name" | "region") { "text" } else { "int" };
                format!("{{ name = \"{column}\", type = \"{kind}\" }}")
            })
            .collect();
        text.push_str(&format!("[[dataset]]\nname = \"{name}\"\nsource = \"{name}.csv\"\nkey = [\"id\"]\n"));
        text.push_str(&format!("schema = [{}]\n", declared.join(", ")));
    }
    text + "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\n"
}

/// Serves the rows of tables, without hidden columns.
fn serve(settings: &str, tables: &[(&Table, Vec<Vec<Cell>>)], hidden: &dyn Fn(&str) -> Vec<&'static str>) -> Server {
    let mut files: Vec<(String, String)> = Vec::new();
    let mut statements = String::new();
    for (table, rows) in tables {
        let hidden = hidden(table.name);
        let kept: Vec<usize> =
            (0..table.columns.len()).filter(|index| !hidden.contains(&table.columns[*index])).collect();
        let names: Vec<&str> = kept.iter().map(|index| table.columns[*index]).collect();
        if table.is_of_database {
            let typed: Vec<String> = names.iter().map(|name| declared(name)).collect();
            statements.push_str(&format!("create table {}({});", table.name, typed.join(", ")));
            for row in rows {
                let values: Vec<String> = kept.iter().map(|index| literal(&row[*index])).collect();
                statements.push_str(&format!("insert into {} values ({});", table.name, values.join(", ")));
            }
        } else {
            let mut text = names.join(",") + "\n";
            for row in rows {
                let values: Vec<String> = kept.iter().map(|index| written(&row[*index])).collect();
                text.push_str(&(values.join(",") + "\n"));
            }
            files.push((format!("{}.csv", table.name), text));
        }
    }
    let files: Vec<(&str, &[u8])> = files.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    Server::prepared(settings, &files, |directory| database(directory, &format!("vacuum;{statements}")))
}

/// Makes `shop.db` of statements.
pub(super) fn database(directory: &Path, statements: &str) {
    let mut shell =
        Command::new("sqlite3").arg(directory.join("shop.db")).stdin(Stdio::piped()).spawn().expect("sqlite3");
    std::io::Write::write_all(&mut shell.stdin.take().expect("its input"), statements.as_bytes()).expect("statements");
    assert!(shell.wait().expect("its end").success());
}

fn declared(name: &str) -> String {
    match name {
        "id" => "id integer primary key".to_owned(),
        "name" | "region" => format!("{name} text"),
        _ => format!("{name} integer"),
    }
}

fn literal(cell: &Cell) -> String {
    match cell {
        Cell::Null => "null".to_owned(),
        Cell::Int(value) => value.to_string(),
        Cell::Text(text) => format!("'{text}'"),
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Null => String::new(),
        Cell::Int(value) => value.to_string(),
        Cell::Text(text) => text.clone(),
    }
}
