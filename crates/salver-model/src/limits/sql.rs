//! What a statement of SQL may have, and what its functions may make.

/// Deepest nesting of parentheses and subqueries the SQL door parses; a deeper statement is refused with `plan_sql`.
pub const SQL_DEPTH_MAX: usize = 50;
/// Deepest nesting of subqueries in SQL expressions, each of which doubles the time that planning takes; a deeper
/// statement is refused with `plan_sql`.
pub const SQL_SUBQUERY_DEPTH_MAX: usize = 12;
/// Deepest nesting of SQL expressions that planning writes out twice or more: the arguments of `coalesce` before the
/// last, the operand of `between`, the conditions of a `case`, rows in comparisons or memberships, and conditions of
/// joins with subqueries; those of `any`, `all` and `between symmetric` count twice, those of `overlaps` four times. A
/// deeper statement is refused with `plan_sql`.
pub const SQL_COPIED_DEPTH_MAX: usize = 5;
/// Deepest nesting of casts of expressions that contain casts, each of which doubles the time that planning takes; a
/// deeper statement is refused with `plan_sql`.
pub const SQL_CASTS_DEPTH_MAX: usize = 8;
/// Most steps and expressions of a query in which SQL tests a column with `in`, which is written out three times; a
/// statement with more is refused with `plan_sql`.
pub const SQL_LOOKED_UP_MAX: usize = 100;
/// Deepest nesting of views in views; a view of deeper ones is not served, and says so.
pub const VIEWS_DEPTH_MAX: usize = 16;
/// Most words and operators of one SQL statement, not counting commas and values; a longer one is refused with
/// `plan_sql`.
pub const SQL_WORDS_MAX: usize = 4_000;
/// Most bytes of a name, and most digits of a number, in a SQL statement: suggestions for a name compare it with all
/// known names. A statement with longer ones is refused with `plan_sql`.
pub const SQL_NAME_BYTES_MAX: usize = 1_024;
/// Longest chain of operators in one SQL expression (`a or b or c`, `a::text::int`), levels of nesting counted; a
/// statement with a longer one is refused with `plan_sql`.
pub const SQL_CHAIN_MAX: usize = 500;
/// Most elements of an array in SQL that is a text without a type and compared by `<` and its kin (`x < any('{1,2}')`),
/// each of which becomes a comparison; a statement with more is refused with `plan_sql`.
pub const SQL_UNTYPED_ELEMENTS_MAX: usize = 100;
/// Most bars of a `histogram(x, low, high, bars)` in SQL; a query that asks for more is refused with `invalid_sql`.
/// Each group has as many, and a batch may begin thousands of groups before their memory is reckoned.
pub const SQL_HISTOGRAM_BARS_MAX: usize = 1_000;
/// Most expressions that the parser begins in one SQL statement by backtracking to parse some words in another way, not
/// counting the written ones; a statement that needs more is refused with `plan_sql`.
pub const SQL_READINGS_MAX: usize = 20_000;
/// Most tables and queries that one SQL statement reads, each as often as it is used; a statement with more is refused
/// with `plan_sql`.
pub const SQL_RELATIONS_MAX: usize = 500;
/// Most columns, in total, of the tables that one SQL statement of several tables reads, each counted as often as it is
/// read; a statement with more is refused with `plan_sql`.
pub const SQL_COLUMNS_MAX: usize = 20_000;
/// Approximate maximum of columns that the `*` of one SQL statement of several tables expand to: planning time grows
/// with their square. A statement with more is refused with `plan_sql`.
pub const SQL_STARRED_MAX: usize = 5_000;
/// Most columns, groups, sort keys or arguments in one list of a SQL statement; a statement with more is refused with
/// `plan_sql`.
pub const SQL_ITEMS_MAX: usize = 4_000;
/// Most expressions that one step of a planned query computes when all names in them are expanded, not counting values;
/// a statement with more is refused with `plan_sql`.
pub const SQL_EXPRESSIONS_MAX: usize = 8_000;
/// Most thread pools, each with one thread per core, that the engine has while queries block threads and cannot be
/// interrupted; then queries are refused with `overloaded` until one ends.
pub const ENGINE_LANES_MAX: usize = 8;
/// Largest value that a SQL function may return, in bytes; a quarter of the memory of queries where that is less. A
/// query with a larger one ends with `query_too_large`.
pub const VALUE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Largest column of a batch that a SQL function or operator may return, in bytes; half of the memory of queries where
/// that is less. Beyond it fewer rows are computed at a time; a query for which that is not enough ends with
/// `query_too_large`.
pub const COLUMN_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Largest value for constant folding during planning, in bytes; larger ones are computed at execution.
pub const FOLDED_BYTES_MAX: u64 = 16 * 1024;
/// Most steps, of about a nanosecond, that one call of a SQL function may take for one row; a query that takes more
/// ends with `query_too_large`.
pub const CALL_STEPS_MAX: u64 = 250_000_000;
/// Largest pattern for SQL matching, in characters, with its counted repetitions expanded; a query with a larger one
/// ends with `query_too_large`.
pub const PATTERN_CHARS_MAX: u64 = 10_000;
/// Largest fixed size of a type that SQL may cast to, in bytes; a query that casts to a larger one ends with
/// `query_too_large`.
pub const FIXED_BYTES_MAX: u64 = 16 * 1024;
/// Largest value of a type whose rows share their bytes (views, dictionaries) that SQL may cast to, in bytes; a query
/// with a larger one ends with `query_too_large`.
pub const SHARED_VALUE_BYTES_MAX: u64 = 16 * 1024;
/// Memory of the process beyond `limits.memory_bytes_max` and a quarter of it, in bytes: code, connections, caches, and
/// the allocator's overhead. Beyond it a query ends with `out_of_memory`.
pub const PROCESS_BYTES_BESIDE: u64 = 256 * 1024 * 1024;
/// Most expressions that one query sorts or groups by, as planning time grows with their square; more are refused with
/// `plan_sql`.
pub const SQL_KEYS_MAX: usize = 400;
/// Most groupings that `cube`, `rollup` and `grouping sets` of one query make together; more are refused with
/// `plan_sql`.
pub const SQL_GROUPING_SETS_MAX: usize = 1_024;
/// Deepest nesting of rows, structs and `filter` in SQL, whose names contain their parts twice and so double with each
/// level; deeper ones are refused with `plan_sql`.
pub const SQL_NAMED_DEPTH_MAX: usize = 12;
/// Deepest nesting of `with` in the queries of a `with`, each of which doubles the time that planning takes; deeper
/// ones are refused with `plan_sql`.
pub const SQL_WITH_DEPTH_MAX: usize = 8;
/// Deepest nesting of subqueries in `from`, through all of which a condition is pushed down, and each may copy it;
/// deeper ones are refused with `plan_sql`.
pub const SQL_TABLES_DEPTH_MAX: usize = 24;
/// Deepest nesting of an array that is written as a text, such as `'{{1},{2}}'::int[]`; a deeper one is refused as no
/// array.
pub const SQL_ARRAY_DEPTH_MAX: usize = 6;
/// Deepest nesting of arrays and objects in JSON that a statement reads as `jsonb`; a deeper one is refused with
/// `plan_sql`.
pub const SQL_JSON_DEPTH_MAX: usize = 256;
/// Most columns of a row that SQL compares with another; a wider one is refused with `plan_sql`.
pub const SQL_COMPARED_COLUMNS_MAX: usize = 32;
/// Most expressions of windows that stand on other windows, in one query, since they are copied; more are refused with
/// `plan_sql`.
pub const SQL_WINDOW_EXPRESSIONS_MAX: usize = 4_000;
/// Largest width that `format` of SQL fills a value up to, in characters; the query fails beyond it.
pub const SQL_FORMAT_WIDTH_MAX: usize = 10_000;
/// Largest program that a pattern for SQL matching is compiled to, in bytes; the query fails beyond it.
pub const PATTERN_PROGRAM_BYTES_MAX: u64 = 10 * 1024 * 1024;
/// Disk space for what queries spill where the system does not tell how much is free, in bytes; a query that needs more
/// ends with `out_of_memory`.
pub const SPILL_BYTES_MAX: u64 = 16 * 1024 * 1024 * 1024;
/// Longest time that a response waits to start while memory is short, in milliseconds; then it starts nevertheless.
/// Work that stalls gives way long before.
pub const SHORT_MEMORY_MS_MAX: u64 = 2_000;
/// Longest part of a slow statement that is logged, in characters; the rest is left out.
pub const SLOW_STATEMENT_CHARS_MAX: usize = 2_000;
/// Longest part of the plan of a slow statement that is logged, in characters; the rest is left out.
pub const SLOW_PLAN_CHARS_MAX: usize = 20_000;
