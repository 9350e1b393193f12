//! Loads a dataset: finds its files, merges their schemas, and decides where the rows are stored.

use std::collections::{BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Field, Fields, Schema, SchemaRef, TimeUnit};
use salver_model::limits::RESIDENT_PARQUET_BYTES_MAX;
use salver_model::ports::Progress;
use salver_model::spec::{ColumnSpec, DatasetSpec, Residency};
use salver_model::{Code, Error, Result, Version};

use super::collect::{Collected, Collector, WhenFull};
use super::conform::{batch_of, conform};
use super::file_listing::{self, Gathered};
use super::source_file::Candidate;
use super::{Budget, Content, Loaded, ParquetFile, Remote};
use crate::buckets::{Buckets, is_change};
use crate::delta::DeltaTable;
use crate::hive_partitions::Partitions;
use crate::infer::{merge_schemas, plain};
use crate::location::word;
use crate::source::{self, Input, Outline, ReadOptions, Stop};

/// Upper bound of the ratio of rows in memory to uncompressed pages: repeated values are written once.
const PARQUET_GROWTH: u64 = 4;

/// Loads a dataset. If its files change while they are read, it is read once more.
///
/// # Errors
/// [`Code::Source`] with the file, the line and column if known, and a hint at the fix; [`Code::OutOfMemory`] if it
/// must be in memory and there is no room.
pub async fn load(spec: &DatasetSpec, budget: &Arc<Budget>, data_dir: &Path) -> Result<Loaded> {
    let buckets = Buckets::new(None, data_dir, 0);
    load_telling(spec, &LoadingPlaces { budget, data_dir, buckets: &buckets }, &Arc::default()).await
}

/// Where datasets are read from and kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoadingPlaces<'e> {
    /// Memory for rows.
    pub(crate) budget: &'e Arc<Budget>,
    /// Directory for what is kept on disk.
    pub(crate) data_dir: &'e Path,
    /// The object stores.
    pub(crate) buckets: &'e Arc<Buckets>,
}

/// Like [`load`], and reports its progress.
pub(crate) async fn load_telling(
    spec: &DatasetSpec,
    places: &LoadingPlaces<'_>,
    progress: &Arc<Progress>,
) -> Result<Loaded> {
    let (spec, budget, data_dir) = (spec.clone(), Arc::clone(places.budget), places.data_dir.to_owned());
    let (buckets, progress) = (Arc::clone(places.buckets), Arc::clone(progress));
    blocking(move || {
        let places = LoadingPlaces { budget: &budget, data_dir: &data_dir, buckets: &buckets };
        let before = file_listing::local_version(&spec, &buckets);
        match attempt(&spec, places, &progress) {
            Ok((loaded, false)) => Ok(loaded),
            Err(error) if !is_change(&error) && file_listing::local_version(&spec, &buckets) == before => Err(error),
            // The rows of the first attempt are released before the second one reserves memory.
            changed => {
                drop(changed);
                attempt(&spec, places, &progress).map(|(loaded, _)| loaded)
            }
        }
    })
    .await
}

/// Returns the current version of the dataset.
///
/// # Errors
/// [`Code::Source`] if a source can't be found or reached.
pub async fn probe(spec: &DatasetSpec) -> Result<Version> {
    let own = std::env::temp_dir();
    probe_in(spec, &Buckets::new(None, &own, 0), &own).await
}

/// Like [`probe`], with the object stores `buckets`, and what has to be downloaded in `data_dir`.
pub(crate) async fn probe_in(spec: &DatasetSpec, buckets: &Arc<Buckets>, data_dir: &Path) -> Result<Version> {
    let (spec, buckets, data_dir) = (spec.clone(), Arc::clone(buckets), data_dir.to_owned());
    blocking(move || file_listing::probe(&spec, &buckets, &data_dir)).await
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|cause| {
        Err(Error::new(Code::Source, "reading the dataset failed in a way it should not").with_source(cause))
    })
}

/// Reads once, and returns whether the files changed meanwhile.
fn attempt(spec: &DatasetSpec, places: LoadingPlaces<'_>, progress: &Progress) -> Result<(Loaded, bool)> {
    let LoadingPlaces { budget, data_dir, buckets } = places;
    let Gathered { inputs, version, table } = file_listing::gather(spec, buckets, data_dir)?;
    let loading = DatasetLoad { spec, budget, data_dir, buckets, inputs: &inputs, table: table.as_ref(), progress };
    // Taken before the rows are read, to detect an overwrite in between. A file of a table may have other rows.
    let candidate = if table.is_none() { Candidate::of(&inputs) } else { None };
    let (kept, words) = loading.looking_again().map_err(|stop| loading.final_error(stop))?;
    // A download is a single response, and of objects only the listed ones are read: they can't change meanwhile.
    let has_changed = file_listing::local_version(spec, buckets).is_some_and(|now| now != version);
    let (Content::Resident { schema, .. } | Content::Parquet { schema, .. }) = &kept.content;
    let loaded = Loaded {
        file: candidate.and_then(|candidate| candidate.with_columns(schema)),
        content: kept.content,
        version,
        rows: kept.rows,
        memory_bytes: kept.memory_bytes,
        source: words,
        reservation: kept.reservation,
    };
    Ok((loaded, has_changed))
}

