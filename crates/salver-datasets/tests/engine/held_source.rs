//! The source of held rows, handed out as it is when it says what the rows say: wherever they are held, and never when
//! it is another one by now.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, LargeStringArray, RecordBatch, StringArray, StringViewArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::ipc::writer::{FileWriter, StreamWriter};
use salver_datasets::{DatasetLoader, Engine};
use salver_model::ports::{FileKind, Held, Loader, Table};
use salver_model::spec::{ColumnSpec, DatasetSpec, Residency};
use salver_model::{Code, Name};

use super::generated;
use super::held::{Shape, whole, write};
use super::held_files::{copied, overwrite};

const SHAPE: Shape = Shape { group_rows: 6_000, page_rows: 500, indexed: true };
const EVERYWHERE: [Residency; 3] = [Residency::Auto, Residency::Always, Residency::Never];

fn write_arrow(rows: &RecordBatch, path: &Path) {
    let mut writer = FileWriter::try_new(File::create(path).unwrap(), &rows.schema()).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap();
}

fn spec(sources: &[&Path], residency: Residency) -> DatasetSpec {
    let sources = sources.iter().map(|path| path.display().to_string()).collect();
    DatasetSpec { residency, ..DatasetSpec::new(Name::new("t").unwrap(), sources) }
}

async fn held(spec: DatasetSpec, engine: &Arc<Engine>) -> Arc<dyn Held> {
    let table: Arc<dyn Table> = DatasetLoader::new(spec, Arc::clone(engine)).load().await.unwrap();
    table.hold(2).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn it_is_handed_out_wherever_the_rows_are_held() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(9_000, 1);
    let (arrow, feather, parquet) =
        (dir.path().join("t.arrow"), dir.path().join("t.feather"), dir.path().join("t.parquet"));
    write_arrow(&rows, &arrow);
    write_arrow(&rows, &feather);
    write(&rows, &parquet, SHAPE);
    for residency in EVERYWHERE {
        for (path, kind) in
            [(&arrow, FileKind::ArrowFile), (&feather, FileKind::ArrowFile), (&parquet, FileKind::Parquet)]
        {
            let held = held(spec(&[path], residency), &engine).await;
            let file = held.file(kind).unwrap_or_else(|| panic!("{residency:?}: no {kind:?}"));
            assert!(copied(&*file) == fs::read(path).unwrap(), "{residency:?}: other bytes than those of {kind:?}");
        }
    }
    // Rows in memory are in no other file; those that were converted are in that copy.
    let (resident, copy) = (spec(&[&arrow], Residency::Always), spec(&[&arrow], Residency::Never));
    assert!(held(resident, &engine).await.file(FileKind::Parquet).is_none());
    let copy = copied(&*held(copy, &engine).await.file(FileKind::Parquet).unwrap());
    assert!(copy.starts_with(b"PAR1") && copy != fs::read(&parquet).unwrap());
}

/// What is not the same in the file as in the dataset: its columns, its rows, its form.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_not_handed_out_when_it_says_something_else() {
    let (engine, dir) = generated::engine();
    let rows = generated::rows(300, 2).project(&[0, 5]).unwrap();
    let at = |name: &str| dir.path().join(name);
    let plain = at("plain.arrow");
    write_arrow(&rows, &plain);
    let none = async |case: &str, spec: DatasetSpec| {
        for residency in EVERYWHERE {
            let held = held(DatasetSpec { residency, ..spec.clone() }, &engine).await;
            assert!(held.file(FileKind::ArrowFile).is_none(), "{case}, {residency:?}");
        }
    };
    none("two files", spec(&[&plain, &plain], Residency::Auto)).await;
    let declared = |name: &str, data_type| DatasetSpec {
        schema: vec![ColumnSpec { name: name.to_owned(), data_type, nullable: true }],
        ..spec(&[&plain], Residency::Auto)
    };
    none("another type", declared("id", DataType::Float64)).await;
    none("one column more", declared("more", DataType::Utf8)).await;
    fs::create_dir(at("year=2026")).unwrap();
    fs::copy(&plain, at("year=2026/rows.arrow")).unwrap();
    let partitioned = format!("{}/year=*/*.arrow", dir.path().display());
    none("a partition column", spec(&[Path::new(&partitioned)], Residency::Auto)).await;

    let packed = at("packed.arrow.zst");
    fs::write(&packed, zstd::encode_all(&fs::read(&plain).unwrap()[..], 1).unwrap()).unwrap();
    none("a packed file", spec(&[&packed], Residency::Auto)).await;
    let stream = at("stream.arrow");
    let mut writer = StreamWriter::try_new(File::create(&stream).unwrap(), &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    none("a stream", spec(&[&stream], Residency::Auto)).await;
    let (id, text) = (Field::new("a", DataType::Int64, false), Field::new("a", DataType::Utf8, true));
    let twice = RecordBatch::try_new(Arc::new(Schema::new(vec![id, text])), rows.columns().to_vec()).unwrap();
    write_arrow(&twice, &at("twice.arrow"));
    none("two columns of one name", spec(&[&at("twice.arrow")], Residency::Auto)).await;
    let views: ArrayRef = Arc::new(StringViewArray::from(vec!["a", "b"]));
    write_arrow(&RecordBatch::try_from_iter([("v", views)]).unwrap(), &at("views.arrow"));
    none("views", spec(&[&at("views.arrow")], Residency::Auto)).await;
    // The index at the end is not needed to read the rows, but by those who get the file.
    let mut bytes = fs::read(&plain).unwrap();
    let end = bytes.len() - 10;
    let start = end - u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    bytes[start..start + 8].fill(0xff);
    fs::write(at("footer.arrow"), bytes).unwrap();
    none("a damaged footer", spec(&[&at("footer.arrow")], Residency::Auto)).await;
}

