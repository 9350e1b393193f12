//! The cluster that large statements go to.

use crate::{meant, told};

#[test]
fn a_cluster_has_a_scheduler() {
    let (checked, _) = meant("[cluster]\nengine = 'ballista'\nscheduler = '127.0.0.1:50050'\n");
    let cluster = checked.cluster.unwrap();
    assert_eq!((cluster.bytes_min, cluster.partitions), (1 << 30, 16));
    assert_eq!(meant("[cluster]\nbytes_min = 0\n").0.cluster, None);
    for (settings, expected) in [
        ("engine = 'spark'", "`engine`"),
        ("engine = 'ballista'", "the cluster has no `scheduler`"),
        ("scheduler = '127.0.0.1:50050'", "`engine` is not given"),
        ("engine = 'ballista'\nscheduler = '50050'", "`50050` is not the address of a scheduler"),
        ("engine = 'ballista'\nscheduler = 'http://a:1'", "is not the address of a scheduler"),
        ("engine = 'ballista'\nscheduler = 'a:0'", "is not the address of a scheduler"),
        ("engine = 'ballista'\nscheduler = 'a:1'\npartitions = 0", "a whole number from 1 on"),
        ("engine = 'ballista'\nscheduler = 'a:1'\npartitions = 100001", "100000 is the most"),
    ] {
        let told = told(&format!("[cluster]\n{settings}\n"));
        assert!(told.contains(expected), "{settings}: {told}");
    }
}
