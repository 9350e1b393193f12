//! How statements end that do not end by themselves: by the loss of an executor, by their client, by a limit.

use std::net::Shutdown;

use crate::cluster::processes::{Cluster, send, sql, until};

/// A statement of some seconds: each row meets hundreds of others.
const LONG: &str = "select a.l_returnflag, count(*), sum(a.l_quantity * b.l_quantity) from lineitem a join lineitem b on \
                    a.l_suppkey = b.l_suppkey and a.l_shipdate < b.l_shipdate group by 1 order by 1";
/// One that nobody lives to see the end of.
const ENDLESS: &str = "select count(*) from lineitem a, lineitem b, lineitem c where a.l_quantity + b.l_quantity + \
                       c.l_quantity < a.l_linenumber";
const SHORT: &str = "select count(*) from lineitem where l_quantity < 7";

#[test]
fn a_killed_executor_does_not_fail_the_statement() {
    let mut cluster = Cluster::start("[limits]\nquery_ms_max = \"5m\"\n");
    let expected = sql(&cluster.alone, LONG);
    assert_eq!(expected.status, 200, "{}", expected.text());
    let answer = std::thread::scope(|scope| {
        let asking = scope.spawn(|| sql(&cluster.server, LONG));
        let executors = &mut cluster.executors;
        until("an executor has rows", || executors[0].has_rows());
        executors[0].kill();
        asking.join().unwrap()
    });
    assert_eq!((answer.status, answer.text()), (200, expected.text()));
    // The rest of the cluster answers on.
    let (there, here) = (sql(&cluster.server, SHORT), sql(&cluster.alone, SHORT));
    assert_eq!((there.status, there.text()), (200, here.text()));
}

#[test]
fn a_statement_ends_with_its_client() {
    let cluster = Cluster::start("[limits]\nquery_ms_max = \"1h\"\n");
    let client = send(&cluster.server, ENDLESS);
    until("both executors have work", || cluster.executors.iter().any(super::processes::Process::has_rows));
    client.shutdown(Shutdown::Both).unwrap();
    drop(client);
    // Only when the cores are free can another be answered.
    let (there, here) = (sql(&cluster.server, SHORT), sql(&cluster.alone, SHORT));
    assert_eq!((there.status, there.text()), (200, here.text()));
    until("nothing is left of the job", || !cluster.executors.iter().any(super::processes::Process::has_rows));
}

#[test]
fn a_statement_ends_at_its_limit() {
    let cluster = Cluster::start("[limits]\nquery_ms_max = \"3s\"\n");
    let answer = sql(&cluster.server, ENDLESS);
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.json()["error"], "timeout");
    until("the cores are free again", || sql(&cluster.server, SHORT).status == 200);
    until("nothing is left of the job", || !cluster.executors.iter().any(super::processes::Process::has_rows));
}
