//! Groups, aggregates and distinct rows.

use salver_model::records::{Condition, RecordAggregate, RecordQuery};
use salver_model::{AggregateFunction, Code};

use super::fixture::{Ask, World, condition, table};

fn aggregate(word: &str, column: Option<&str>, name: &str) -> RecordAggregate {
    let function = AggregateFunction::named(word).expect("a function");
    RecordAggregate { function, column: column.map(str::to_owned), name: name.to_owned() }
}

fn grouped(name: &str, by: &[&str], aggregates: Vec<RecordAggregate>) -> RecordQuery {
    RecordQuery { group: by.iter().map(|name| (*name).to_owned()).collect(), aggregates, ..table(name) }
}

#[tokio::test]
async fn the_same_numbers_everywhere() {
    for world in World::all() {
        let all = vec![
            aggregate("count", None, "n"),
            aggregate("count", Some("price"), "prices"),
            aggregate("count_distinct", Some("price"), "different"),
            aggregate("sum", Some("user_id"), "whole"),
            aggregate("sum", Some("price"), "exact"),
            aggregate("sum", Some("score"), "float"),
            aggregate("avg", Some("user_id"), "mean"),
            aggregate("min", Some("price"), "low"),
            aggregate("max", Some("made"), "last"),
            aggregate("max", Some("title"), "title"),
            aggregate("min", Some("done"), "every"),
        ];
        assert_eq!(
            world.records(&grouped("posts", &[], all)).await,
            r#"[{"n":4,"prices":3,"different":2,"whole":7,"exact":"5.50","float":4,"mean":1.75,"low":"1.50","last":"2024-02-01","title":"d%_","every":false}]"#,
            "{:?}",
            world.kind
        );
        let mut query =
            grouped("posts", &["price"], vec![aggregate("count", None, "n"), aggregate("avg", Some("id"), "id")]);
        assert_eq!(
            world.records(&query).await,
            r#"[{"price":null,"n":1,"id":4},{"price":"1.50","n":1,"id":1},{"price":"2.00","n":2,"id":2.5}]"#
        );
        query.having = Some(Condition::Any(vec![condition("n,gt,1"), condition("price,lt,1.6")]));
        query = query.order("n desc").page(1, 5);
        assert_eq!(
            world.list(&query).await,
            r#"{"records":[{"price":"2.00","n":2,"id":2.5},{"price":"1.50","n":1,"id":1}],"results":2}"#
        );
        let mut sums = grouped(
            "posts",
            &["user_id"],
            vec![aggregate("sum", Some("price"), "s"), aggregate("sum", Some("id"), "i")],
        );
        sums.having = Some(Condition::All(vec![condition("s,ge,2"), condition("i,bt,2,4")]));
        assert_eq!(world.records(&sums).await, r#"[{"user_id":1,"s":"3.50","i":4},{"user_id":2,"s":"2.00","i":2}]"#);
        let third = grouped("friends", &[], vec![aggregate("avg", Some("b"), "a"), aggregate("sum", Some("b"), "s")]);
        assert_eq!(world.records(&third.filter("id,gt,9")).await, r#"[{"a":null,"s":null}]"#);
    }
}

#[tokio::test]
async fn distinct_rows() {
    for world in World::all() {
        let mut query = table("posts").include("price,user_id");
        query.distinct = true;
        assert_eq!(
            world.records(&query).await,
            r#"[{"user_id":1,"price":"1.50"},{"user_id":1,"price":"2.00"},{"user_id":2,"price":"2.00"},{"user_id":3,"price":null}]"#,
            "{:?}",
            world.kind
        );
        query = query.include("price").order("id,price desc").page(1, 2);
        assert_eq!(world.list(&query).await, r#"{"records":[{"price":"2.00"},{"price":"1.50"}],"results":3}"#);
    }
}

#[tokio::test]
async fn mistakes() {
    for world in World::all() {
        let count = || vec![aggregate("count", None, "n")];
        let mut orphan = table("posts");
        orphan.having = Some(condition("n,gt,1"));
        let mut unknown = grouped("posts", &["user_id"], count());
        unknown.having = Some(condition("m,gt,1"));
        let mut distinct = table("posts").join("users");
        distinct.distinct = true;
        for (query, code) in [
            (orphan, Code::InvalidRequest),
            (unknown, Code::InvalidFilter),
            (distinct, Code::InvalidRequest),
            (grouped("posts", &["nothing"], count()), Code::UnknownColumn),
            (grouped("posts", &["nothing"], count()).strict(), Code::InvalidFilter),
            (grouped("posts", &[], vec![aggregate("sum", Some("title"), "s")]), Code::InvalidRequest),
            (grouped("posts", &[], vec![aggregate("sum", None, "s")]), Code::InvalidRequest),
            (grouped("posts", &["user_id"], vec![aggregate("count", None, "user_id")]), Code::InvalidRequest),
            (grouped("posts", &["user_id"], count()).join("users"), Code::InvalidRequest),
            (grouped("posts", &["user_id"], count()).order("made").strict(), Code::InvalidSort),
        ] {
            assert_eq!(world.fails(&query).await.code, code, "{:?} {query:?}", world.kind);
        }
    }
}
