//! The statements of definitions on the three systems.

use salver_model::Code;
use salver_model::records::{
    ColumnDefinition, ColumnKind, DatabaseSchema, Definition, ForeignKey, TableDefinition, TableInfo, TableKind,
};

use super::statements;
use crate::change::tests::{column, with_scope};
use crate::dialect::Dialect;

fn schema() -> DatabaseSchema {
    let table = |name: &str, foreign_keys| TableInfo {
        name: name.to_owned(),
        real_name: name.to_owned(),
        kind: TableKind::Table,
        columns: vec![
            column("id", ColumnKind::Integer, "int(11)"),
            column("user_id", ColumnKind::Integer, "int(11)"),
            column("title", ColumnKind::Varchar, "varchar(255)"),
        ],
        key: vec![0],
        foreign_keys,
        unique: Vec::new(),
        key_assumed: false,
        has_triggers: false,
        comment: None,
    };
    let key = ForeignKey {
        constraint: "posts_user".to_owned(),
        columns: vec![1],
        target: "users".to_owned(),
        target_columns: vec!["id".to_owned()],
    };
    DatabaseSchema::new(vec![table("posts", vec![key]), table("users", Vec::new())], 1)
}

fn told(dialect: Dialect, definition: &Definition) -> Vec<String> {
    with_scope(dialect, schema(), |_| {}, |scope| statements(scope, definition)).unwrap()
}

fn defined(name: &str, kind: &str) -> ColumnDefinition {
    ColumnDefinition { name: Some(name.to_owned()), kind: Some(kind.to_owned()), ..ColumnDefinition::default() }
}

fn update(column: &str, to: ColumnDefinition) -> Definition {
    Definition::UpdateColumn { table: "posts".to_owned(), column: column.to_owned(), to }
}

#[test]
fn tables_are_made() {
    let definition = Definition::CreateTable(TableDefinition {
        name: Some("notes".to_owned()),
        columns: vec![
            ColumnDefinition { pk: Some(true), ..defined("id", "bigint") },
            ColumnDefinition { fk: Some("users".to_owned()), nullable: Some(true), ..defined("user_id", "integer") },
            defined("text", "clob"),
            defined("price", "decimal"),
        ],
    });
    assert_eq!(
        told(Dialect::Sqlite, &definition),
        [concat!(
            r#"CREATE TABLE "notes" ("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "user_id" integer NULL, "#,
            r#""text" clob NOT NULL, "price" decimal(19,4) NOT NULL, "#,
            r#"CONSTRAINT "notes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id_"))"#
        )]
    );
    assert_eq!(
        told(Dialect::Postgres, &definition),
        [concat!(
            r#"CREATE TABLE "notes" ("id" bigserial NOT NULL, "user_id" integer NULL, "text" text NOT NULL, "#,
            r#""price" decimal(19,4) NOT NULL, PRIMARY KEY ("id"), "#,
            r#"CONSTRAINT "notes_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id_"))"#
        )]
    );
    assert_eq!(
        told(Dialect::Mysql, &definition),
        [concat!(
            "CREATE TABLE `notes` (`id` bigint NOT NULL AUTO_INCREMENT, `user_id` integer NULL, `text` longtext NOT NULL, ",
            "`price` decimal(19,4) NOT NULL, PRIMARY KEY (`id`), ",
            "CONSTRAINT `notes_user_id_fkey` FOREIGN KEY (`user_id`) REFERENCES `users` (`id_`))"
        )]
    );
}

