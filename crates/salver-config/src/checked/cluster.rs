//! Validates `[cluster]`.

use salver_model::limits::CLUSTER_PARTITIONS_MAX;

use super::Cluster;
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;

/// Returns the cluster, if there is one.
pub(super) fn check(table: &Table, findings: &mut Findings) -> Option<Cluster> {
    if table.text("engine").is_none() {
        if table.is_set("scheduler") && !table.is_mistaken("engine") {
            let message = "`scheduler` is about a cluster, and `engine` is not given";
            findings.mistake(Mistake::new(table.place_of("scheduler"), message).with_hint("add engine = \"ballista\""));
        }
        return None;
    }
    let partitions = table.count("partitions");
    if partitions > CLUSTER_PARTITIONS_MAX {
        let message = format!("`partitions` is {partitions}, and {CLUSTER_PARTITIONS_MAX} is the most");
        let hint = "write as many as the cluster has cores, or twice as many";
        findings.mistake(Mistake::new(table.place_of("partitions"), message).with_hint(hint));
    }
    let Some(scheduler) = table.text("scheduler") else {
        if !table.is_mistaken("scheduler") {
            let message = "the cluster has no `scheduler`";
            let hint = "add scheduler = \"127.0.0.1:50050\", where `salver scheduler` listens";
            findings.mistake(Mistake::new(table.place_of("engine"), message).with_hint(hint));
        }
        return None;
    };
    let split = scheduler.rsplit_once(':').and_then(|(host, port)| Some((host, port.parse::<u16>().ok()?)));
    if !split.is_some_and(|(host, port)| !host.is_empty() && !host.contains('/') && port > 0) {
        let message = format!("`{scheduler}` is not the address of a scheduler");
        let hint = "write HOST:PORT, like \"127.0.0.1:50050\"";
        findings.mistake(Mistake::new(table.place_of("scheduler"), message).with_hint(hint));
        return None;
    }
    Some(Cluster {
        scheduler: scheduler.to_owned(),
        bytes_min: table.count("bytes_min"),
        partitions: usize::try_from(partitions).unwrap_or(usize::MAX),
    })
}
