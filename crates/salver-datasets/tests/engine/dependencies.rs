//! Groups whose rows a join or `unnest` multiplies are not unique any more, and what depends on that is computed: the
//! same statement over the rows themselves gives the same answer.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use salver_model::ports::Tables;

use super::generated::{self, Catalog, Dice, shown};

/// What gives the rows of `t` again, by way of its groups.
const DETOURS: [&str; 5] = [
    "select g, unnest(xs) as x from (select g, array_agg(x) as xs from t group by g) a",
    "select a.g, t.x from (select g from t group by g) a join t on a.g = t.g",
    "select a.g, t.x from t left join (select distinct g, 1 as one from t) a on a.g = t.g",
    "select a.g, b.x from (select g, count(*) as n from t group by g) a, lateral (select x from t where t.g = a.g) b",
    "select g, x from (select a.g, b.x, b.n from (select g from t group by g) a join (select g, x, count(*) as n from t \
     group by g, x) b using (g) group by b.n, b.x, a.g) q, generate_series(1, n) as s(i)",
];

/// What can be asked of them. Each order is total, or of rows that are alike.
const STATEMENTS: [&str; 12] = [
    "select distinct g from d order by g",
    "select g, count(*) as n from d group by g, x order by g, n",
    "select g, count(*) as n from d group by x, g having count(*) > 1 order by 1, 2",
    "select g, count(distinct x) as n from d group by g order by g",
    "select g, sum(distinct x) as n from d group by x is null, g order by g, n",
    "select g, x from d order by g, x desc nulls last",
    "select count(*) as n from (values ('a'), ('b')) v(g) left join d on d.g = v.g",
    "select v.g from (values ('a'), ('b')) v(g) left join d on d.g = v.g order by 1",
    "select g, x, sum(x) over (order by g) as s from d order by g, x, s",
    "select g, x, count(*) over (partition by g order by g) as n from d order by g, x",
    "select count(*) as n from d a join d b on a.g = b.g",
    "select g, max(n) as n from (select g, x, count(*) as n from d group by g, x) s group by g, n order by g, n",
];

fn table(dice: &mut Dice) -> RecordBatch {
    let rows = 1 + dice.below(40);
    let groups: Vec<String> = (0..rows).map(|_| ["a", "b", "c", ""][dice.below(4) as usize].to_owned()).collect();
    let numbers: Vec<Option<i64>> = (0..rows).map(|_| (!dice.one_in(8)).then(|| dice.below(5) as i64)).collect();
    let columns: [(&str, ArrayRef); 2] =
        [("g", Arc::new(StringArray::from(groups))), ("x", Arc::new(Int64Array::from(numbers)))];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_multiplied_is_not_unique() {
    let mut dice = Dice(42);
    for _ in 0..8 {
        let (engine, _dir) = generated::engine();
        let held = generated::resident(&generated::spec("t", &[]), &table(&mut dice), &engine);
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(held)]));
        for statement in STATEMENTS {
            let right = shown(&engine, &tables, &format!("with d as (select * from t) {statement}")).await;
            for detour in DETOURS {
                let common = format!("with d as ({detour}) {statement}");
                assert_eq!(shown(&engine, &tables, &common).await, right, "{common}");
            }
        }
    }
}
