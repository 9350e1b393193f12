//! The one file that a dataset's rows come from, when it says just what the dataset says: an answer in its format is a
//! copy of it, wherever the rows are held.

use std::path::PathBuf;

use arrow::datatypes::{DataType, Schema};
use salver_model::ports::FileKind;

use crate::infer::is_plain_form;
use crate::source::{self, Input};
use crate::stamp::Stamp;

/// A file that has all rows of a dataset, all of its columns and nothing else.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its format.
    pub kind: FileKind,
    /// Where it is; absolute.
    pub path: PathBuf,
    /// What it looked like before its rows were read.
    pub(crate) stamp: Stamp,
}

/// A file that may turn out to be one.
pub(super) struct Candidate {
    file: SourceFile,
    /// Its columns.
    schema: Schema,
}

impl Candidate {
    /// The only one of `inputs`, when it is a file of the user's own: what was downloaded or unpacked is not kept.
    pub(super) fn of(inputs: &[Input]) -> Option<Self> {
        let [input] = inputs else { return None };
        if input.dir.is_some() {
            return None;
        }
        let stamp = Stamp::of(&std::fs::metadata(&input.path).ok()?);
        let (kind, schema) = source::own_schema(input)?;
        let is_portable = kind == FileKind::Parquet || is_portable(&schema);
        is_portable.then(|| Self { file: SourceFile { kind, path: input.path.clone(), stamp }, schema })
    }

    /// The file, when its columns are those that the dataset was given.
    pub(super) fn with_columns(self, schema: &Schema) -> Option<SourceFile> {
        is_plain_form(schema, &self.schema).then_some(self.file)
    }
}

/// Whether every reader of Arrow knows the types: many don't know views, which go out as what they are views of.
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
