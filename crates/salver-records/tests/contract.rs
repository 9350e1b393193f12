//! Tables of the three databases keep the contract of the `Table` port.

#![allow(clippy::unwrap_used)]

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::record_batch::RecordBatch;
use arrow::util::display::array_value_to_string;
use salver_model::Name;
use salver_model::ports::{Database, Table};
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_records::RecordsDatabase;
use salver_testkit::contract;
use salver_testkit::servers::{self, Kind};

/// The rows as statements that make a table of them.
fn statements(rows: &RecordBatch, key: &[String], kind: Kind) -> String {
    let quote = if kind == Kind::Mariadb { '`' } else { '"' };
    let types = match kind {
        Kind::Postgres => {
            ["bigint not null", "text", "double precision", "varchar(20)", "integer", "boolean", "date", "text"]
        }
        Kind::Mariadb => ["bigint not null", "text", "double", "varchar(20)", "integer", "tinyint(1)", "date", "text"],
        Kind::Sqlite => ["bigint not null", "text", "double", "varchar(20)", "integer", "boolean", "date", "text"],
    };
    let mut sql = "CREATE TABLE sample (".to_owned();
    for (field, data_type) in rows.schema().fields().iter().zip(types) {
        write!(sql, "{quote}{}{quote} {data_type}, ", field.name()).unwrap();
    }
    let keys: Vec<String> = key.iter().map(|name| format!("{quote}{name}{quote}")).collect();
    sql.push_str(&if keys.is_empty() {
        "extra integer".to_owned()
    } else {
        format!("PRIMARY KEY ({})", keys.join(", "))
    });
    sql.push_str(");\n");
    if keys.is_empty() {
        sql.push_str("ALTER TABLE sample DROP COLUMN extra;\n");
    }
    for row in 0..rows.num_rows() {
        let values = rows.columns().iter().zip(types).map(|(column, data_type)| {
            if column.is_null(row) {
                return "NULL".to_owned();
            }
            let text = array_value_to_string(column, row).unwrap();
            let quoted = data_type.contains("text") || data_type.contains("char") || data_type == "date";
            match kind {
                _ if !quoted => text,
                // Backslashes escape in MySQL's literals.
                Kind::Mariadb => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
                _ => format!("'{}'", text.replace('\'', "''")),
            }
        });
        writeln!(sql, "INSERT INTO sample VALUES ({});", values.collect::<Vec<_>>().join(", ")).unwrap();
    }
    sql
}

/// A table of its own for each call.
async fn made(kind: Kind, database_kind: DatabaseKind, rows: &RecordBatch, key: &[String]) -> Arc<dyn Table> {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let database = servers::database(kind, &statements(rows, key, kind));
    let name = Name::new(&format!("d{number}")).unwrap();
    let records = RecordsDatabase::open(DatabaseSpec::new(name, database_kind, database.url())).unwrap();
    records.refresh().await.unwrap();
    // The file of a SQLite database is there as long as what names it.
    std::mem::forget(database);
    records.tables(&mut |name| (name == "sample").then(|| Name::new(name).unwrap())).remove(0)
}

async fn keeps_the_contract(kind: Kind, database_kind: DatabaseKind) {
    contract::table::run_flat(async |rows: RecordBatch, key| made(kind, database_kind, &rows, &key).await).await;
    contract::held::run_flat(async |rows: RecordBatch, key| made(kind, database_kind, &rows, &key).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite() {
    keeps_the_contract(Kind::Sqlite, DatabaseKind::Sqlite).await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread")]
async fn postgresql() {
    keeps_the_contract(Kind::Postgres, DatabaseKind::Postgres).await;
}

#[cfg(feature = "mysql")]
#[tokio::test(flavor = "multi_thread")]
async fn mariadb() {
    keeps_the_contract(Kind::Mariadb, DatabaseKind::Mysql).await;
}

/// Every system keeps the contract of the `Database` port.
#[tokio::test(flavor = "multi_thread")]
async fn databases() {
    let systems = [
        (Kind::Sqlite, DatabaseKind::Sqlite),
        #[cfg(feature = "postgres")]
        (Kind::Postgres, DatabaseKind::Postgres),
        #[cfg(feature = "mysql")]
        (Kind::Mariadb, DatabaseKind::Mysql),
    ];
    for (kind, own) in systems {
        let made = servers::database(kind, contract::database::SCHEMA);
        let mut spec = DatabaseSpec::new(Name::new("db").unwrap(), own, made.url());
        spec.writable = true;
        let database = RecordsDatabase::open(spec).unwrap();
        let add_column = || drop(made.run("alter table things add column later integer;"));
        contract::database::run(&database, add_column).await;
    }
}
