//! Tests of published tables.
