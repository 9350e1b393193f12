//! What each function may give for what it takes: the one table by which calls are bounded. A function that is not in
//! it is not known, which a test of all that the session has does not allow.

use super::measure::Cell;

/// How large a function's values can become.
#[derive(Clone, Copy)]
pub(super) enum Growth {
    /// Values of fixed size, or those of its own arguments as they are. Such functions are left alone.
    None,
    /// At most a few times what it takes.
    Bounded,
    /// At most so many bytes for one row; a function that does not fall when what it takes grows.
    Grows(fn(&[Cell]) -> u64),
    /// At most so many bytes for one row, where more of an argument may give less.
    Varies(fn(&[Cell]) -> u64),
}

/// How much one function may give, and how many steps one row may cost.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub(super) growth: Growth,
    /// About how many steps of a nanosecond or so one row costs, where that is more than a few for each byte.
    pub(super) steps: Option<fn(&[Cell]) -> u64>,
}

/// Functions that can give more than they take, with the most that they give.
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
    ("jsonb_build_object", Growth::Grows(built)),
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
    ("written", Growth::Grows(text)),
    ("written_each", Growth::Grows(text)),
];

/// Functions that give at most a few times what they take.
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
    "json_contains",
    "json_get_bool",
    "json_get_float",
    "json_get_int",
    "json_get_json",
    "json_get_str",
    "json_length",
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
    "try_bytea",
    "try_cast_to_type",
    "union_extract",
    "upper",
    "with_metadata",
];

/// Functions whose values have a fixed size, or are those of an argument as they are; and some whose own rules of
/// planning look for the function itself (`get_field`, `json_get`, `named_struct`, `struct`, `log`, `power`).
const PLAIN: &[&str] = &[
    "age",
    "timezone",
    "abs",
    "acos",
    "acosh",
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
    "interval_divided",
    "interval_times",
    "time_span",
    "isnan",
    "iszero",
    "json_get",
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
    "now",
    "numeric",
    "pg_typeof",
    "pi",
    "power",
    "radians",
    "random",
    "round",
    "sign",
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
    "to_time",
    "to_timestamp",
    "to_timestamp_micros",
    "to_timestamp_millis",
    "to_timestamp_nanos",
    "to_timestamp_seconds",
    "to_unixtime",
    "trunc",
    "union_tag",
    "uuid",
    "version",
];

/// Reckons the steps of a call for one row.
type Steps = fn(&[Cell]) -> u64;

/// Functions of which one row can cost more than a few steps for each byte.
const COSTLY: &[(&str, Steps)] = &[
    ("array_except", sum_of_lists),
    ("array_has_all", product_of_lists),
    ("array_has_any", product_of_lists),
    ("array_remove", scan),
    ("btrim", product),
    ("ilike", liked),
    ("levenshtein", product),
    ("like", liked),
    ("ltrim", product),
    ("regexp_count", pattern),
    ("regexp_instr", pattern),
    ("regexp_like", pattern),
    ("regexp_match", pattern),
    ("regexp_replace", pattern),
    ("regexp_split_to_array", pattern),
    ("rtrim", product),
];

/// The bounds of the function of this name; `None` when nobody has said what they are.
pub(super) fn bounds(name: &str) -> Option<Bounds> {
    let growth = match GROWING.iter().find(|(known, _)| *known == name) {
        Some((_, growth)) => *growth,
        None if BOUNDED.contains(&name) => Growth::Bounded,
        None if PLAIN.contains(&name) => Growth::None,
        None => return None,
    };
    let steps = COSTLY.iter().find(|(known, _)| *known == name).map(|(_, steps)| *steps);
    Some(Bounds { growth, steps })
}

fn cell(cells: &[Cell], index: usize) -> Cell {
    cells.get(index).copied().unwrap_or_default()
}

fn times(cell: Cell) -> u64 {
    u64::try_from(cell.int).unwrap_or(0)
}

/// A list as text: each number and each bracket.
pub(super) fn text(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(2).saturating_add(cell(cells, 0).leaves.saturating_mul(44))
}

/// All that it takes, with the offsets of a list around it.
pub(super) fn sum(cells: &[Cell]) -> u64 {
    cells.iter().fold(16, |sum, cell| sum.saturating_add(cell.bytes))
}

/// JSON of values: a sign of a text may become six, and what is in lists and rows has names and commas.
fn built(cells: &[Cell]) -> u64 {
    cells.iter().fold(16, |sum: u64, cell| {
        let own = cell.bytes.saturating_mul(6).saturating_add(cell.leaves.saturating_mul(64));
        sum.saturating_add(own).saturating_add(64)
    })
}

fn concat_ws(cells: &[Cell]) -> u64 {
    let separators = cell(cells, 0).bytes.saturating_mul(cells.len() as u64);
    // A list among them is joined as well.
    let items = cells.iter().map(|cell| cell.items).sum::<u64>().saturating_mul(cell(cells, 0).bytes);
    sum(cells).saturating_add(separators).saturating_add(items)
}

fn repeat(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(times(cell(cells, 1)))
}

/// `lpad` and `rpad` count characters, which have up to four bytes; a filling of one byte has one.
fn pad(cells: &[Cell]) -> u64 {
    let each = if cells.len() < 3 { 1 } else { cell(cells, 2).bytes.clamp(1, 4) };
    cell(cells, 0).bytes.saturating_add(times(cell(cells, 1)).saturating_mul(each))
}

