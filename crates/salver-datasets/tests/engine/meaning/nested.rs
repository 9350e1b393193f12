//! Generated expressions over arrays, intervals, times and JSON, here and in PostgreSQL: the same texts. Some are
//! refused here; none is answered otherwise.

use salver_model::Code;
use salver_testkit::servers::{self, Kind};

use super::expressions::TRY;
use super::generated::Dice;
use super::{World, plain};

/// Rows of the types that nest or have parts: full, empty and null.
const ROWS: &str = r#"(select 1 as row, 1::int as i, array[1,2,null,4]::int[] as a, array['x','y',null,'é']::text[] as st,
    '{"k": 1, "o": {"p": [1, "two", null, true]}, "s": "t"}'::jsonb as j, interval '1 month 2 days 03:04:05.5' as iv,
    '2024-02-29 13:05:09.5+00'::timestamptz as tz, time '13:05:09.25' as ti, '2024-02-29'::date as d,
    timestamp '2024-02-29 13:05:09.5' as ts
    union all select 2, -2, array[]::int[], array[]::text[], '[1, {"k": 2}, [3]]'::jsonb, interval '-1 day',
    timestamptz '1999-12-31 23:59:59Z', time '00:00', date '1999-12-31', timestamp '1999-12-31 23:59:59'
    union all select 3, null, null, null, null, null, null, null, null, null) as t"#;
const EXPRESSIONS: usize = 1_000;

/// Expressions over those rows.
struct Expressions(Dice);

