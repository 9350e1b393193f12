//! Tables of every kind of key, and of none.

use salver_testkit::contract;
use salver_testkit::servers::Kind;

use super::fixture::{World, all, columns, numbers, sorted, taken};

const ROWS: usize = 6_000;

/// What is read is what is there, whole and from any row on.
async fn check(kind: Kind, name: &str, sql: &str) -> Vec<String> {
    let world = World::new(kind, sql).await;
    let held = world.hold(3).await;
    let rows = all(&*held).await.unwrap_or_else(|error| panic!("{kind:?} {name}: {error:?}"));
    assert!(sorted(rows.clone()) == sorted(world.rows().await), "{kind:?} {name}: other rows");
    let mut first = 0;
    for part in 0..held.parts() {
        let own = taken(held.read(part, &columns(&*held), None, None)).await.expect("rows");
        for skip in [1_024, own.len() / 2, own.len().saturating_sub(1), 700, 5_000] {
            let rest = held.read_behind(part, skip as u64, &columns(&*held), Some(900)).expect("an offset");
            let rest = taken(rest).await.unwrap_or_else(|error| panic!("{kind:?} {name}: {error:?}"));
            let wanted = &own[skip.min(own.len())..(skip + 900).min(own.len()).max(skip.min(own.len()))];
            assert!(rest == wanted, "{kind:?} {name}: other rows behind {skip} of part {part}");
        }
        first += own.len();
    }
    assert_eq!(first, rows.len(), "{kind:?} {name}");
    rows
}

fn made(kind: Kind, columns: &str, select: &str) -> String {
    let rows = numbers(kind, ROWS, "t", &format!("select {select} from n"));
    format!("create table t ({columns});\n{rows}")
}

