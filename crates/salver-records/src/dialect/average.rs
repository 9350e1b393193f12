//! Averages of each system, as floats: of exact numbers they are computed exactly, and only the result is a float.

use super::Dialect;

/// What is averaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Averaged {
    /// Floats.
    Floats,
    /// Integers or decimals, with this many digits at most.
    Exact(u32),
    /// MySQL's bits.
    Bits,
}

/// Most digits of decimals whose sum MySQL computes exactly, over ten billion rows: it has 65.
const SUMMED_DIGITS: u32 = 55;

impl Dialect {
    /// Returns the average of an expression.
    pub(crate) fn average(self, of: &str, what: Averaged) -> String {
        match (self, what) {
            (Self::Sqlite, _) => format!("AVG({of})"),
            (Self::Postgres, Averaged::Floats) => format!("AVG(({of})::double precision)"),
            (Self::Postgres, _) => format!("AVG({of})::double precision"),
            // MySQL's own average of decimals has only four more digits than they have.
            (Self::Mysql, Averaged::Exact(..=SUMMED_DIGITS)) => format!("((SUM({of}) + 0e0) / COUNT({of}))"),
            // In float arithmetic bits would be signed.
            (Self::Mysql, Averaged::Bits) => format!("((SUM(CAST({of} AS UNSIGNED)) + 0e0) / COUNT({of}))"),
            (Self::Mysql, _) => format!("AVG({of} + 0e0)"),
        }
    }
}
