//! Files of Parquet whose columns have one name twice, or none, and that differ in it: scanned in place they have the
//! rows that they have in memory, however they are read.

use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{Field, Schema};

use super::generated::{self, ask};
use super::held::{Shape, both_ways, write};

const ROWS: i64 = 30_000;
const SHAPE: Shape = Shape { group_rows: 10_000, page_rows: 500, indexed: true };

/// A file with columns of these names, whose values tell the column and the row. Every third column is of texts.
fn file(names: &[&str], from: i64) -> RecordBatch {
    let column = |at: usize| -> ArrayRef {
        let values = (from..from + ROWS).map(|row| row * 10 + at as i64);
        match at % 3 {
            2 => Arc::new(StringArray::from_iter_values(values.map(|value| value.to_string()))),
            _ => Arc::new(Int64Array::from_iter_values(values)),
        }
    };
    let columns: Vec<ArrayRef> = (0..names.len()).map(column).collect();
    let fields = names.iter().zip(&columns).map(|(name, column)| Field::new(*name, column.data_type().clone(), false));
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_name_is_another_column() {
    for files in [vec![["v", "s", "s", "", "s_2"]], vec![["v", "s", "s", "", "s_2"]; 3], vec![["v", "", "", "v", "v"]]]
    {
        let (engine, dir) = generated::engine();
        let folder = dir.path().join("t");
        std::fs::create_dir(&folder).unwrap();
        for (number, names) in files.iter().enumerate() {
            write(&file(names, number as i64 * ROWS), &folder.join(format!("{number}.parquet")), SHAPE);
        }
        let worlds = both_ways(&folder, &engine).await;
        let schema = Arc::clone(&worlds[0].table("t").unwrap().unwrap().describe().schema);
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(names.len(), 5);
        let mut statements = vec!["select * from t where v = 100 order by v".to_owned()];
        for name in names {
            statements.push(format!("select count(\"{name}\"), min(\"{name}\"), max(\"{name}\") from t"));
            statements.push(format!("select * from t order by \"{name}\" desc, v limit 3"));
            statements.push(format!("select \"{name}\" from t where \"{name}\" is null order by v"));
            statements
                .push(format!("select v from t where \"{name}\"::text like '%77%' order by \"{name}\", v limit 50"));
        }
        for text in statements {
            let (resident, scanned) = (ask(&engine, &worlds[0], &text).await, ask(&engine, &worlds[1], &text).await);
            assert_eq!(resident, scanned, "{text}");
            // From the cache of footers, too.
            assert_eq!(scanned, ask(&engine, &worlds[1], &text).await, "{text}");
        }
    }
}
