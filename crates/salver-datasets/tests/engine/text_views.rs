//! Texts that a statement only groups by are read from Parquet as views: scanned in place they give the groups that the
//! same rows have in memory, whatever else the statement does with them, and as the same type.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, DictionaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray,
};
use arrow::datatypes::Int32Type;

use super::generated::{self, Dice, WORDS, ask, shown};
use super::held::{Shape, every_way, write};

const ROWS: usize = 30_000;
const SHAPE: Shape = Shape { group_rows: 10_000, page_rows: 500, indexed: true };
const TEXTS: [&str; 4] = ["plain", "large", "\"view\"", "coded"];

/// Rows with texts in each form that a file can ask for. Most are in many rows, and some are longer than what fits into
/// a view.
fn file(seed: u64) -> RecordBatch {
    let mut dice = Dice(seed);
    let mut texts = |kinds: u64| -> Vec<Option<String>> {
        let text =
            |number: u64| format!("{}{}", WORDS[number as usize % WORDS.len()], "x".repeat(number as usize % 17));
        (0..ROWS).map(|_| (!dice.one_in(9)).then(|| text(dice.below(kinds)))).collect()
    };
    let columns: [(&str, ArrayRef); 5] = [
        ("plain", Arc::new(StringArray::from(texts(3)))),
        ("large", Arc::new(LargeStringArray::from(texts(40)))),
        ("view", Arc::new(StringViewArray::from(texts(170)))),
        ("coded", Arc::new(texts(5).iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>())),
        ("n", Arc::new(Int64Array::from_iter_values((0..ROWS as i64).map(|row| row % 1_000)))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true))).unwrap()
}

/// A statement that groups by one to three texts, which may also be read otherwise.
fn statement(dice: &mut Dice) -> String {
    let keys: Vec<&str> = (0..=dice.below(3)).map(|_| *dice.pick(&TEXTS)).collect();
    let (other, n) = (*dice.pick(&TEXTS), dice.below(1_000));
    let from = match dice.below(7) {
        0 => format!("t where n < {n}"),
        1 => format!("t where {other} > 'b'"),
        2 => format!("(select {other}, t.* from t where n <> {n}) t(e, plain, large, \"view\", coded, n)"),
        3 => "(select *, row_number() over (order by n, plain, large, \"view\", coded) as i from t limit 9000) t"
            .to_owned(),
        4 => format!("t join (values ({n}), (7)) as v(n) using (n)"),
        5 => format!("(select * from t where n < {n} union all select * from t where {other} is null) t"),
        _ => "t".to_owned(),
    };
    let more = match dice.below(6) {
        0 => format!("max({other})"),
        1 => format!("count(distinct {other})"),
        2 => format!("sum(length({other}))"),
        3 => format!("count(*) filter (where {other} = 'a')"),
        4 => "sum(n)".to_owned(),
        _ => "count(*)".to_owned(),
    };
    let end = match dice.below(5) {
        0 => format!("having min({other}) >= 'a'"),
        1 => format!("having {} <> 'Berlin' or count(*) > {n}", keys[0]),
        _ => String::new(),
    };
    let columns: Vec<String> = keys.iter().enumerate().map(|(at, key)| format!("{key} as k{at}")).collect();
    let columns = columns.join(", ");
    let order: Vec<String> = (1..=keys.len()).map(|at| at.to_string()).collect();
    let (group, order) = (keys.join(", "), order.join(", "));
    if dice.one_in(6) {
        return format!("select distinct {columns} from {from} order by {order}");
    }
    format!("select {columns}, {more} from {from} group by {group} {end} order by {order}")
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_those_of_texts() {
    let (engine, dir) = generated::engine();
    let folder = dir.path().join("t");
    std::fs::create_dir(&folder).unwrap();
    for number in 0..2 {
        write(&file(number + 1), &folder.join(format!("{number}.parquet")), SHAPE);
    }
    let [resident, scanned, cached] = every_way(&folder, &engine).await;
    let mut dice = Dice(20_261_130);
    for _ in 0..200 {
        let text = statement(&mut dice);
        for tables in [&scanned, &cached] {
            assert_eq!(shown(&engine, &resident, &text).await, shown(&engine, tables, &text).await, "{text}");
            // With their types.
            assert_eq!(ask(&engine, &resident, &text).await, ask(&engine, tables, &text).await, "{text}");
        }
    }
    // The rule is at work, where nothing else reads the text.
    for (text, is_viewed) in [
        ("select plain, count(*) from t where n < 5 group by plain", true),
        ("select plain, count(*) from t where plain > 'b' group by plain", false),
        ("select plain, max(plain) from t group by plain", false),
    ] {
        let plan = shown(&engine, &scanned, &format!("explain {text}")).await;
        assert_eq!(plan.contains("AS Utf8"), is_viewed, "{text}: {plan}");
    }
}
