//! What a rule hides is hidden on every way that leads to it: lists, keys, joins, filters, orders, counts, groups,
//! features.

use salver_model::records::{Operation, RecordAggregate, RecordQuery};
use salver_model::rule::{Rule, Term};
use salver_model::spec::{RecordRule, Tenancy};
use salver_model::{AggregateFunction, Code, Value};
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, table};

fn rows(tables: &[&str], rule: &str) -> RecordRule {
    let tables = tables.iter().map(|name| (*name).to_owned()).collect();
    RecordRule { tables, rows: Some(Rule::parse(rule).expect("a rule")), ..RecordRule::default() }
}

#[tokio::test]
async fn rows_of_the_caller() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            spec.rules.push(rows(&["comments"], "text != 'one' and not text like 'F%'"));
            spec.rules.push(rows(&["tags"], "hot = true"));
            spec.rules.push(rows(&["users"], "id = caller.user or name in ('ann')"));
        })
        .seen_by("2");
        for (query, expected) in [
            (table("users").include("id"), r#"[{"id":1},{"id":2}]"#),
            (table("comments").include("id"), r#"[{"id":2},{"id":3},{"id":4},{"id":5}]"#),
            // To one becomes null, to many is not there, nor through a table between, where a place would tell of it.
            (
                table("posts").include("id,user_id").join("users").filter("id,eq,4"),
                r#"[{"id":4,"user_id":null,"editor_id":null}]"#,
            ),
            (
                table("posts").include("id").join("comments").filter("id,eq,1"),
                r#"[{"id":1,"comments":[{"post_id":1},{"post_id":1}]}]"#,
            ),
            (table("posts").include("id").join("tags").filter("id,eq,4"), r#"[{"id":4,"tags":[]}]"#),
            // Nothing can be found by it.
            (table("posts").include("id").filter("comments.text,eq,one"), "[]"),
            (table("posts").include("id").filter("users.name,eq,cid"), "[]"),
            (table("posts").include("id").filter("tags.name,cs,"), r#"[{"id":1},{"id":2}]"#),
            // Nor sorted: what is hidden is null.
            (table("posts").include("id").order("users.name,id"), r#"[{"id":4},{"id":1},{"id":3},{"id":2}]"#),
        ] {
            assert_eq!(world.records(&query).await, expected, "{kind:?} {query:?}");
        }
        assert_eq!(world.list(&table("users").include("id").page(1, 1)).await, r#"{"records":[{"id":1}],"results":2}"#);
        let count = RecordAggregate { function: AggregateFunction::Count, column: None, name: "n".to_owned() };
        let counted = RecordQuery { aggregates: vec![count], ..table("comments") };
        assert_eq!(world.records(&counted).await, r#"[{"n":4}]"#);
        assert_eq!(world.read(&table("users"), &["3"]).await.unwrap_err().code, Code::RecordNotFound);
        assert_eq!(world.read(&table("users").include("id"), &["3", "1"]).await.unwrap(), r#"[null,{"id":1}]"#);
        let nobody = world.seen_by("2 or 1=1");
        assert_eq!(nobody.records(&table("users").include("id")).await, r#"[{"id":1}]"#);
    }
}

#[tokio::test]
async fn tables_and_columns() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            let names = |list: &[&str]| list.iter().map(|name| (*name).to_owned()).collect::<Vec<String>>();
            spec.rules.push(RecordRule { tables: names(&["tags"]), deny: true, ..RecordRule::default() });
            spec.rules.push(RecordRule {
                tables: names(&["users"]),
                columns_hidden: names(&["na*"]),
                operations: vec![Operation::List],
                ..RecordRule::default()
            });
            spec.rules.push(RecordRule {
                tables: names(&["posts"]),
                columns_hidden: names(&["editor_id"]),
                ..RecordRule::default()
            });
        });
        assert_eq!(world.records(&table("users").size(1)).await, r#"[{"id":1,"boss_id":null}]"#, "{kind:?}");
        assert_eq!(world.read(&table("users"), &["1"]).await.unwrap(), r#"{"id":1,"name":"ann","boss_id":null}"#);
        assert_eq!(world.records(&table("users").include("name,users.name,id").size(1)).await, r#"[{"id":1}]"#);
        // A key that is hidden leads nowhere.
        let joined = world.records(&table("posts").include("id,user_id").join("users").size(1)).await;
        assert_eq!(joined, r#"[{"id":1,"user_id":{"id":1}}]"#);
        assert_eq!(world.records(&table("posts").include("id").join("tags").size(1)).await, r#"[{"id":1}]"#);
        for (query, code) in [
            (table("tags"), Code::UnknownTable),
            (table("posts").filter("tags.name,eq,red"), Code::UnknownTable),
            (table("users").filter("name,eq,ann"), Code::UnknownColumn),
            (table("users").filter("name,neq,ann"), Code::UnknownColumn),
            (table("posts").filter("users.name,eq,ann"), Code::UnknownColumn),
            (table("users").order("name").strict(), Code::InvalidSort),
            (table("users").include("name").strict(), Code::InvalidColumn),
        ] {
            let error = world.fails(&query).await;
            assert_eq!(error.code, code, "{kind:?} {query:?}");
            assert!(!error.hint.unwrap_or_default().contains("name"), "{kind:?} {query:?}");
        }
        assert_eq!(world.ids(&table("users").order("name desc")).await, [1, 2, 3, 4], "passed over");
    }
}

#[tokio::test]
async fn tenants() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| {
            let value = Term::Caller("user".to_owned());
            spec.tenancy.push(Tenancy { table: "*".to_owned(), column: "user_id".to_owned(), value });
            let value = Term::Literal(Value::Text("north".to_owned()));
            spec.tenancy.push(Tenancy { table: "stock".to_owned(), column: "place".to_owned(), value });
        });
        assert_eq!(world.records(&table("posts")).await, "[]", "{kind:?}");
        let moves = table("moves").include("id,item").join("stock");
        assert_eq!(
            world.records(&moves).await,
            r#"[{"id":1,"place":"north","item":{"place":"north","item":1}},{"id":2,"place":"south","item":null},{"id":3,"place":"north","item":{"place":"north","item":1}}]"#
        );
        let world = world.seen_by("1");
        assert_eq!(world.ids(&table("posts")).await, [1, 3]);
        assert_eq!(world.ids(&table("comments").filter("posts.id,ge,1")).await, [1, 3, 4]);
    }
}

#[tokio::test]
async fn a_rule_that_can_not_be_checked_lets_nothing_through() {
    for kind in Kind::ALL {
        let world = World::new(kind, |spec| spec.rules.push(rows(&["*"], "owner = 1")));
        assert_eq!(world.fails(&table("users")).await.code, Code::Config, "{kind:?}");
        assert_eq!(world.fails(&table("posts").join("users")).await.code, Code::Config, "{kind:?}");
    }
}
