//! Programs: their effects, and those of their neighbours in a group.

use std::sync::Arc;

use salver_model::{Code, Error};

use super::{Fixture, Program, checked, number, program, read, rows_step, run, step, text};
use crate::backend::sqlite::Sqlite;
use crate::cell::{Collect, OwnedCell};
use crate::statement::{Bind, ProgramStep, Returns};

const TABLES: &str =
    "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT UNIQUE CHECK (name <> 'bad'), n INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE child (id INTEGER PRIMARY KEY, t_id INTEGER NOT NULL REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE strict (id INTEGER PRIMARY KEY, n INTEGER REFERENCES t(id)) STRICT;
    CREATE TABLE rolling (id INTEGER PRIMARY KEY);
    CREATE TRIGGER roll AFTER INSERT ON rolling BEGIN SELECT RAISE(ROLLBACK, 'all of it'); END;";

fn insert(name: &str) -> ProgramStep {
    step("INSERT INTO t (name) VALUES (?)", vec![text(name)])
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_each_have_their_own_answer() {
    let fixture = Fixture::new(TABLES);
    let database = Arc::new(fixture.open());
    let tasks: Vec<_> = (0..50)
        .map(|task| {
            let database = Arc::clone(&database);
            tokio::spawn(async move {
                for turn in 0..40 {
                    let name = format!("{task}-{turn}");
                    one_of_many(&database, task, &name).await;
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    // Of five kinds of tasks one stores one row a turn, one stores two; the others fail and leave nothing.
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 10 * 40 + 10 * 40 * 2);
    assert_eq!(fixture.number("SELECT count(*) FROM child"), 0);
    assert_eq!(fixture.number("SELECT count(*) FROM rolling"), 0);
}

async fn one_of_many(database: &Sqlite, task: usize, name: &str) {
    match task % 5 {
        0 => {
            let done = database.write(program(vec![insert(name)])).await.unwrap();
            assert!(done.committed);
            // Others see it before the answer is given.
            let sql = "SELECT count(*) FROM t WHERE name = ?";
            let by_name = read(sql, vec![text(name)]);
            let found = match database.read_at_once(&by_name, &mut Collect::default) {
                Some(found) => found.unwrap(),
                None => database.read(vec![by_name], Collect::default(), None).await.unwrap(),
            };
            assert_eq!(found.rows, [[[OwnedCell::Int(1)]]]);
        }
        1 => {
            let two = vec![insert(name), insert(&format!("{name} too"))];
            let done = database.write(program(two)).await.unwrap();
            assert!(done.committed && done.steps.len() == 2);
        }
        2 => {
            let two = vec![insert(name), insert("bad")];
            let done = database.write(program(two)).await.unwrap();
            assert!(!done.committed && done.steps[0].is_ok());
            assert_eq!(done.steps[1].as_ref().unwrap_err().code, Code::Integrity);
        }
        3 => {
            // The whole transaction is rolled back, with all neighbours in it.
            let done = database.write(program(vec![step("INSERT INTO rolling DEFAULT VALUES", vec![])])).await.unwrap();
            assert!(!done.committed && done.steps[0].is_err());
        }
        _ => {
            // Fails at the commit only.
            let orphan = step("INSERT INTO child (t_id) VALUES (-1)", vec![]);
            let error = database.write(program(vec![orphan])).await.unwrap_err();
            assert_eq!(error.code, Code::Integrity, "{error:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_their_codes() {
    let fixture = Fixture::new(TABLES);
    let database = fixture.open();
    run(&database, "INSERT INTO t (id, name) VALUES (1, 'one')", vec![]).await.unwrap();
    let expected = [
        ("INSERT INTO t (name) VALUES ('one')", Code::DuplicateKey, "t.name"),
        ("INSERT INTO t (id) VALUES (1)", Code::DuplicateKey, "t.id"),
        ("INSERT INTO t (n) VALUES (NULL)", Code::Integrity, "t.n"),
        ("INSERT INTO t (name) VALUES ('bad')", Code::Integrity, "name <> 'bad'"),
        ("INSERT INTO strict VALUES (1, 7)", Code::Integrity, "foreign key"),
        ("INSERT INTO strict VALUES (1, 'x')", Code::Invalid, "strict.n"),
        ("INSERT INTO t (id) VALUES ('x')", Code::Invalid, "integer"),
        ("INSERT INTO nowhere VALUES (1)", Code::UnknownTable, ""),
        ("INSERT INTO t (gone) VALUES (1)", Code::UnknownColumn, ""),
        ("UPDATE t SET n = \"gone\"", Code::UnknownColumn, ""),
        ("SELECT nonsense(1)", Code::Execution, ""),
    ];
    for (sql, code, hint) in expected {
        let done = run(&database, sql, vec![]).await.unwrap();
        let error = done.steps[0].as_ref().unwrap_err();
        assert_eq!(error.code, code, "{sql}: {error:?}");
        assert!(error.hint.clone().unwrap_or_default().contains(hint), "{sql}: {:?}", error.hint);
        assert!(!done.committed);
    }
    let duplicate = run(&database, "INSERT INTO t (id) VALUES (1)", vec![]).await.unwrap();
    assert_eq!(duplicate.steps[0].as_ref().unwrap_err().message, "Duplicate key exception");
}

#[tokio::test(flavor = "multi_thread")]
async fn later_steps_refer_back() {
    let fixture = Fixture::new(TABLES);
    let database = fixture.open();
    let steps = vec![
        ProgramStep { returns: Returns::Key, ..step("INSERT INTO t (name, n) VALUES ('a', 7)", vec![]) },
        rows_step("INSERT INTO t (name, n) VALUES ('b', 8) RETURNING id, name, n", vec![]),
        step("INSERT INTO child (t_id) VALUES (?)", vec![Bind::BackKey { step: 0 }]),
        step("INSERT INTO child (t_id) VALUES (?)", vec![Bind::Back { step: 1, column: 0 }]),
        step("UPDATE t SET name = name || ?", vec![Bind::Back { step: 1, column: 1 }]),
    ];
    let done = database.write(program(steps)).await.unwrap();
    assert!(done.committed, "{done:?}");
    let made = done.steps[0].as_ref().unwrap();
    assert_eq!((made.affected, made.key), (1, Some(1)));
    let returned = done.steps[1].as_ref().unwrap();
    assert_eq!((returned.affected, returned.rows.len()), (1, 1));
    assert_eq!(done.steps[4].as_ref().unwrap().affected, 2);
    assert_eq!(fixture.number("SELECT sum(t_id) FROM child"), 3);
    assert_eq!(fixture.number("SELECT count(*) FROM t WHERE name IN ('ab', 'bb')"), 2);

    let none = vec![
        rows_step("UPDATE t SET n = 0 WHERE id = 99 RETURNING id", vec![]),
        step("INSERT INTO child (t_id) VALUES (?)", vec![Bind::Back { step: 0, column: 0 }]),
    ];
    let done = database.write(program(none)).await.unwrap();
    assert_eq!(done.steps[1].as_ref().unwrap_err().code, Code::Execution);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_and_a_failed_check_leave_nothing() {
    let fixture = Fixture::new(TABLES);
    let database = fixture.open();
    let dry = Program { dry_run: true, ..program(vec![insert("a")]) };
    let done = database.write(dry).await.unwrap();
    assert!(!done.committed && done.steps[0].as_ref().unwrap().affected == 1);

    let refuse = |done: &crate::statement::Done| {
        if done.affected == 1 { Err(Error::new(Code::TooManyAffected, "one is too many")) } else { Ok(()) }
    };
    let done = database.write(program(vec![checked(insert("a"), refuse)])).await.unwrap();
    assert_eq!(done.steps[0].as_ref().unwrap_err().code, Code::TooManyAffected);

    let panics = checked(insert("a"), |_| panic!("a check that is broken"));
    let done = database.write(program(vec![panics])).await.unwrap();
    assert_eq!(done.steps[0].as_ref().unwrap_err().code, Code::Internal);
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 0);
    assert!(database.write(program(vec![insert("a")])).await.unwrap().committed, "the writer goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_steps_are_tried_when_asked() {
    let fixture = Fixture::new(TABLES);
    let database = fixture.open();
    let steps = || {
        let back = step("INSERT INTO child (t_id) VALUES (?)", vec![Bind::BackKey { step: 1 }]);
        vec![insert("a"), insert("bad"), insert("b"), back, insert("a")]
    };
    let all = database.write(Program { try_all: true, ..program(steps()) }).await.unwrap();
    let codes: Vec<_> = all.steps.iter().map(|step| step.as_ref().err().map(|error| error.code)).collect();
    let expected = [None, Some(Code::Integrity), None, Some(Code::Execution), Some(Code::DuplicateKey)];
    assert_eq!(codes, expected);
    assert!(!all.committed);
    let first = database.write(program(steps())).await.unwrap();
    assert_eq!(first.steps.len(), 2, "else the first failure is the last step");
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 0);

    // After a failure that ends the transaction nothing may be written by itself.
    let rolling = step("INSERT INTO rolling DEFAULT VALUES", vec![]);
    let steps = vec![insert("x"), rolling, insert("y")];
    let ended = database.write(Program { try_all: true, ..program(steps) }).await.unwrap();
    assert!(ended.steps.len() == 3 && ended.steps[2].is_err());
    assert_eq!(number(&database, "SELECT count(*) FROM t").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_change_is_stopped_and_its_neighbours_are_not() {
    let fixture = Fixture::new(TABLES);
    let mut spec = fixture.spec(true);
    spec.statement_ms_max = 100;
    let database = Arc::new(Sqlite::open(&spec).unwrap());
    let slow = "WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c) INSERT INTO t (n) SELECT max(v) FROM c";
    let tasks: Vec<_> = (0..20)
        .map(|task| {
            let database = Arc::clone(&database);
            tokio::spawn(async move {
                let one = if task == 10 { step(slow, vec![]) } else { insert(&format!("n{task}")) };
                (task, database.write(program(vec![one])).await.unwrap())
            })
        })
        .collect();
    for task in tasks {
        let (task, done) = task.await.unwrap();
        if task == 10 {
            assert_eq!(done.steps[0].as_ref().unwrap_err().code, Code::Timeout);
        } else {
            assert!(done.committed, "{task}");
        }
    }
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 19);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dropped_change_gives_way() {
    let fixture = Fixture::new(TABLES);
    let database = fixture.open();
    let slow = "WITH RECURSIVE c(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM c) INSERT INTO t (n) SELECT max(v) FROM c";
    {
        let mut endless = Box::pin(database.write(program(vec![step(slow, vec![])])));
        tokio::select! {
            biased;
            ended = &mut endless => panic!("{ended:?}"),
            () = tokio::task::yield_now() => {}
        }
    }
    // It would run for half a minute.
    assert!(database.write(program(vec![insert("a")])).await.unwrap().committed);
    assert_eq!(fixture.number("SELECT count(*) FROM t"), 1);
}
