//! Lists and rows by key: columns, orders, pages, conditions, and what is told of mistakes.

use salver_model::Code;
use salver_model::ports::Database;
use salver_model::records::Condition;
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, condition, table};

#[tokio::test]
async fn values_of_every_kind() {
    for world in World::all() {
        assert_eq!(
            world.records(&table("posts")).await,
            concat!(
                r#"[{"id":1,"user_id":1,"editor_id":2,"title":"a\/b","price":"1.50","score":0.5,"done":true,"made":"2024-01-01"},"#,
                r#"{"id":2,"user_id":2,"editor_id":null,"title":"c","price":"2.00","score":1.5,"done":false,"made":"2024-02-01"},"#,
                r#"{"id":3,"user_id":1,"editor_id":1,"title":null,"price":"2.00","score":null,"done":null,"made":null},"#,
                r#"{"id":4,"user_id":3,"editor_id":4,"title":"d%_","price":null,"score":2,"done":true,"made":"2023-12-31"}]"#
            ),
            "{:?}",
            world.kind
        );
        assert_eq!(
            world.records(&table("bare")).await,
            r#"[{"word":"a","n":null},{"word":"a","n":1},{"word":"b","n":2}]"#
        );
    }
}

#[tokio::test]
async fn columns_and_orders_and_pages() {
    for world in World::all() {
        let ids = async |query| world.ids(&query).await;
        assert_eq!(world.records(&table("users").include("name,users.id").size(1)).await, r#"[{"id":1,"name":"ann"}]"#);
        assert_eq!(world.records(&table("users").exclude("*.*").size(2)).await, "[{},{}]");
        assert_eq!(
            world.records(&table("users").include("nothing,*").exclude("boss_id").size(1)).await,
            r#"[{"id":1,"name":"ann"}]"#
        );
        // Nulls are smallest, and the rest of an order is the primary key, everywhere.
        assert_eq!(ids(table("posts").order("price")).await, [4, 1, 2, 3]);
        assert_eq!(ids(table("posts").order("price desc")).await, [3, 2, 1, 4]);
        assert_eq!(ids(table("posts").order("nothing,title desc,id")).await, [4, 2, 1, 3]);
        assert_eq!(ids(table("posts").order("users.name desc,id")).await, [4, 2, 1, 3]);
        assert_eq!(ids(table("comments").order("posts.users.name desc,id desc")).await, [5, 2, 4, 3, 1]);
        assert_eq!(world.list(&table("users").include("id").page(2, 3)).await, r#"{"records":[{"id":4}],"results":4}"#);
        assert_eq!(world.list(&table("users").page(1, 0)).await, r#"{"records":[],"results":4}"#);
    }
}

#[tokio::test]
async fn conditions() {
    for world in World::all() {
        for (filter, expected) in [
            ("title,cs,/", &[1_i64][..]),
            ("title,cs,%", &[4]),
            ("title,ew,_", &[4]),
            ("title,neq,c", &[1, 4]),
            ("price,eq,2", &[2, 3]),
            ("price,lt,1.6", &[1]),
            ("price,in,1.5,2.000,x", &[1, 2, 3]),
            ("score,bt,1,2", &[2, 4]),
            ("score,bt,1", &[]),
            ("id,cs,4", &[4]),
            ("id,gt,1.5", &[2, 3, 4]),
            ("id,eq,abc", &[]),
            ("id,neq,abc", &[1, 2, 3, 4]),
            ("editor_id,neq,abc", &[1, 3, 4]),
            ("id,eq,99999999999999999999", &[]),
            ("id,lt,99999999999999999999", &[1, 2, 3, 4]),
            ("done,eq,yes", &[1, 4]),
            ("done,neq,1", &[2]),
            ("done,eq,maybe", &[]),
            ("made,ge,2024-01-01", &[1, 2]),
            ("made,eq,2024-01-01T10:00", &[]),
            ("made,eq,2024-01-01T02:00:00+02:00", &[1]),
            ("made,lt,soon", &[]),
            ("made,is", &[3]),
            ("made,nis", &[1, 2, 4]),
            ("users.name,eq,ann", &[1, 3]),
            ("comments.text,cs,o", &[1, 2]),
            ("comments.text,neq,one", &[1, 2, 4]),
            ("tags.hot,eq,true", &[1, 2]),
            ("users.posts.comments.text,eq,five", &[4]),
            ("posts.id,eq,2", &[2]),
            ("nothing.x,eq,1", &[1, 2, 3, 4]),
            ("title,eq,a\0b", &[]),
        ] {
            assert_eq!(world.ids(&table("posts").filter(filter)).await, expected, "{:?} {filter}", world.kind);
        }
        let either = Condition::Any(vec![condition("nothing.x,eq,1"), condition("id,eq,2"), condition("id,eq,3")]);
        let query = |filter| salver_model::records::RecordQuery { filter: Some(filter), ..table("posts") };
        assert_eq!(world.ids(&query(either)).await, [2, 3], "what is passed over is not there at all");
        assert_eq!(world.ids(&query(Condition::Any(Vec::new()))).await, [0_i64; 0]);
        let mut search = table("posts").filter("id,gt,1");
        search.search = Some("%".to_owned());
        assert_eq!(world.ids(&search).await, [4]);
    }
}

#[tokio::test]
async fn mistakes() {
    for world in World::all() {
        let strict = |query: salver_model::records::RecordQuery| query.strict();
        for (query, code) in [
            (table("nothing"), Code::UnknownTable),
            (table("posts").filter("agee,eq,1"), Code::UnknownColumn),
            (table("posts").filter("comments.agee,eq,1"), Code::UnknownColumn),
            (strict(table("posts").filter("agee,eq,1")), Code::InvalidFilter),
            (strict(table("posts").filter("nothing.x,eq,1")), Code::InvalidFilter),
            (strict(table("posts").filter("stock.item,eq,1")), Code::InvalidFilter),
            (strict(table("posts").filter("id,eq,abc")), Code::InvalidValue),
            (strict(table("posts").order("agee")), Code::InvalidSort),
            (strict(table("posts").order("comments.id")), Code::InvalidSort),
            (strict(table("posts").include("id,agee")), Code::InvalidColumn),
            (strict(table("posts").include("comments.id")), Code::InvalidColumn),
            (strict(table("posts").join("coments")), Code::InvalidRequest),
            (strict(table("posts").join("stock")), Code::InvalidRequest),
            (table("posts").child("comments", |child| child.size = Some(1)), Code::InvalidRequest),
            (
                table("posts").join("comments").child("comments", |child| child.order = super::fixture::orders("x")),
                Code::InvalidSort,
            ),
        ] {
            let error = world.fails(&query).await;
            assert_eq!(error.code, code, "{:?} {query:?}: {error:?}", world.kind);
        }
        let error = world.fails(&strict(table("posts").filter("titel,eq,1"))).await;
        assert_eq!(error.hint.as_deref(), Some("did you mean `title`?"));
    }
}

#[tokio::test]
async fn rows_by_key() {
    for world in World::all() {
        let users = table("users").include("id,name");
        for (query, keys, expected) in [
            (&users, &["2"][..], r#"{"id":2,"name":"bob"}"#),
            (
                &users,
                &["4", "9", "1", "x", "4"],
                r#"[{"id":4,"name":"dan"},null,{"id":1,"name":"ann"},null,{"id":4,"name":"dan"}]"#,
            ),
            (&table("users"), &["1"], r#"{"id":1,"name":"ann","boss_id":null}"#),
            (&table("tags"), &["red"], r#"{"name":"red","hot":true}"#),
            (
                &table("tags"),
                &["red", "nothing", "blue"],
                r#"[{"name":"red","hot":true},null,{"name":"blue","hot":true}]"#,
            ),
            (&table("stock"), &["north~2"], r#"{"place":"north","item":2,"amount":0}"#),
            (&table("stock"), &["south~1", "south~2"], r#"[{"place":"south","item":1,"amount":7},null]"#),
            (&table("busy"), &["1"], r#"{"id":1,"posts_id":1,"n":3}"#),
            (
                &table("users").include("name").join("posts"),
                &["3"],
                r#"{"id":3,"name":"cid","posts":[{"user_id":3,"editor_id":4}]}"#,
            ),
        ] {
            let found = world.read(query, keys).await;
            assert_eq!(found.as_deref().ok(), Some(expected), "{:?} {keys:?}: {found:?}", world.kind);
        }
        for (name, key, code, message) in [
            ("users", "9", Code::RecordNotFound, "Record '9' not found"),
            ("users", "x' or 1=1", Code::RecordNotFound, "Record 'x' or 1=1' not found"),
            ("stock", "north~9", Code::RecordNotFound, "Record 'north~9' not found"),
            ("stock", "north", Code::ArgumentCount, "Argument count mismatch in 'north'"),
            ("bare", "1", Code::NoPrimaryKey, "Primary key for table 'bare' not found"),
        ] {
            let error = world.read(&table(name), &[key]).await.unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (code, message), "{:?}", world.kind);
        }
    }
}

/// SQLite keeps any number in a column of decimals: each is found by what is shown of it, and alone.
#[tokio::test]
async fn decimals_of_sqlite_are_found_by_what_is_shown() {
    let stored =
        ["9007199254740992", "9007199254740993", "-9007199254740993", "0.125", "0.1", "12", "123456789.125", "0.00001"];
    let mut more = "create table sums (id integer primary key, n decimal(16,2));
        create table large (id integer primary key, n bigint);
        insert into large values (1, 9007199254740992), (2, 9007199254740993);\n"
        .to_owned();
    for (id, number) in stored.iter().enumerate() {
        more += &format!("insert into sums values ({id}, {number});\n");
    }
    let world = World::with(Kind::Sqlite, &more, |_| {});
    world.database.refresh().await.unwrap();
    for (text, id) in [("9007199254740993", 2), ("9007199254740993.0", 2), ("9007199254740992.", 1)] {
        assert_eq!(world.ids(&table("large").filter(&format!("n,eq,{text}"))).await, [id], "{text}");
    }
    for (id, shown) in (0_i64..).zip([
        "9007199254740992.00",
        "9007199254740993.00",
        "-9007199254740993.00",
        "0.125",
        "0.10",
        "12.00",
        "123456789.125",
        "0.00001",
    ]) {
        let listed = world.list(&table("sums").filter(&format!("id,eq,{id}"))).await;
        assert!(listed.contains(&format!("\"n\":\"{shown}\"")), "{shown}: {listed}");
        assert_eq!(world.ids(&table("sums").filter(&format!("n,eq,{shown}"))).await, [id], "{shown}");
        assert_eq!(world.ids(&table("sums").filter(&format!("n,in,{shown},7.77"))).await, [id], "{shown}");
    }
}
