//! Functions that PostgreSQL has and the engine lacks, or has with another meaning under the same name.

mod age;
mod digests;
mod numerals;
mod pattern;
mod patterned;
mod percentiles;
mod read;
mod row;
mod shown;
mod zones;

use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};

/// Registers the functions, in the place of the engine's own where there are such.
///
/// # Errors
/// A session that takes no functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let functions = [
        patterned::to_char(),
        patterned::to_date(),
        patterned::to_timestamp(),
        zones::timezone(),
        age::age(),
        digests::md5(),
        digests::sha256(),
        digests::sha384(),
        digests::sha512(),
        digests::encode(),
    ];
    for function in functions {
        // With its other names, under which it would come back.
        state.deregister_udf(function.name())?;
        state.register_udf(function.into())?;
    }
    for aggregate in [percentiles::percentile_disc(), percentiles::mode()] {
        state.register_udaf(aggregate.into())?;
    }
    Ok(())
}
