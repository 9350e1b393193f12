//! Maximum result size of each function as a function of its arguments: the one table by which calls are bounded. A
//! function that is missing here is unknown; a test over all functions of the session prevents that.

use super::steps_table;
use super::value_size::{ArgumentSize, cell, times};
use crate::engine::json_document::LINES;

/// Bound on the size of a function's results.
#[derive(Clone, Copy)]
pub(super) enum Growth {
    /// Results of fixed size, or arguments returned as they are. Such functions are not wrapped.
    None,
    /// At most a few times the size of the arguments.
    Bounded,
    /// At most this many bytes per row; the bound is monotonic in the arguments.
    Grows(fn(&[ArgumentSize]) -> u64),
    /// At most this many bytes per row, where a larger argument may lower the bound.
    Varies(fn(&[ArgumentSize]) -> u64),
}

/// Bounds on the result size of one function, and on the steps for one row.
#[derive(Clone, Copy)]
pub(super) struct FunctionBounds {
    pub(super) growth: Growth,
    /// Estimated steps of about a nanosecond for one row, if these are more than a few per byte.
    pub(super) steps: Option<fn(&[ArgumentSize]) -> u64>,
}

/// Functions whose results can exceed their arguments, with the maximum size.
const GROWING: &[(&str, Growth)] = &[
    ("array_add", Growth::Grows(numbers)),
    ("array_append", Growth::Grows(sum)),
    ("array_concat", Growth::Grows(sum)),
    ("array_dims", Growth::Grows(numbers)),
    ("array_normalize", Growth::Grows(numbers)),
    ("array_positions", Growth::Grows(numbers)),
    ("array_prepend", Growth::Grows(sum)),
    ("array_repeat", Growth::Grows(array_repeat)),
    ("array_replace", Growth::Grows(array_replace)),
    ("array_replace_all", Growth::Grows(array_replace)),
    ("array_replace_n", Growth::Grows(array_replace)),
    ("array_resize", Growth::Grows(array_resize)),
    ("array_scale", Growth::Grows(numbers)),
    ("array_subtract", Growth::Grows(numbers)),
    ("array_to_string", Growth::Grows(array_to_string)),
    ("array_union", Growth::Grows(sum)),
    ("arrays_zip", Growth::Grows(arrays_zip)),
    ("concat", Growth::Grows(sum)),
    ("concat_ws", Growth::Grows(concat_ws)),
    ("format", Growth::Grows(format)),
    ("generate_series", Growth::Varies(series)),
    ("json_build_array", Growth::Grows(built)),
    ("json_build_object", Growth::Grows(built)),
    ("json_from_scalar", Growth::Grows(sum)),
    ("json_get_array", Growth::Grows(pieces)),
    ("json_itself", Growth::Grows(sum)),
    ("json_object_keys", Growth::Grows(pieces)),
    ("json_elements", Growth::Grows(pieces)),
    ("json_elements_text", Growth::Grows(pieces)),
    ("json_keys", Growth::Grows(pieces)),
    ("json_values", Growth::Grows(pieces)),
    ("json_values_text", Growth::Grows(pieces)),
    ("jsonb", Growth::Grows(normal_json)),
    ("jsonb_concat", Growth::Grows(normal_json)),
    ("jsonb_delete_path", Growth::Grows(normal_json)),
    ("jsonb_greatest", Growth::Grows(normal_json)),
    ("jsonb_insert", Growth::Grows(normal_json)),
    ("jsonb_key", Growth::Grows(normal_json)),
    ("jsonb_least", Growth::Grows(normal_json)),
    ("jsonb_minus", Growth::Grows(normal_json)),
    ("jsonb_path", Growth::Grows(normal_json)),
    ("jsonb_path_text", Growth::Grows(normal_json)),
    ("jsonb_pretty", Growth::Grows(json_lines)),
    ("jsonb_set", Growth::Grows(normal_json)),
    ("jsonb_step", Growth::Grows(normal_json)),
    ("jsonb_step_text", Growth::Grows(normal_json)),
    ("jsonb_strip_nulls", Growth::Grows(normal_json)),
    ("lpad", Growth::Grows(pad)),
    ("make_array", Growth::Grows(sum)),
    ("map", Growth::Grows(sum)),
    ("map_entries", Growth::Grows(sum)),
    ("overlay", Growth::Grows(sum)),
    ("range", Growth::Varies(series)),
    ("regexp_match", Growth::Grows(regexp_match)),
    ("regexp_replace", Growth::Grows(regexp_replace)),
    ("regexp_split_to_array", Growth::Grows(pieces)),
    ("repeat", Growth::Grows(repeat)),
    ("replace", Growth::Varies(replace)),
    ("rpad", Growth::Grows(pad)),
    ("spelled", Growth::Grows(spelled)),
    ("string_to_array", Growth::Grows(pieces)),
    ("to_char", Growth::Grows(to_char)),
    ("to_json", Growth::Grows(built)),
    ("translate", Growth::Grows(translate)),
    ("try_jsonb", Growth::Grows(normal_json)),
    ("written", Growth::Grows(text)),
    ("written_each", Growth::Grows(text)),
];

