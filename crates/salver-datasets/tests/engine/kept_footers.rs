//! The footer of a Parquet file that is scanned in place, and its page index, are read once and not for each statement:
//! statements go on when both are gone from the disk.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, StringViewArray};
use arrow::datatypes::{Field, Schema};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaDataReader};
use salver_datasets::DatasetLoader;
use salver_model::Name;
use salver_model::ports::{Loader, Tables};
use salver_model::spec::{DatasetSpec, Residency};

use super::generated::{self, Catalog, ask};
use super::held::{Shape, write};

const ROWS: i64 = 30_000;
const SHAPE: Shape = Shape { group_rows: 10_000, page_rows: 500, indexed: true };

/// A file as it is; one whose writer asks for views; one with a repeated name. The last two need another footer.
fn files() -> [RecordBatch; 3] {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let texts = || (0..ROWS).map(|row| format!("text {row}"));
    let plain: ArrayRef = Arc::new(StringArray::from_iter_values(texts()));
    let views: ArrayRef = Arc::new(StringViewArray::from_iter_values(texts()));
    [("s", plain), ("s", views), ("v", Arc::clone(&numbers))].map(|(name, column)| {
        let fields = [("v", &numbers), (name, &column)];
        let fields = fields.map(|(name, column)| Field::new(name, column.data_type().clone(), false));
        RecordBatch::try_new(Arc::new(Schema::new(fields.to_vec())), vec![Arc::clone(&numbers), column]).unwrap()
    })
}

/// Overwrites everything behind the rows, and puts the time back.
fn remove_footer(path: &Path) {
    let read = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Required);
    let footer = read.parse_and_finish(&File::open(path).unwrap()).unwrap();
    let columns = footer.row_groups().iter().flat_map(|group| group.columns());
    let rows_end = columns.map(|column| column.byte_range()).map(|(start, length)| start + length).max().unwrap();
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let about = file.metadata().unwrap();
    let behind = usize::try_from(about.len() - rows_end).unwrap();
    file.write_all_at(&vec![0; behind], rows_end).unwrap();
    file.set_modified(about.modified().unwrap()).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_footer_is_read_once() {
    for rows in files() {
        let (engine, dir) = generated::engine();
        let path = dir.path().join("t.parquet");
        write(&rows, &path, SHAPE);
        let name = Name::new("t").unwrap();
        let spec =
            DatasetSpec { residency: Residency::Never, ..DatasetSpec::new(name, vec![path.display().to_string()]) };
        let table = DatasetLoader::new(spec, Arc::clone(&engine)).load().await.unwrap();
        let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![table]));
        // The page index is kept from the second statement on that may use it.
        let statements = ["select * from t where v = 12345", "select count(*), sum(v) from t where v > 25000"];
        let mut before = Vec::new();
        for _ in 0..2 {
            before.clear();
            for text in statements {
                before.push(ask(&engine, &tables, text).await);
            }
        }
        remove_footer(&path);
        for (text, before) in statements.iter().zip(before) {
            assert_eq!(ask(&engine, &tables, text).await, before, "{text}");
        }
    }
}
