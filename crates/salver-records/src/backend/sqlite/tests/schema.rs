//! The reflected schema.

use salver_model::records::{ColumnKind, TableInfo, TableKind};

use super::Fixture;

const RICH: &str = r#"
    CREATE TABLE users (id INTEGER PRIMARY KEY, email VARCHAR(100) NOT NULL UNIQUE, born date, credit decimal(10,2)
        NOT NULL DEFAULT 0, admin boolean, data json, home geometry, photo blob);
    CREATE UNIQUE INDEX users_born_email ON users (born, email);
    CREATE UNIQUE INDEX users_partial ON users (credit) WHERE admin;
    CREATE UNIQUE INDEX users_lower ON users (lower(email));
    CREATE INDEX users_plain ON users (credit);
    CREATE TABLE posts (id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, user_id bigint NOT NULL REFERENCES Users,
        reviewer_id INTEGER REFERENCES users(ID), body text, size INTEGER AS (length(body)) STORED,
        upper text AS (upper(body)));
    CREATE TABLE lines (shop TEXT, number INT, item TEXT, PRIMARY KEY (number, shop)) WITHOUT ROWID;
    CREATE TABLE parts (id INT PRIMARY KEY, n INT, s TEXT, ghost INT REFERENCES nowhere(id),
        FOREIGN KEY (n, s) REFERENCES lines);
    CREATE TABLE "odd ""name" ("a b" INTEGER, "Ünï" TEXT);
    CREATE VIEW mails AS SELECT id, email, count(*) AS n FROM users GROUP BY id;
    CREATE VIEW broken AS SELECT * FROM nowhere;
    CREATE VIRTUAL TABLE words USING fts5(word);
"#;

fn named<'a>(tables: &'a [TableInfo], name: &str) -> &'a TableInfo {
    tables.iter().find(|table| table.name == name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_views_and_columns_are_reflected() {
    let fixture = Fixture::new(RICH);
    let tables = fixture.open().reflect().await.unwrap();
    let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["lines", "mails", "odd \"name", "parts", "posts", "users", "words"]);

    let users = named(&tables, "users");
    let kinds: Vec<_> = users.columns.iter().map(|column| column.kind).collect();
    use ColumnKind::{Blob, Boolean, Date, Decimal, Geometry, Integer, Json, Varchar};
    assert_eq!(kinds, [Integer, Varchar, Date, Decimal, Boolean, Json, Geometry, Blob]);
    assert_eq!(users.key, [0]);
    assert!(users.columns[0].auto_increment && users.columns[0].has_default && !users.columns[0].nullable);
    let email = &users.columns[1];
    assert_eq!((email.native.as_str(), email.length, email.nullable), ("VARCHAR(100)", Some(100), false));
    let credit = &users.columns[3];
    assert_eq!((credit.precision, credit.scale, credit.has_default), (Some(10), Some(2), true));
    assert!(users.columns[2].nullable && !users.columns[2].has_default);
    assert_eq!(users.unique, [vec![1], vec![2, 1]], "partial ones and those over expressions are not keys");

    let odd = named(&tables, "odd \"name");
    assert_eq!((odd.columns[0].name.as_str(), odd.columns[1].name.as_str()), ("a b", "Ünï"));
    assert!(odd.key.is_empty());

    let mails = named(&tables, "mails");
    assert_eq!((mails.kind, mails.key.as_slice()), (TableKind::View, [0].as_slice()));
    assert_eq!((mails.columns[1].kind, mails.columns[1].length), (Varchar, Some(100)));
    assert_eq!(named(&tables, "words").columns.len(), 1, "hidden columns are not there");
}

/// SQLite reports `BLOB` for every expression of unknown type.
#[tokio::test(flavor = "multi_thread")]
async fn views_over_columns_without_a_type_have_none() {
    let fixture = Fixture::new(
        "CREATE TABLE t (a INT, c, b BLOB); \
         CREATE VIEW v AS SELECT a, c, b, coalesce(a, c) AS f, a + 1 AS n, 'x' || a AS s FROM t;",
    );
    let tables = fixture.open().reflect().await.unwrap();
    let columns = &named(&tables, "v").columns;
    let kinds: Vec<_> = columns.iter().map(|column| (column.name.as_str(), column.kind, &*column.native)).collect();
    use ColumnKind::{Blob, Clob, Integer};
    let expected = [
        ("a", Integer, "INT"),
        ("c", Clob, ""),
        ("b", Blob, "BLOB"),
        ("f", Clob, ""),
        ("n", Clob, ""),
        ("s", Clob, ""),
    ];
    assert_eq!(kinds, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_are_reflected() {
    let fixture = Fixture::new(RICH);
    let tables = fixture.open().reflect().await.unwrap();

    let lines = named(&tables, "lines");
    assert_eq!(lines.key, [1, 0], "in the order of the key");
    assert!(!lines.columns[0].nullable && !lines.columns[1].auto_increment);
    let parts = named(&tables, "parts");
    assert!(!parts.columns[0].auto_increment, "INT is not INTEGER");
    assert_eq!(parts.foreign_keys.len(), 1, "a table that is not there is no target");
    assert_eq!(parts.foreign_keys[0].columns, [1, 2]);
    assert_eq!(parts.foreign_keys[0].target, "lines");
    assert_eq!(parts.foreign_keys[0].target_columns, ["number", "shop"]);

    let posts = named(&tables, "posts");
    assert!(posts.columns[0].auto_increment);
    assert!(posts.columns[4].generated && posts.columns[5].generated && !posts.columns[3].generated);
    assert_eq!(posts.columns[1].kind, ColumnKind::BigInt);
    let keys: Vec<_> =
        posts.foreign_keys.iter().map(|key| (key.columns.clone(), key.target.as_str(), &key.target_columns)).collect();
    let id = vec!["id".to_owned()];
    assert_eq!(keys, [(vec![1], "users", &id), (vec![2], "users", &id)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stamp_moves_with_the_schema_only() {
    let fixture = Fixture::new("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    let database = fixture.open();
    let before = database.stamp().await.unwrap();
    super::run(&database, "INSERT INTO t VALUES (1)", vec![]).await.unwrap();
    assert_eq!(database.stamp().await.unwrap(), before);
    fixture.other().execute_batch("ALTER TABLE t ADD COLUMN name TEXT").unwrap();
    let altered = database.stamp().await.unwrap();
    assert_ne!(altered, before, "another process changed it");
    database.define(vec!["CREATE TABLE u (id INTEGER)".to_owned()]).await.unwrap();
    assert_ne!(database.stamp().await.unwrap(), altered);
    assert_eq!(super::number(&database, "SELECT count(name) FROM t").await, 0, "the new column is there at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn definitions_stay_together() {
    let fixture = Fixture::new("CREATE TABLE t (id INTEGER PRIMARY KEY)");
    let database = fixture.open();
    let statements = ["CREATE TABLE u (id INTEGER)", "CREATE TABLE T (id INTEGER)"].map(str::to_owned);
    let error = database.define(statements.to_vec()).await.unwrap_err();
    assert_eq!(error.code, salver_model::Code::TableExists);
    assert_eq!(fixture.number("SELECT count(*) FROM sqlite_schema WHERE name = 'u'"), 0);
    let error = database.define(vec!["ALTER TABLE t ADD COLUMN id TEXT".to_owned()]).await.unwrap_err();
    assert_eq!(error.code, salver_model::Code::ColumnExists);
}
