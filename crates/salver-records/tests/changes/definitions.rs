//! Tables and columns made, renamed and dropped.

use salver_model::ports::Database;
use salver_model::records::{ColumnDefinition, ColumnKind, Definition, TableDefinition};
use salver_model::{Code, Error};

use salver_testkit::servers::Kind;

use super::fixture::{World, create};

fn column(name: &str, kind: &str) -> ColumnDefinition {
    ColumnDefinition { name: Some(name.to_owned()), kind: Some(kind.to_owned()), ..ColumnDefinition::default() }
}

fn table(name: &str, columns: Vec<ColumnDefinition>) -> TableDefinition {
    TableDefinition { name: Some(name.to_owned()), columns }
}

async fn define(world: &World, definition: Definition) -> Result<(), Error> {
    world.database.define(&world.caller, &definition).await
}

#[tokio::test]
async fn a_table_of_every_type() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let words = [
            "integer",
            "bigint",
            "varchar",
            "decimal",
            "float",
            "double",
            "boolean",
            "date",
            "time",
            "timestamp",
            "clob",
            "blob",
            "varbinary",
            "geometry",
        ];
        let mut columns = vec![ColumnDefinition { pk: Some(true), ..column("id", "integer") }];
        columns.extend(words.map(|word| ColumnDefinition {
            length: Some(10),
            precision: Some(10),
            scale: Some(4),
            ..column(word, word)
        }));
        columns.push(ColumnDefinition {
            fk: Some("users".to_owned()),
            nullable: Some(true),
            ..column("user_id", "integer")
        });
        define(&world, Definition::CreateTable(table("types", columns.clone()))).await.unwrap();
        let schema = world.database.schema();
        let own = schema.table("types").unwrap();
        assert_eq!(own.single_key(), Some(0));
        assert!(own.columns[0].auto_increment);
        for (word, info) in words.iter().zip(&own.columns[1..]) {
            // PostgreSQL has one type for bytes.
            let word = if kind == Kind::Postgres && *word == "varbinary" { "blob" } else { word };
            assert_eq!((info.kind.word(), info.nullable), (word, false));
        }
        assert_eq!(
            (own.columns[3].length, own.columns[4].precision, own.columns[4].scale),
            (Some(10), Some(10), Some(4))
        );
        assert_eq!(own.foreign_keys[0].target, "users");
        let body = concat!(
            r#"{"integer":2,"bigint":3,"varchar":"abc","decimal":"1.23","float":1,"double":23.45,"boolean":true,"date":"1970-01-01","#,
            r#""time":"00:00:01","timestamp":"2001-02-03 04:05:06","clob":"a","blob":"YQ==","varbinary":"1234","geometry":"POINT(1 2)","user_id":1}"#
        );
        assert_eq!(world.change(create("types", body)).await.unwrap(), "1");
        assert_eq!(
            world.row("types", "1").await,
            concat!(
                r#"{"id":1,"integer":2,"bigint":3,"varchar":"abc","decimal":"1.2300","float":1,"double":23.45,"boolean":true,"#,
                r#""date":"1970-01-01","time":"00:00:01","timestamp":"2001-02-03 04:05:06","clob":"a","blob":"YQ==","#,
                r#""varbinary":"1234","geometry":"POINT(1 2)","user_id":1}"#
            )
        );
        let error = define(&world, Definition::CreateTable(table("types", columns))).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::TableExists, "Table 'types' already exists"));
        define(&world, Definition::DropTable { table: "types".to_owned() }).await.unwrap();
        assert!(world.database.schema().table("types").is_none());
    }
}

#[tokio::test]
async fn tables_and_columns_change() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        define(&world, Definition::UpdateTable { table: "tags".to_owned(), to: table("labels", Vec::new()) })
            .await
            .unwrap();
        assert!(world.database.schema().table("labels").is_some());
        let to = ColumnDefinition { nullable: Some(true), ..column("note", "varchar") };
        define(&world, Definition::CreateColumn { table: "labels".to_owned(), column: to.clone() }).await.unwrap();
        let error =
            define(&world, Definition::CreateColumn { table: "labels".to_owned(), column: to }).await.unwrap_err();
        assert_eq!((error.code, error.message.as_str()), (Code::ColumnExists, "Column 'note' already exists"));
        let to = ColumnDefinition { name: Some("remark".to_owned()), ..ColumnDefinition::default() };
        define(&world, Definition::UpdateColumn { table: "labels".to_owned(), column: "note".to_owned(), to })
            .await
            .unwrap();
        let schema = world.database.schema();
        let remark = schema.table("labels").unwrap().columns.iter().find(|column| column.name == "remark").unwrap();
        assert_eq!((remark.kind, remark.length), (ColumnKind::Varchar, Some(255)));
        define(&world, Definition::DropColumn { table: "labels".to_owned(), column: "remark".to_owned() })
            .await
            .unwrap();
        assert!(world.database.schema().table("labels").unwrap().column("remark").is_none());
    }
}

#[tokio::test]
async fn what_can_not_be() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let fails = async |definition| define(&world, definition).await.unwrap_err();
        let update =
            |column: &str, to| Definition::UpdateColumn { table: "posts".to_owned(), column: column.to_owned(), to };
        let retyped = ColumnDefinition { kind: Some("bigint".to_owned()), ..ColumnDefinition::default() };
        if kind == Kind::Sqlite {
            assert_eq!(fails(update("title", retyped.clone())).await.code, Code::Unsupported);
            let drop = Definition::DropColumn { table: "posts".to_owned(), column: "id".to_owned() };
            assert_eq!(fails(drop).await.code, Code::Unsupported);
        }
        assert_eq!(fails(update("titel", retyped)).await.message, "Column 'titel' not found");
        let taken = ColumnDefinition { name: Some("body".to_owned()), ..ColumnDefinition::default() };
        assert_eq!(fails(update("title", taken)).await.code, Code::ColumnExists);
        assert_eq!(
            fails(Definition::DropTable { table: "nowhere".to_owned() }).await.message,
            "Table 'nowhere' not found"
        );
        let error = fails(Definition::CreateTable(table("x", vec![column("a", "integr")]))).await;
        assert_eq!(error.code, Code::InvalidBody);
        assert!(error.hint.unwrap().contains("did you mean `integer`?"));
        let fixed = World::new(kind, |spec| spec.definable = false);
        let error = define(&fixed, Definition::DropTable { table: "posts".to_owned() }).await.unwrap_err();
        assert_eq!(error.code, Code::Forbidden);
    }
}

#[tokio::test]
async fn names_are_names() {
    for kind in Kind::ALL {
        let world = World::plain(kind);
        let evil = "x\"; drop table users; --";
        define(&world, Definition::CreateTable(table(evil, vec![column(evil, "integer")]))).await.unwrap();
        let schema = world.database.schema();
        assert_eq!(schema.table(evil).unwrap().columns[0].name, evil);
        assert!(schema.table("users").is_some());
    }
}