/// Functions whose results are at most a few times as large as their arguments.
const BOUNDED: &[&str] = &[
    "array_any_value",
    "array_compact",
    "array_distinct",
    "array_element",
    "array_except",
    "array_first",
    "array_has",
    "array_has_all",
    "array_has_any",
    "array_intersect",
    "array_max",
    "array_min",
    "array_pop_back",
    "array_pop_front",
    "array_position",
    "array_remove",
    "array_remove_all",
    "array_remove_n",
    "array_reverse",
    "array_slice",
    "array_sort",
    "arrow_cast",
    "arrow_field",
    "arrow_metadata",
    "arrow_try_cast",
    "arrow_typeof",
    "ascii",
    "bit_length",
    "btrim",
    "bytea",
    "cast_to_type",
    "character_length",
    "coalesce",
    "contains",
    "decode",
    "digest",
    "encode",
    "ends_with",
    "find_in_set",
    "flatten",
    "greatest",
    "ilike",
    "initcap",
    "json_as_text",
    "json_checked",
    "json_contains",
    "json_get_bool",
    "json_get_float",
    "json_get_int",
    "json_get_json",
    "json_get_str",
    "json_length",
    "json_path",
    "json_path_text",
    "json_step",
    "json_step_text",
    "json_union_to_text",
    "least",
    "left",
    "levenshtein",
    "like",
    "lower",
    "ltrim",
    "map_extract",
    "map_keys",
    "map_values",
    "md5",
    "nullif",
    "nvl",
    "nvl2",
    "octet_length",
    "quote_ident",
    "quote_literal",
    "quote_nullable",
    "read_uuid",
    "regexp_count",
    "regexp_instr",
    "regexp_like",
    "reverse",
    "right",
    "rtrim",
    "sha224",
    "sha256",
    "sha384",
    "sha512",
    "similar_to_escape",
    "split_part",
    "starts_with",
    "strpos",
    "substr",
    "substr_index",
    "time_text",
    "timestamp_text",
    "timestamptz_text",
    "try_bytea",
    "try_cast_to_type",
    "try_read_uuid",
    "union_extract",
    "upper",
    "with_metadata",
];

