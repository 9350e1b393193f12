//! Functions of which one row can cost more than a few steps per byte, with an estimate of the steps.

use salver_model::limits::PATTERN_PROGRAM_BYTES_MAX;

use super::value_size::{ArgumentSize, cell, times};

/// Function that estimates the steps of a call for one row.
pub(super) type Steps = fn(&[ArgumentSize]) -> u64;

/// Functions of which one row can cost more than a few steps per byte.
const COSTLY: &[(&str, Steps)] = &[
    ("array_except", sum_of_lists),
    ("array_has_all", product_of_lists),
    ("array_has_any", product_of_lists),
    ("array_remove", scan),
    ("btrim", product),
    ("ilike", liked),
    ("jsonb_contains", product),
    ("jsonb_has_all", product),
    ("jsonb_has_any", product),
    ("jsonb_minus", product),
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

/// Returns the estimate of a function's steps; `None` if they are few.
pub(super) fn steps(name: &str) -> Option<Steps> {
    COSTLY.iter().find(|(known, _)| *known == name).map(|(_, steps)| *steps)
}

fn product(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(cell(cells, 1).bytes)
}

/// Bounds the steps of `like`. Parts of a pattern without `_` are searched in linear time, which this estimate ignores;
/// any other part may cost a step per position for each of its characters.
fn liked(cells: &[ArgumentSize]) -> u64 {
    product(cells) / 4
}

/// Bounds the comparison of each element of one list with each of the other.
fn product_of_lists(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).items.saturating_mul(cell(cells, 1).items).saturating_mul(2).saturating_add(sum_of_lists(cells))
}

/// Bounds functions that hash lists: the sum of their sizes if the values are small; comparing large ones costs more.
fn sum_of_lists(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_add(cell(cells, 1).bytes).saturating_mul(4)
}

fn scan(cells: &[ArgumentSize]) -> u64 {
    cell(cells, 0).bytes.saturating_mul(4)
}

/// Size of the program for one character of a pattern, in bytes, if that is a class of letters.
const PROGRAM_BYTES: u64 = 1_024;

/// Bounds a match: a text of n bytes and a pattern of m, with its repetitions expanded, cost up to n times m. A pattern
/// that differs per row is compiled for each: a byte of its program counts as a step.
fn pattern(cells: &[ArgumentSize]) -> u64 {
    let own = cell(cells, 1);
    let pattern = own.bytes.saturating_add(8).saturating_mul(times(own).max(1));
    let program = if own.is_same { 0 } else { pattern.saturating_mul(PROGRAM_BYTES).min(PATTERN_PROGRAM_BYTES_MAX) };
    (cell(cells, 0).bytes.saturating_add(64).saturating_mul(pattern) / 16).max(program)
}
