//! Programs: one transaction each, back references, savepoints, deadlocks.

use salver_model::records::ColumnKind as K;
use salver_model::{Code, Error};
use tokio::sync::Barrier;

use super::{count, done, fresh, list, number, open, program, rows, shown, spec, step, text};
use crate::backend::postgres::Postgres;
use crate::cell::OwnedCell;
use crate::statement::{Bind, Program, ProgramStep, Returns};

const SCHEMA: &str = "
create table posts (id serial primary key, title text unique not null);
create table comments (id serial primary key, post int not null references posts, words text);
create table later (id int primary key, post int references posts deferrable initially deferred);";

const POST: &str = "insert into posts (title) values ($1) returning id";
const COMMENT: &str = "insert into comments (post, words) values ($1, $2)";

fn post(title: &str) -> ProgramStep {
    step(POST, vec![text(title)], Returns::Key)
}

#[tokio::test]
async fn one_statement_answers_its_key_and_count() {
    let (_database, postgres) = fresh(SCHEMA);
    let first = done(postgres.write(program(vec![post("a")])).await.unwrap());
    assert_eq!((first[0].affected, first[0].key), (1, Some(1)));
    let changed = count("update posts set title = title || '!'", vec![]);
    assert_eq!(done(postgres.write(program(vec![changed])).await.unwrap())[0].affected, 1);
    let returned =
        step("update posts set title = 'b' returning id, title", vec![], Returns::Rows([K::Integer, K::Clob].into()));
    let rows = done(postgres.write(program(vec![returned])).await.unwrap()).remove(0).rows;
    assert_eq!(rows, [[OwnedCell::Int(1), shown("b")]]);
}

#[tokio::test]
async fn later_steps_refer_to_earlier_ones() {
    let (_database, postgres) = fresh(SCHEMA);
    let returned = step(
        "insert into posts (title) values ($1) returning title, id",
        vec![text("b")],
        Returns::Rows([K::Clob, K::Integer].into()),
    );
    let steps = vec![
        post("a"),
        count(COMMENT, vec![Bind::BackKey { step: 0 }, text("to a")]),
        returned,
        count(COMMENT, vec![Bind::Back { step: 2, column: 1 }, Bind::Back { step: 2, column: 0 }]),
        count(COMMENT, vec![Bind::BackKey { step: 0 }, text("again to a")]),
    ];
    let outcome = postgres.write(program(steps)).await.unwrap();
    assert!(outcome.committed);
    let found =
        rows(&postgres, list("select post, words from comments order by id", vec![], &[K::Integer, K::Clob])).await;
    let pairs = [(1, "to a"), (2, "b"), (1, "again to a")];
    assert_eq!(found.unwrap(), pairs.map(|(post, words)| vec![OwnedCell::Int(post), shown(words)]));
}

#[tokio::test]
async fn a_reference_to_nothing_undoes_the_program() {
    let (_database, postgres) = fresh(SCHEMA);
    let steps = vec![
        post("a"),
        step("update posts set title = 'x' where id = -1 returning id", vec![], Returns::Key),
        count(COMMENT, vec![Bind::BackKey { step: 1 }, text("to nobody")]),
    ];
    let outcome = postgres.write(program(steps)).await.unwrap();
    assert!(!outcome.committed);
    assert_eq!(outcome.steps.len(), 3);
    assert_eq!(outcome.steps[2].as_ref().unwrap_err().code, Code::Invalid);
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
}

#[tokio::test]
async fn a_failure_ends_a_program_and_keeps_nothing() {
    let (_database, postgres) = fresh(SCHEMA);
    let outcome = postgres.write(program(vec![post("a"), post("a"), post("b")])).await.unwrap();
    assert!(!outcome.committed);
    assert_eq!(outcome.steps.len(), 2);
    let error = outcome.steps[1].as_ref().unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::DuplicateKey, "Duplicate key exception"));
    assert!(error.hint.as_deref().unwrap().contains("posts_title_key"));
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
}

#[tokio::test]
async fn with_try_all_every_step_has_its_own_result() {
    let (_database, postgres) = fresh(SCHEMA);
    let steps = vec![
        post("a"),
        post("a"),
        count(COMMENT, vec![Bind::BackKey { step: 0 }, text("to a")]),
        count(COMMENT, vec![Bind::BackKey { step: 1 }, text("to the failed one")]),
        count(COMMENT, vec![Bind::Int(99), text("to nobody")]),
        count("insert into comments (post) values ($1)", vec![text("many")]),
        count("insert into nowhere values (1)", vec![]),
        step("insert into posts (title) values (null)", vec![], Returns::Count),
        post("b"),
    ];
    let outcome = postgres.write(Program { steps, try_all: true, dry_run: false }).await.unwrap();
    assert!(!outcome.committed);
    let codes: Vec<_> = outcome.steps.iter().map(|step| step.as_ref().err().map(|error| error.code)).collect();
    let expected = [
        None,
        Some(Code::DuplicateKey),
        None,
        Some(Code::Invalid),
        Some(Code::Integrity),
        Some(Code::Invalid),
        Some(Code::UnknownTable),
        Some(Code::Integrity),
        None,
    ];
    assert_eq!(codes, expected);
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
    let good = Program { steps: vec![post("a"), post("b")], try_all: true, dry_run: false };
    assert!(postgres.write(good).await.unwrap().committed);
}

