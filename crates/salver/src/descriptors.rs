//! How many connections the system has descriptors for.
//!
//! A connection is a descriptor, and so are files, connections to databases and what leads to workers. Connections must
//! leave enough of them, or a client that opens many of them would keep the server from its own files.

/// Descriptors for everything but connections: what is kept where there are plenty.
const RESERVED: u64 = 2_048;

/// Asks the system for as many descriptors as it allows; how many connections that leaves room for. `None` where the
/// system does not say.
pub(crate) fn connections_max() -> Option<usize> {
    let most = rlimit::increase_nofile_limit(u64::MAX).ok()?;
    usize::try_from(left(most)).ok()
}

/// What is left for connections of so many descriptors.
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
