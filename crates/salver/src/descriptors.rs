//! Number of connections for which the system has file descriptors.
//!
//! A connection is a descriptor, and so are files, connections to databases and those to workers. Connections must
//! leave enough of them, or a client that opens many connections could prevent the server from opening its own files.

use salver_config::Checked;

/// Descriptors reserved for everything but connections, where there are plenty.
const RESERVED: u64 = 2_048;

/// Limits connections to the number of available file descriptors.
pub(crate) fn keep(checked: &mut Checked) {
    let wanted = checked.limits.connections_max;
    if let Some(most) = connections_max().filter(|most| *most < wanted) {
        tracing::warn!(
            "`limits.connections_max` is {wanted}, but the system has descriptors for {most} connections; \
             raise its limit (`ulimit -n`)"
        );
        checked.limits.connections_max = most;
    }
}

/// Raises the descriptor limit as far as the system allows, and returns the number of connections for which that leaves
/// room. `None` if the system does not report it.
fn connections_max() -> Option<usize> {
    let most = rlimit::increase_nofile_limit(u64::MAX).ok()?;
    usize::try_from(left(most)).ok()
}

/// Returns the number of descriptors left for connections.
fn left(descriptors: u64) -> u64 {
    (descriptors - RESERVED.min(descriptors / 2)).max(1)
}

#[cfg(test)]
mod tests {
    use super::left;

    #[test]
    fn half_of_few_and_most_of_many_are_for_connections() {
        assert_eq!((left(1), left(1_024), left(4_096), left(20_000)), (1, 512, 2_048, 17_952));
    }
}
