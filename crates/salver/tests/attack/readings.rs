//! Words of SQL that begin more than one thing, nested: the parser reads what follows again in another way when the
//! first fails, so that each level may double its time. Whatever they are, the answer comes, and the server goes on.

use super::siege::Siege;

/// What begins an expression.
#[rustfmt::skip]
const EXPRESSIONS: [&str; 201] = [
    "array[", "[", "(", "((1),", "struct(", "row(", "tuple(", "f(", "f(x=>", "f(x:=", "f(distinct ", "f(all ",
    "coalesce(a,", "map{'a':", "map [", "{'a':", "{a:", "case when ", "case ", "case when 1 then ",
    "case when 1 then 1 else ", "cast(", "try_cast(", "safe_cast(", "convert(", "convert(int,", "extract(year from ",
    "extract(", "ceil(", "floor(", "ceil(1 to ", "position(", "position(1 in ", "substring(", "substring(a from ",
    "substring(a,", "overlay(", "overlay(a placing ", "trim(", "trim(both ", "trim(both 'x' from ", "trim(a,",
    "exists(", "exists(select ", "not exists(select ", "(select ", "1 in (", "1 in (select ", "1 in unnest(",
    "1=any(", "1=all(select ", "not ", "not (", "- (", "interval ", "interval (", "interval '1' + (", "date ",
    "timestamp ", "timestamp (", "a[", "a[1:", "a[:", "a.b[", "a::int[", "a:b[", "a->", "a->>(", "(x)->", "x->",
    "(x,y)->", "f(x->", "f((x,y)->", "lambda x: ", "a between ", "a between 1 and (", "a like (",
    "a like 'x' escape (", "a is distinct from (", "sum(a) over (order by ", "sum(a) over (partition by ",
    "count(*) filter (where ", "first_value(a order by ", "array_agg(a order by (",
    "percentile_cont(0.5) within group (order by ", "grouping(", "(a).b.(", "listagg(a, ",
    "group_concat(a separator ", "json_object(", "json_object('a':", "json_object('a' value ", "json_array(",
    "normalize(", "a at time zone (", "a collate (", "a overlaps (", "a is json (", "a operator(pg_catalog.+) (",
    "@(", "~(", "!(", "a::(", "prior ", "connect_by_root ", "match (a) against (", "values (", "if(",
    "struct<a int>(", "struct<a array<", "array<int>[", "array<int>(", "cast(a as ", "cast(a as array<",
    "cast(a as struct<a ", "cast(a as struct<a:", "cast(a as map(", "cast(a as map<int,", "cast(a as tuple(",
    "cast(a as nested(", "cast(a as nullable(", "cast(a as lowcardinality(", "cast(a as table(a ", "a::array<",
    "a::struct(a ", "a::nullable(", "a::enum(", "date(", "year(", "trunc(", "{fn ", "{d ", "$$", "e'", "n'", "b'",
    "x'", "ANY_VALUE(a having max ", "arr[array[", "f(array[", "(array[", "array[(", "array(", "array(select ",
    "unnest(", "unnest([", "map(", "multiset[", "set(", "f(table ", "f(select ", "f(variadic ", "(table ",
    "(values (", "(with a as (", "with a as (", "1 + (", "1 ", " (", "(1,(", "((", "(((", "[[", "[(", "([", "{(",
    "(a,b) in (", "(a,b)=(", "(a,b) overlaps (", "not(not(", "a is true and (", "try(", "a?", "a@>", "try_convert(",
    "exists (", "current of ", "all(", "any(", "some(", "a in (1,", "case a when ", "default(", "charset _", "_utf8 ",
    "a;(", "schema.f(", "f()(", "f()[", "f().a(", "f(a)(b)(", "f(*,", "f(* except (", "f(* replace(", "a.*",
    "t.* exclude (", "* replace (", "f(a)::int[", "interval a[", "interval f(", "interval case when ",
];

