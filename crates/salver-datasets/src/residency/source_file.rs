//! The single file that a dataset's rows come from, if its content equals the dataset's: a response in its format is a
//! copy of it, wherever the rows are stored.

use std::path::PathBuf;

use arrow::datatypes::{DataType, Schema};
use salver_model::ports::FileKind;

use crate::file_stamp::Stamp;
use crate::infer::is_plain_form;
use crate::source::{self, Input};

/// A file that has all rows and exactly the columns of a dataset.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its format.
    pub kind: FileKind,
    /// Absolute path.
    pub path: PathBuf,
    /// Its stamp before its rows were read.
    pub(crate) stamp: Stamp,
}

/// A file that may be the source file of a dataset.
pub(super) struct Candidate {
    file: SourceFile,
    /// Its columns.
    schema: Schema,
}

impl Candidate {
    /// Returns the only one of `inputs`, if it is a file of the user's: downloaded and decompressed files are not kept,
    /// and of objects only parts are there.
    pub(super) fn of(inputs: &[Input]) -> Option<Self> {
        let [input] = inputs else { return None };
        if input.dir.is_some() || input.object.is_some() {
            return None;
        }
        let stamp = Stamp::of(&std::fs::metadata(&input.path).ok()?);
        let (kind, schema) = source::own_schema(input)?;
        let is_portable = kind == FileKind::Parquet || is_portable(&schema);
        is_portable.then(|| Self { file: SourceFile { kind, path: input.path.clone(), stamp }, schema })
    }

    /// Returns the file, if its columns equal the dataset's.
    pub(super) fn with_columns(self, schema: &Schema) -> Option<SourceFile> {
        is_plain_form(schema, &self.schema).then_some(self.file)
    }
}

/// Returns whether all Arrow readers support the types: many don't support views, which are sent as their base types.
fn is_portable(schema: &Schema) -> bool {
    !schema.flattened_fields().iter().any(|field| is_view(field.data_type()))
}

fn is_view(data_type: &DataType) -> bool {
    use DataType::{BinaryView, Dictionary, LargeListView, ListView, RunEndEncoded, Utf8View};
    match data_type {
        Utf8View | BinaryView | ListView(_) | LargeListView(_) | RunEndEncoded(..) => true,
        Dictionary(_, value) => is_view(value),
        _ => false,
    }
}
