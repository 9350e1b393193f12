//! Statements that read the same groups in several places, which are computed once, here and in PostgreSQL.

use super::World;
use super::generated::Dice;
use super::joined::same_rows;

const QUERIES: usize = 400;

/// Returns a statement that reads the groups `r` two or three times.
fn query(dice: &mut Dice) -> String {
    let groups = *dice.pick(&[
        "select k as a, sum(v) as b, count(*) as c from m group by k",
        "select v as a, max(k) as b, count(k) as c from m where k < 5 group by v",
        "select i as a, count(s) as b, min(i) as c from n group by i",
        "select count(*) as a, sum(k) as b, max(v) as c from m",
        "select m.k as a, count(*) as b, sum(n.i) as c from m join n on n.i = m.k group by m.k",
        "select distinct k as a, v as b, k as c from m",
        "select a, b, c from (select k as a, sum(v) as b, count(*) as c from m group by k) as x where b > 5",
    ]);
    let mut column = || *dice.pick(&["a", "b", "c"]);
    let (one, two, three) = (column(), column(), column());
    let body = match dice.below(9) {
        0 => format!("select {one}, {two} from R as x where {one} = (select max({one}) from R as y)"),
        1 => format!("select x.{one}, y.{two} from R as x join R as y on x.{three} = y.{three}"),
        2 => format!("select x.{one}, y.{two} from R as x left join R as y on x.{one} = y.{two} and y.{three} > 1"),
        3 => format!("select {one} as u, 1 as w from R as x union all select {two}, 2 from R as y"),
        4 => {
            let of = format!("select {three} from R as y");
            format!("select {one}, count(*) as n from R as x where {two} in ({of}) group by {one}")
        }
        5 => {
            let other = format!("select 1 from R as y where y.{two} > x.{three}");
            format!("select x.{one}, 1 as w from R as x where not exists ({other})")
        }
        6 => {
            let sum = format!("select sum({one}) from R as y");
            format!("select ({sum}) as s, (select count({two}) from R as z) as t, {three} from R as x")
        }
        7 => format!("select x.{one}, y.{two}, z.{three} from R as x, R as y, R as z where x.a = y.a and y.b = z.b"),
        _ => format!(
            "select {one}, 1 as w from R as x where {two} > 1 intersect select {three}, 1 from R as y where c < 3"
        ),
    };
    // Now and then the groups are written out everywhere.
    match dice.below(4) {
        0 => body.replace("R as", &format!("({groups}) as")),
        _ => format!("with r as ({groups}) {}", body.replace("R as", "r as")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_that_are_read_twice_are_the_same() {
    let mut dice = Dice(77);
    let made: Vec<String> = (0..QUERIES).map(|_| query(&mut dice)).collect();
    same_rows(&made, &World::new(false)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_computed_once() {
    let world = World::new(false);
    let groups = "with r as (select k, sum(v) as s from m group by k)";
    for (text, times) in [
        (format!("{groups} select k from r where s = (select max(s) from r)"), 2),
        (format!("{groups} select x.k, y.s from r as x join r as y on x.s = y.k"), 2),
        (format!("{groups} select k from r"), 0),
        (
            "with r as (select k, sum(random()) as s from m group by k) select k from r \
          where s = (select max(s) from r)"
                .to_owned(),
            0,
        ),
        // Equal names, and other tables.
        (
            "select (select count(*) from generate_series(1, 3)), (select count(*) from generate_series(1, 4))"
                .to_owned(),
            0,
        ),
    ] {
        let plan = world.answer(&format!("explain {text}")).await.unwrap();
        assert_eq!(plan.matches("SharedRowsExec").count(), times, "{text}: {plan}");
    }
}
