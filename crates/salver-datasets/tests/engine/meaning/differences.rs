//! The table in `docs/sql.md` of what differs from PostgreSQL: each row has a statement that runs here and there. With
//! `UPDATE=1` the page is written anew.

use salver_testkit::servers::{self, Kind};

use super::World;

/// What differs, and a statement that shows it.
const DIFFERENCES: &[(&str, &str)] = &[
    ("right behind a match none is empty", "select regexp_replace('baaac', 'a*', 'x', 'g')"),
    (
        "`select *` of a join by `using`, and a `natural` one, has its columns in the order of the tables",
        "select * from (values (1, 2)) as a(x, i) join (values (2, 3)) as b(i, y) using (i)",
    ),
    ("a whole number that is written out is `bigint`", "select pg_typeof(1), 2147483647 + 1"),
    ("`sum` of `bigint` is `bigint`; `sum(x::decimal(38, 0))` has room", "select pg_typeof(sum(i)) from n"),
    ("`sum` of `real` is `double precision`", "select pg_typeof(sum(f::real)), sum(0.1::real) from n where i = 1"),
    ("`avg` of whole numbers is a float", "select pg_typeof(avg(i)), avg(i) from n where i < 3"),
    ("`sqrt`, `ln`, `log`, `exp` and `power` of decimals are floats", "select sqrt(2.0), power(2.0, 3)"),
    ("decimals divided have 16 digits behind the point, or as many as they had", "select 1 / 3.0"),
    (
        "`x::numeric` of a float or a text that is not written out has ten digits behind the point",
        "select f::numeric from n where i = 1",
    ),
    ("the decimals of a column have as many digits behind the point", "select greatest(1, 2.50), least(1, 2.50)"),
    ("a decimal is not a `NaN`", "select 'NaN'::float8::numeric(20, 3)"),
    (
        "what is out of the range of floats is infinite",
        "select 1e300::float8 * 1e300::float8, (-1e300::float8) * 1e300::float8",
    ),
    (
        "functions of floats are infinite or `NaN` where they have no value",
        "select ln(0::float8), asin(2::float8), ln(0)",
    ),
    ("a group of `-0.0` and `0.0` shows `0.0`", "select f from n where f = 0 and i = 3 group by f"),
    ("`char(n)` is not filled up with blanks", "select 'ab'::char(4)"),
    ("a text that is written out is `text`", "select pg_typeof('a')"),
    ("`date_trunc` of a date has no time zone", "select pg_typeof(date_trunc('month', date '2024-01-31'))"),
    (
        "`generate_series` of dates gives dates",
        "select generate_series(date '2024-01-01', date '2024-01-02', interval '1 day')",
    ),
    (
        "the average of differences of times is normalized: 24 hours make a day",
        "select avg(t - timestamp '2024-01-01')::text from (values (timestamp '2023-12-30 20:00'), (timestamp \
         '2024-01-04 02:00')) v(t)",
    ),
    (
        "frames of `bool_or`, `bool_and` and `string_agg` begin at `unbounded preceding`",
        "select bool_or(s = 'a') over (order by i rows 1 preceding) from n where i = 1",
    ),
    (
        "the distance of `lag` and `lead` is the same for all rows",
        "select lag(s, i::int) over (order by i) from n where i = 1",
    ),
    (
        "a frame ends where it begins, or behind that",
        "select sum(i) over (order by i rows between 1 preceding and 2 preceding) from n where i = 1",
    ),
    ("patterns of numbers have no `V`, `L`, `TH`, `RN` and `EEEE`", "select to_char(12, 'RN')"),
    ("functions of floats such as `round` take a number of digits", "select round(2.345::float8, 2)"),
    (
        "of alternatives in a pattern the first that matches is taken, and not the longest",
        "select regexp_match('foobar', 'foo|foobar')",
    ),
    ("`unnest` of lists of lists gives lists", "select unnest(array[array[1, 2], array[3, 4]])"),
    (
        "lists of lists are ordered list by list, where they have not the same number of each",
        "select array[array[1], array[2]] < array[array[1, 2]]",
    ),
    (
        "`json`, `jsonb` and `uuid` are text, with the meaning that a cast gives it",
        "select pg_typeof('{\"a\": 1}'::json), pg_typeof('{\"a\": 1}'::jsonb)",
    ),
    (
        "groups of `jsonb` go by the text, in which numbers have the digits that they were written with",
        "select count(distinct x::jsonb) from (values ('1'), ('1.0')) as v(x)",
    ),
    (
        "`jsonb` is sorted by its text; `order by (x::jsonb ->> 'n')::int` goes by numbers",
        "select x::jsonb from (values ('10'), ('9')) as v(x) order by x::jsonb",
    ),
    (
        "a path into `jsonb` that is cast from a column does not check the rest of it",
        "select x::jsonb -> 'a' from (select '{\"a\": 1, \"b\": nonsense}'::text as x) as v",
    ),
    (
        "numbers of `jsonb` have at most some hundred zeros more than were written",
        "select length('1e2000'::jsonb::text)",
    ),
    (
        "a time that is written with more than six digits of a second has nine",
        "select timestamp '2024-01-01 00:00:00.1234567'",
    ),
    ("a time has no `infinity`", "select 'infinity'::timestamp > timestamp '2024-01-01'"),
    (
        "a time before the year 0 or after 9999 can't be written; a date can: `date '+10000-01-01'`",
        "select timestamp '10000-01-01' > timestamp '2024-01-01'",
    ),
    (
        "`date_bin` goes by nanoseconds, which reach from 1677 to 2262",
        "select date_bin('1 day', timestamp '9999-12-31', timestamp '2001-01-01')",
    ),
    (
        "the column of a join by `using` has the type of the left side",
        "select k / 2 from (values (1)) as p(k) join (values (1.0)) as q(k) using (k)",
    ),
    (
        "`tablesample system` takes each row or not, as `bernoulli`; `repeatable` is refused",
        "select count(*) from n tablesample bernoulli (100) repeatable (1)",
    ),
    ("`fetch first ... with ties`: filter by `rank()`", "select i from n order by i fetch first 2 rows with ties"),
    (
        "a column is JSON in JSON where it is cast, as in `x::json`, or computed as JSON in the `from` or `with`",
        "select json_build_array(x) from (select x from (select '[1]'::json as x) as y) as z",
    ),
    ("JSON is made of columns, and not of a table", "select json_agg(m) from m where k = 9"),
    (
        "a text is cast to an array where it is written out: else `string_to_array(x, ',')::int[]`",
        "select ('{' || i || '}')::int[] from n where i = 1",
    ),
    (
        "a window has no `exclude` but `exclude no others`",
        "select sum(i) over (order by i rows 1 preceding exclude current row) from n where i = 1",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_page_tells_what_differs() {
    let postgres = servers::database(Kind::Postgres, super::TABLE);
    let world = World::new(false);
    let mut table = "| what | statement | here | PostgreSQL |\n|---|---|---|---|\n".to_owned();
    for (what, text) in DIFFERENCES {
        let there = match postgres.try_run(&format!("{text};")) {
            Ok(there) => cells(&there),
            Err(error) => refusal(error.lines().next().unwrap_or_default()),
        };
        let here = match world.answer(text).await {
            Ok(here) => cells(&here),
            Err(error) => refusal(&error.message),
        };
        assert_ne!(here, there, "`{text}` is the same here and there");
        let text = text.replace('|', "\\|");
        table.push_str(&format!("| {what} | `{text}` | {here} | {there} |\n"));
    }
    salver_testkit::doc_table::has_table("sql.md", "meaning::differences", &table);
}

/// Rows in one line.
fn cells(rows: &str) -> String {
    let rows: Vec<String> = rows
        .trim_end_matches('\n')
        .lines()
        .map(|row| row.split('\t').map(|cell| format!("`{}`", cell.replace('|', "\\|"))).collect::<Vec<_>>().join(", "))
        .collect();
    rows.join("; ")
}

fn refusal(message: &str) -> String {
    let message = message.rsplit_once("ERROR:  ").map_or(message, |(_, message)| message);
    format!("refused: {}", message.replace('|', "\\|"))
}