pub(super) struct DatasetLoad<'a> {
    pub(super) spec: &'a DatasetSpec,
    budget: &'a Arc<Budget>,
    data_dir: &'a Path,
    buckets: &'a Buckets,
    pub(super) inputs: &'a [Input],
    /// The table of Delta Lake whose files they are.
    table: Option<&'a DeltaTable>,
    progress: &'a Progress,
}

/// The rows from which column types are inferred.
#[derive(Clone, Copy, PartialEq)]
enum Look {
    /// The first rows.
    Beginning,
    /// All rows.
    All,
    /// All rows; columns of timestamps that no type can hold exactly become text.
    TimesAsText,
}

impl DatasetLoad<'_> {
    /// Infers types from a sample; infers them again from more rows if the rows don't fit.
    fn looking_again(&self) -> Result<(Collected, String), Stop> {
        match self.run(Look::Beginning) {
            Err(Stop::Outgrown | Stop::NotUtf8) => match self.run(Look::All) {
                Err(Stop::Outgrown) => self.run(Look::TimesAsText),
                other => other,
            },
            other => other,
        }
    }

    fn run(&self, look: Look) -> Result<(Collected, String), Stop> {
        let (plan, is_plain) = match self.table {
            Some(table) => self.table_plan(table)?,
            None => self.plan(look)?,
        };
        let in_place =
            if file_listing::is_parquet(self.inputs) && is_plain { file_listing::kept_dir(self.inputs) } else { None };
        if let Some(dir) = in_place {
            let scanned = self.in_place(&plan, dir)?;
            let (kept, unpacked_bytes) = scanned;
            let room = RESIDENT_PARQUET_BYTES_MAX.min(self.budget.remaining() / 4);
            let is_small = unpacked_bytes.saturating_add(unpacked_bytes / 3) <= room;
            if self.spec.residency == Residency::Never || (self.spec.residency == Residency::Auto && !is_small) {
                return Ok((kept, self.words("scanned in place", &plan)));
            }
            if self.spec.residency == Residency::Auto {
                let bytes_max = room.saturating_mul(PARQUET_GROWTH);
                let collector =
                    Collector::in_memory(&plan.schema, self.budget, self.data_dir, WhenFull::Stop, bytes_max)?;
                return match self.collect(collector, &plan) {
                    Err(Stop::Full) => Ok((kept, self.words("scanned in place", &plan))),
                    Err(stop) => Err(stop),
                    Ok(kept) => Ok((kept, self.words("in memory", &plan))),
                };
            }
        }
        let memory = |when| Collector::in_memory(&plan.schema, self.budget, self.data_dir, when, u64::MAX);
        let collector = match self.spec.residency {
            Residency::Auto => memory(WhenFull::Convert)?,
            Residency::Always => memory(WhenFull::Fail)?,
            Residency::Never => Collector::on_disk(&plan.schema, self.data_dir)?,
        };
        let kept = self.collect(collector, &plan)?;
        let held = match kept.content {
            Content::Resident { .. } => "in memory",
            Content::Parquet { .. } => "converted to Parquet on disk",
        };
        Ok((kept, self.words(held, &plan)))
    }

    /// Returns how the files are read, and whether they can be scanned in place if they are Parquet.
    fn plan(&self, look: Look) -> Result<(LoadPlan, bool), Stop> {
        let mut outlines = self.outlines(look != Look::Beginning)?;
        let is_settled = source::settle_numbers(&mut outlines, self.inputs, self.spec);
        if look == Look::Beginning && !matches!(is_settled, Ok(false)) {
            // The other rows may tell.
            return Err(Stop::Outgrown);
        }
        is_settled?;
        let merged = self.merged(&outlines)?;
        let merged = if look == Look::TimesAsText { self.with_times_as_text(merged) } else { merged };
        let partitions = Partitions::of(self.inputs, self.spec, &outlines)?;
        let is_plain = self.is_plain(&outlines);
        let columns = self.declared(&merged, &partitions)?;
        let fields = columns.fields().iter().cloned().chain(partitions.fields.iter().cloned().map(Arc::new));
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let order = (0..schema.fields().len()).collect();
        Ok((LoadPlan { columns, schema, order, partitions, outlines }, is_plain))
    }

    /// Returns the columns of each file.
    pub(super) fn outlines(&self, all: bool) -> Result<Vec<Outline>> {
        self.progress.begin(self.inputs.len());
        let mut outlines = Vec::with_capacity(self.inputs.len());
        for (number, input) in self.inputs.iter().enumerate() {
            outlines.push(source::outline(input, self.spec, all)?);
            self.progress.reach(number + 1, false);
        }
        Ok(outlines)
    }

    /// Merges the columns of all files; they are nullable, because a file may lack some.
    fn merged(&self, outlines: &[Outline]) -> Result<Schema> {
        let guessed = self.inputs.iter().all(|input| source::is_guessed(input.format));
        let mut merged = Schema::empty();
        // Most files have the same columns, which need no second merge.
        let mut known: HashSet<&Fields> = HashSet::new();
        for (index, outline) in outlines.iter().enumerate() {
            if !known.insert(&outline.schema.fields) {
                continue;
            }
            // A declared type overrides conflicting types of the files.
            let fields = outline.schema.fields().iter().map(|field| match self.column(field.name()) {
                Some(column) => field.as_ref().clone().with_data_type(column.data_type.clone()),
                None => field.as_ref().clone(),
            });
            let own = Schema::new(fields.collect::<Vec<_>>());
            merged = merge_schemas(&merged, &own, guessed).map_err(|(column, a, b)| {
                let has = |outline: &Outline| {
                    outline.schema.field_with_name(&column).is_ok_and(|field| *field.data_type() != DataType::Null)
                };
                let first = outlines.iter().position(has).unwrap_or(0);
                let (one, other) = (&self.inputs[first].label, &self.inputs[index].label);
                Error::new(Code::Source, format!("column `{column}` is {a} in `{one}` and {b} in `{other}`"))
                    .with_hint(format!("declare `{column}` in `schema`, or serve the files as two datasets"))
            })?;
        }
        Ok(merged)
    }

    /// Nanoseconds end in 2262, and microseconds have six digits; text keeps everything.
    fn with_times_as_text(&self, schema: Schema) -> Schema {
        let fields = schema.fields().iter().map(|field| match field.data_type() {
            DataType::Timestamp(TimeUnit::Nanosecond, _) if self.column(field.name()).is_none() => {
                Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8))
            }
            _ => Arc::clone(field),
        });
        Schema::new(fields.collect::<Vec<_>>())
    }

    pub(super) fn column(&self, name: &str) -> Option<&ColumnSpec> {
        self.spec.schema.iter().find(|column| column.name == name)
    }

    /// Returns whether the declared columns equal those of the files.
    fn is_plain(&self, outlines: &[Outline]) -> bool {
        self.spec.schema.iter().all(|column| {
            outlines.iter().zip(self.inputs).all(|(outline, input)| {
                let is_partition = input.partitions.iter().any(|(key, _)| *key == column.name);
                is_partition && outline.schema.field_with_name(&column.name).is_err()
                    || outline.schema.field_with_name(&column.name).is_ok_and(|field| {
                        plain(field.data_type()) == column.data_type && (column.nullable || !field.is_nullable())
                    })
            })
        })
    }

    /// Returns the dataset's columns: those of the files, with declared types, then those that are only declared.
    pub(super) fn declared(&self, merged: &Schema, partitions: &Partitions) -> Result<SchemaRef> {
        let mut fields: Vec<Field> = merged
            .fields()
            .iter()
            .map(|field| match self.column(field.name()) {
                Some(column) => Field::new(&column.name, column.data_type.clone(), column.nullable),
                None => Field::new(field.name(), plain(field.data_type()), field.is_nullable()),
            })
            .collect();
        for column in &self.spec.schema {
            let is_partition = partitions.fields.iter().any(|field| *field.name() == column.name);
            if is_partition || merged.field_with_name(&column.name).is_ok() {
                continue;
            }
            if !column.nullable {
                let names: Vec<&str> = merged.fields().iter().map(|field| field.name().as_str()).collect();
                let message = format!("`{}`: the declared column `{}` is in no file", self.spec.name, column.name);
                return Err(
                    Error::new(Code::Source, message).with_hint_if(salver_model::suggest::hint(&column.name, names))
                );
            }
            fields.push(Field::new(&column.name, column.data_type.clone(), true));
        }
        if fields.is_empty() && partitions.fields.is_empty() {
            let label = self.inputs.first().map_or("the source", |input| input.label.as_str());
            return Err(Error::new(Code::Source, format!("`{label}` is empty: it has neither columns nor rows"))
                .with_hint("declare the columns in `schema` to serve it all the same"));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    fn collect(&self, mut collector: Collector, plan: &LoadPlan) -> Result<Collected, Stop> {
        file_listing::fetch_ahead(self.inputs, self.buckets)?;
        for (index, input) in self.inputs.iter().enumerate() {
            let mut first_row = 0;
            let mut push = |batch: RecordBatch| {
                let mut columns = conform(&batch, &plan.columns, &input.label, first_row)?;
                columns.extend(plan.partitions.columns(index, batch.num_rows())?);
                first_row += batch.num_rows() as u64;
                let columns = plan.order.iter().map(|place| Arc::clone(&columns[*place])).collect();
                collector.push(batch_of(&plan.schema, columns, batch.num_rows())?)
            };
            match self.table {
                Some(table) => table.read(index, &mut push)?,
                None => source::read(input, self.spec, &plan.reading(index), &mut push)?,
            }
            self.progress.reach(index + 1, true);
        }
        Ok(collector.finish()?)
    }

    /// Returns the files as Parquet to be scanned in place, and the uncompressed size of their pages.
    fn in_place(&self, plan: &LoadPlan, kept: Option<Arc<tempfile::TempDir>>) -> Result<(Collected, u64)> {
        let mut files = Vec::with_capacity(self.inputs.len());
        let (mut rows, mut unpacked_bytes) = (0, 0_u64);
        for (index, input) in self.inputs.iter().enumerate() {
            let _parts = input.format_parts()?;
            let footer = source::parquet::footer(input)?;
            rows += footer.rows;
            unpacked_bytes = unpacked_bytes.saturating_add(footer.unpacked_bytes);
            files.push(ParquetFile {
                path: input.path.clone(),
                rows: footer.rows,
                bytes: std::fs::metadata(&input.path).map_or(0, |found| found.len()),
                wide: footer.wide,
                partition_values: plan.partitions.values.get(index).cloned().unwrap_or_default(),
                remote: Remote(input.object.clone()),
            });
        }
        let partition_columns = plan.partitions.fields.clone();
        let content = Content::Parquet { schema: SchemaRef::clone(&plan.schema), files, partition_columns, kept };
        Ok((Collected { content, rows, memory_bytes: 0, reservation: None }, unpacked_bytes))
    }

    fn words(&self, held: &str, plan: &LoadPlan) -> String {
        if let Some(table) = self.table {
            return format!("{}, {held}", table.words());
        }
        let from = match self.inputs {
            [one] => one.label.clone(),
            [first, .., last] => format!("{} files, {} to {}", self.inputs.len(), first.label, last.label),
            [] => String::new(),
        };
        let format = self.inputs.first().map_or("", |input| word(input.format));
        let legacy =
            if plan.outlines.iter().any(|outline| outline.legacy_text) { ", read as windows-1252" } else { "" };
        let guesses: BTreeSet<&str> =
            plan.outlines.iter().flat_map(|outline| &outline.guesses).map(String::as_str).collect();
        let guesses: String = guesses.into_iter().map(|guess| format!(", {guess}")).collect();
        format!("{from} ({format}{legacy}{guesses}), {held}")
    }

    fn final_error(&self, stop: Stop) -> Error {
        match stop {
            Stop::Failed(error) => error,
            Stop::Outgrown | Stop::NotUtf8 | Stop::Full => {
                let label = self.inputs.first().map_or("", |input| input.label.as_str());
                Error::new(Code::Source, format!("`{label}` changed while it was read"))
                    .with_hint("write files under another name and move them to their place when they are complete")
            }
        }
    }
}

/// How the files of a dataset are read.
pub(super) struct LoadPlan {
    /// The columns that are stored in the files.
    pub(super) columns: SchemaRef,
    /// These columns and the partition columns.
    pub(super) schema: SchemaRef,
    /// For each column of `schema` its place among `columns`, which the partition columns follow.
    pub(super) order: Vec<usize>,
    pub(super) partitions: Partitions,
    /// The columns of each file; of tables only where files are their rows as they are.
    pub(super) outlines: Vec<Outline>,
}

impl LoadPlan {
    /// Returns how the file of this number is read.
    fn reading(&self, index: usize) -> ReadOptions {
        let outline = self.outlines.get(index);
        ReadOptions {
            schema: SchemaRef::clone(&self.columns),
            legacy_text: outline.is_some_and(|outline| outline.legacy_text),
            forms: outline.map(|outline| Arc::clone(&outline.forms)).unwrap_or_default(),
        }
    }
}
