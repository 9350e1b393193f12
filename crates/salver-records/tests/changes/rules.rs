//! The settings of an entry: rules, tenancy, addresses, cleaning and checking, what may be written at all.

use salver_model::records::Operation;
use salver_model::rule::Term;
use salver_model::spec::{DatabaseSpec, RecordCheck, RecordRule, Tenancy, ValueFormat};
use salver_model::{Code, Rule};

use salver_testkit::servers::Kind;

use super::fixture::{World, codes, create, delete, increment, update, upsert};

fn own_rows(spec: &mut DatabaseSpec) {
    spec.rules.push(RecordRule {
        tables: vec!["posts".to_owned()],
        rows: Some(Rule::parse("user_id = caller.user").unwrap()),
        ..RecordRule::default()
    });
}

fn tenants(spec: &mut DatabaseSpec) {
    spec.tenancy.push(Tenancy {
        table: "posts".to_owned(),
        column: "user_id".to_owned(),
        value: Term::Caller("user".to_owned()),
    });
}

#[tokio::test]
async fn rules_hold_before_and_after_a_change() {
    for kind in Kind::ALL {
        let world = World::new(kind, own_rows).of_user("1");
        assert_eq!(world.change(create("posts", r#"{"user_id":1,"title":"x"}"#)).await.unwrap(), "4");
        assert_eq!(world.fails(create("posts", r#"{"user_id":2,"title":"x"}"#)).await.code, Code::Forbidden);
        assert_eq!(world.fails(create("posts", r#"{"user_id":"2","title":"x"}"#)).await.code, Code::Forbidden);
        assert_eq!(world.change(update("posts", "1", r#"{"title":"mine"}"#)).await.unwrap(), "1");
        assert_eq!(world.change(update("posts", "3", r#"{"title":"mine"}"#)).await.unwrap(), "0");
        assert_eq!(world.change(delete("posts", "3")).await.unwrap(), "0");
        assert_eq!(world.fails(update("posts", "1", r#"{"user_id":2}"#)).await.code, Code::Forbidden);
        assert_eq!(
            world.fails(upsert("posts", &[], false, r#"{"id":3,"user_id":1,"title":"taken"}"#)).await.code,
            Code::Forbidden
        );
        let parts = world.undone(create("posts", r#"[{"user_id":1,"title":"x"},{"user_id":2,"title":"y"}]"#)).await;
        assert_eq!(codes(&parts), [None, Some(Code::Forbidden)]);
        let world = World::new(kind, own_rows);
        assert_eq!(world.fails(create("posts", r#"{"user_id":1,"title":"x"}"#)).await.code, Code::Forbidden);
    }
}

#[tokio::test]
async fn rules_over_text_are_asked_of_the_database() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.rules.push(RecordRule {
                tables: vec!["posts".to_owned()],
                rows: Some(Rule::parse("title != 'secret' and (body is null or body != 'secret')").unwrap()),
                ..RecordRule::default()
            });
        });
        assert_eq!(world.change(create("posts", r#"{"user_id":1,"title":"open"}"#)).await.unwrap(), "4");
        assert_eq!(world.fails(create("posts", r#"{"user_id":1,"title":"secret"}"#)).await.code, Code::Forbidden);
        assert_eq!(world.fails(update("posts", "4", r#"{"body":"secret"}"#)).await.code, Code::Forbidden);
        assert_eq!(world.change(update("posts", "4", r#"{"body":"public"}"#)).await.unwrap(), "1");
        assert_eq!(world.change(update("posts", "99", r#"{"body":"secret"}"#)).await.unwrap(), "0");
        assert_eq!(world.list("posts", &["id"]).await, r#"{"records":[{"id":1},{"id":2},{"id":3},{"id":4}]}"#);
    }
}

#[tokio::test]
async fn what_an_increment_makes_must_pass() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.rules.push(RecordRule {
                tables: vec!["posts".to_owned()],
                rows: Some(Rule::parse("visitors < 10").unwrap()),
                ..RecordRule::default()
            });
        });
        assert_eq!(world.change(increment("posts", "1", r#"{"visitors":6}"#)).await.unwrap(), "1");
        assert_eq!(world.fails(increment("posts", "1", r#"{"visitors":6}"#)).await.code, Code::Forbidden);
        assert!(world.row("posts", "1").await.contains(r#""visitors":6,"#));
    }
}

#[tokio::test]
async fn hidden_tables_and_columns_are_not_there() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.rules.push(RecordRule {
                tables: vec!["users".to_owned()],
                operations: vec![Operation::Create, Operation::Delete],
                deny: true,
                ..RecordRule::default()
            });
            spec.rules.push(RecordRule { columns_hidden: vec!["bo*".to_owned()], ..RecordRule::default() });
        });
        assert_eq!(world.fails(create("users", r#"{"name":"x"}"#)).await.message, "Table 'users' not found");
        assert_eq!(world.fails(delete("users", "1")).await.code, Code::UnknownTable);
        assert_eq!(world.change(update("users", "1", r#"{"name":"x"}"#)).await.unwrap(), "1");
        assert_eq!(world.change(update("posts", "1", r#"{"body":"x"}"#)).await.unwrap(), "0");
    }
}

#[tokio::test]
async fn tenants_are_forced_and_kept() {
    for kind in Kind::ALL {
        let world = World::new(kind, tenants).of_user("1");
        assert_eq!(world.change(create("posts", r#"{"user_id":2,"title":"x"}"#)).await.unwrap(), "4");
        assert!(world.row("posts", "4").await.starts_with(r#"{"id":4,"user_id":1,"#));
        assert_eq!(world.change(update("posts", "4", r#"{"user_id":2}"#)).await.unwrap(), "0");
        assert_eq!(world.change(update("posts", "4", r#"{"user_id":2,"title":"y"}"#)).await.unwrap(), "1");
        assert_eq!(world.change(increment("posts", "3", r#"{"visitors":2}"#)).await.unwrap(), "0");
        assert_eq!(world.change(delete("posts", "3")).await.unwrap(), "0");
        assert_eq!(world.change(delete("posts", "4")).await.unwrap(), "1");
        let stranger = World::new(kind, tenants);
        assert_eq!(stranger.fails(create("posts", r#"{"user_id":1,"title":"x"}"#)).await.code, Code::Forbidden);
        assert_eq!(stranger.change(update("posts", "1", r#"{"title":"x"}"#)).await.unwrap(), "0");
    }
}

#[tokio::test]
async fn addresses_are_set_once() {
    for kind in Kind::ALL {
        let mut world = World::new(kind, |spec| spec.ip_address.push("posts.body".to_owned()));
        world.caller.principal.address = Some("192.0.2.7".parse().unwrap());
        assert_eq!(world.change(create("posts", r#"{"user_id":1,"title":"x","body":"FAKE"}"#)).await.unwrap(), "4");
        assert_eq!(world.change(update("posts", "4", r#"{"body":"FAKE"}"#)).await.unwrap(), "0");
        assert!(world.row("posts", "4").await.contains(r#""body":"192.0.2.7""#));
    }
}

#[tokio::test]
async fn values_are_cleaned_and_checked() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.strip_tags.push("posts.title".to_owned());
            spec.sanitize.push("po*".to_owned());
            spec.validate.push("*".to_owned());
            spec.checks.push(RecordCheck {
                columns: vec!["*.user_id".to_owned()],
                shape: Some(ValueFormat::Numeric),
                rule: None,
                message: "must be numeric".to_owned(),
            });
            spec.checks.push(RecordCheck {
                columns: vec!["posts.visitors".to_owned()],
                shape: None,
                rule: Some(Rule::parse("visitors < 100 or done = true").unwrap()),
                message: "not so many".to_owned(),
            });
        });
        let body = r#"{"user_id":" 1\n","title":"<h1>Title</h1> <p>Body</p>","price":"1.235","made":"December 20th, 2020","visitors":1.99}"#;
        assert_eq!(world.change(create("posts", body)).await.unwrap(), "4");
        let row = world.row("posts", "4").await;
        for part in
            [r#""title":"Title Body""#, r#""price":"1.24""#, r#""made":"2020-12-20 00:00:00""#, r#""visitors":2,"#]
        {
            assert!(row.contains(part), "{part} in {row}");
        }
        for (table, body, column, why) in [
            ("posts", r#"{"user_id":"two"}"#, "user_id", "must be numeric"),
            ("posts", r#"{"visitors":100}"#, "visitors", "not so many"),
            ("posts", r#"{"title":null}"#, "title", "cannot be null"),
            ("users", r#"{"name":"123456789012345678901"}"#, "name", "string too long"),
            ("users", r#"{"name":5}"#, "name", "invalid varchar"),
            ("tags", r#"{"uses":" 1"}"#, "uses", "illegal whitespace"),
            ("tags", r#"{"uses":"2147483648"}"#, "uses", "invalid integer"),
        ] {
            let error = world.fails(update(table, "1", body)).await;
            assert_eq!(
                (error.code, error.message),
                (Code::Invalid, format!("Input validation failed for '{table}'")),
                "{body}"
            );
            assert_eq!(error.details, [(column.to_owned(), why.to_owned())], "{body}");
        }
        assert_eq!(world.change(update("posts", "1", r#"{"visitors":100,"done":true}"#)).await.unwrap(), "1");
    }
}

#[tokio::test]
async fn json_columns_take_objects() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| spec.json_columns.push("posts.body".to_owned()));
        assert_eq!(world.change(update("posts", "1", r#"{"body":{"a":[1,"x/y"]}}"#)).await.unwrap(), "1");
        assert!(world.row("posts", "1").await.contains(r#""body":{"a":[1,"x\/y"]}"#));
    }
}

#[tokio::test]
async fn read_only_is_read_only() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| spec.writable = false);
        assert_eq!(world.fails(create("users", r#"{"name":"x"}"#)).await.code, Code::ReadOnly);
    }
}