/// What begins a statement, or a part of one that statements may stand in.
#[rustfmt::skip]
const STATEMENTS: [&str; 87] = [
    "select * from (", "select * from ((", "select * from (a join (", "select * from a join (",
    "select * from lateral (", "select * from table(", "select * from unnest(", "select * from a, (",
    "select * from a join b on (", "select * from a join b using (", "select * from a where (",
    "select * from a where a in (", "select * from a group by (", "select * from a group by cube(",
    "select * from a group by rollup((", "select * from a group by grouping sets ((",
    "select * from a group by grouping sets (cube(", "select * from a order by (", "select * from a limit (",
    "select * from a having (", "select * from a pivot(sum(a) for b in (", "select * from a unpivot(",
    "select * from (values (", "select * from a tablesample (", "select * from json_table(",
    "select * from openjson(", "select * from xmltable(", "select * from f(", "select * from f(table ",
    "select * from a match_recognize(", "select * from {", "select * from (table ", "with a as (",
    "with recursive a as (", "with a(b) as materialized (", "(select ", "((select ", "(", "((", "select 1 union (",
    "select 1 union all select (", "select 1 except ((", "values (", "values ((", "select distinct on (",
    "select top (", "select all (", "select * except (", "select * exclude (", "select * replace (", "select a as (",
    "select 1 from a window w as (", "select sum(a) over (", "select sum(a) over (order by a rows between (",
    "select 1 from a qualify (", "select 1 from a connect by (", "select 1 from a for update of (", "explain ",
    "explain (", "explain analyze ", "describe ", "from (", "from a select (", "table (",
    "select 1 from a lateral view explode(", "select 1 settings a=(", "select 1 from a sort by (",
    "select 1 from a distribute by (", "select 1 from a cluster by (", "select 1 from a prewhere (",
    "select 1 from a where a = any(", "/*", "select 1 into (", "select 1 from a fetch first (", "select 1 offset (",
    "select 1 limit 1 by (", "select 1 from a as t(", "select 1 from a as t(a ", "select 1 from a as of (",
    "select 1 from a for system_time as of (", "select 1 from a with (", "select 1 from a partition (",
    "select 1 from a use index (", "select 1 from (select 1 from a join ", "select 1 from (a ",
    "select 1 from (a join b on ", "select 1 from ((a) join ",
];

/// What stands at the bottom, mostly nothing that could.
const BOTTOMS: [&str; 5] = ["1 1", "", "as", ",", "1"];
const LEVELS: [usize; 4] = [3, 11, 24, 48];
/// Mixtures of several openings.
const MIXTURES: usize = 400;

fn ask(siege: &Siege, text: &str) {
    let answer = siege.server().post("/api/sql", text);
    assert!(
        answer.status == 200 || (400..500).contains(&answer.status),
        "{}: {} {}",
        &text[..text.floor_char_boundary(200)],
        answer.status,
        answer.text()
    );
}

#[test]
fn openings_are_read_a_bounded_number_of_times() {
    let siege = Siege::of("", &[("a.csv", b"a,b\n1,x\n2,y\n")]);
    for (start, openings) in [("select ", &EXPRESSIONS[..]), ("", &STATEMENTS[..])] {
        for opening in openings {
            for levels in LEVELS {
                for bottom in BOTTOMS {
                    ask(&siege, &format!("{start}{}{bottom}", opening.repeat(levels)));
                }
            }
        }
        siege.is_at_rest("openings");
    }
}

#[test]
fn mixtures_of_openings_are_read_a_bounded_number_of_times() {
    let siege = Siege::of("", &[("a.csv", b"a,b\n1,x\n2,y\n")]);
    let mut seed = 12_u64;
    let mut roll = |sides: usize| {
        // SplitMix64's steps and constants.
        seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        usize::try_from((mixed >> 33) % sides as u64).unwrap()
    };
    for _ in 0..MIXTURES {
        let kinds = [(); 3].map(|()| EXPRESSIONS[roll(EXPRESSIONS.len())]);
        let levels = 4 + roll(45);
        let text: String = (0..levels).map(|_| kinds[roll(3)]).collect();
        ask(&siege, &format!("select {text}{}", BOTTOMS[roll(BOTTOMS.len())]));
    }
    siege.is_at_rest("mixtures");
}
