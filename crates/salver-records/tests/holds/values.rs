//! Values of every type come as they do when the table is read.

use salver_testkit::servers::Kind;

use super::fixture::{World, all, sorted};

#[tokio::test(flavor = "multi_thread")]
async fn of_postgresql() {
    let sql = "create domain money_like as numeric(12,3); create domain moment as timestamptz;
    create domain few as smallint; create type word as enum ('a', 'b'); create extension if not exists citext;
    create table t (
      id int primary key, i2 smallint, i8 bigint, o oid, f4 real, f8 double precision, b boolean, d numeric(20,6),
      dd money_like, free numeric, m money, day date, at timestamp, at3 timestamp(3), zone timestamptz, own moment,
      small few, name text, short varchar(10), fixed char(6), w word, u uuid, j json, jb jsonb, raw bytea, list int[],
      span interval, hour time, place geometry, ci citext, bits bit(3), net inet
    );
    insert into t values
      (1, -5, 9007199254740993, 4000000000, 1.5, -0.1, true, 12345.678901, -0.125, 1.2300, 12.34, '2024-02-29',
       '2024-02-29 13:14:15.123456', '1969-12-31 23:59:59.999', '2024-02-29 13:14:15+02', '2024-01-01 00:00+00', 3,
       'é \\ \" ''', 'short', 'abc', 'b', 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{\"a\": [1, 2]}', '{\"b\":  1}',
       '\\x00ff', '{1,2,null}', '1 day 02:00', '10:11:12', ST_GeomFromText('POINT(1 2)', 4326), 'CI', b'101',
       '10.0.0.1/8'),
      (2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
       null, null, null, null, null, null, null, null, null, null, null, null, null),
      (3, 32767, -9223372036854775808, 0, 'Infinity', 'NaN', false, -99999999999999.999999, 999999999.999, 0, -1,
       '9999-12-31', '0044-03-15 12:00 BC', null, '9999-12-31 23:59:59+00', '0001-01-01 00:00+00', -1, '', '', '', 'a',
       '00000000-0000-0000-0000-000000000000', 'null', '[]', '', '{}', '-1 mon', '24:00', null, '', b'000', '::1'),
      (4, 0, 0, 1, 0, 0, true, 0, 0, 12345678901234567890123456789012345678901234.5, 0, '1900-01-01',
       '2263-01-01', '2000-01-01', '1999-12-31 23:59:59.5+00',
       null, 0, '日本', null, null, null, null, null, null, null, null, null, null, null, null, null, null);";
    let world = World::new(Kind::Postgres, sql).await;
    let held = world.hold(1).await;
    let rows = all(&*held).await.expect("rows");
    assert_eq!(rows, sorted(world.rows().await));
    assert!(rows[0].contains("|12345.678901|-0.125|"), "{}", rows[0]);
    assert!(rows[0].contains("|a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11|"), "{}", rows[0]);
    // What Arrow has no value for is told, and never null.
    for (column, value) in [
        ("d", "NaN"),
        ("free", "NaN"),
        ("free", "Infinity"),
        ("free", "1e46"),
        ("free", "1e-31"),
        ("day", "infinity"),
        ("at", "-infinity"),
        ("zone", "infinity"),
        ("own", "infinity"),
        ("at", "294276-01-01"),
    ] {
        let _ = world.source.run(&format!("insert into t (id, {column}) values (5, '{value}')"));
        let error = all(&*world.hold(1).await).await.expect_err("no value");
        assert!(error.message.contains(&format!("`{column}`")), "{column} {value}: {error:?}");
        let rows = world.table.read(&salver_model::Query { limit: Some(9), ..Default::default() }).await;
        let error = rows.expect_err("no value");
        assert!(error.message.contains(&format!("`{column}`")), "{column} {value}: {error:?}");
        let _ = world.source.run("delete from t where id = 5");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_mariadb() {
    let sql = "create table t (
      id int primary key, t1 tinyint(1), u8 bigint unsigned, f float, d double, dec1 decimal(20,6), day date,
      at datetime(6),
      stamp timestamp null, hour time, y year, name varchar(20), e enum('a', 'b'), s set('a', 'b'), raw varbinary(10),
      blob1 blob, j json, bits bit(9), place geometry
    );
    insert into t values
      (1, 1, 18446744073709551615, 1.5, -0.1, 12345.678901, '2024-02-29', '2024-02-29 13:14:15.123456',
       '2024-01-01 00:00:00', '-100:11:12', 2024, 'é \\\\ \" ''', 'b', 'a,b', x'00ff', x'', '{\"a\": 1}', b'100000001',
       ST_GeomFromText('POINT(1 2)')),
      (2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
      (3, 0, 0, 0, 0, -0.000001, '1000-01-01', '9999-12-31 23:59:59', null, '00:00:00', 1901, '', 'a', '', '', '', '[]',
       b'0', null);";
    let world = World::new(Kind::Mariadb, sql).await;
    let rows = all(&*world.hold(1).await).await.expect("rows");
    assert_eq!(rows, sorted(world.rows().await));
    for (column, value) in [("day", "0000-00-00"), ("day", "2024-00-10"), ("at", "0000-00-00"), ("stamp", "0")] {
        let insert = format!("set sql_mode = ''; insert into t (id, {column}) values (5, '{value}')");
        let _ = world.source.run(&insert);
        let error = all(&*world.hold(1).await).await.expect_err("no day");
        assert!(error.message.contains(&format!("`{column}`")), "{column} {value}: {error:?}");
        let _ = world.source.run("delete from t where id = 5");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sqlite() {
    let sql = "create table t (id integer primary key, b boolean, r real, d decimal(10,2), day date, at timestamp,
      name text, raw blob, any_thing);
    insert into t values (1, 1, 1.5, 2.25, '2024-02-29', '2024-02-29 13:14', 'é', x'00ff', 5), (2, null, null, null,
      null,
      null, null, null, null), (3, 0, 1e300, 0, '', '', '', x'', 'text');";
    let world = World::new(Kind::Sqlite, sql).await;
    let rows = all(&*world.hold(1).await).await.expect("rows");
    assert_eq!(rows, sorted(world.rows().await));
    assert_eq!(rows.len(), 3);
}