#[tokio::test]
async fn checks_and_dry_runs_undo() {
    let (_database, postgres) = fresh(SCHEMA);
    let mut checked = post("a");
    checked.check = Some(Box::new(|done| {
        assert_eq!(done.affected, 1);
        Err(Error::new(Code::TooManyAffected, "one is too many"))
    }));
    let outcome = postgres.write(program(vec![checked])).await.unwrap();
    assert!(!outcome.committed);
    assert_eq!(outcome.steps[0].as_ref().unwrap_err().code, Code::TooManyAffected);
    let dry = Program { steps: vec![post("a")], try_all: false, dry_run: true };
    let outcome = postgres.write(dry).await.unwrap();
    assert!(!outcome.committed && outcome.steps[0].is_ok());
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
    let mut checked = post("a");
    checked.check = Some(Box::new(|_| Ok(())));
    assert!(postgres.write(program(vec![checked])).await.unwrap().committed);
}

#[tokio::test]
async fn what_a_commit_refuses_is_not_kept() {
    let (_database, postgres) = fresh(SCHEMA);
    let steps = vec![post("a"), count("insert into later values (1, 99)", vec![])];
    let error = postgres.write(program(steps)).await.unwrap_err();
    assert_eq!(error.code, Code::Integrity);
    let outcome = postgres.write(program(vec![count("insert into later values (1, 99)", vec![])])).await.unwrap();
    assert!(!outcome.committed && outcome.steps[0].is_err());
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
}

#[tokio::test]
async fn many_steps_are_several_flights() {
    let (_database, postgres) = fresh(SCHEMA);
    let steps = (0..2_000).map(|index| post(&index.to_string())).collect();
    let keys: Vec<_> = done(postgres.write(program(steps)).await.unwrap()).into_iter().map(|done| done.key).collect();
    assert_eq!(keys, (1..=2_000).map(Some).collect::<Vec<_>>());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_that_deadlock_is_told_to_try_again() {
    let (_database, postgres) =
        fresh("create table t (id int primary key, v int); insert into t values (1, 0), (2, 0);");
    let both_hold = std::sync::Arc::new(Barrier::new(2));
    let cross = |first: i64, second: i64| {
        let both_hold = std::sync::Arc::clone(&both_hold);
        let postgres = &postgres;
        async move {
            // Connections of the test's own hold the first lock, so that the two surely deadlock.
            let lease = postgres.lease().await.unwrap();
            lease.client.batch_execute("begin").await.unwrap();
            let update = |id: i64| format!("update t set v = v + 1 where id = {id}");
            lease.client.batch_execute(&update(first)).await.unwrap();
            both_hold.wait().await;
            let ended = lease.client.batch_execute(&update(second)).await;
            let ended = ended.map_err(|error| super::super::sqlstate::of(error, "blog").code);
            let _ = lease.client.batch_execute(if ended.is_ok() { "commit" } else { "rollback" }).await;
            ended
        }
    };
    let (a, b) = tokio::join!(cross(1, 2), cross(2, 1));
    let ended = [a, b];
    assert!(ended.contains(&Ok(())) && ended.contains(&Err(Code::Contention)), "{ended:?}");
    assert_eq!(number(&postgres, "select sum(v) from t").await, 2);
}

#[tokio::test]
async fn an_entry_that_is_not_writable_only_reads() {
    let (database, _) = fresh(SCHEMA);
    let mut spec = spec(database.url());
    spec.writable = false;
    let postgres = Postgres::open(&spec).unwrap();
    for steps in [vec![post("a")], vec![post("a"), post("b")]] {
        let outcome = postgres.write(program(steps)).await.unwrap();
        assert_eq!(outcome.steps[0].as_ref().unwrap_err().code, Code::ReadOnly);
    }
    assert_eq!(number(&postgres, "select count(*) from posts").await, 0);
    // Its schema may be changed all the same, if the entry allows it.
    postgres.define(vec!["create table more (id int)".to_owned()]).await.unwrap();
    let writable = open(database.url());
    assert!(writable.write(program(vec![post("a")])).await.unwrap().committed);
}
