//! Functions of PostgreSQL that the engine lacks, or has with other semantics under the same name.

mod age;
mod as_written;
mod bits;
mod bytes;
mod continuous;
mod date;
mod digests;
mod fields;
mod json;
mod like;
mod located;
mod numerals;
mod parts;
mod pattern;
mod patterned;
mod percentiles;
mod quoted;
mod ranges;
mod read;
mod regular;
mod row;
mod scaled;
mod series;
mod shown;
mod signs;
mod spelled;
mod truncated;
mod type_names;
mod widths;
mod written;
mod zones;

use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};

pub(super) use like::{ilike, like};
pub(super) use regular::regexp_like;
pub(super) use scaled::{interval_divided, interval_times, time_span};
pub(super) use series::shortest;
pub(crate) use spelled::spelled;
pub(super) use written::{differs, item, written, written_each};
pub(crate) use zones::offset_of;

/// Registers the functions, replacing the engine's own of the same name.
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
        as_written::as_written(),
        bits::bit_not(),
        bits::to_hex(),
        bytes::bytea(),
        bytes::try_bytea(),
        fields::date_part(),
        fields::extract(),
        json::itself(),
        json::to_json(),
        json::json_build_array(),
        json::json_build_object(),
        json::jsonb_build_object(),
        located::strpos(),
        parts::make_interval(),
        parts::make_timestamp(),
        quoted::format(),
        quoted::quote_ident(),
        quoted::quote_literal(),
        quoted::quote_nullable(),
        regular::regexp_like(),
        regular::regexp_match(),
        regular::regexp_split_to_array(),
        regular::similar_to_escape(),
        scaled::justify_days(),
        scaled::justify_hours(),
        scaled::justify_interval(),
        signs::sign(),
        spelled::function(),
        widths::numeric(),
        truncated::date_trunc(),
        truncated::time_rounded(),
        type_names::pg_typeof(),
    ];
    for function in functions {
        // The aliases are removed too, under which the function would remain.
        state.deregister_udf(function.name())?;
        state.register_udf(function.into())?;
    }
    series::register(state)?;
    for aggregate in [continuous::percentile_cont(), percentiles::percentile_disc(), percentiles::mode()] {
        state.register_udaf(aggregate.into())?;
    }
    Ok(())
}
