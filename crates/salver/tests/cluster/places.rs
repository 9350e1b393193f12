//! Where statements run, and what is said of it; and what is said when the cluster is away.

use std::process::Command;

use crate::cluster::processes::{Process, place, settings, sql};
use crate::cluster::tables;
use crate::server::Server;

#[test]
fn explain_says_where_and_why() {
    let directory = tempfile::tempdir().unwrap();
    let toml = tables::write(directory.path());
    let csv: &[(&str, &[u8])] = &[("small.csv", b"a,b\n1,x\n2,y\n")];
    let server = Server::with(&format!("{}\n{toml}", settings("127.0.0.1:1", "200KiB")), csv);
    let told = place(&server, "select l_returnflag, count(*) from lineitem group by 1");
    assert!(
        told.starts_with("on the cluster: it reads ") && told.ends_with("`cluster.bytes_min` is 200.0 KiB"),
        "{told}"
    );
    let told = place(&server, "select count(*) from nation");
    assert!(told.starts_with("on this server: it reads ") && told.contains(" of Parquet in 1 file, and"), "{told}");
    let told = place(&server, "select count(*) from lineitem, small");
    assert_eq!(told, "on this server: `small` is held in memory");
    let told = place(&server, "select l_comment from lineitem order by l_orderkey offset 5");
    assert!(told.starts_with("on this server: its plan can't run on executors"), "{told}");
    // What stays here needs no scheduler.
    assert_eq!(sql(&server, "select count(*) from nation").text(), "[{\"count(*)\":25}]");
    // What does not is not answered.
    let away = sql(&server, "select l_returnflag, count(*) from lineitem group by 1");
    assert_eq!(away.status, 503, "{}", away.text());
    assert_eq!(away.json()["error"], "entry_unavailable");
    assert_eq!(away.json()["message"], "the scheduler of the cluster can't be reached");
}

#[test]
fn a_cluster_is_for_this_machine_unless_told() {
    let scheduler = Process::scheduler();
    for arguments in [&["scheduler"][..], &["executor", "--scheduler", scheduler.address()]] {
        let done = Command::new(env!("CARGO_BIN_EXE_salver"))
            .args(arguments)
            .args(["--listen", "0.0.0.0:0"])
            .output()
            .unwrap();
        assert!(!done.status.success());
        let told = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(
            told.contains("others than this machine can reach `0.0.0.0:0`") && told.contains("--insecure"),
            "{told}"
        );
    }
}

#[test]
fn an_executor_without_a_scheduler_ends_with_a_message() {
    let done = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["executor", "--scheduler", "127.0.0.1:1", "--threads", "1"])
        .output()
        .unwrap();
    assert!(!done.status.success());
    let told = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(told.contains("the executor of `127.0.0.1:1` ended"), "{told}");
}
