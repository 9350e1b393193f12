//! The schema read from the database, and its stamp.

use salver_model::Code;
use salver_model::records::ColumnKind::{
    self, Boolean, Clob, Decimal, Geometry, Integer, Json, Timestamp, Uuid, Varchar,
};
use salver_model::records::{TableInfo, TableKind};

use super::fresh;

const RICH: &str = "\
    create table parents (a int, b varchar(10), c int unique, d int, primary key (b, a), unique key pair (d, c), \
        unique key start (b(3)));\
    create table rich (\
        id bigint unsigned primary key auto_increment comment 'the key',\
        yes tinyint(1) not null default 1,\
        word enum('a','it''s') default 'a',\
        price decimal(10,3) default null,\
        doc json, plain longtext,\
        sum int as (pa + 1) virtual, kept int as (pa + 2) stored,\
        made datetime default current_timestamp,\
        shape point, u uuid, `odd ``name` varchar(7) not null,\
        pa int, pb varchar(10), self bigint unsigned,\
        constraint two foreign key (pb, pa) references parents (b, a),\
        constraint me foreign key (self) references rich (id)\
    ) comment 'a rich table';\
    create view looks as select id, yes, word from rich;\
    create table bare (x int);";

fn table<'a>(tables: &'a [TableInfo], name: &str) -> &'a TableInfo {
    tables.iter().find(|table| table.name == name).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_is_seen() {
    let (mysql, _database) = fresh(RICH);
    let tables = mysql.reflect().await.unwrap();
    let names: Vec<(&str, TableKind)> = tables.iter().map(|table| (table.name.as_str(), table.kind)).collect();
    let (t, v) = (TableKind::Table, TableKind::View);
    assert_eq!(names, [("bare", t), ("looks", v), ("parents", t), ("rich", t)]);

    let rich = table(&tables, "rich");
    assert_eq!(rich.comment.as_deref(), Some("a rich table"));
    let column = |name: &str| &rich.columns[rich.column(name).unwrap()];
    let kinds: [(&str, ColumnKind); 12] = [
        ("id", ColumnKind::BigInt),
        ("yes", Boolean),
        ("word", Varchar),
        ("price", Decimal),
        ("doc", Json),
        ("plain", Clob),
        ("sum", Integer),
        ("made", Timestamp),
        ("shape", Geometry),
        ("u", Uuid),
        ("odd `name", Varchar),
        ("pa", Integer),
    ];
    for (name, kind) in kinds {
        assert_eq!(column(name).kind, kind, "{name}");
    }
    let id = column("id");
    assert!(id.auto_increment && !id.nullable && !id.has_default && !id.generated);
    assert_eq!((id.comment.as_deref(), id.native.as_str()), (Some("the key"), "bigint(20) unsigned"));
    assert!(column("yes").has_default && column("word").has_default && column("made").has_default);
    assert!(!column("price").has_default && column("price").nullable);
    assert_eq!((column("price").precision, column("price").scale), (Some(10), Some(3)));
    assert_eq!(column("word").words, ["a", "it's"]);
    assert!(column("sum").generated && column("kept").generated && !column("made").generated);
    assert_eq!((column("odd `name").length, column("plain").length), (Some(7), None));
    assert_eq!(rich.key, [0]);

    let (pb, pa) = (rich.column("pb").unwrap(), rich.column("pa").unwrap());
    let two = rich.foreign_keys.iter().find(|key| key.constraint == "two").unwrap();
    assert_eq!((two.columns.as_slice(), two.target.as_str()), ([pb, pa].as_slice(), "parents"));
    assert_eq!(two.target_columns, ["b", "a"]);
    let me = rich.foreign_keys.iter().find(|key| key.constraint == "me").unwrap();
    assert_eq!((me.target.as_str(), me.target_columns.as_slice()), ("rich", ["id".to_owned()].as_slice()));

    let parents = table(&tables, "parents");
    assert_eq!(parents.key, [1, 0], "in the key's order");
    assert_eq!(parents.unique, [vec![2], vec![3, 2]], "the index over the start of a column is none");
    let looks = table(&tables, "looks");
    assert_eq!((looks.key.as_slice(), looks.comment.as_deref()), ([0].as_slice(), None));
    assert!(table(&tables, "bare").key.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_change_moves_the_stamp() {
    let (mysql, database) = fresh(RICH);
    let mut stamp = mysql.stamp().await.unwrap();
    assert_eq!(mysql.stamp().await.unwrap(), stamp);
    let _ = database.run("insert into bare values (1)");
    assert_eq!(mysql.stamp().await.unwrap(), stamp, "rows are not the schema");
    for change in [
        "alter table bare add column y int",
        "alter table bare alter column y set default 3",
        "alter table bare modify y bigint",
        "alter table bare rename column y to z",
        "alter table bare add key (z)",
        "alter table bare add unique key (z)",
        "alter table bare add column self bigint unsigned, add key (self)",
        "alter table bare add constraint late foreign key (self) references rich (id)",
        "alter table rich modify word enum('a','it''s','new')",
        "alter table rich modify plain longtext comment 'said'",
        "create table more (id int)",
        "rename table more to other",
        "create or replace view looks as select id from rich",
        "drop table other",
    ] {
        let _ = database.run(change);
        let now = mysql.stamp().await.unwrap();
        assert_ne!(now, stamp, "{change}");
        stamp = now;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_schema_can_be_changed() {
    let (mysql, _database) = fresh(RICH);
    let run = async |sql: &str| mysql.define(vec![sql.to_owned()]).await;
    run("CREATE TABLE made (id INT PRIMARY KEY)").await.unwrap();
    assert_eq!(run("CREATE TABLE made (id INT)").await.unwrap_err().code, Code::TableExists);
    assert_eq!(run("ALTER TABLE made ADD COLUMN id INT").await.unwrap_err().code, Code::ColumnExists);
    assert_eq!(run("ALTER TABLE made DROP COLUMN nothing").await.unwrap_err().code, Code::UnknownColumn);
    assert_eq!(run("DROP TABLE nothing").await.unwrap_err().code, Code::UnknownTable);
    assert_eq!(run("DROP TABLE parents").await.unwrap_err().code, Code::Integrity);
    mysql.ping().await.unwrap();
    assert!(mysql.reflect().await.unwrap().iter().any(|table| table.name == "made"));
}