impl Expressions {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.0.below(of.len() as u64) as usize]
    }

    fn array(&mut self, depth: usize) -> String {
        if depth == 0 {
            return self.one(&["a", "array[3,1,2]", "array[i,5]", "array[1,1,2]"]).to_owned();
        }
        let one = self.array(depth - 1);
        match self.0.below(11) {
            0 => format!("array_append({one}, {})", self.one(&["i", "7", "null"])),
            1 => format!("array_prepend({}, {one})", self.one(&["i", "7"])),
            2 => format!("({one} || {})", self.array(depth - 1)),
            3 => format!("({one} || {})", self.one(&["i", "9"])),
            4 => format!("array_remove({one}, {})", self.one(&["1", "2", "i"])),
            5 => format!("array_replace({one}, 1, 8)"),
            6 => format!("({one})[{}]", self.one(&["1:2", "2:", "2:3", ":2", "0:1", "5:9"])),
            7 => format!("array(select x from unnest({one}) as u(x) order by x)"),
            8 => format!("array_positions({one}, 1)"),
            9 => format!("coalesce({one}, array[0])"),
            _ => format!("array_cat({one}, {})", self.array(0)),
        }
    }

    fn interval(&mut self, depth: usize) -> String {
        if depth == 0 {
            let all = ["iv", "interval '1 day'", "interval '90 minutes'", "interval '1 year -1 day'"];
            return self.one(&all).to_owned();
        }
        let one = self.interval(depth - 1);
        match self.0.below(12) {
            0 | 1 => format!("({one} {} {})", self.one(&["+", "-"]), self.interval(depth - 1)),
            2 => format!("({one} * {})", self.one(&["2", "1.5", "-1", "i", "0.1"])),
            3 => format!("({one} / {})", self.one(&["2", "3", "-4"])),
            4 => "(ts - timestamp '2000-01-01')".to_owned(),
            5 => "age(ts, timestamp '2001-05-31')".to_owned(),
            6 => format!("justify_{}({one})", self.one(&["days", "hours", "interval"])),
            7 => format!("make_interval(days => {}, hours => 30)", self.one(&["3", "i"])),
            8 => format!("date_trunc('{}', {one})", self.one(&["hour", "day", "month", "minute"])),
            9 => "(ti - time '10:00')".to_owned(),
            10 => format!("greatest({one}, {})", self.interval(0)),
            _ => format!("coalesce({one}, interval '0')"),
        }
    }

    fn number(&mut self, depth: usize) -> String {
        match self.0.below(11) {
            0 => format!("{}({})", self.one(&["cardinality", "array_ndims"]), self.array(depth)),
            1 => format!("{}({}, 1)", self.one(&["array_length", "array_upper", "array_lower"]), self.array(depth)),
            2 => format!("({})[{}]", self.array(depth), self.one(&["1", "2", "-1", "0", "9", "i"])),
            3 => format!("array_position({}, {})", self.array(depth), self.one(&["1", "i", "2"])),
            4 | 5 => {
                let call = self.one(&["sum", "max", "count", "min"]);
                format!("(select {call}(x) from unnest({}) as u(x))", self.array(depth))
            }
            6 | 7 => {
                let part = self.one(&["year", "month", "day", "hour", "minute", "second", "epoch"]);
                format!("extract({part} from {})", self.interval(depth))
            }
            8 => format!("extract({} from ti)", self.one(&["hour", "minute", "second", "epoch", "milliseconds"])),
            9 => format!("extract({} from tz)", self.one(&["epoch", "year", "hour", "isoyear", "week", "doy"])),
            _ => self.one(&["(j->>'k')::int", "(j->'o'->'p'->>0)::int", "(tz::date - d)"]).to_owned(),
        }
    }

    fn condition(&mut self, depth: usize) -> String {
        match self.0.below(8) {
            0 | 1 => {
                let operator = self.one(&["=", "<>", "<", ">", "@>", "<@", "&&"]);
                format!("{} {operator} {}", self.array(depth), self.array(depth))
            }
            2 => {
                let (one, operator) = (self.one(&["1", "i", "7"]), self.one(&["=", "<", ">", "<>", ">="]));
                format!("{one} {operator} {}({})", self.one(&["any", "all"]), self.array(depth))
            }
            3 => {
                let operator = self.one(&["=", "<", ">", "<>"]);
                format!("{} {operator} {}", self.interval(depth), self.interval(depth))
            }
            4 => format!("{} is distinct from {}", self.array(depth), self.array(depth)),
            5 => format!("i in (select x from unnest({}) as u(x))", self.array(depth)),
            6 => format!("ti {} time '13:05:09.25'", self.one(&["<", ">", "="])),
            _ => {
                let all =
                    ["st @> array['x']", "'y' = any(st)", "j->'o' is null", "(j->>'s') = 't'", "tz > d", "ts >= d"];
                self.one(&all).to_owned()
            }
        }
    }

    fn time(&mut self, depth: usize) -> String {
        let zone = self.one(&["Europe/Berlin", "UTC", "America/New_York"]);
        match self.0.below(9) {
            0 => format!("(tz + {})", self.interval(depth)),
            1 => format!("(ts - {})", self.interval(depth)),
            2 => format!("(d + {})", self.interval(depth)),
            3 => format!("date_trunc('{}', tz)", self.one(&["week", "month", "hour", "quarter", "day"])),
            4 => format!("({} at time zone '{zone}')", self.one(&["tz", "ts"])),
            5 => format!("to_timestamp({})", self.one(&["0", "1e9", "1709211909.5", "-1.25"])),
            6 => format!("date_bin('{}', ts, timestamp '2000-01-01')", self.one(&["15 minutes", "1 day", "2 hours"])),
            7 => format!("timezone('{zone}', tz)"),
            _ => self.one(&["tz::date", "tz::time", "(ti + interval '11 hours')", "(d + ti)", "ts::time"]).to_owned(),
        }
    }

    fn text(&mut self, depth: usize) -> String {
        match self.0.below(6) {
            0 | 1 => format!("array_to_string({}, ',', 'N')", self.array(depth)),
            2 => format!("({})::text", self.condition(depth)),
            3 => format!("(st)[{}]", self.one(&["1", "4", "9"])),
            4 => format!("to_jsonb({})::text", self.number(0)),
            _ => {
                let all = [
                    "j->>'s'",
                    "j->'o'->'p'->>1",
                    "(j#>>'{o,p,1}')",
                    "(j->'o')::text",
                    "(j#>'{o,p}')::text",
                    "(j->-1)::text",
                    "(j->0)::text",
                    "j->>'zz'",
                    "jsonb_build_array(i, 'x', null, true)::text",
                    "array_to_string(array(select upper(x) from unnest(st) as u(x) order by x desc nulls last), '+')",
                ];
                self.one(&all).to_owned()
            }
        }
    }

    fn any(&mut self) -> String {
        let depth = [0, 1, 1, 2][usize::try_from(self.0.below(4)).unwrap()];
        match self.0.below(5) {
            0 => self.number(depth),
            1 => self.condition(depth),
            2 => self.interval(depth),
            3 => self.time(depth),
            _ => self.text(depth),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arrays_intervals_and_json_have_the_same_texts() {
    let mut expressions = Expressions(Dice(7));
    let made: Vec<String> = (0..EXPRESSIONS).map(|_| expressions.any()).collect();
    let postgres = servers::database(Kind::Postgres, TRY);
    let query = |own: &String| format!("select coalesce(({own})::text, '<null>') as x from {ROWS} order by row");
    let tried = |own: &String| format!("try($q$(select string_agg(x, chr(10)) from ({}) as q)$q$)", query(own));
    let tried: Vec<String> = made.iter().map(tried).collect();
    let told = postgres.run(&format!("select array_to_json(array[{}]);", tried.join(",\n")));
    let told: Vec<String> = serde_json::from_str(told.trim()).expect("a text of each");
    let world = World::new(false);
    let (mut wrong, mut good, mut refused) = (Vec::new(), 0, Vec::new());
    for (own, there) in made.iter().zip(&told) {
        // More is taken here, such as arrays of one number and another type.
        if there.starts_with("refused: ") {
            continue;
        }
        match world.answer(&query(own)).await {
            Ok(here) if here.lines().map(plain).eq(there.lines().map(plain)) => good += 1,
            Ok(here) => wrong.push(format!("`{own}`\n  here: {here:?}\n  there: {there:?}")),
            Err(error) if error.code == Code::InvalidSql => refused.push(format!("`{own}`: {}", error.message)),
            Err(error) => wrong.push(format!("`{own}`\n  here: {error:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ, {good} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(good > EXPRESSIONS * 3 / 4, "{good} answered, {} refused:\n{}", refused.len(), refused.join("\n"));
}
