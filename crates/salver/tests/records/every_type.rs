//! One table of types: values of every type of the three databases, with their edges, are read through every door, in
//! every format, and compared cell by cell with what the database's own client says; so are comparisons, orders, pages
//! and aggregates. `SEED` makes other values.

/// A test of each of these for each database, so that they run side by side.
macro_rules! of_each_database {
    ($($check:ident: $sqlite:ident, $mariadb:ident, $postgres:ident;)*) => {$(
        #[test]
        fn $sqlite() {
            $check(salver_testkit::servers::Kind::Sqlite);
        }

        #[test]
        fn $mariadb() {
            $check(salver_testkit::servers::Kind::Mariadb);
        }

        #[test]
        fn $postgres() {
            $check(salver_testkit::servers::Kind::Postgres);
        }
    )*};
}
pub(crate) use of_each_database;

mod again;
mod aggregate;
mod arrow;
mod ask;
mod catalogue;
mod compare;
mod doors;
mod generate;
mod keys;
mod mariadb;
mod own;
mod page;
mod postgres;
mod relations;
mod sqlite;
mod treeql;
mod value;
mod writes;

use std::collections::BTreeMap;

use salver_testkit::servers::Kind;

use self::catalogue::{Type, tables, types};
use self::compare::Ground;
use self::doors::{Words, differences};
use self::own::Own;
use super::program::Program;

/// A program over the tables of a database, and what the database says of them.
struct Setting {
    types: Vec<Type>,
    program: Program,
    told: BTreeMap<String, Own>,
}

impl Setting {
    fn of(kind: Kind) -> Self {
        Self::with(kind, "", "")
    }

    /// With settings for the database, and for the server.
    fn with(kind: Kind, settings: &str, server: &str) -> Self {
        // `ONLY` chooses types by a part of their name.
        let only = std::env::var("ONLY").unwrap_or_default();
        let types: Vec<Type> = types(kind).into_iter().filter(|own| own.native.contains(&only)).collect();
        let database = tables(kind, &types);
        let even = types.iter().enumerate().map(|(number, own)| (format!("t{number}"), own.clone()));
        let odd = types.iter().enumerate().filter(|(_, own)| !own.odd.is_empty());
        let odd = odd.map(|(number, own)| (format!("o{number}"), own.clone()));
        let all: Vec<(String, Type)> = even.chain(odd).collect();
        let all: Vec<(String, &Type)> = all.iter().map(|(name, own)| (name.clone(), own)).collect();
        let told = own::ask(&database, &all);
        // No rule of a first page: a request without `size` gives every row.
        Self { types, program: Program::over(database, server, settings), told }
    }

    /// The types, each with its number.
    fn each(&self) -> impl Iterator<Item = (usize, &Type)> {
        self.types.iter().enumerate()
    }
}

fn assert_none(kind: Kind, wrong: &[String]) {
    assert!(wrong.is_empty(), "{kind:?}: {} are wrong\n{}", wrong.len(), wrong.join("\n"));
}

/// Each value is the same at every door.
fn values(kind: Kind) {
    let setting = Setting::of(kind);
    let mut wrong = Vec::new();
    for (number, own) in setting.each() {
        let table = format!("t{number}");
        let told = &setting.told[&table];
        for (door, words, shown) in doors::read(&setting.program, &table, own, told) {
            let what = match shown {
                Ok(shown) => differences(words, own.class, told, &shown),
                Err(error) => vec![error],
            };
            wrong.extend(what.iter().map(|what| format!("{} at {door}: {what}", own.native)));
        }
    }
    assert_none(kind, &wrong);
}

/// Values that Arrow has no place for are shown by the records door, and told by the others, by their column: no answer
/// leaves one out or makes another of it.
fn odd_values(kind: Kind) {
    let setting = Setting::of(kind);
    let mut wrong = Vec::new();
    for (number, own) in setting.each().filter(|(_, own)| !own.odd.is_empty()) {
        let table = format!("o{number}");
        let told = &setting.told[&table];
        for (door, words, shown) in doors::read(&setting.program, &table, own, told) {
            let what = match shown {
                Ok(shown) if words == Words::Records => differences(words, own.class, told, &shown),
                // Text has place for everything.
                Ok(_) if own.class == catalogue::Class::Text => Vec::new(),
                Ok(shown) => vec![format!("odd values are shown: {shown:?}")],
                Err(error) if words == Words::Records => vec![error],
                Err(error) if error.contains("`v`") => Vec::new(),
                Err(error) => vec![format!("the column is not told: {error}")],
            };
            wrong.extend(what.iter().map(|what| format!("{} at {door}: {what}", own.native)));
        }
    }
    assert_none(kind, &wrong);
}

/// The same in Arrow and Parquet, as pyarrow reads them.
fn columns(kind: Kind) {
    if !arrow::is_there() {
        return;
    }
    let setting = Setting::of(kind);
    let mut targets = Vec::new();
    for (number, own) in setting.each() {
        for target in ["/tables/{t}.arrow", "/tables/{t}.parquet", "/export/{t}.arrows", "/export/{t}.parquet"] {
            let target = format!("{}?columns=id,v", target.replace("{t}", &format!("t{number}")));
            targets.push((format!("t{number} {target}"), target, own.class));
        }
    }
    let mut wrong = Vec::new();
    for (name, (_, shown)) in arrow::read(setting.program.address(), &targets) {
        let table = name.split(' ').next().expect("a table");
        let own = &setting.types[table[1..].parse::<usize>().expect("a number")];
        let what = match shown {
            Ok(shown) => differences(Words::Whole, own.class, &setting.told[table], &shown),
            Err(error) => vec![error],
        };
        wrong.extend(what.iter().map(|what| format!("{} at {name}: {what}", own.native)));
    }
    assert_none(kind, &wrong);
}

/// Comparisons, orders, pages and aggregates are those of the database.
fn comparisons(kind: Kind) {
    let setting = Setting::of(kind);
    let mut wrong = Vec::new();
    for (number, own) in setting.each().filter(|(_, own)| own.compared) {
        let table = format!("t{number}");
        let ground = Ground { program: &setting.program, table: &table, own, told: &setting.told[&table] };
        wrong.extend(ground.wrong().iter().map(|what| format!("{}: {what}", own.native)));
    }
    assert_none(kind, &wrong);
}

/// So are those of values that only the records door shows.
fn odd_comparisons(kind: Kind) {
    let setting = Setting::of(kind);
    let mut wrong = Vec::new();
    for (number, own) in setting.each().filter(|(_, own)| own.compared && !own.odd.is_empty()) {
        let table = format!("o{number}");
        let ground = Ground { program: &setting.program, table: &table, own, told: &setting.told[&table] };
        let mut found = Vec::new();
        let asked = ground.asked(&["/records/"], &mut found);
        ground.at_records(&asked, &mut found);
        if kind != Kind::Sqlite {
            aggregate::records(&ground, &mut found);
        }
        wrong.extend(found.iter().map(|what| format!("{}: {what}", own.native)));
    }
    assert_none(kind, &wrong);
}

of_each_database! {
    values: values_of_sqlite, values_of_mariadb, values_of_postgres;
    odd_values: odd_values_of_sqlite, odd_values_of_mariadb, odd_values_of_postgres;
    columns: columns_of_sqlite, columns_of_mariadb, columns_of_postgres;
    comparisons: comparisons_of_sqlite, comparisons_of_mariadb, comparisons_of_postgres;
    odd_comparisons: odd_comparisons_of_sqlite, odd_comparisons_of_mariadb, odd_comparisons_of_postgres;
}