/// Text with long offsets is held as any other text, and is the same in any reader.
#[tokio::test(flavor = "multi_thread")]
async fn other_forms_of_a_type_are_what_they_are() {
    let (engine, dir) = generated::engine();
    let path = dir.path().join("t.feather");
    let columns: [(&str, ArrayRef); 2] = [
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("text", Arc::new(LargeStringArray::from(vec![Some("a"), None]))),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    write_arrow(&rows, &path);
    let held = held(spec(&[&path], Residency::Auto), &engine).await;
    assert_eq!(held.describe().schema.field(1).data_type(), &DataType::Utf8);
    assert!(copied(&*held.file(FileKind::ArrowFile).unwrap()) == fs::read(&path).unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_was_changed_is_none_and_one_that_changes_is_an_error() {
    let (engine, dir) = generated::engine();
    let path = dir.path().join("t.arrow");
    let (rows, other) = (generated::rows(2_000, 1), generated::rows(2_000, 2));
    for residency in EVERYWHERE {
        write_arrow(&rows, &path);
        let original = fs::read(&path).unwrap();
        let held = held(spec(&[&path], residency), &engine).await;
        let before = whole(&*held).await;
        let begun = held.file(FileKind::ArrowFile).unwrap();
        // Another one at its place: who has it open keeps it, nobody else gets it.
        let new = dir.path().join("new");
        write_arrow(&other, &new);
        fs::rename(&path, dir.path().join("old")).unwrap();
        fs::rename(&new, &path).unwrap();
        assert!(held.file(FileKind::ArrowFile).is_none(), "{residency:?}: another file was handed out");
        fs::rename(dir.path().join("old"), &path).unwrap();
        assert!(copied(&*begun) == original, "{residency:?}");
        assert!(held.file(FileKind::ArrowFile).is_some(), "{residency:?}: it is the same again");

        overwrite(&path, &fs::read(&path).unwrap().iter().map(|byte| byte ^ 0x55).collect::<Vec<u8>>());
        let error = begun.read(&mut [0; 100], 0).unwrap_err();
        assert_eq!(error.code, Code::EntryUnavailable, "{residency:?}: {error:?}");
        assert!(error.message.contains("`t.arrow` was overwritten"), "{error:?}");
        assert!(held.file(FileKind::ArrowFile).is_none(), "{residency:?}");
        // The rows are there all the same.
        assert_eq!(format!("{:?}", whole(&*held).await), format!("{before:?}"), "{residency:?}");
        fs::remove_file(&path).unwrap();
        assert!(held.file(FileKind::ArrowFile).is_none(), "{residency:?}");
    }
}

/// Files that are not there to be handed out: what came from elsewhere is deleted when it was read.
#[tokio::test(flavor = "multi_thread")]
async fn text_is_no_file_of_rows() {
    let (engine, dir) = generated::engine();
    let path = dir.path().join("t.csv");
    fs::write(&path, "id,text\n1,a\n2,\n").unwrap();
    for residency in EVERYWHERE {
        let held = held(spec(&[&path], residency), &engine).await;
        assert!(held.file(FileKind::ArrowFile).is_none());
        assert_eq!(held.file(FileKind::Parquet).is_some(), residency == Residency::Never, "its own copy only");
    }
    let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None]));
    assert_eq!(whole(&*held(spec(&[&path], Residency::Auto), &engine).await).await.column(1).as_ref(), &*texts);
}
