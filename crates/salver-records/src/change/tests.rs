//! The statements of changes on the three systems.

use std::sync::Arc;

use salver_model::records::{
    Change, ChangeKind, ColumnInfo, ColumnKind, Condition, DatabaseSchema, Field, Operator, Record, TableInfo,
    TableKind,
};
use salver_model::spec::{DatabaseKind, DatabaseSpec, RecordRule};
use salver_model::{Caller, Code, Name, Rule};

use super::plan::ChangePlan;
use crate::access::Access;
use crate::backend::Backend;
use crate::dialect::Dialect;
use crate::prepared_cache::Prepared;
use crate::scope::Scope;
use crate::statement::Bind;

/// Creates a column with this name, kind and native type.
pub(crate) fn column(name: &str, kind: ColumnKind, native: &str) -> ColumnInfo {
    ColumnInfo {
        name: name.to_owned(),
        real_name: format!("{name}_"),
        kind,
        native: native.to_owned(),
        length: None,
        precision: None,
        scale: None,
        nullable: true,
        has_default: false,
        auto_increment: name == "id",
        generated: false,
        ordered: true,
        base: None,
        compared: None,
        words: Vec::new(),
        comment: None,
    }
}

/// Creates `posts(id, title, place, price)` and `tags(name)`, with other names in the database.
fn schema() -> DatabaseSchema {
    let table = |name: &str, columns: Vec<ColumnInfo>| TableInfo {
        name: name.to_owned(),
        real_name: format!("{name}_"),
        kind: TableKind::Table,
        columns,
        key: vec![0],
        foreign_keys: Vec::new(),
        unique: Vec::new(),
        key_assumed: false,
        has_triggers: false,
        comment: None,
    };
    let mut uuid = column("key", ColumnKind::Uuid, "uuid");
    uuid.has_default = true;
    DatabaseSchema::new(
        vec![
            table(
                "posts",
                vec![
                    column("id", ColumnKind::Integer, "integer"),
                    column("title", ColumnKind::Varchar, "varchar(255)"),
                    column("place", ColumnKind::Geometry, "geometry"),
                    column("price", ColumnKind::Decimal, "decimal(10,2)"),
                ],
            ),
            table("things", vec![uuid, column("n", ColumnKind::Integer, "integer")]),
        ],
        1,
    )
}

fn spec(dialect: Dialect) -> DatabaseSpec {
    let (kind, url) = match dialect {
        Dialect::Sqlite => (DatabaseKind::Sqlite, "sqlite::memory:"),
        Dialect::Postgres => (DatabaseKind::Postgres, "postgres://u:p@127.0.0.1:1/d"),
        Dialect::Mysql => (DatabaseKind::Mysql, "mysql://u:p@127.0.0.1:1/d"),
    };
    let mut spec = DatabaseSpec::new(Name::new("blog").unwrap(), kind, url);
    spec.writable = true;
    spec.definable = true;
    spec
}