/// Functions that return values of fixed size, or an argument as it is; and some whose own planning rules match the
/// function itself (`get_field`, `json_get`, `named_struct`, `struct`, `log`, `power`).
const PLAIN: &[&str] = &[
    "age",
    "timezone",
    "abs",
    "acos",
    "acosh",
    "as_beside",
    "as_written",
    "array_avg",
    "array_distance",
    "array_length",
    "array_ndims",
    "array_product",
    "array_sum",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bit_not",
    "cardinality",
    "cbrt",
    "ceil",
    "chr",
    "cos",
    "cosh",
    "cosine_distance",
    "cot",
    "current_date",
    "current_time",
    "date_bin",
    "date_part",
    "date_trunc",
    "degrees",
    "empty",
    "exp",
    "extract",
    "factorial",
    "file_row_index",
    "floor",
    "from_unixtime",
    "gcd",
    "get_field",
    "inner_product",
    "input_file_name",
    "clock_of_span",
    "interval_divided",
    "interval_times",
    "time_span",
    "isnan",
    "iszero",
    "json_array_length",
    "json_get",
    "json_typeof",
    "jsonb_array_length",
    "jsonb_contains",
    "jsonb_has",
    "jsonb_has_all",
    "jsonb_has_any",
    "jsonb_order",
    "jsonb_typeof",
    "justify_days",
    "justify_hours",
    "justify_interval",
    "lcm",
    "ln",
    "log",
    "log10",
    "log2",
    "make_date",
    "make_interval",
    "make_time",
    "make_timestamp",
    "named_struct",
    "nanvl",
    "negated",
    "now",
    "numeric",
    "pg_typeof",
    "pi",
    "power",
    "radians",
    "random",
    "read_interval",
    "round",
    "sign",
    "significant_digits",
    "signum",
    "sin",
    "sinh",
    "sqrt",
    "struct",
    "tan",
    "tanh",
    "time_rounded",
    "to_date",
    "to_hex",
    "to_local_time",
    "to_number",
    "to_time",
    "to_timestamp",
    "to_timestamp_micros",
    "to_timestamp_millis",
    "to_timestamp_nanos",
    "to_timestamp_seconds",
    "to_unixtime",
    "trunc",
    "try_read_interval",
    "union_tag",
    "uuid",
    "version",
];

/// Returns the bounds of a function by its name; `None` if it is in none of the tables.
pub(super) fn bounds(name: &str) -> Option<FunctionBounds> {
    let growth = match GROWING.iter().find(|(known, _)| *known == name) {
        Some((_, growth)) => *growth,
        None if BOUNDED.contains(&name) => Growth::Bounded,
        None if PLAIN.contains(&name) => Growth::None,
        None => return None,
    };
    let steps = steps_table::steps(name);
    Some(FunctionBounds { growth, steps })
}

/// Bounds a list as text: every number and every bracket.
pub(super) fn text(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(2).saturating_add(cell(cells, 0).leaves.saturating_mul(44))
}

/// Returns the size of all arguments, plus the offsets of a list.
pub(super) fn sum(cells: &[ArgumentSize]) -> u64 {
    cells.iter().fold(16, |sum, cell| sum.saturating_add(cell.bytes))
}

/// Bounds JSON: a character may be escaped to six, and elements of lists and rows add names and commas.
fn built(cells: &[ArgumentSize]) -> u64 {
    cells.iter().fold(16, |sum: u64, cell| {
        let own = cell.bytes.saturating_mul(6).saturating_add(cell.leaves.saturating_mul(64));
        sum.saturating_add(own).saturating_add(64)
    })
}

/// Bounds JSON in its normal form: a blank behind each sign, and the zeros of exponents.
fn normal_json(cells: &[ArgumentSize]) -> u64 {
    cells.iter().fold(16, |sum: u64, cell| sum.saturating_add(cell.bytes.saturating_mul(4)).saturating_add(360))
}

fn json_lines(cells: &[ArgumentSize]) -> u64 {
    let (times, beside) = LINES;
    cell(cells, 0).bytes.saturating_mul(times as u64).saturating_add(beside as u64)
}

fn concat_ws(cells: &[ArgumentSize]) -> u64 {
    let separators = cell(cells, 0).bytes.saturating_mul(cells.len() as u64);
    // The elements of a list are joined as well.
    let items = cells.iter().map(|cell| cell.items).sum::<u64>().saturating_mul(cell(cells, 0).bytes);
    sum(cells).saturating_add(separators).saturating_add(items)
}

fn repeat(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(times(cell(cells, 1)))
}

/// Bounds `lpad` and `rpad`, which count characters of up to four bytes; a fill of one byte is counted as one.
fn pad(cells: &[ArgumentSize]) -> u64 {
    let each = if cells.len() < 3 { 1 } else { cell(cells, 2).bytes.clamp(1, 4) };
    cell(cells, 0).bytes.saturating_add(times(cell(cells, 1)).saturating_mul(each))
}