#[test]
fn columns_become_others() {
    let to = ColumnDefinition { kind: Some("clob".to_owned()), nullable: Some(false), ..ColumnDefinition::default() };
    assert_eq!(
        told(Dialect::Postgres, &update("title", to.clone())),
        [
            r#"ALTER TABLE "posts" ALTER COLUMN "title_" TYPE text USING "title_"::text::text"#,
            r#"ALTER TABLE "posts" ALTER COLUMN "title_" SET NOT NULL"#
        ]
    );
    assert_eq!(told(Dialect::Mysql, &update("title", to)), ["ALTER TABLE `posts` MODIFY `title_` longtext NOT NULL"]);
    // A definition that restates the present state is no change.
    let same = ColumnDefinition {
        name: Some("title_".to_owned()),
        kind: Some("varchar".to_owned()),
        nullable: Some(true),
        ..ColumnDefinition::default()
    };
    assert!(told(Dialect::Mysql, &update("title", same)).is_empty());
}

#[test]
fn keys_move() {
    let to = ColumnDefinition { pk: Some(true), ..ColumnDefinition::default() };
    let mysql = told(Dialect::Mysql, &update("user_id", to.clone()));
    assert_eq!(mysql[0], "ALTER TABLE `posts` MODIFY `id_` int(11) NOT NULL, DROP PRIMARY KEY");
    let add = "ALTER TABLE `posts` MODIFY `user_id_` int(11) NOT NULL AUTO_INCREMENT, ADD PRIMARY KEY (`user_id_`)";
    assert_eq!(mysql[3], add);
    let postgres = told(Dialect::Postgres, &update("user_id", to.clone()));
    assert_eq!(postgres[3], r#"ALTER TABLE "posts" DROP CONSTRAINT "posts_pkey""#);
    assert_eq!(
        postgres[6],
        r#"SELECT setval('"posts_user_id__seq"', COALESCE((SELECT max("user_id_") FROM "posts"), 0) + 1, false)"#
    );
    let refused = with_scope(Dialect::Sqlite, schema(), |_| {}, |scope| statements(scope, &update("user_id", to)));
    assert_eq!(refused.unwrap_err().code, Code::Unsupported);
    let off = ColumnDefinition { fk: Some(String::new()), ..ColumnDefinition::default() };
    assert_eq!(
        told(Dialect::Mysql, &update("user_id", off.clone())),
        ["ALTER TABLE `posts` DROP FOREIGN KEY `posts_user`"]
    );
    assert_eq!(
        told(Dialect::Postgres, &update("user_id", off)),
        [r#"ALTER TABLE "posts" DROP CONSTRAINT "posts_user""#]
    );
}

#[test]
fn new_columns_of_old_rows() {
    let column = Definition::CreateColumn { table: "posts".to_owned(), column: defined("n", "integer") };
    assert_eq!(told(Dialect::Sqlite, &column), [r#"ALTER TABLE "posts" ADD COLUMN "n" integer NOT NULL DEFAULT 0"#]);
    assert_eq!(
        told(Dialect::Postgres, &column),
        [
            r#"ALTER TABLE "posts" ADD COLUMN "n" integer NOT NULL DEFAULT 0"#,
            r#"ALTER TABLE "posts" ALTER COLUMN "n" DROP DEFAULT"#
        ]
    );
    assert_eq!(told(Dialect::Mysql, &column), ["ALTER TABLE `posts` ADD COLUMN `n` integer NOT NULL"]);
}

/// SQLite and MySQL compare names without case.
#[test]
fn names_that_are_taken_in_another_case() {
    let code = |dialect, definition: &Definition| {
        with_scope(dialect, schema(), |_| {}, |scope| statements(scope, definition)).err().map(|error| error.code)
    };
    let renamed =
        |name: &str| update("title", ColumnDefinition { name: Some(name.to_owned()), ..ColumnDefinition::default() });
    for dialect in [Dialect::Sqlite, Dialect::Mysql] {
        assert_eq!(code(dialect, &renamed("USER_ID")), Some(Code::ColumnExists));
        assert_eq!(code(dialect, &renamed("TITLE")), None);
    }
    assert_eq!(code(Dialect::Postgres, &renamed("USER_ID")), None);
    assert_eq!(code(Dialect::Postgres, &renamed("user_id")), Some(Code::ColumnExists));
}