fn replace(cells: &[Cell]) -> u64 {
    let (text, from, to) = (cell(cells, 0).bytes, cell(cells, 1).bytes, cell(cells, 2).bytes);
    // Of a column, these are with the four bytes of an offset.
    let finds = text / from.saturating_sub(8).max(1) + 1;
    text.saturating_add(finds.saturating_mul(to))
}

/// Every character may match, and be replaced by what may hold the match itself some times.
fn regexp_replace(cells: &[Cell]) -> u64 {
    let (text, to) = (cell(cells, 0).bytes, cell(cells, 2).bytes);
    text.saturating_add(text.saturating_add(1).saturating_mul(to.saturating_add(to / 2)))
}

/// One text for each group.
fn regexp_match(cells: &[Cell]) -> u64 {
    let groups = cell(cells, 1).bytes + 1;
    cell(cells, 0).bytes.saturating_mul(groups.min(64)).saturating_add(8 * groups)
}

/// `\m` becomes `\b{start}`.
fn spelled(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(5).saturating_add(16)
}

fn translate(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(4)
}

/// Pieces of a text, each with its offset, or the null that is meant in its place.
fn pieces(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(6).saturating_add(16)
}

/// Three characters may show any value, or so many blanks as two more are a number for.
fn format(cells: &[Cell]) -> u64 {
    let longest = cells.iter().skip(1).map(|cell| text(&[*cell])).max().unwrap_or(0);
    cell(cells, 0).bytes.saturating_mul(longest.saturating_add(2_000))
}

/// Two characters may stand for a whole date.
fn to_char(cells: &[Cell]) -> u64 {
    cell(cells, 1).bytes.saturating_mul(20).saturating_add(64)
}

fn numbers(cells: &[Cell]) -> u64 {
    cells.iter().fold(16, |sum: u64, cell| sum.saturating_add(cell.leaves.saturating_mul(8)))
}

fn array_repeat(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_add(8).saturating_mul(times(cell(cells, 1)))
}

fn array_resize(cells: &[Cell]) -> u64 {
    let each = cell(cells, 2).bytes.saturating_add(16);
    cell(cells, 0).bytes.saturating_add(times(cell(cells, 1)).saturating_mul(each))
}

fn array_replace(cells: &[Cell]) -> u64 {
    let each = cell(cells, 2).bytes.saturating_add(8);
    cell(cells, 0).bytes.saturating_add(cell(cells, 0).items.saturating_mul(each))
}

/// A number is up to 40 characters long; between two stands the separator.
fn array_to_string(cells: &[Cell]) -> u64 {
    let each = cell(cells, 1).bytes.saturating_add(cell(cells, 2).bytes).saturating_add(40);
    cell(cells, 0).bytes.saturating_add(cell(cells, 0).leaves.saturating_mul(each))
}

/// All lists become as long as the longest.
fn arrays_zip(cells: &[Cell]) -> u64 {
    let items = cells.iter().map(|cell| cell.items).max().unwrap_or(0);
    sum(cells).saturating_add(items.saturating_mul(32).saturating_mul(cells.len() as u64))
}

/// From one whole number or microsecond to another.
fn series(cells: &[Cell]) -> u64 {
    let (from, to) = if cells.len() < 2 { (0, cell(cells, 0).int) } else { (cell(cells, 0).int, cell(cells, 1).int) };
    let step = if cells.len() < 3 { 1 } else { cell(cells, 2).int };
    // With a null, the wrong way or without a length nothing is made.
    if cells.iter().any(|cell| cell.bytes == 0) || (from < to && step <= 0) || (from > to && step >= 0) {
        return 8;
    }
    (to.abs_diff(from) / step.unsigned_abs().max(1)).saturating_add(1).saturating_mul(8)
}

fn product(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(cell(cells, 1).bytes)
}

/// Parts of a pattern that have no `_` are found in linear time, which is not known of it here; a character that does
/// not fit at once costs a step for each place, and the more, the longer the pattern is.
fn liked(cells: &[Cell]) -> u64 {
    product(cells) / 4
}

/// Each item of the one is compared with each of the other.
fn product_of_lists(cells: &[Cell]) -> u64 {
    cell(cells, 0).items.saturating_mul(cell(cells, 1).items).saturating_mul(2).saturating_add(sum_of_lists(cells))
}

/// Lists are hashed, so that it is the sum as long as values are small; a comparison of large ones is not.
fn sum_of_lists(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_add(cell(cells, 1).bytes).saturating_mul(4)
}

fn scan(cells: &[Cell]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(4)
}

/// Largest program that a pattern is compiled to, in bytes; of a larger one `regex` makes an error.
const PROGRAM_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Bytes of the program for one character of a pattern, if it is a class of letters.
const PROGRAM_BYTES: u64 = 1_024;

/// A text of n bytes and a pattern of m, its repetitions written out, cost up to n times m. A pattern that is another
/// in each row is compiled for each: a byte of its program counts as a step.
fn pattern(cells: &[Cell]) -> u64 {
    let own = cell(cells, 1);
    let pattern = own.bytes.saturating_add(8).saturating_mul(times(own).max(1));
    let program = if own.is_same { 0 } else { pattern.saturating_mul(PROGRAM_BYTES).min(PROGRAM_BYTES_MAX) };
    (cell(cells, 0).bytes.saturating_add(64).saturating_mul(pattern) / 16).max(program)
}