/// Calls a function with the scope of a request to a database that is never connected: a file of SQLite stands in for
/// one whose driver is left out.
pub(crate) fn with_scope<T>(
    dialect: Dialect,
    schema: DatabaseSchema,
    settle: impl FnOnce(&mut DatabaseSpec),
    work: impl FnOnce(&Scope<'_>) -> T,
) -> T {
    let mut spec = spec(dialect);
    settle(&mut spec);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _within = runtime.enter();
    let directory = tempfile::tempdir().unwrap();
    let mut placed = spec.clone();
    let is_remote = match dialect {
        Dialect::Sqlite => false,
        Dialect::Mysql => cfg!(feature = "mysql"),
        Dialect::Postgres => cfg!(feature = "postgres"),
    };
    if !is_remote {
        placed.kind = DatabaseKind::Sqlite;
        let path = directory.path().join("blog.db");
        std::fs::write(&path, b"").unwrap();
        placed.url = format!("sqlite:{}", path.display());
    }
    let backend = Arc::new(Backend::open(&placed).unwrap());
    let caller = Caller::default();
    work(&Scope {
        backend: &backend,
        dialect,
        schema: Arc::new(schema),
        access: Access { spec: &spec, caller: &caller, for_all_alike: false },
        prepared: &Prepared::default(),
        sure: true,
    })
}

fn text(text: &str) -> Field {
    Field::Text(text.to_owned())
}

fn record(fields: &[(&str, Field)]) -> Record {
    fields.iter().map(|(name, field)| ((*name).to_owned(), field.clone())).collect()
}

/// Returns the statements of a change, and the values of the first.
fn plan(dialect: Dialect, settle: impl FnOnce(&mut DatabaseSpec), change: &Change) -> (Vec<String>, Vec<Bind>) {
    with_scope(dialect, schema(), settle, |scope| {
        let mut plan = ChangePlan::default();
        super::add(&mut plan, scope, change, &[]).unwrap();
        let binds = plan.steps.first().map_or_else(Vec::new, |step| step.binds.clone());
        (plan.steps.iter().map(|step| step.sql.to_string()).collect(), binds)
    })
}

fn statements(dialect: Dialect, change: &Change) -> Vec<String> {
    plan(dialect, |_| {}, change).0
}

fn create(table: &str, fields: &[(&str, Field)]) -> Change {
    let mut change = Change::new(ChangeKind::Create, table);
    change.records = vec![record(fields)];
    change
}

#[test]
fn inserts() {
    let change = create("posts", &[("title", text("x")), ("place", text("POINT(1 2)"))]);
    assert_eq!(statements(Dialect::Sqlite, &change), [r#"INSERT INTO "posts_" ("title_", "place_") VALUES (?, ?)"#]);
    assert_eq!(
        statements(Dialect::Postgres, &change),
        [r#"INSERT INTO "posts_" ("title_", "place_") VALUES ($1, ST_GeomFromText($2, 4326)) RETURNING "id_""#]
    );
    assert_eq!(
        statements(Dialect::Mysql, &change),
        [concat!(
            "INSERT INTO `posts_` (`title_`, `place_`) VALUES (?, ",
            "ST_GeomFromText(?, 4326/*!80000 , 'axis-order=long-lat'*/))"
        )]
    );
    let empty = create("posts", &[]);
    assert_eq!(statements(Dialect::Sqlite, &empty), [r#"INSERT INTO "posts_" DEFAULT VALUES"#]);
    assert_eq!(statements(Dialect::Mysql, &empty), ["INSERT INTO `posts_` () VALUES ()"]);
}

#[test]
fn keys_that_are_no_numbers_are_told_by_the_database() {
    let change = create("things", &[("n", Field::Number("1".to_owned()))]);
    assert_eq!(statements(Dialect::Sqlite, &change), [r#"INSERT INTO "things_" ("n_") VALUES (?) RETURNING "key_""#]);
    assert_eq!(
        statements(Dialect::Postgres, &change),
        [r#"INSERT INTO "things_" ("n_") VALUES ($1) RETURNING "key_"::text"#]
    );
    assert_eq!(
        statements(Dialect::Mysql, &change),
        ["INSERT INTO `things_` (`n_`) VALUES (?) /*M!100500 RETURNING `key_`*/"]
    );
}

#[test]
fn rows_are_selected_where_they_can_not_be_returned() {
    let mut change = create("posts", &[("title", text("x"))]);
    change.returning = Some(vec!["title".to_owned()]);
    assert_eq!(
        statements(Dialect::Postgres, &change),
        [r#"INSERT INTO "posts_" ("title_") VALUES ($1) RETURNING "title_"::text, "id_""#]
    );
    assert_eq!(
        statements(Dialect::Mysql, &change),
        ["INSERT INTO `posts_` (`title_`) VALUES (?)", "SELECT t.`title_` FROM `posts_` AS t WHERE t.`id_` = ?"]
    );
}

#[test]
fn records_of_a_batch_share_their_statement() {
    let mut change = create("posts", &[("title", text("x"))]);
    change.batch = true;
    change.records.push(record(&[("title", text("y"))]));
    change.records.push(record(&[("price", text("1"))]));
    with_scope(
        Dialect::Sqlite,
        schema(),
        |_| {},
        |scope| {
            let mut plan = ChangePlan::default();
            super::add(&mut plan, scope, &change, &[]).unwrap();
            let [first, second, third] = plan.steps.as_slice() else { panic!("{:?}", plan.steps) };
            assert!(Arc::ptr_eq(&first.sql, &second.sql) && !Arc::ptr_eq(&second.sql, &third.sql));
            assert_eq!(second.binds, [Bind::Text("y".to_owned())]);
        },
    );
}

#[test]
fn increments_add_in_the_columns_type() {
    let mut change = Change::new(ChangeKind::Increment, "posts");
    change.keys = vec![vec!["7".to_owned()]];
    change.records =
        vec![record(&[("price", Field::Number("0.1".to_owned())), ("title", text("1")), ("id", text("1"))])];
    let mysql = plan(Dialect::Mysql, |_| {}, &change);
    assert_eq!(mysql.0, ["UPDATE `posts_` SET `price_` = `price_` + CAST(? AS DECIMAL(65,30)) WHERE `id_` = ?"]);
    assert_eq!(mysql.1[0], Bind::Text("0.1".to_owned()));
    let postgres = statements(Dialect::Postgres, &change);
    assert!(
        postgres[0].starts_with(r#"UPDATE "posts_" SET "price_" = "price_" + $1 WHERE "id_" = $2"#),
        "{postgres:?}"
    );
}

#[test]
fn mysql_upserts_in_two_where_one_could_hit_another_row() {
    let mut change = create(
        "things",
        &[("key", text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")), ("n", Field::Number("1".to_owned()))],
    );
    change.kind = ChangeKind::Upsert { on: Vec::new(), ignore: false };
    assert_eq!(
        statements(Dialect::Mysql, &change),
        ["INSERT INTO `things_` (`key_`, `n_`) VALUES (?, ?) ON DUPLICATE KEY UPDATE `n_` = VALUES(`n_`)"]
    );
    assert_eq!(
        statements(Dialect::Postgres, &change),
        [concat!(
            r#"INSERT INTO "things_" ("key_", "n_") VALUES ($1, $2) "#,
            r#"ON CONFLICT ("key_") DO UPDATE SET "n_" = excluded."n_""#
        )]
    );
    let ruled = |spec: &mut DatabaseSpec| {
        spec.rules.push(RecordRule { rows: Some(Rule::parse("n > 0").unwrap()), ..RecordRule::default() });
    };
    let (statements, _) = plan(Dialect::Mysql, ruled, &change);
    assert_eq!(statements[0], "UPDATE `things_` SET `n_` = ? WHERE `key_` = ? AND `n_` > ?");
    assert!(statements[1].starts_with("INSERT INTO `things_` (`key_`, `n_`) SELECT ?, ? FROM DUAL WHERE NOT EXISTS"));
    assert_eq!(statements.len(), 4);
    let (statements, _) = plan(Dialect::Postgres, ruled, &change);
    assert!(
        statements[0].ends_with(r#"DO UPDATE SET "n_" = excluded."n_" WHERE "things_"."n_" > $3::bigint"#),
        "{statements:?}"
    );
}

#[test]
fn conditions_count_before_they_change() {
    let mut change = Change::new(ChangeKind::Delete, "posts");
    change.filter = Some(Condition::Test {
        path: vec!["title".to_owned()],
        operator: Operator::Equal,
        negated: false,
        value: "x".to_owned(),
    });
    change.affected_max = Some(2);
    let statements = statements(Dialect::Mysql, &change);
    assert!(statements[0].starts_with("SELECT count(*) FROM (SELECT 1 FROM `posts_` AS t WHERE ("), "{statements:?}");
    assert!(statements[0].ends_with("LIMIT 3) AS counted"), "{statements:?}");
    assert!(statements[1].starts_with("DELETE t FROM `posts_` AS t WHERE ("), "{statements:?}");
}

#[test]
fn a_rule_over_numbers_needs_no_question() {
    let ruled = |spec: &mut DatabaseSpec| {
        spec.rules.push(RecordRule { rows: Some(Rule::parse("n = 1").unwrap()), ..RecordRule::default() });
    };
    let change = create(
        "things",
        &[("key", text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")), ("n", Field::Number("1".to_owned()))],
    );
    assert_eq!(plan(Dialect::Sqlite, ruled, &change).0.len(), 1);
    let change = create("things", &[("key", text("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"))]);
    let (statements, _) = plan(Dialect::Sqlite, ruled, &change);
    assert_eq!(statements[1], r#"SELECT 1 FROM "things_" AS t WHERE t."key_" = ? AND t."n_" = ?"#);
    let refused = with_scope(Dialect::Sqlite, schema(), ruled, |scope| {
        let mut plan = ChangePlan::default();
        super::add(&mut plan, scope, &create("things", &[("n", Field::Number("2".to_owned()))]), &[]).unwrap();
        plan.take_failure()
    });
    assert_eq!(refused.unwrap().code, Code::Forbidden);
}
