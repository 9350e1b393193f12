//! Programs of changes.

use std::sync::{Arc, Barrier};

use salver_model::records::ColumnKind::{Integer, Varchar};
use salver_model::{Code, Error};

use super::super::Mysql;
use super::{bind, fresh, program, rows, select, spec, step, text};
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Bind, Program, ProgramOutcome, ProgramStep, Returns};

const TABLES: &str = "\
    create table parents (id int primary key auto_increment, name varchar(20) unique, age int);\
    create table children (id int primary key auto_increment, parent_id int not null, name varchar(20), \
        constraint child_parent foreign key (parent_id) references parents (id));";

fn insert(name: &str) -> ProgramStep {
    step("INSERT INTO parents (name) VALUES (?)", vec![bind(name)], Returns::Key)
}

async fn names(mysql: &Mysql) -> Vec<OwnedCell> {
    let read = select("SELECT name FROM parents ORDER BY id", &[Varchar], Vec::new());
    rows(mysql, read).await.into_iter().flatten().collect()
}

fn codes(outcome: &ProgramOutcome) -> Vec<Option<Code>> {
    outcome.steps.iter().map(|step| step.as_ref().err().map(|error| error.code)).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_counts_and_rows() {
    let (mysql, _database) = fresh(TABLES);
    let outcome = mysql.write(program(vec![insert("a")])).await.unwrap();
    let done = outcome.steps[0].as_ref().unwrap();
    assert_eq!((outcome.committed, done.key, done.affected), (true, Some(1), 1));
    // An update counts the rows it matches, also when they had the value.
    let update = || step("UPDATE parents SET name = ? WHERE id = ?", vec![bind("a"), Bind::Int(1)], Returns::Count);
    let outcome = mysql.write(program(vec![update()])).await.unwrap();
    assert_eq!(outcome.steps[0].as_ref().unwrap().affected, 1);
    let kinds = Returns::Rows(Arc::from([Integer, Varchar]));
    let returning =
        step("INSERT INTO parents (name) VALUES (?), (?) RETURNING id, name", vec![bind("b"), bind("c")], kinds);
    let outcome = mysql.write(program(vec![returning])).await.unwrap();
    let done = outcome.steps[0].as_ref().unwrap();
    assert_eq!(done.rows, [[OwnedCell::Int(2), text("b")], [OwnedCell::Int(3), text("c")]]);
    assert_eq!(done.affected, 2);
    let delete = step("DELETE FROM parents WHERE id > ?", vec![Bind::Int(1)], Returns::Count);
    assert_eq!(mysql.write(program(vec![delete])).await.unwrap().steps[0].as_ref().unwrap().affected, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn later_steps_take_from_earlier_ones() {
    let (mysql, _database) = fresh(TABLES);
    let child = |parent: Bind, name: Bind| {
        step("INSERT INTO children (parent_id, name) VALUES (?, ?)", vec![parent, name], Returns::Key)
    };
    let kinds = Returns::Rows(Arc::from([Integer, Varchar]));
    let outcome = mysql
        .write(program(vec![
            insert("a"),
            child(Bind::BackKey { step: 0 }, bind("x")),
            step("SELECT id, name FROM parents WHERE id = ?", vec![Bind::BackKey { step: 0 }], kinds),
            child(Bind::Back { step: 2, column: 0 }, Bind::Back { step: 2, column: 1 }),
        ]))
        .await
        .unwrap();
    assert!(outcome.committed, "{outcome:?}");
    let read = select("SELECT parent_id, name FROM children ORDER BY id", &[Integer, Varchar], Vec::new());
    assert_eq!(rows(&mysql, read).await, [[OwnedCell::Int(1), text("x")], [OwnedCell::Int(1), text("a")]]);

    // A step that refers to a failed one fails; the others are tried; nothing is kept.
    let outcome = mysql
        .write(Program {
            steps: vec![insert("a"), child(Bind::BackKey { step: 0 }, bind("y")), insert("b")],
            try_all: true,
            dry_run: false,
        })
        .await
        .unwrap();
    assert_eq!(codes(&outcome), [Some(Code::DuplicateKey), Some(Code::Invalid), None]);
    assert!(!outcome.committed);
    assert_eq!(names(&mysql).await, [text("a")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_or_nothing() {
    let (mysql, _database) = fresh(TABLES);
    let stopped = mysql.write(program(vec![insert("a"), insert("a"), insert("b")])).await.unwrap();
    assert_eq!(codes(&stopped), [None, Some(Code::DuplicateKey)], "the first failure ends it");
    let mut checked = step("UPDATE parents SET age = 1", Vec::new(), Returns::Count);
    checked.check = Some(Box::new(|done| match done.affected {
        2 => Err(Error::new(Code::TooManyAffected, "too many")),
        _ => Ok(()),
    }));
    let undone = mysql.write(program(vec![insert("a"), insert("b"), checked])).await.unwrap();
    assert_eq!(codes(&undone), [None, None, Some(Code::TooManyAffected)]);
    let dry = Program { steps: vec![insert("a")], try_all: false, dry_run: true };
    let dry = mysql.write(dry).await.unwrap();
    assert_eq!((codes(&dry), dry.committed), (vec![None], false));
    assert_eq!(names(&mysql).await, []);
    assert!(mysql.write(program(vec![insert("a"), insert("b")])).await.unwrap().committed);
    assert_eq!(names(&mysql).await, [text("a"), text("b")]);
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_codes() {
    let (mysql, _database) = fresh(&format!(
        "{TABLES} create table strict (n tinyint not null, v varchar(3), d date, e enum('a'), j json, \
         check (n < 100), g int as (n + 1) virtual);"
    ));
    let cases: [(&str, Vec<Bind>, Code); 15] = [
        ("INSERT INTO children (parent_id) VALUES (?)", vec![Bind::Int(9)], Code::Integrity),
        ("INSERT INTO strict (n) VALUES (?)", vec![Bind::Null], Code::Integrity),
        ("INSERT INTO strict (v) VALUES (?)", vec![bind("a")], Code::Integrity),
        ("INSERT INTO strict (n) VALUES (?)", vec![Bind::Int(100)], Code::Integrity),
        ("INSERT INTO strict (n) VALUES (?)", vec![Bind::Int(128)], Code::Invalid),
        ("INSERT INTO strict (n) VALUES (?)", vec![bind("x")], Code::Invalid),
        ("INSERT INTO strict (n, v) VALUES (1, ?)", vec![bind("long")], Code::Invalid),
        // The server accepts nonexistent dates here; they are rejected before (`change::convert`).
        ("INSERT INTO strict (n, d) VALUES (1, ?)", vec![bind("2026-02-32")], Code::Invalid),
        ("INSERT INTO strict (n, e) VALUES (1, ?)", vec![bind("b")], Code::Invalid),
        ("INSERT INTO strict (n, j) VALUES (1, ?)", vec![bind("{")], Code::Integrity),
        ("INSERT INTO strict (n, g) VALUES (1, ?)", vec![Bind::Int(1)], Code::Integrity),
        ("INSERT INTO nowhere (n) VALUES (?)", vec![Bind::Int(1)], Code::UnknownTable),
        ("INSERT INTO strict (nothing) VALUES (?)", vec![Bind::Int(1)], Code::UnknownColumn),
        ("INSERT INTO strict (n VALUES (?)", vec![Bind::Int(1)], Code::Execution),
        ("UPDATE strict SET n = n + ?", vec![Bind::Int(1)], Code::Execution),
    ];
    for (sql, binds, code) in cases {
        let outcome = mysql.write(program(vec![step(sql, binds, Returns::Count)])).await.unwrap();
        match codes(&outcome).as_slice() {
            // The table is empty, so that an update of it is fine.
            [None] => assert!(sql.starts_with("UPDATE"), "{sql}"),
            [Some(told)] => assert_eq!(*told, code, "{sql}: {outcome:?}"),
            other => panic!("{other:?}"),
        }
    }
    let outcome = mysql
        .write(program(vec![step("INSERT INTO strict (n) VALUES (?)", vec![Bind::Int(128)], Returns::Count)]))
        .await
        .unwrap();
    let error = outcome.steps.into_iter().next().unwrap().unwrap_err();
    assert_eq!(error.details, [("n".to_owned(), "is out of range".to_owned())]);
}

/// Returns a step that waits at `barrier` when it is done.
fn meeting(sql: &str, barrier: &Arc<Barrier>) -> ProgramStep {
    let barrier = Arc::clone(barrier);
    let mut step = step(sql, Vec::new(), Returns::Count);
    step.check = Some(Box::new(move |_| {
        // The thread's other tasks go on elsewhere.
        tokio::task::block_in_place(|| barrier.wait());
        Ok(())
    }));
    step
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_two_that_lock_each_other_out_one_is_told() {
    let (mysql, _database) = fresh(TABLES);
    assert!(mysql.write(program(vec![insert("a"), insert("b")])).await.unwrap().committed);
    let (mysql, barrier) = (Arc::new(mysql), Arc::new(Barrier::new(2)));
    let first = "UPDATE parents SET age = 1 WHERE id = 1";
    let second = "UPDATE parents SET age = 2 WHERE id = 2";
    let tasks = [[first, second], [second, first]].map(|order| {
        let (mysql, barrier) = (Arc::clone(&mysql), Arc::clone(&barrier));
        tokio::spawn(async move {
            let steps = vec![
                meeting(order[0], &barrier),
                step(order[1], Vec::new(), Returns::Count),
                step("INSERT INTO parents (name) VALUES ('late')", Vec::new(), Returns::Count),
            ];
            mysql.write(Program { steps, try_all: true, dry_run: false }).await.unwrap()
        })
    });
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.unwrap());
    }
    outcomes.sort_by_key(|outcome| outcome.committed);
    assert_eq!(codes(&outcomes[0]), [None, Some(Code::Contention), Some(Code::Contention)], "nothing ran outside");
    assert_eq!(codes(&outcomes[1]), [None, None, None]);
    assert!(outcomes[1].committed);
    assert_eq!(names(&mysql).await, [text("a"), text("b"), text("late")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_lock_is_waited_for_a_while() {
    let (mysql, database) = fresh(TABLES);
    assert!(mysql.write(program(vec![insert("a")])).await.unwrap().committed);
    let mut short = spec(database.url());
    short.statement_ms_max = 2_000;
    let short = Mysql::open(&short).unwrap();
    let (mysql, barrier) = (Arc::new(mysql), Arc::new(Barrier::new(2)));
    let sql = "UPDATE parents SET age = 1 WHERE id = 1";
    let holder = {
        let steps = vec![meeting(sql, &barrier), meeting(sql, &barrier)];
        let mysql = Arc::clone(&mysql);
        tokio::spawn(async move { mysql.write(program(steps)).await.unwrap() })
    };
    let first = Arc::clone(&barrier);
    tokio::task::spawn_blocking(move || first.wait()).await.unwrap();
    let outcome = short.write(program(vec![step(sql, Vec::new(), Returns::Count)])).await.unwrap();
    assert_eq!(codes(&outcome), [Some(Code::Contention)]);
    tokio::task::spawn_blocking(move || barrier.wait()).await.unwrap();
    assert!(holder.await.unwrap().committed);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_entry_that_only_reads() {
    let (_, database) = fresh(TABLES);
    let mut spec = spec(database.url());
    spec.writable = false;
    spec.definable = false;
    let mysql = Mysql::open(&spec).unwrap();
    assert_eq!(mysql.write(program(vec![insert("a")])).await.unwrap_err().code, Code::ReadOnly);
    assert_eq!(mysql.define(vec!["DROP TABLE children".to_owned()]).await.unwrap_err().code, Code::ReadOnly);
    // The server rejects what passes all of these checks.
    let sneaky = select("INSERT INTO parents (name) VALUES ('x') RETURNING id", &[Integer], Vec::new());
    assert_eq!(mysql.read(vec![sneaky], Collect::default(), None).await.unwrap_err().code, Code::ReadOnly);
    assert_eq!(names(&mysql).await, []);
}
