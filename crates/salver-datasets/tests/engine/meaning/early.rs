//! Conditions on outer rows are applied before subqueries are computed for each of these rows.

use super::World;

#[tokio::test(flavor = "multi_thread")]
async fn conditions_on_outer_rows_come_first() {
    let world = World::new(false);
    let of_each = "(select b.v from m as b where b.v >= a.v order by b.v limit 1)";
    for (text, condition) in [
        (format!("select a.k, c.v from m as a cross join lateral {of_each} as c where a.k < 5"), "k < Int64(5)"),
        (format!("select a.k, c.v from m as a left join lateral {of_each} as c on true where a.k < 5"), "k < Int64(5)"),
        (format!("select a.k from m as a where a.k < 5 and {of_each} > 3"), "k < Int64(5)"),
        (format!("select a.k from m as a, n as o where a.k = o.i and {of_each} > o.i"), "Inner Join: a.k = o.i"),
        (format!("select a.k from m as a, n as o, lateral {of_each} as c where a.k = o.i"), "Inner Join: a.k = o.i"),
    ] {
        let plan = world.answer(&format!("explain {text}")).await.unwrap();
        let plan = plan.split("physical_plan").next().unwrap();
        let (numbered, applied) = (plan.find("row_number() ROWS"), plan.rfind(condition));
        assert!(numbered.is_some() && applied > numbered, "{text}: {plan}");
    }
}

/// One that may fail stays behind the others.
#[tokio::test(flavor = "multi_thread")]
async fn conditions_that_may_fail_stay() {
    let world = World::new(false);
    let text = "select a.k from m as a where exists (select 1 from m as b where b.k = a.k and b.v > 5) and a.k <> 0 \
                and 10 / a.k > 1 order by a.k";
    assert_eq!(world.answer(text).await.unwrap(), "1\n1");
}
