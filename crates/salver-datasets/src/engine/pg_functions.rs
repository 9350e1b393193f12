//! Functions of PostgreSQL that the engine lacks, or has with other semantics under the same name.

mod age;
mod as_beside;
mod as_written;
mod bits;
mod bytea;
mod bytes;
mod coerced_function;
mod date_trunc;
mod datetime_assembly;
mod datetime_format;
mod datetime_parser;
mod datetime_pattern;
mod digests;
mod extract;
mod generate_series;
mod interval_arithmetic;
mod interval_format;
mod json;
mod json_arguments;
mod json_changes;
mod json_conditions;
mod json_rows;
mod json_steps;
mod length_of_dimension;
mod letter_case;
mod like;
mod make_time;
mod negated;
mod number_pattern;
mod numeric_cast;
mod percentile_cont;
mod percentile_disc;
mod pg_typeof;
mod quoting;
mod read_moment;
mod read_uuid;
mod regexp;
mod regexp_syntax;
mod sign;
mod significant_digits;
mod strpos;
mod text_cast;
mod text_function;
mod text_reading;
mod time_ranges;
mod time_zone;
mod to_char;
mod to_number;
mod trim_array;

use datafusion::common::Result;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::ScalarUDF;

pub(super) use bytea::bytes_of_literal;
pub(super) use bytes::{joined_bytes, octet_length};
pub(super) use coerced_function::{CoercedFunction, array_append, array_prepend, holding_digits, list_and_elements};
pub(super) use generate_series::shortest;
pub(super) use interval_arithmetic::{clock_of_span, interval_divided, interval_times, time_span};
pub(super) use like::{ilike, like};
pub(super) use regexp::regexp_like;
pub(crate) use regexp_syntax::spelled;
pub(super) use significant_digits::significant_digits;
pub(super) use text_cast::{differs, item, written, written_each};
pub(super) use text_reading::TextReading;

/// Registers the functions, replacing the engine's own of the same name.
///
/// # Errors
/// A session that takes no functions.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let of_json = json_steps::functions()
        .into_iter()
        .chain(json_changes::functions())
        .chain(json_conditions::functions())
        .chain(json_rows::functions());
    for function in functions().into_iter().chain(of_json) {
        // The aliases are removed too, under which the function would remain.
        state.deregister_udf(function.name())?;
        state.register_udf(function.into())?;
    }
    generate_series::register(state)?;
    coerced_function::register(state)?;
    for aggregate in [percentile_cont::percentile_cont(), percentile_disc::percentile_disc(), percentile_disc::mode()] {
        state.register_udaf(aggregate.into())?;
    }
    Ok(())
}

/// Returns the functions that rules put into plans and that no session knows by a name, always in the same order.
#[cfg(feature = "ballista")]
pub(super) fn unnamed() -> Vec<ScalarUDF> {
    vec![
        like(),
        ilike(),
        joined_bytes(),
        clock_of_span(),
        interval_divided(),
        interval_times(),
        time_span(),
        significant_digits(),
        written(),
        written_each(),
        array_append(),
        array_prepend(),
        read_moment::timestamp_text(true),
        read_moment::timestamp_text(false),
        read_moment::time_text(),
        read_moment::read_interval(),
        read_moment::try_read_interval(),
    ]
}

/// Returns the functions over rows.
fn functions() -> Vec<ScalarUDF> {
    vec![
        to_char::to_char(),
        to_char::to_date(),
        to_char::to_timestamp(),
        trim_array::trim_array(),
        length_of_dimension::length_of_dimension(),
        time_zone::timezone(),
        age::age(),
        digests::md5(),
        digests::sha256(),
        digests::sha384(),
        digests::sha512(),
        digests::encode(),
        as_beside::as_beside(),
        as_written::as_written(),
        bits::bit_not(),
        bits::to_hex(),
        bytea::bytea(),
        bytea::try_bytea(),
        bytes::bit_length(),
        bytes::get_bit(),
        bytes::get_byte(),
        bytes::octet_length(),
        extract::date_part(),
        extract::extract(),
        json::itself(),
        json::to_json(),
        json::json_build_array(),
        json::json_build_object(),
        letter_case::initcap(),
        letter_case::lower(),
        letter_case::upper(),
        strpos::strpos(),
        make_time::make_interval(),
        make_time::make_time(),
        make_time::make_timestamp(),
        quoting::format(),
        quoting::quote_ident(),
        quoting::quote_literal(),
        quoting::quote_nullable(),
        read_uuid::read_uuid(),
        read_uuid::try_read_uuid(),
        regexp::regexp_like(),
        regexp::regexp_match(),
        regexp::regexp_split_to_array(),
        regexp::similar_to_escape(),
        interval_arithmetic::justify_days(),
        interval_arithmetic::justify_hours(),
        interval_arithmetic::justify_interval(),
        sign::sign(),
        negated::negated(),
        to_number::to_number(),
        regexp_syntax::function(),
        numeric_cast::numeric(),
        date_trunc::date_trunc(),
        date_trunc::time_rounded(),
        pg_typeof::pg_typeof(),
    ]
}
