//! Several reads together: one statement, the same rows as alone.

use salver_model::records::ColumnKind::{BigInt, Blob, Clob, Integer, Varchar};
use tokio::sync::mpsc;

use super::super::merged_reads::merged;
use super::{all_rows, bind, fresh, rows, select, text};
use crate::cell::{Cell, OwnedCell, RowSink};
use crate::statement::{Bind, Read};

const TABLES: &str = "\
    create table posts (id int primary key, title varchar(50), content text, `a,b` blob);\
    create table comments (id int primary key, post_id int not null, message varchar(50) character set latin1, \
        key (post_id));\
    insert into posts values (1, 'one', 'Ü', 0x00ff), (2, 'two', null, ''), (3, '', 'x', null);\
    insert into comments values (1, 1, 'a'), (2, 1, 'é'), (3, 2, 'A'), (4, 3, '');";

fn reads() -> Vec<Read> {
    vec![
        select(
            "SELECT t.`id`, t.`title` AS `id`, t.content, t.`a,b` FROM `posts` AS t WHERE t.`id` IN (?, ?) ORDER BY t.`title` DESC",
            &[Integer, Varchar, Clob, Blob],
            vec![Bind::Int(1), Bind::Int(2)],
        ),
        select(
            "SELECT `id`, `message` FROM `comments` WHERE `message` <> ? ORDER BY `id` DESC LIMIT 2",
            &[Integer, Varchar],
            vec![bind("it's \\ ?")],
        ),
        select("SELECT DISTINCT message FROM comments ORDER BY message DESC", &[Varchar], Vec::new()),
        select(
            "SELECT post_id, COUNT(*) AS many FROM comments GROUP BY post_id HAVING many < ? ORDER BY many DESC, post_id",
            &[Integer, BigInt],
            vec![Bind::Int(9)],
        ),
        select("SELECT id FROM posts WHERE id > ?", &[Integer], vec![Bind::Int(99)]),
        select("SELECT ?, id FROM posts ORDER BY 2 DESC", &[Varchar, Integer], vec![bind("𝄞")]),
        select(
            "WITH top AS (SELECT id FROM posts ORDER BY id DESC LIMIT 2) SELECT id FROM top ORDER BY id",
            &[Integer],
            Vec::new(),
        ),
        select("SELECT id FROM posts UNION SELECT id FROM comments ORDER BY id DESC", &[Integer], Vec::new()),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_reads_equal_single_ones() {
    let (mysql, _database) = fresh(TABLES);
    let reads = reads();
    let mut alone = Vec::new();
    for read in &reads {
        alone.push(rows(&mysql, read.clone()).await);
    }
    assert_eq!(alone[0][0][1], text("two"), "the order without a bound is kept");
    assert_eq!(alone[3].len(), 3);
    // Repeated, since a prepared statement may behave differently when it is run again.
    for _ in 0..3 {
        assert_eq!(all_rows(&mysql, reads.clone()).await, alone);
    }
    for first in 0..reads.len() {
        for second in 0..reads.len() {
            let pair = all_rows(&mysql, vec![reads[first].clone(), reads[second].clone()]).await;
            assert_eq!(pair, [alone[first].clone(), alone[second].clone()], "{first} {second}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn merged_reads_take_one_round_trip() {
    let (mysql, _database) = fresh(TABLES);
    let asked = async || {
        let read = select(
            "SELECT VARIABLE_VALUE FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Questions'",
            &[BigInt],
            Vec::new(),
        );
        match rows(&mysql, read).await[0][0] {
            OwnedCell::Int(number) => number,
            ref other => panic!("{other:?}"),
        }
    };
    let mut bundles: Vec<Vec<Read>> = reads().into_iter().map(|read| vec![read.clone(), read]).collect();
    bundles.push(reads());
    for bundle in bundles {
        // Everything is prepared once before it is counted.
        asked().await;
        all_rows(&mysql, bundle.clone()).await;
        let before = asked().await;
        all_rows(&mysql, bundle.clone()).await;
        assert_eq!(asked().await - before, 2, "the merged statement, and the one that counts: {:?}", bundle[0].sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_reads_than_merge_see_one_snapshot() {
    let (mysql, _database) = fresh(TABLES);
    let many: Vec<Read> = reads().into_iter().cycle().take(60).collect();
    assert!(merged(&many).is_none());
    let alone = all_rows(&mysql, reads()).await;
    for (index, rows) in all_rows(&mysql, many).await.iter().enumerate() {
        assert_eq!(rows, &alone[index % alone.len()]);
    }
    // A failure in the middle leaves the connection usable.
    let mut bad = reads();
    bad.push(select("SELECT nothing FROM posts", &[Integer], Vec::new()));
    let error = mysql.read(bad, crate::cell::Collect::default(), None).await.unwrap_err();
    assert_eq!(error.code, salver_model::Code::UnknownColumn);
    assert_eq!(all_rows(&mysql, reads()).await, alone);
}

/// Sends every row as a piece of its own.
#[derive(Debug, Default)]
struct Each(Vec<i64>);

impl RowSink for Each {
    type Piece = i64;

    fn row(&mut self, _: usize, cells: &[Cell<'_>]) -> salver_model::Result<()> {
        if let Cell::Int(number) = cells[0] {
            self.0.push(number);
        }
        Ok(())
    }

    fn piece(&mut self) -> Option<i64> {
        self.0.pop()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_go_out_while_they_come() {
    let (mysql, _database) = fresh("create table t (n int primary key); insert into t select seq from seq_1_to_5000");
    let read = || vec![select("SELECT n FROM t ORDER BY n", &[Integer], Vec::new())];
    let (out, mut pieces) = mpsc::channel::<salver_model::Result<i64>>(1);
    let taken = tokio::spawn(async move {
        let mut taken = Vec::new();
        while let Some(piece) = pieces.recv().await {
            taken.push(piece.unwrap());
        }
        taken
    });
    mysql.read(read(), Each::default(), Some(out)).await.unwrap();
    assert_eq!(taken.await.unwrap(), (1..=5000).collect::<Vec<i64>>());
    // The receiver is gone: the read ends, and the next one is not disturbed.
    let (out, pieces) = mpsc::channel(1);
    drop(pieces);
    mysql.read(read(), Each::default(), Some(out)).await.unwrap();
    assert_eq!(rows(&mysql, read().remove(0)).await.len(), 5000);
}
