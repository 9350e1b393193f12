//! Choice of an event's partition: the requested one, the one of its key, or round-robin.

use crate::log::frame::Record;

/// Number of consecutive events without a key that go to one partition, so that they are batched together.
const TURN: u64 = 1024;
const SEED: u32 = 0x9747_b28c;

/// Returns the partition of an event at `offset` of the log, of `partitions` in total; a requested partition is kept if
/// the topic has it. The function is pure, so that an event that is resent goes to the same partition.
pub(super) fn choose(record: &Record<'_>, offset: u64, partitions: u32) -> u32 {
    match (record.partition, record.key) {
        (Some(own), _) if own < partitions => own,
        (_, Some(key)) => (murmur2(key) & 0x7fff_ffff) % partitions.max(1),
        // The remainder is smaller than a `u32`.
        _ => ((offset / TURN) % u64::from(partitions.max(1))) as u32,
    }
}

/// Computes the hash with which Kafka's own clients choose partitions.
fn murmur2(key: &[u8]) -> u32 {
    const M: u32 = 0x5bd1_e995;
    // Keys have some kilobytes at most.
    let mut hash = SEED ^ key.len() as u32;
    let mut words = key.chunks_exact(4);
    for word in words.by_ref() {
        let mut k = u32::from_le_bytes([word[0], word[1], word[2], word[3]]).wrapping_mul(M);
        k ^= k >> 24;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    let rest = words.remainder();
    if !rest.is_empty() {
        for (at, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * at);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    hash ^ (hash >> 15)
}

#[cfg(test)]
mod tests {
    use super::{TURN, choose, murmur2};
    use crate::log::frame::Record;

    /// Checks the test vectors of Kafka itself.
    #[test]
    fn the_hash_is_kafkas() {
        for (key, hash) in [
            ("21", -973_932_308_i32),
            ("foobar", -790_332_482),
            ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            ("abc", 479_470_107),
        ] {
            assert_eq!(murmur2(key.as_bytes()) as i32, hash, "{key}");
        }
    }

    #[test]
    fn its_own_then_its_keys_then_by_turns() {
        let plain = Record::default();
        let keyed = Record { key: Some(b"abc"), ..Record::default() };
        let own = Record { partition: Some(2), ..keyed.clone() };
        assert_eq!(choose(&own, 0, 3), 2);
        assert_eq!(choose(&keyed, 0, 3), 479_470_107 % 3);
        assert_eq!(choose(&own, 0, 2), 479_470_107 % 2, "the topic has no such partition");
        assert_eq!([0, TURN - 1, TURN, 2 * TURN, 3 * TURN].map(|offset| choose(&plain, offset, 3)), [0, 0, 1, 2, 0]);
    }
}