#[tokio::test(flavor = "multi_thread")]
async fn keys() {
    for kind in Kind::ALL {
        let text = if kind == Kind::Mariadb { "lpad(i, 8, 'ab')" } else { "substr('abababab' || i, -8)" };
        let text = if kind == Kind::Postgres { "right('abababab' || i, 8)" } else { text };
        for (name, columns, select) in [
            (
                "a bigint",
                "id bigint not null primary key, n int",
                "i * cast(1000000007 as decimal(20)) - 3000000000000, i".to_owned(),
            ),
            ("text", "id varchar(20) not null primary key, n int", format!("{text}, i")),
            ("a decimal", "id decimal(20,4) not null primary key, n int", "i / 7.0 - 100, i".to_owned()),
            ("two", "a int not null, b varchar(20) not null, n int, primary key (a, b)", format!("i % 7, {text}, i")),
            ("three", "a int, b varchar(9), c int, primary key (b, a, c)", "i % 3, 'x' || (i % 5), -i".to_owned()),
            ("another key", "n int, id int not null unique", "i % 10, -i".to_owned()),
            (
                "a day",
                "id timestamp not null, n int not null, primary key (id, n)",
                "'2024-03-31 02:30:00', i".to_owned(),
            ),
            ("none", "n int, name varchar(20)", format!("i % 10, {text}")),
            ("a key with nulls", "id int unique, n int", "case when i % 2 = 0 then i end, i".to_owned()),
        ] {
            check(kind, name, &made(kind, columns, &select)).await;
        }
        let view = made(kind, "id int not null primary key, n int", "i, i % 10").replace(" t ", " x ");
        let view = format!(
            "{view} create view t as select n as id, count(*) as many from x group by n union all select 1, id from x;"
        );
        check(kind, "a view with an `id` that is not unique", &view).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_sqlite() {
    let kind = Kind::Sqlite;
    let without = made(kind, "id text not null primary key, n int", "'k' || i, i").replace(");", ") without rowid;");
    check(kind, "no row numbers", &without).await;
    let shadowed = made(kind, "rowid text, n int, oid int", "'x' || i, i, i % 2");
    check(kind, "a column called rowid", &shadowed).await;
    let mixed = made(
        kind,
        "id any primary key, n text",
        "case i % 4 when 0 then null when 1 then i when 2 then 'x' || i else x'00' || i end, i",
    );
    // Columns of numbers can't have all of these, so the column is text.
    check(kind, "a key of anything", &mixed.replace("id any", "id blob")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_postgresql() {
    let kind = Kind::Postgres;
    for (name, columns, select) in [
        ("a uuid", "id uuid primary key, n int", "md5(i::text)::uuid, i"),
        (
            "a moment",
            "id timestamptz primary key, n int",
            "'2024-10-26 22:00+00'::timestamptz + i * interval '1 second', i",
        ),
        ("a float", "id double precision primary key, n int", "case when i = 7 then 'NaN' else i / 3.0 end, i"),
        ("bytes", "id bytea primary key, n int", "decode(md5(i::text), 'hex'), i"),
        (
            "text in a language's order",
            "id text collate \"und-x-icu\" primary key, n int",
            "case i % 2 when 0 then 'a' else 'B' end || i, i",
        ),
        ("a smallint", "id smallint primary key, n int", "i - 3000, i"),
    ] {
        check(kind, name, &made(kind, columns, select)).await;
    }
    let word = "create type word as enum ('z', 'm', 'a');\n".to_owned();
    let words = word + &made(kind, "w word, n int, primary key (w, n)", "(array['a', 'm', 'z']::word[])[1 + i % 3], i");
    check(kind, "words in an order of their own", &words).await;
    let parts = "create table t (id int primary key, n int) partition by range (id);
        create table low partition of t for values from (0) to (3000);
        create table high partition of t for values from (3000) to (10000);\n"
        .to_owned();
    let rows = check(kind, "partitions", &(parts + &numbers(kind, ROWS, "t", "select i, i % 3 from n"))).await;
    assert_eq!(rows.len(), ROWS);
    let heirs = made(kind, "id int primary key, n int", "i, 0")
        + "create table heir () inherits (t); insert into heir select * from t;";
    let rows = check(kind, "heirs", &heirs).await;
    assert_eq!(rows.len(), 2 * ROWS);
    let kept = made(kind, "id int primary key, n int", "i, i % 3").replace(" t ", " x ")
        + "create materialized view t as select * from x;";
    check(kind, "a view that is kept", &kept).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_mariadb() {
    let kind = Kind::Mariadb;
    for (name, columns, select) in [
        ("a great number", "id bigint unsigned primary key, n int", "18446744073709551615 - i, i"),
        ("words in an order of their own", "w enum('z', 'm', 'a'), n int, primary key (w, n)", "1 + i % 3, i"),
        ("bytes", "id binary(16) primary key, n int", "unhex(md5(i)), i"),
        ("a truth", "w boolean, n int, primary key (w, n)", "i % 2, i"),
        ("a uuid", "id uuid primary key, n int", "uuid(), i"),
        ("latin", "id varchar(20) character set latin1 primary key, n int", "'é' || i, i"),
    ] {
        check(kind, name, &made(kind, columns, select)).await;
    }
    let world = World::new(kind, "create table t (id int primary key) engine = MyISAM").await;
    let error = world.table.hold(1).await.expect_err("a table that keeps nothing");
    assert_eq!(error.code, salver_model::Code::Unsupported);
    assert!(error.message.contains("MyISAM"), "{error:?}");
}

/// Rows much larger than those before them, and than a statement's share.
#[tokio::test(flavor = "multi_thread")]
async fn rows_of_very_different_sizes() {
    for kind in Kind::ALL {
        let (repeat, text) = match kind {
            Kind::Sqlite => ("replace(hex(zeroblob(S / 2)), '0', 'x')", "text"),
            Kind::Mariadb => ("repeat('x', S)", "longtext"),
            Kind::Postgres => ("repeat('x', S)", "text"),
        };
        let size = "case when i between 3000 and 3040 then 1000000 else 10 end";
        let sql = made(
            kind,
            &format!("id int not null primary key, name {text}"),
            &format!("i, {}", repeat.replace('S', size)),
        );
        let world = World::new(kind, &sql).await;
        let held = world.hold(1).await;
        let mut stream = held.read(0, &[1, 0], None, None);
        let (mut rows, mut most) = (0, 0);
        while let Some(batch) = futures::TryStreamExt::try_next(&mut stream).await.expect("rows") {
            rows += batch.num_rows();
            most = most.max(batch.get_array_memory_size());
        }
        assert_eq!(rows, ROWS, "{kind:?}");
        assert!(most < 12 * 1024 * 1024, "{kind:?}: a batch of {most} bytes");
        contract::held::reads(
            &*World::new(kind, &made(kind, "id int not null primary key, n int", "i, i % 5").replace("6000", "300"))
                .await
                .hold(2)
                .await,
        )
        .await;
    }
}
