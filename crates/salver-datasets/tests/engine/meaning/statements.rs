//! The statements that are compared.

#[path = "statements/json.rs"]
mod json;
#[path = "statements/lists.rs"]
mod lists;
#[path = "statements/numbers.rs"]
mod numbers;
#[path = "statements/queries.rs"]
mod queries;
#[path = "statements/subqueries.rs"]
mod subqueries;
#[path = "statements/texts.rs"]
mod texts;
#[path = "statements/times.rs"]
mod times;
#[path = "statements/words.rs"]
mod words;

/// Those that answer the same.
pub(super) const SAME: [&[&str]; 8] =
    [json::SAME, lists::SAME, numbers::SAME, queries::SAME, subqueries::SAME, texts::SAME, times::SAME, words::SAME];

/// Those that are refused, and what is said.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("select * from (values (1)) as a(k) natural full join (values (2)) as b(k)", "a natural join"),
    (
        "select * from (values (1)) as a(k) full join (values (2)) as b(k) using (k) join (values (1)) as c(k) using (k)",
        "a join with a right or full join by `using (k)`",
    ),
    ("select -i as i from n order by i + 0", "one that is given has its name"),
    ("select nth_value(i, 0) over (order by i) from n", "greater than 0"),
    ("select nth_value(i, -1) over (order by i) from n", "greater than 0"),
    ("select date '2024-1-1 25:00'", "2024-01-01 25:00"),
    ("select rank() over (w) from n", "there is no window `w`"),
    ("select rank() over (w partition by i) from n window w as (order by i)", "can't be said again"),
    ("select rank() over (w) from n window w as (order by i rows 1 preceding)", "which has a frame"),
    ("select percentile_cont(1.5) within group (order by i) from n", "is not between 0 and 1"),
    ("select percentile_disc((select array[0.5])) within group (order by i) from n", "no array of shares"),
    (
        "select i from n as o where exists (select 1 from m as a full join m as b on a.k = b.k and b.v = o.i)",
        "the condition of a `full` join",
    ),
    (
        "select 1 from n left join m on exists (select 1 from m as b where b.k = n.i and b.v = m.v)",
        "names columns of both sides",
    ),
    ("select i, (select v from m where k = n.i) from n", "more than one row returned by a subquery"),
    ("select i from n where i = (select v - 9 from m where k < n.i)", "more than one row returned by a subquery"),
    ("select i, (select k from m where k >= n.i group by k) from n", "more than one row returned by a subquery"),
    (
        "select x.i from n as x where exists (select 1 from (select k as x from m) as y where y.x = x.i)",
        "Cannot access",
    ),
    ("select s, i, count(*) from n group by grouping sets (cube(s, i, d, f, t, 1, 2, 3, 4, 5, 6, 7))", "groupings"),
    ("select s @> '{\"a\":1}' from n", "`@>` compares lists, and JSON that is cast"),
    ("select s <@ '{\"a\":1}' from n", "`<@` compares lists, and JSON that is cast"),
    ("select '[1,]'::jsonb", "`[1,]` is not JSON"),
    ("select '{a:1}'::jsonb -> 'a'", "`{a:1}` is not JSON"),
    ("select '[1,]'::json", "`[1,]` is not JSON"),
    ("select s::jsonb from n where i = 1", "`a` is not JSON"),
    ("select '\"\\u0000\"'::jsonb", "`\\u0000` can't be in one"),
    ("select '1e9999'::jsonb", "its numbers are too long"),
    ("select '1'::jsonb - 'a'", "nothing can be left out of `1`"),
    ("select '{\"a\":1}'::jsonb - 0", "an object has keys, and no element 0"),
    ("select '{\"a\":[1]}'::jsonb #- '{a,x}'", "`x` is none"),
    ("select jsonb_set('1', '{a}', '2')", "`1` is neither"),
    ("select jsonb_insert('{\"a\":1}', '{a}', '2')", "there is a key `a` already"),
    ("select jsonb_array_length('{}')", "an object has no elements"),
    ("select jsonb_array_length('1')", "a number has no elements"),
    ("select jsonb_array_elements('{}')", "an object has no elements"),
    ("select * from jsonb_each('[]')", "an array has no keys"),
    ("select jsonb_each('{}')", "stands in `from`"),
    ("select '{}'::jsonb @? '$.a'", "no paths of SQL in JSON"),
    ("select '{}'::jsonb #> 'a'", "`a` is not a path"),
    ("select jsonb_path_exists('{}', '$.a')", "Invalid function 'jsonb_path_exists'"),
    ("select jsonb_to_record('{}')", "Invalid function 'jsonb_to_record'"),
    ("select '1,2'::int[]", "is not an array"),
    ("select '{1,2'::int[]", "is not an array"),
    ("select trim_array(array[1], 2)", "can't be trimmed"),
    ("select array_sort(array[interval '1 day'])", "not for arrays of intervals"),
    ("select s from n where s like any(select s from n)", "patterns that are written out"),
    ("select get_byte('\\x61'::bytea, 1)", "there is no place 1"),
    ("select histogram(i, 0, 10, 0) from n", "between 1 and 1000 bars"),
    ("select s::int[] from n", "is not an array"),
    ("select avg(x) from (select interval '1 day' as x) as y", "`avg` does not take"),
    ("select sum(i * 9223372036854775807) from n", "out of the range of bigint"),
    ("select 9223372036854775807 + 1", "out of the range of bigint"),
    ("select sum(x) from (select 9223372036854775807 as x from n) as y", "out of the range of bigint"),
    (
        "select sum(x) from (select 9000000000000000000000000000000000000000000000000000000000000000000000000000 as x \
         from generate_series(1, 7)) as y",
        "out of the range of decimals of 76 digits",
    ),
    (
        "select k % 2, sum(distinct 9000000000000000000000000000000000000000000000000000000000000000000000000000 - k), 1 \
         from generate_series(1, 20) as t(k) group by 1",
        "out of the range of decimals of 76 digits",
    ),
    ("select 9223372036854775807 + i - i + 1 from n", "out of the range of bigint"),
    ("select (i - i - 9223372036854775807 - 1) / -1 from n where i = 1", "out of the range of bigint"),
    ("select 7 - i / (i - i) from n where i = 1", "division by zero"),
    ("select i from n order by i fetch first 2 rows with ties", "with ties"),
    ("select count(*) from n tablesample bernoulli (10) repeatable (1)", "can't be repeated"),
    ("select (i, s) = (1, 2, 3) from n", "a row of 2 columns is compared with one of 3"),
    ("select row_to_json(n) from n", "`n` is a table"),
    ("select json_agg(n) from n", "`n` is a table"),
    ("select json_agg(*) from n", "takes values"),
    ("select json_build_object('a', 1, 'b')", "the last key has none"),
    ("select json_build_object(s, 1) from n", "a key of an object is null"),
    ("select json_object_agg(s, 1) from n", "a key of an object is null"),
    ("select json_object('{a, 1}')", "Invalid function 'json_object'"),
    ("select frmat('x')", "Invalid function 'frmat'"),
    ("select sum(i) over (order by i rows 1 preceding exclude current row) from n", "exclude"),
    (
        "select (select count(*) from (select * from m where k = a.i) b join m as c on b.k = c.k) from n as a",
        "a subquery names columns of the query around it",
    ),
    (
        "select o.c from n as a cross join lateral (select count(*) as c from m where exists (select 1 from n as d where \
         d.i = m.k and d.i < a.i)) as o",
        "belongs to a query two levels further out",
    ),
    ("select make_time(24, 5, 7)", "no time has the parts [24, 5] and 7 seconds"),
    ("select mode() within group (order by i desc) from n", "`mode` goes by ascending order"),
    ("select x::interval from (values ('1 lightyear')) v(x)", "invalid input syntax for type interval"),
    (
        "select (select sum(x) from (select k as x from m where k = n.i union all select v from m where v = n.i) q) from n",
        "names columns of the query around it",
    ),
    ("select s::bytea from (values ('\\x4')) as v(s)", "odd number of hexadecimal digits"),
    ("select 'a\\b'::bytea", "a backslash stands before another or three octal digits"),
    ("select 'a' like 'b' collate \"de_DE\"", "there is no collation"),
    ("select extract(hour from date '2024-01-01')", "a date has no field `hour`"),
    ("select 'nonsense'::uuid", "`nonsense` is not a UUID"),
    ("select s::uuid from n where i = 1", "`a` is not a UUID"),
    ("select uuid 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11' = 'x'", "`x` is not a UUID"),
    ("values (date '2024-01-01'), (true)", "make_array"),
    ("select regexp_replace('a', 'b', 'c', 'q')", "a pattern has no flag `q`"),
];
