//! The objects of a source in an object store, as files of a dataset.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use salver_model::spec::DatasetSpec;
use salver_model::{Code, Error, Result};

use super::{Origin, SourceLocation, format_of_name, is_skipped, partition_of, walk, word};
use crate::buckets::{Buckets, ListedObject, Listing, ListingKind};
use crate::delta_source::{DeltaSource, LOG};

/// Resolves a source in an object store.
pub(super) fn resolve(
    buckets: &Buckets,
    spec: &DatasetSpec,
    source: &str,
    places: &mut Vec<SourceLocation>,
) -> Result<()> {
    let Listing { kind, root, mut objects } = buckets.list(spec, source)?;
    let is_log =
        |object: &Arc<ListedObject>| below(&root, object).split_once('/').is_some_and(|(first, _)| first == LOG);
    if kind == ListingKind::Directory && spec.format.is_none() && objects.iter().any(is_log) {
        places.push(SourceLocation::of_table(DeltaSource::latest(source)));
        return Ok(());
    }
    if kind == ListingKind::Directory {
        leave_out_tables(&root, &mut objects);
    }
    if kind != ListingKind::Object {
        objects.retain(|object| below(&root, object).split('/').all(|part| !is_skipped(Path::new(part))));
    }
    let format_of = |object: &ListedObject| format_of_name(name(object));
    let only = match kind {
        ListingKind::Directory => {
            let paths: Vec<PathBuf> = objects.iter().map(|object| PathBuf::from(name(object))).collect();
            Some(spec.format.or_else(|| walk::commonest_format(&paths)).ok_or_else(|| nothing_readable(source))?)
        }
        _ => None,
    };
    // As with files: what can't be read is left out of a pattern if others can.
    let readable = objects.iter().any(|object| format_of(object).is_some());
    let before = places.len();
    for object in objects {
        let format = match kind {
            ListingKind::Directory => format_of(&object).filter(|format| Some(*format) == only),
            _ => spec.format.or_else(|| format_of(&object)),
        };
        let Some(format) = format else {
            match kind {
                ListingKind::Directory => continue,
                ListingKind::Pattern if readable => continue,
                _ => return Err(unknown_format(&object)),
            }
        };
        let partitions = partitions_of(spec, &root, &object);
        places.push(SourceLocation { origin: Origin::Object(object), format: Some(format), partitions });
    }
    match (places.len() == before, only) {
        (false, _) => Ok(()),
        (true, Some(format)) => Err(Error::new(Code::Source, format!("`{source}` holds no {} object", word(format)))
            .with_hint("check `format` and the suffixes of the objects")),
        (true, None) => Err(Error::new(Code::Source, format!("no object matches `{source}`"))
            .with_hint("check the pattern; keys are case-sensitive")),
    }
}

/// Leaves out what is in tables of Delta Lake below the root: their files are not their rows without their logs.
fn leave_out_tables(root: &str, objects: &mut Vec<Arc<ListedObject>>) {
    let log = format!("/{LOG}/");
    let table = |object: &Arc<ListedObject>| Some(below(root, object).split_once(&log)?.0.to_owned());
    let tables: HashSet<String> = objects.iter().filter_map(table).collect();
    if tables.is_empty() {
        return;
    }
    objects.retain(|object| {
        let path = below(root, object);
        !path.match_indices('/').any(|(end, _)| tables.contains(&path[..end]))
    });
}

fn name(object: &ListedObject) -> &str {
    object.address.key.rsplit('/').next().unwrap_or_default()
}

fn below<'o>(root: &str, object: &'o ListedObject) -> &'o str {
    object.address.key.strip_prefix(root).unwrap_or(&object.address.key)
}

fn partitions_of(spec: &DatasetSpec, root: &str, object: &Arc<ListedObject>) -> Vec<(String, String)> {
    if !spec.partitions {
        return Vec::new();
    }
    let below = below(root, object);
    let directories = below.rsplit_once('/').map_or("", |(directories, _)| directories);
    directories.split('/').filter_map(partition_of).collect()
}

fn nothing_readable(source: &str) -> Error {
    Error::new(Code::Source, format!("`{source}` holds no object that can be read")).with_hint(
        "supported suffixes: csv tsv json ndjson parquet arrow arrows avro xlsx xls xlsb ods, each also compressed",
    )
}

fn unknown_format(object: &ListedObject) -> Error {
    Error::new(Code::Source, format!("can't tell the format of `{}` from its name", object.address))
        .with_hint("say it: `format = \"csv\"` (or tsv, json, ndjson, geojson, parquet, arrow, arrows, avro, xlsx)")
}
