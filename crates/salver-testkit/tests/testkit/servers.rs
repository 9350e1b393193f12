//! Servers of databases: each test has its own database, and a server of its own can be killed and come back.

use salver_testkit::servers::{Kind, Server, database};

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
