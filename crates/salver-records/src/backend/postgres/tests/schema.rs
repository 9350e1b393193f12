//! The reflected schema, its stamp, and changes of it.

use salver_model::Code;
use salver_model::records::{ColumnKind as K, TableInfo, TableKind};

use super::fresh;

const SCHEMA: &str = "
create type mood as enum ('sad', 'o''k', 'happy');
create domain name_of as varchar(40) not null default 'x';
create table b_people (
    id serial primary key, name name_of, mood mood default 'sad', code char(2) not null,
    big bigint generated always as identity,
    price numeric(10, 2), anything numeric, note text, raw bytea, doc jsonb, at timestamptz, born date, clock time,
    ok boolean not null default true, ratio real, share double precision, who uuid, tags text[], area geometry,
    twice numeric generated always as (price * 2) stored, gone int, small smallint,
    constraint code_once unique (code, note));
alter table b_people drop column gone;
comment on table b_people is 'those who live';
comment on column b_people.note is 'what they say';
create unique index people_doc on b_people (born, clock);
create unique index people_some on b_people (ratio) where ok;
create unique index people_lower on b_people (lower(note));
create table \"A Table\" (y int, x int, \"Wei\"\"rd\" int, primary key (x, y));
create table links (
    id int primary key, px int, py int, person int references b_people (id),
    constraint pair foreign key (px, py) references \"A Table\" (x, y));
create view seen as select id, note from b_people;
create view unkeyed as select note from b_people;
create materialized view kept as select id from b_people;
create table parted (id int primary key, v int) partition by range (id);
create table parted_1 partition of parted for values from (1) to (10);
create schema elsewhere;
create table elsewhere.hidden (id int);";

fn table<'a>(tables: &'a [TableInfo], name: &str) -> &'a TableInfo {
    tables.iter().find(|table| table.name == name).unwrap()
}

#[tokio::test]
async fn a_rich_schema_is_reflected() {
    let (_database, postgres) = fresh(SCHEMA);
    let tables = postgres.reflect().await.unwrap();
    let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["A Table", "b_people", "kept", "links", "parted", "seen", "unkeyed"]);

    let people = table(&tables, "b_people");
    assert_eq!((people.kind, people.comment.as_deref()), (TableKind::Table, Some("those who live")));
    assert_eq!(people.key, [0]);
    let kinds: Vec<_> = people.columns.iter().map(|column| (column.name.as_str(), column.kind)).collect();
    let expected = [
        ("id", K::Integer),
        ("name", K::Varchar),
        ("mood", K::Varchar),
        ("code", K::Varchar),
        ("big", K::BigInt),
        ("price", K::Decimal),
        ("anything", K::Decimal),
        ("note", K::Clob),
        ("raw", K::Blob),
        ("doc", K::Json),
        ("at", K::Timestamp),
        ("born", K::Date),
        ("clock", K::Time),
        ("ok", K::Boolean),
        ("ratio", K::Float),
        ("share", K::Double),
        ("who", K::Uuid),
        ("tags", K::Clob),
        ("area", K::Geometry),
        ("twice", K::Decimal),
        ("small", K::Integer),
    ];
    assert_eq!(kinds, expected);
    let column = |name: &str| &people.columns[people.column(name).unwrap()];
    assert!(column("id").auto_increment && column("id").has_default && !column("id").nullable);
    assert!(column("big").auto_increment && column("big").has_default);
    assert_eq!((column("name").length, column("name").nullable, column("name").has_default), (Some(40), false, true));
    assert_eq!(column("mood").words, ["sad", "o'k", "happy"]);
    assert_eq!((column("mood").native.as_str(), column("mood").has_default), ("mood", true));
    assert_eq!((column("code").length, column("code").native.as_str()), (Some(2), "character(2)"));
    assert_eq!((column("price").precision, column("price").scale), (Some(10), Some(2)));
    assert_eq!((column("anything").precision, column("anything").scale), (None, None));
    assert!(column("twice").generated && !column("twice").has_default && !column("twice").auto_increment);
    assert_eq!(column("tags").native, "text[]");
    assert_eq!(column("note").comment.as_deref(), Some("what they say"));
    let at = |name: &str| people.column(name).unwrap();
    assert_eq!(people.unique, [vec![at("code"), at("note")], vec![at("born"), at("clock")]]);

    let pairs = table(&tables, "A Table");
    assert_eq!(pairs.key, [1, 0]);
    assert_eq!(pairs.columns[2].real_name, "Wei\"rd");
    let links = table(&tables, "links");
    assert_eq!(links.foreign_keys.len(), 2);
    let pair = &links.foreign_keys[0];
    assert_eq!((pair.constraint.as_str(), pair.target.as_str()), ("pair", "A Table"));
    assert_eq!(
        (pair.columns.as_slice(), pair.target_columns.as_slice()),
        (&[1, 2][..], &["x".to_owned(), "y".to_owned()][..])
    );
    assert_eq!(links.foreign_keys[1].target, "b_people");
    assert_eq!((table(&tables, "seen").kind, table(&tables, "seen").key.as_slice()), (TableKind::View, &[0][..]));
    assert!(table(&tables, "unkeyed").key.is_empty());
    assert_eq!(table(&tables, "kept").kind, TableKind::View);
}

#[tokio::test]
async fn the_stamp_moves_with_the_schema_and_only_with_it() {
    let (database, postgres) = fresh("create type mood as enum ('sad'); create table t (id int primary key, v int);");
    let mut last = postgres.stamp().await.unwrap();
    let _ = database.run("insert into t select i, i from generate_series(1, 1000) i");
    let _ = database.run("analyze t; vacuum t;");
    assert_eq!(postgres.stamp().await.unwrap(), last);
    let changes = [
        "create table u (id int)",
        "alter table u add column v text",
        "alter table u alter column v type varchar(5)",
        "alter table u alter column v set not null",
        "alter table u alter column v set default 'x'",
        "alter table u rename column v to w",
        "alter table u add primary key (id)",
        "alter table u add constraint there foreign key (id) references t",
        "alter table u drop constraint there",
        "create unique index once on u (w)",
        "drop index once",
        "comment on table u is 'a'",
        "comment on table u is 'b'",
        "comment on column u.w is 'c'",
        "alter type mood add value 'ok'",
        "create view x as select * from t",
        "grant select on u to public",
        "alter table u drop column w",
        "alter table u rename to z",
        "drop table z",
    ];
    for change in changes {
        let _ = database.run(change);
        let stamp = postgres.stamp().await.unwrap();
        assert_ne!(stamp, last, "{change}");
        last = stamp;
    }
}

#[tokio::test]
async fn definitions_stay_whole_or_not_at_all() {
    let (database, postgres) = fresh("create table t (id int primary key);");
    let statements = |list: &[&str]| list.iter().map(|sql| (*sql).to_owned()).collect::<Vec<_>>();
    postgres.define(statements(&["create table a (id int)", "alter table a add v int"])).await.unwrap();
    let error = postgres.define(statements(&["create table b (id int)", "create table t (id int)"])).await.unwrap_err();
    assert_eq!(error.code, Code::TableExists);
    let error = postgres.define(statements(&["alter table t add id int"])).await.unwrap_err();
    assert_eq!(error.code, Code::ColumnExists);
    assert_eq!(database.run("select count(*) from pg_tables where schemaname = 'public'").trim(), "2");
    // What was left by the failures does no harm.
    assert_eq!(postgres.reflect().await.unwrap().len(), 2);
}
