//! Generated joins, groupings, set operations and subqueries, here and in PostgreSQL: the same rows, in whatever order.
//! Some are refused here; none is answered otherwise.

use salver_model::Code;
use salver_testkit::servers::{self, Kind};

use super::generated::Dice;
use super::{TABLE, World, plain};

/// PostgreSQL's rows of a query, each cell as text; or why it refuses it.
const ROWS: &str = "create function rows_of(q text) returns text language plpgsql as $$ declare r text; begin
    execute 'select coalesce(json_agg((select json_agg(c.value) from json_each_text(row_to_json(t)) as c)), ''[]'')
    from (' || q || ') as t' into r; return r;
    exception when others then return 'refused: ' || sqlerrm; end $$;";
const QUERIES: usize = 600;

/// A table of a query: its columns, those of numbers first.
struct From {
    text: String,
    numbers: Vec<String>,
    texts: Vec<String>,
}

/// Queries over the tables `n` and `m`.
struct Queries {
    dice: Dice,
    /// How many tables have a name.
    named: usize,
}

impl Queries {
    fn one<'t>(&mut self, of: &[&'t str]) -> &'t str {
        of[self.dice.below(of.len() as u64) as usize]
    }

    fn any(&mut self, of: &[String]) -> String {
        self.dice.pick(of).clone()
    }

    fn percent(&mut self, chance: u64) -> bool {
        self.dice.below(100) < chance
    }

    fn name(&mut self) -> String {
        self.named += 1;
        format!("q{}", self.named)
    }

    fn table(&mut self) -> From {
        let name = self.name();
        self.table_named(&name)
    }

    /// The table of a query within another. Now and then it has the name of one around it, which is hidden then.
    fn table_within(&mut self, outer: &[String]) -> From {
        if self.percent(80) {
            return self.table();
        }
        let name = self.any(outer).split('.').next().unwrap_or_default().to_owned();
        self.table_named(&name)
    }

    fn table_named(&mut self, name: &str) -> From {
        let own = self.one(&["n", "m"]);
        // Now and then it keeps the name that it has.
        let (text, name) = match self.percent(15) {
            true => (own.to_owned(), own),
            false => (format!("{own} as {name}"), name),
        };
        let column = |column: &str| format!("{name}.{column}");
        match own {
            "n" => From { text, numbers: vec![column("i")], texts: vec![column("s")] },
            _ => From { text, numbers: vec![column("k"), column("v")], texts: Vec::new() },
        }
    }

    fn from(&mut self) -> From {
        let one = self.table();
        match self.dice.below(8) {
            0 | 1 => one,
            2..=5 => {
                let mut both = self.table();
                let kind = self.one(&["join", "left join", "right join", "full join", "cross join"]);
                let mut text = format!("{} {kind} {}", one.text, both.text);
                if kind != "cross join" {
                    let (left, right) = (self.any(&one.numbers), self.any(&both.numbers));
                    text += &format!(" on {left} = {right}");
                    if self.percent(25) {
                        let side = if self.percent(50) { &one } else { &both };
                        let columns = side.numbers.clone();
                        text += &format!(" and {}", self.condition_of_query(&columns));
                    }
                }
                both.numbers.splice(0..0, one.numbers);
                both.texts.extend(one.texts);
                From { text, ..both }
            }
            6 => {
                let (name, by, of) = (self.name(), self.any(&one.numbers), self.any(&one.numbers));
                let text =
                    format!("(select {by} as a, count(*) as b, sum({of}) as c from {} group by 1) as {name}", one.text);
                let numbers = ["a", "b", "c"].map(|column| format!("{name}.{column}"));
                From { text, numbers: numbers.into(), texts: Vec::new() }
            }
            _ => {
                let (name, other) = (self.name(), self.table());
                let (item, outer) = (self.any(&other.numbers), self.any(&one.numbers));
                let text = format!(
                    "{}, lateral (select {item} as a from {} where {} = {outer}) as {name}",
                    one.text,
                    other.text,
                    self.any(&other.numbers)
                );
                let numbers = [one.numbers, vec![format!("{name}.a")]].concat();
                From { text, numbers, texts: one.texts }
            }
        }
    }

    /// A number of one row.
    fn number(&mut self, columns: &[String], depth: usize) -> String {
        if depth == 0 || self.percent(40) {
            return self.any(columns);
        }
        let one = self.number(columns, depth - 1);
        match self.dice.below(7) {
            0 => format!("{one} {} {}", self.one(&["+", "-", "*"]), self.number(columns, depth - 1)),
            1 => format!("coalesce({one}, {})", self.one(&["0", "7"])),
            2 => format!("case when {} then {one} else {} end", self.plain_condition(columns), self.any(columns)),
            3 => format!("nullif({one}, {})", self.any(columns)),
            4 => format!("abs({one})"),
            5 => format!("coalesce(({})::int, 2)", self.member(columns)),
            _ => self.one_of_query(columns),
        }
    }

    /// Whether a value is among those of a query.
    fn member(&mut self, columns: &[String]) -> String {
        let sought = match self.dice.below(6) {
            0 => self.one(&["1", "7", "null::bigint"]).to_owned(),
            1 => format!("{} + 0", self.any(columns)),
            _ => self.number(columns, 1),
        };
        format!("{sought} {}in ({})", self.one(&["", "not "]), self.many_of_query(columns))
    }

    /// A query that gives one value, which may depend on the row around it.
    fn one_of_query(&mut self, outer: &[String]) -> String {
        let from = self.table_within(outer);
        let (item, filter) = (self.any(&from.numbers), self.bound(&from, outer));
        match self.dice.below(6) {
            4 => format!("(select distinct {item} from {} where {item} = {})", from.text, self.any(outer)),
            5 => {
                let (number, inner) = (self.any(outer), self.table_within(outer));
                let within = self.bound(&inner, &from.numbers);
                let exists = format!("exists (select 1 from {} where {within} and {})", inner.text, {
                    let own = self.any(&inner.numbers);
                    format!("{own} >= {number}")
                });
                format!("(select count({item}) from {} where {filter} and {exists})", from.text)
            }
            0 | 1 => {
                let call = self.one(&["max", "min", "sum", "count", "avg"]);
                format!("(select {call}({item}) from {} where {filter})", from.text)
            }
            2 => format!("(select count(*) from {} where {filter})", from.text),
            _ => {
                format!("(select {item} from {} where {filter} order by 1 nulls last limit 1)", from.text)
            }
        }
    }

    /// A condition of a query's own row, often beside the row around it.
    fn bound(&mut self, from: &From, outer: &[String]) -> String {
        if self.percent(30) {
            return self.plain_condition(&from.numbers);
        }
        let (own, operator) = (self.any(&from.numbers), self.one(&["=", "=", "=", "<", ">", "<>"]));
        format!("{own} {operator} {}", self.any(outer))
    }

    fn plain_condition(&mut self, columns: &[String]) -> String {
        let (one, other) = (self.any(columns), self.any(columns));
        match self.dice.below(6) {
            0 => format!("{one} {} {other}", self.one(&["=", "<", ">=", "<>"])),
            1 => format!("{one} {} {}", self.one(&["=", "<", ">=", "<>"]), self.one(&["2", "10"])),
            2 => format!("{one} is {}null", self.one(&["", "not "])),
            3 => format!("{one} {}in (1, 2, {})", self.one(&["", "not "]), self.one(&["null", "10", "5"])),
            4 => format!("{one} between 2 and 9"),
            _ => format!("{one} is distinct from {other}"),
        }
    }

    fn condition(&mut self, from: &From, depth: usize) -> String {
        let columns = &from.numbers;
        if depth == 0 {
            return self.plain_condition(columns);
        }
        match self.dice.below(10) {
            0 | 1 => self.plain_condition(columns),
            8 => self.condition_of_query(columns),
            2 | 3 => {
                let one = self.condition(from, depth - 1);
                format!("({one} {} {})", self.one(&["and", "or"]), self.condition(from, depth - 1))
            }
            4 => format!("not ({})", self.condition(from, depth - 1)),
            5 => {
                let (not, skip) = (self.one(&["", "not "]), self.one(&["", "", " limit 1", " offset 1"]));
                format!("{not}exists ({}{skip})", self.many_of_query(columns))
            }
            6 => self.member(columns),
            7 => format!("{} {} {}", self.any(columns), self.one(&["=", "<", ">="]), self.one_of_query(columns)),
            _ => {
                let (one, operator) = (self.any(columns), self.one(&["=", "<", ">=", "<>"]));
                format!("{one} {operator} {} ({})", self.one(&["any", "all"]), self.many_of_query(columns))
            }
        }
    }

    /// A condition with a subquery, or with one in another, which name the row around both.
    fn condition_of_query(&mut self, outer: &[String]) -> String {
        let (from, inner) = (self.table_within(outer), self.table());
        let (first, second) = (self.one(&["", "not "]), self.one(&["", "not "]));
        let bound = self.bound(&from, outer);
        if self.percent(40) {
            return format!("{first}exists (select 1 from {} where {bound})", from.text);
        }
        let (near, far) = (self.bound(&inner, &from.numbers), self.bound(&inner, outer));
        format!(
            "{first}exists (select 1 from {} where {bound} and {second}exists (select 1 from {} where {near} and \
             {far}))",
            from.text, inner.text
        )
    }

    fn many_of_query(&mut self, outer: &[String]) -> String {
        if self.percent(10) {
            let (one, other) = (self.table(), self.table());
            let (first, second) = (self.bound(&one, outer), self.bound(&other, outer));
            let (own, another) = (self.any(&one.numbers), self.any(&other.numbers));
            return format!(
                "select {own} from {} where {first} union select {another} from {} where {second}",
                one.text, other.text
            );
        }
        let from = self.table_within(outer);
        format!("select {} from {} where {}", self.any(&from.numbers), from.text, self.bound(&from, outer))
    }

    /// A query of two columns where `plainly`, so that others can stand beside it.
    fn select(&mut self, plainly: bool) -> String {
        let from = self.from();
        let filter = if self.percent(60) { format!(" where {}", self.condition(&from, 2)) } else { String::new() };
        let all = [from.numbers.clone(), from.texts.clone()].concat();
        let (one, other, number) = (self.any(&from.numbers), self.any(&all), self.any(&from.numbers));
        let rest = format!("from {}{filter}", from.text);
        match if plainly { 9 } else { self.dice.below(8) } {
            0 | 1 => {
                let by = match self.dice.below(4) {
                    0 => format!("{one}, {other}"),
                    1 => format!("rollup({one}, {other})"),
                    2 => format!("cube({one}, {other})"),
                    _ => format!("grouping sets (({one}), ({other}), ())"),
                };
                let of = self.number(&from.numbers, 1);
                let having = if self.percent(30) { " having count(*) > 1" } else { "" };
                format!(
                    "select {one} as a, {other} as b, count(*) as c, sum({of}) as d, count(distinct {number}) as e, \
                     min({number}) filter (where {}) as f {rest} group by {by}{having}",
                    self.plain_condition(&from.numbers)
                )
            }
            2 => {
                let call = self.one(&["sum", "avg", "count", "max"]);
                format!("select {call}({}) as a, count(*) as b {rest}", self.number(&from.numbers, 2))
            }
            3 => {
                let call = match self.dice.below(4) {
                    0 => "rank()".to_owned(),
                    1 => "count(*)".to_owned(),
                    _ => format!("{}({number})", self.one(&["sum", "max", "avg"])),
                };
                let end = self.one(&["first", "last"]);
                format!(
                    "select {number} as a, {call} over (partition by {other} order by {one} nulls {end}) as b {rest}"
                )
            }
            9 => format!("select {one} as a, {number} as b {rest}"),
            _ => {
                let distinct = self.one(&["", "", "distinct "]);
                let (one, other) = (self.number(&from.numbers, 2), self.number(&from.numbers, 1));
                format!("select {distinct}{one} as a, {other} as b, {} as c {rest}", self.any(&all))
            }
        }
    }

    fn query(&mut self) -> String {
        match self.dice.below(10) {
            0 => {
                let kind = self.one(&["union", "union all", "intersect", "except", "except all", "intersect all"]);
                format!("{} {kind} {}", self.select(true), self.select(true))
            }
            1 => {
                let kind = self.one(&["join", "left join", "full join"]);
                let by = self.select(true);
                format!("with w as ({by}) select x.a, y.b from w as x {kind} w as y on x.a = y.b")
            }
            _ => self.select(false),
        }
    }
}

