//! Values of two types beside each other, and texts without a type beside each, here and in PostgreSQL: the same texts.
//! Some are refused here; none is answered otherwise.

use salver_model::Code;
use salver_testkit::servers::{self, Kind};

use super::World;
use super::expressions::TRY;
use super::generated::Dice;

/// Values of each type; the last are texts without a type of their own.
const VALUES: [&[&str]; 17] = [
    &["1", "7", "2147483648", "(-1)::int2"],
    &["1.50", "0.1", "2.5", "1e3"],
    &["0.1::real", "2.5::real", "5::real", "'NaN'::real"],
    &["0.1::float8", "2.5::float8", "1::float8"],
    &["date '2024-01-01'", "date '9999-12-31'", "date '0001-01-01'"],
    &["timestamp '2024-01-01 02:30'", "timestamp '9999-12-31'", "timestamp '2024-01-01'"],
    &["timestamptz '2024-01-01 02:30+00'", "timestamptz '9999-12-31 00:00+00'", "timestamptz '2024-01-01+00'"],
    &["interval '1 day'", "interval '24 hours'", "interval '30 days'", "interval '1 month'"],
    &["true", "false"],
    &["time '12:00'", "time '23:59:59.999999'"],
    &["'x'::text", "'1'::text", "''::text"],
    &[r"'\x61'::bytea", "''::bytea"],
    &["array[1, 2]", "'{}'::int[]", "array[1, null]"],
    &["array['x', '1']", "array[0.1, 2.5]", "array[0.1::real, 5]"],
    &["array[interval '1 day']", "array[date '2024-01-01']"],
    &["'1'", "'0.1'", "'2.50'", "'t'", "'x'", r"'\x61'", "null", "''", "'{1, 2}'", "'{}'", "'{24:00:00}'", "'{0.1,5}'"],
    &["'2024-01-01'", "'2024-01-01 02:30'", "'2024-01-01 02:30:00+02'", "'1 day'", "'24:00:00'", "'12:00'"],
];
/// The types that stand beside each other.
const TOGETHER: [&[usize]; 4] = [&[0, 1, 2, 3, 15], &[4, 5, 6, 7, 9, 16], &[8, 10, 11, 15], &[12, 13, 14, 15]];
/// What is made of two values, and a third.
const SHAPES: [&str; 76] = [
    "coalesce({a}, {b})",
    "coalesce(nullif({a}, {a}), {b})",
    "coalesce({a}, {b}, {c})",
    "greatest({a}, {b})",
    "greatest({a}, {b}, {c})",
    "least({a}, {b})",
    "least({a}, {b}, {c})",
    "nullif({a}, {b})",
    "case when true then {a} else {b} end",
    "case when false then {a} else {b} end",
    "case {a} when {b} then 'y' else 'n' end",
    "case when {a} = {b} then {a} when {a} < {b} then {b} else {c} end",
    "{a} = {b}",
    "{a} <> {b}",
    "{a} < {b}",
    "{a} >= {b}",
    "{a} is distinct from {b}",
    "{a} between {b} and {b}",
    "{a} between {b} and {c}",
    "{a} not between {b} and {c}",
    "{a} in ({b})",
    "{a} in ({b}, {b})",
    "{a} in ({b}, {c})",
    "{a} not in ({b}, {c})",
    "{a} = any(array[{b}])",
    "{a} = any(array[{b}, {c}])",
    "case when {a} = {b} then '1' else {c} end + 1",
    "(select sum(case when {a} < {b} then '2' else {c} end))",
    "{a} < any(array[{b}])",
    "{a} > all(array[{b}, {c}])",
    "{a} <> all(array[{b}])",
    "array[{a}, {b}]",
    "array[{a}, {b}, {c}]",
    "array_append(array[{a}], {b})",
    "array_prepend({b}, array[{a}])",
    "array[{a}] || {b}",
    "{b} || array[{a}]",
    "array_position(array[{a}], {b})",
    "array_positions(array[{a}, {c}], {b})",
    "array_remove(array[{a}], {b})",
    "array_replace(array[{a}], {b}, {c})",
    "array[{a}] = array[{b}]",
    "array[{a}] @> array[{b}]",
    "array[{a}] && array[{b}]",
    "array[{a}] < array[{b}]",
    "(select x from (select {a} as x union all select {b}) q order by 1 limit 1)",
    "(select x from (select {a} as x union select {b}) q order by 1 desc limit 1)",
    "(select count(*) from (select {a} as x union select {b}) q)",
    "(select count(*) from (select {a} as x intersect select {b}) q)",
    "(select count(*) from (select {a} as x except select {b}) q)",
    "(select x from (select {a} as x intersect select {b}) q)",
    "(select x from (select {a} as x except all select {b}) q)",
    "(select x from (select {a} as x intersect all select {b} union all select {c}) q order by 1 limit 1)",
    "(select count(*) from (select {a} as k) l join (select {b} as k) r using (k))",
    "(select count(*) from (select {a} as k) l join (select {b} as k) r on l.k = r.k)",
    "(select lag({a}, 1, {b}) over ())",
    "(select lead({a}, 1, {b}) over ())",
    "(select string_agg(x::text, ' ') from (values ({a}), ({b})) v(x))",
    "(select string_agg(x::text, ' ' order by x) from (values (1, {a}), (2, {b}), (3, {c})) v(i, x))",
    "(select count(distinct x) from (select {a} as x union all select {b}) q)",
    "(select array_length(array_agg(x), 1) from (select {a} as x union all select {b}) q)",
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} || {b}",
    "{a} @> {b}",
    "{a} && {b}",
    "{a} <@ {b}",
    "({a}, {b}) = ({b}, {a})",
    "({a}, {c}) < ({b}, {c})",
    "{a} in (select {b})",
    "{a} not in (select {b} union all select {b})",
    "{a} = any (select {b})",
    "{a} = (select {b})",
    "concat({a}, {b})",
    "to_json(array[{a}, {b}])",
];
const EXPRESSIONS: usize = 3_500;