fn replace(cells: &[ArgumentSize]) -> u64 {
    let (text, from, to) = (cell(cells, 0).bytes, cell(cells, 1).bytes, cell(cells, 2).bytes);
    // The size of a column's value includes the offset, in four bytes or eight.
    let finds = text / from.saturating_sub(8).max(1) + 1;
    text.saturating_add(finds.saturating_mul(to))
}

/// Bounds a replacement of every character, whose text may contain the match itself several times.
fn regexp_replace(cells: &[ArgumentSize]) -> u64 {
    let (text, to) = (cell(cells, 0).bytes, cell(cells, 2).bytes);
    text.saturating_add(text.saturating_add(1).saturating_mul(to.saturating_add(to / 2)))
}

/// Bounds one text per group.
fn regexp_match(cells: &[ArgumentSize]) -> u64 {
    let groups = cell(cells, 1).bytes + 1;
    cell(cells, 0).bytes.saturating_mul(groups.min(64)).saturating_add(8 * groups)
}

/// Bounds the translation of a pattern: `\m` becomes `\b{start}`.
fn spelled(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(5).saturating_add(16)
}

fn translate(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(4)
}

/// Bounds the pieces of a text, each with its offset, or the null that replaces it.
fn pieces(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(6).saturating_add(16)
}

/// Bounds `format`: three characters may format any value, and two more digits set a width to pad it to.
fn format(cells: &[ArgumentSize]) -> u64 {
    let longest = cells.iter().skip(1).map(|cell| text(&[*cell])).max().unwrap_or(0);
    cell(cells, 0).bytes.saturating_mul(longest.saturating_add(2_000))
}

/// Bounds `to_char`: two characters of the pattern may stand for a whole date.
fn to_char(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 1).bytes.saturating_mul(20).saturating_add(64)
}

fn numbers(cells: &[ArgumentSize]) -> u64 {
    cells.iter().fold(16, |sum: u64, cell| sum.saturating_add(cell.leaves.saturating_mul(8)))
}

fn array_repeat(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_add(8).saturating_mul(times(cell(cells, 1)))
}

fn array_resize(cells: &[ArgumentSize]) -> u64 {
    let each = cell(cells, 2).bytes.saturating_add(16);
    cell(cells, 0).bytes.saturating_add(times(cell(cells, 1)).saturating_mul(each))
}

fn array_replace(cells: &[ArgumentSize]) -> u64 {
    let each = cell(cells, 2).bytes.saturating_add(8);
    cell(cells, 0).bytes.saturating_add(cell(cells, 0).items.saturating_mul(each))
}

/// Bounds `array_to_string`: a number has up to 40 characters, and separators stand between them.
fn array_to_string(cells: &[ArgumentSize]) -> u64 {
    let each = cell(cells, 1).bytes.saturating_add(cell(cells, 2).bytes).saturating_add(40);
    cell(cells, 0).bytes.saturating_add(cell(cells, 0).leaves.saturating_mul(each))
}

/// Bounds lists that are all extended to the length of the longest.
fn arrays_zip(cells: &[ArgumentSize]) -> u64 {
    let items = cells.iter().map(|cell| cell.items).max().unwrap_or(0);
    sum(cells).saturating_add(items.saturating_mul(32).saturating_mul(cells.len() as u64))
}

/// Bounds a series from one integer or microsecond to another.
fn series(cells: &[ArgumentSize]) -> u64 {
    let (from, to) = if cells.len() < 2 { (0, cell(cells, 0).int) } else { (cell(cells, 0).int, cell(cells, 1).int) };
    let step = if cells.len() < 3 { 1 } else { cell(cells, 2).int };
    // A null, the wrong direction or a step of zero gives an empty series.
    if cells.iter().any(|cell| cell.bytes == 0) || (from < to && step <= 0) || (from > to && step >= 0) {
        return 8;
    }
    (to.abs_diff(from) / step.unsigned_abs().max(1)).saturating_add(1).saturating_mul(8)
}