fn sorted(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    rows.iter_mut().flatten().for_each(|cell| *cell = plain(cell));
    rows.sort();
    rows
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_and_subqueries_give_the_same_rows() {
    let mut queries = Queries { dice: Dice(11), named: 0 };
    let made: Vec<String> = (0..QUERIES).map(|_| queries.query()).collect();
    same_rows(&made, &World::new(false)).await;
}

/// Compares the rows of queries with PostgreSQL's. Most must be answered.
pub(super) async fn same_rows(made: &[String], world: &World) {
    let postgres = servers::database(Kind::Postgres, &format!("{TABLE} {ROWS}"));
    let asked: Vec<String> = made.iter().map(|query| format!("rows_of($q${query}$q$)")).collect();
    let told = postgres.run(&format!("select array_to_json(array[{}]);", asked.join(",\n")));
    let told: Vec<String> = serde_json::from_str(told.trim()).expect("a text of each");
    let (mut wrong, mut good, mut refused) = (Vec::new(), 0, Vec::new());
    for (query, there) in made.iter().zip(&told) {
        let here = world.answer(query).await;
        let Ok(there) = serde_json::from_str::<Vec<Vec<Option<String>>>>(there) else {
            // What PostgreSQL can't order or fit into its numbers may be answered here.
            assert!(there.starts_with("refused: "), "{query}: {there}");
            continue;
        };
        let there = there.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect();
        match here {
            Ok(here) => {
                let here = here.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect();
                let (here, there) = (sorted(here), sorted(there));
                if here == there {
                    good += 1;
                } else {
                    wrong.push(format!("`{query}`\n  here: {here:?}\n  there: {there:?}"));
                }
            }
            Err(error) if error.code == Code::InvalidSql => refused.push(format!("`{query}`: {}", error.message)),
            Err(error) => wrong.push(format!("`{query}`\n  here: {error:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ, {good} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(good > made.len() * 4 / 5, "{good} answered, {} refused:\n{}", refused.len(), refused.join("\n"));
}
