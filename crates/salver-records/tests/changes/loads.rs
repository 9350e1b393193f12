//! Many rows at once.

use futures::stream;
use salver_model::Error;
use salver_model::ports::Database;
use salver_model::records::{BytesText, Load, LoadReport, Record};
use salver_model::rule::Term;
use salver_model::spec::{RecordRule, Tenancy};
use salver_model::{Code, Rule};

use salver_testkit::servers::Kind;

use super::fixture::{World, records};

fn load(table: &str) -> Load {
    Load { table: table.to_owned(), dry_run: false, keep_good: false, upsert: false, bytes: BytesText::Base64 }
}

async fn run(world: &World, load: &Load, pieces: Vec<Vec<Record>>) -> Result<LoadReport, Error> {
    let pieces = pieces.into_iter().map(|piece| Ok(piece.into_iter().map(Ok).collect()));
    let rows = Box::pin(stream::iter(pieces));
    world.database.load(&world.caller, load, rows).await
}

fn told(report: &LoadReport) -> Vec<(u64, Code)> {
    report.problems.iter().map(|problem| (problem.row, problem.error.code)).collect()
}

#[tokio::test]
async fn thousands_of_rows() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let rows: Vec<Record> =
            (0..5000).map(|n| records(&format!(r#"{{"name":"t{n}","uses":{n}}}"#)).remove(0)).collect();
        let pieces = rows.chunks(700).map(<[Record]>::to_vec).collect();
        let report = run(&world, &load("tags"), pieces).await.unwrap();
        assert_eq!((report.read, report.loaded, report.refused), (5000, 5000, 0));
        assert_eq!(world.row("tags", "t4999").await, r#"{"name":"t4999","uses":4999}"#);
    }
}

const MIXED: &str = r#"[{"name":"a","uses":1},{"name":"a","uses":2},{"name":"b","uses":"x"},{"nam":"c","uses":4},{"name":"d","uses":5},{"name":"d","uses":6}]"#;

#[tokio::test]
async fn bad_rows_undo_all_or_are_left_out() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let report = run(&world, &load("tags"), vec![records(MIXED)]).await.unwrap();
        assert_eq!((report.read, report.loaded), (6, 0));
        assert!(told(&report).contains(&(3, Code::Invalid)), "{report:?}");
        assert_eq!(world.list("tags", &["name"]).await, r#"{"records":[]}"#);

        let keeping = Load { keep_good: true, ..load("tags") };
        let dry = Load { dry_run: true, ..keeping.clone() };
        let bad = [(2, Code::DuplicateKey), (3, Code::Invalid), (4, Code::InvalidColumn), (6, Code::DuplicateKey)];
        let report = run(&world, &dry, vec![records(MIXED)]).await.unwrap();
        assert_eq!((report.loaded, report.refused, told(&report)), (0, 4, bad.to_vec()));
        assert_eq!(world.list("tags", &["name"]).await, r#"{"records":[]}"#);
        let report = run(&world, &keeping, vec![records(MIXED)]).await.unwrap();
        assert_eq!((report.loaded, report.refused, told(&report)), (2, 4, bad.to_vec()));
        assert_eq!(report.problems[2].error.hint.as_deref(), Some("did you mean `name`?"));
        assert_eq!(world.list("tags", &["name"]).await, r#"{"records":[{"name":"a"},{"name":"d"}]}"#);
    }
}

#[tokio::test]
async fn rows_may_differ_in_their_columns() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let rows = records(
            r#"[{"user_id":1,"title":"a"},{"title":"b","user_id":2,"score":1.5},{"user_id":1,"title":"c","body":"x"}]"#,
        );
        let report = run(&world, &load("posts"), vec![rows]).await.unwrap();
        assert_eq!((report.loaded, report.refused), (3, 0), "{report:?}");
        assert!(world.row("posts", "5").await.contains(r#""score":1.5"#));
        // A default can't be asked for when others of the load have the column.
        let rows = records(r#"[{"name":"a","uses":1},{"name":"b"}]"#);
        let report = run(&world, &load("tags"), vec![rows]).await.unwrap();
        assert_eq!(told(&report), [(2, Code::Invalid)]);
    }
}

#[tokio::test]
async fn rows_over_others() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let over = Load { upsert: true, ..load("tags") };
        run(&world, &over, vec![records(r#"[{"name":"a","uses":1},{"name":"b","uses":1}]"#)]).await.unwrap();
        let report =
            run(&world, &over, vec![records(r#"[{"name":"b","uses":2},{"name":"c","uses":2}]"#)]).await.unwrap();
        assert_eq!(report.loaded, 2);
        assert_eq!(
            world.list("tags", &["name", "uses"]).await,
            r#"{"records":[{"name":"a","uses":1},{"name":"b","uses":2},{"name":"c","uses":2}]}"#
        );
        let error = run(&world, &over, vec![records(r#"[{"uses":2}]"#)]).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidRequest);
    }
}

#[tokio::test]
async fn rules_and_tenants_hold() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.rules.push(RecordRule {
                rows: Some(Rule::parse("title != 'secret'").unwrap()),
                tables: vec!["posts".into()],
                ..RecordRule::default()
            });
            spec.tenancy.push(Tenancy {
                table: "posts".into(),
                column: "user_id".into(),
                value: Term::Caller("user".into()),
            });
        })
        .of_user("2");
        let keeping = Load { keep_good: true, ..load("posts") };
        let rows = records(r#"[{"user_id":1,"title":"a"},{"user_id":1,"title":"secret"}]"#);
        let report = run(&world, &keeping, vec![rows]).await.unwrap();
        assert_eq!((report.loaded, told(&report)), (1, vec![(2, Code::Forbidden)]));
        assert!(world.row("posts", "4").await.starts_with(r#"{"id":4,"user_id":2,"title":"a""#));
    }
}

#[tokio::test]
async fn a_broken_stream_keeps_nothing() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let first: Vec<Record> = (0..3000).map(|n| records(&format!(r#"{{"name":"t{n}"}}"#)).remove(0)).collect();
        let first = first.into_iter().map(Ok).collect();
        let rows = Box::pin(stream::iter([Ok(first), Err(Error::new(Code::InvalidBody, "line 3001 is not JSON"))]));
        let error = world.database.load(&world.caller, &load("tags"), rows).await.unwrap_err();
        assert_eq!(error.code, Code::InvalidBody);
        assert_eq!(world.list("tags", &["name"]).await, r#"{"records":[]}"#);
        let report = run(&world, &load("tags"), vec![]).await.unwrap();
        assert_eq!(report.read, 0);
    }
}
