//! Compares bytes of any length with fixed-size binary values.

use salver_model::Comparison;

/// Returns the equivalent comparison with bytes of the fixed size, or the result that is the same for all values.
///
/// # Errors
/// The constant result, where no value can equal the bytes.
pub(super) fn compared(op: Comparison, mut bytes: Vec<u8>, size: usize) -> Result<(Comparison, Vec<u8>), bool> {
    use Comparison::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
    let is_longer = bytes.len() > size;
    let op = match op {
        op if bytes.len() == size => op,
        Eq => return Err(false),
        NotEq => return Err(true),
        // Longer bytes sort after their own prefix; shorter ones before all values that start with them.
        Lt | LtEq if is_longer => LtEq,
        Gt | GtEq if is_longer => Gt,
        Lt | LtEq => Lt,
        Gt | GtEq => GtEq,
    };
    bytes.resize(size, 0);
    Ok((op, bytes))
}

#[cfg(test)]
mod tests {
    use salver_model::Comparison;

    use super::compared;

    #[test]
    fn any_length_is_compared_as_bytes_are() {
        use Comparison::{Eq, Gt, GtEq, Lt, LtEq, NotEq};
        let values: Vec<[u8; 2]> = vec![[0, 0], [0, 1], [1, 0], [1, 1], [1, 255], [2, 0], [255, 255]];
        let others: Vec<Vec<u8>> =
            vec![vec![], vec![0], vec![1], vec![1, 0], vec![1, 1], vec![1, 1, 0], vec![1, 255, 9], vec![255, 255, 255]];
        let holds = |op: Comparison, one: &[u8], other: &[u8]| match op {
            Eq => one == other,
            NotEq => one != other,
            Lt => one < other,
            LtEq => one <= other,
            Gt => one > other,
            GtEq => one >= other,
        };
        for op in [Eq, NotEq, Lt, LtEq, Gt, GtEq] {
            for (value, other) in values.iter().flat_map(|value| others.iter().map(move |other| (value, other))) {
                let here = match compared(op, other.clone(), 2) {
                    Ok((op, bytes)) => holds(op, value, &bytes),
                    Err(always) => always,
                };
                assert_eq!(here, holds(op, value, other), "{op:?} {value:?} {other:?}");
            }
        }
    }
}