/// Expressions over those values.
struct Pairs(Dice);

impl Pairs {
    fn value(&mut self, of: &[usize]) -> &'static str {
        let values = VALUES[*self.0.pick(of)];
        values[self.0.below(values.len() as u64) as usize]
    }

    fn expression(&mut self) -> String {
        // Most pairs of any two types have no meaning, which is not to be found out too often.
        let all: Vec<usize> = (0..VALUES.len()).collect();
        let of = if self.0.one_in(8) { &all } else { *self.0.pick(&TOGETHER) };
        let (a, b, c) = (self.value(of), self.value(of), self.value(of));
        self.0.pick(&SHAPES).replace("{a}", a).replace("{b}", b).replace("{c}", c)
    }
}

/// Writes the numbers of a text alike, however many digits they have.
fn with_plain_numbers(text: &str) -> String {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(is_of_number) {
        let (before, number) = rest.split_at(at);
        let (number, behind) = number.split_at(number.find(|c| !is_of_number(c)).unwrap_or(number.len()));
        plain += before;
        plain += &number.parse::<f64>().map_or_else(|_| number.to_owned(), |number| number.to_string());
        rest = behind;
    }
    plain + rest
}

/// Whether an array contains others: an empty one of these has another form here.
fn nests(expression: &str) -> bool {
    let mut depth = 0;
    expression.chars().any(|c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        depth > 1
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn values_beside_each_other_have_the_same_text() {
    let mut pairs = Pairs(Dice(5));
    let made: Vec<String> =
        std::iter::repeat_with(|| pairs.expression()).filter(|made| !nests(made)).take(EXPRESSIONS).collect();
    let postgres = servers::database(Kind::Postgres, TRY);
    let tried: Vec<String> = made.iter().map(|made| format!("try($q${made}$q$)")).collect();
    let told = postgres.run(&format!("set timezone = 'UTC'; select array_to_json(array[{}]);", tried.join(",\n")));
    let told: Vec<String> = serde_json::from_str(told.trim()).expect("a text of each");
    let world = World::new(false);
    let (mut wrong, mut good, mut refused) = (Vec::new(), 0, Vec::new());
    for (made, there) in made.iter().zip(&told).filter(|(_, there)| !there.starts_with("refused: ")) {
        match world.answer(&format!("select coalesce(({made})::text, '<null>')")).await {
            Ok(here) if with_plain_numbers(&here) == with_plain_numbers(there) => good += 1,
            Ok(here) => wrong.push(format!("`{made}`\n  here: {here:?}\n  there: {there:?}")),
            Err(error) if matches!(error.code, Code::InvalidSql | Code::Execution) => {
                refused.push(format!("`{made}`: {}", error.message));
            }
            Err(error) => wrong.push(format!("`{made}`\n  here: {error:?}")),
        }
    }
    assert!(wrong.is_empty(), "{} differ, {good} do not:\n{}", wrong.len(), wrong.join("\n"));
    assert!(good > 12 * refused.len(), "{good} answered, {} refused:\n{}", refused.len(), refused.join("\n"));
}
