//! Servers of databases: each test has its own database, and a server of its own can be killed and come back.

use std::io::Write;
use std::process::{Command, Stdio};

use salver_testkit::servers::{Kafka, Kind, Server, database};

const TABLE: &str =
    "create table t (id integer primary key, name varchar(20));\ninsert into t values (1, 'åne'), (2, 'two');";

#[test]
fn databases_do_not_see_each_other() {
    for kind in Kind::ALL {
        let (one, other) = (database(kind, TABLE), database(kind, TABLE));
        let _ = one.run("delete from t where id = 2");
        assert_eq!(one.run("select * from t"), "1\tåne\n", "{kind:?}");
        assert_eq!(other.run("select count(*) from t"), "2\n", "{kind:?}");
        assert!(one.try_run("select * from nothing").is_err(), "{kind:?}");
    }
}

#[test]
fn a_killed_server_comes_back() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let server = Server::start(kind);
        let database = server.database(TABLE);
        let _ = database.run("insert into t values (3, 'three')");
        server.kill();
        assert!(database.try_run("select 1").is_err(), "{kind:?}");
        server.restart();
        assert_eq!(database.run("select count(*) from t"), "3\n", "{kind:?}");
        server.pause();
        server.resume();
        assert_eq!(database.run("select count(*) from t"), "3\n", "{kind:?}");
    }
}

#[test]
fn a_killed_broker_comes_back_with_its_topics() {
    let broker = Kafka::start();
    broker.create_topic("words", 2, &[("max.message.bytes", "100000")]);
    let put = |line: &str, partition: &str| {
        let mut kcat = Command::new("kcat")
            .args(["-P", "-b", &broker.address(), "-t", "words", "-p", partition, "-K", "|", "-H", "a=b"])
            .args(["-X", "acks=all"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        kcat.stdin.take().unwrap().write_all(line.as_bytes()).unwrap();
        assert!(kcat.wait().unwrap().success());
    };
    put("k|one\nl|two\n", "1");
    broker.kill();
    broker.restart();
    put("m|three\n", "0");
    broker.stop();
    broker.restart();
    broker.pause();
    broker.resume();
    let seen = broker.outside("words");
    let told: Vec<_> = seen.iter().map(|record| (record.partition, record.offset, &record.value[..])).collect();
    assert_eq!(told, [(0, 0, &b"three"[..]), (1, 0, b"one"), (1, 1, b"two")]);
    assert_eq!(seen[1].key.as_deref(), Some(&b"k"[..]));
    assert_eq!(seen[1].headers, [("a".to_owned(), "b".to_owned())]);
    assert!(seen.iter().all(|record| record.time_ms > 0));
}
