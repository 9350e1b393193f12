//! What a request may ask for, at any door that asks for rows.

/// Deepest nesting of a filter (`or`, `and`, `not`) or of a rule; a deeper one is refused with `invalid_filter`, and a
/// deeper rule is a mistake in the configuration.
pub const FILTER_DEPTH_MAX: usize = 32;
/// Most terms in one filter, and most values in one `in` list; more are refused with `invalid_filter`.
pub const FILTER_TERMS_MAX: usize = 10_000;
/// Most columns, sort keys, groups or conditions of one request to the REST door; more are refused with `rest_query`.
pub const LIST_ITEMS_MAX: usize = 1_000;
/// Most parts that the name of a nested column may have; a query with more is refused.
pub const COLUMN_PARTS_MAX: usize = 64;
/// Most columns that the rows of a table without a key are ordered by, beside what a request says; rows that are equal
/// in these have no order of their own.
pub const KEYLESS_ORDER_COLUMNS_MAX: usize = 64;
/// Longest pattern of `like`, and longest text that rows are searched for, in bytes; a longer one is refused with
/// `invalid_filter`.
pub const PATTERN_BYTES_MAX: usize = 4 * 1024;
/// Longest name for which a similar one is suggested, and that is suggested, in bytes; the error for a longer one has
/// no suggestion.
pub const SUGGESTED_NAME_BYTES_MAX: usize = 256;
/// Head of a field of a form with files, in bytes; a form with a longer one is refused with `invalid_body`.
pub const PART_HEAD_BYTES_MAX: usize = 8 * 1024;
/// Most parameters in one query string or form; a request with more is refused with `rest_query`.
pub const PARAMETERS_MAX: usize = 10_000;
/// Bytes of values that one GraphQL document or AQL query may use; those of a variable count each time it is used. A
/// document or query with more is refused.
pub const ARGUMENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most tokens of an AQL query; a query with more is refused.
pub const AQL_TOKENS_MAX: usize = 65_536;
/// Deepest nesting of a GraphQL selection; a deeper document is refused.
pub const GRAPHQL_DEPTH_MAX: usize = 12;
/// Most fields (after fragments) one GraphQL document may select; a document with more is refused.
pub const GRAPHQL_FIELDS_MAX: usize = 2_000;
/// Most rows of one nested GraphQL relation held in memory while it is joined; the field fails with `answer_too_large`
/// beyond them.
pub const GRAPHQL_RELATION_ROWS_MAX: u64 = 100_000;
/// Largest response to a standard GraphQL document, which is built in memory, in bytes; the document fails with
/// `answer_too_large` beyond it.
pub const GRAPHQL_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most errors in the result of a GraphQL document; further ones are left out.
pub const GRAPHQL_ERRORS_MAX: usize = 20;
/// Deepest nesting of a GraphQL document, of selections and of literals as they are written, and of fields, fragments
/// and spreads together: fragments do not add to the depth of the result, but to that of each traversal of the
/// document. A deeper document is refused.
pub const GRAPHQL_NESTING_MAX: usize = 128;
/// Most tokens of a GraphQL document; a document with more is refused.
pub const GRAPHQL_TOKENS_MAX: usize = 65_536;
/// Deepest nesting of a selection below `__schema` or `__type`; a deeper document is refused. GraphiQL's query is 15
/// deep.
pub const GRAPHQL_INTROSPECTION_DEPTH_MAX: usize = 24;
/// Most fields, fragments and spreads of a GraphQL document, in all its operations and fragments; a document with more
/// is refused.
pub const GRAPHQL_SELECTIONS_MAX: usize = 8 * GRAPHQL_FIELDS_MAX;
/// Largest text of a named query that a client saves, in bytes; a larger one is 413.
pub const QUERY_TEXT_BYTES_MAX: usize = 64 * 1024;
/// Most named queries in files beside which a client saves another; one more is refused.
pub const QUERY_FILES_MAX: usize = 1_000;
/// Longest wait of a change of a named query for those before it and for a reload, in milliseconds; then it is 503.
pub const QUERY_EDIT_WAIT_MS_MAX: u64 = 10_000;
