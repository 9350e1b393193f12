//! The limits of a server hold for what a cluster answers, and so do the rules of its callers.

use crate::cluster::processes::{Cluster, place, sql};

#[test]
fn rows_are_limited() {
    let cluster = Cluster::start("[limits]\nrows_max = 100\n");
    for statement in ["select * from lineitem", "select l_orderkey from lineitem order by 1 limit 100"] {
        assert!(place(&cluster.server, statement).starts_with("on the cluster"));
        let (there, here) = (sql(&cluster.server, statement), sql(&cluster.alone, statement));
        assert_eq!(there.status, here.status, "{statement}: {}", there.text());
        assert_eq!(there.body.is_empty(), here.body.is_empty());
    }
}

#[test]
fn rows_that_are_kept_back_stay_here() {
    let rules = "[[access]]\nentries = [\"nation\"]\npermissions = [\"read\", \"sql\"]\nrows = \"n_regionkey = 1\"\n[[access]]\n\
                 entries = [\"region\"]\npermissions = [\"read\", \"sql\"]\n";
    let cluster = Cluster::start(rules);
    let statement = "select n_name, r_name from nation join region on r_regionkey = n_regionkey order by 1";
    let told = place(&cluster.server, statement);
    assert!(told.starts_with("on this server: `nation`"), "{told}");
    let (there, here) = (sql(&cluster.server, statement), sql(&cluster.alone, statement));
    assert_eq!((there.status, there.text()), (200, here.text()));
    assert_eq!(there.json().as_array().unwrap().len(), 5);
    assert!(place(&cluster.server, "select * from region").starts_with("on the cluster"));
    assert_ne!(sql(&cluster.server, "select * from lineitem").status, 200);
}
