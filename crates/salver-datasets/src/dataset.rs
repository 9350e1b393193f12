//! One dataset at one version: the port that doors read from, over rows in memory or in Parquet files.

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::catalog::TableProvider;
use salver_model::entry::{Description, EntryKind};
use salver_model::ports::{Held, MaybeReady, Table};
use salver_model::spec::{DatasetSpec, Residency};
use salver_model::{Code, Error, Query, Result, Rows};

use crate::direct::{self, Resident};
use crate::engine::{Cancel, Engine};
use crate::held_rows::{Files, HeldDataset, ParquetRows, ResidentRows};
use crate::index::{KeyIndex, Zones};
use crate::parquet_table::{ParquetProvider, ParquetTable};
use crate::residency::{Content, Loaded, Reservation, SourceFile};
use crate::resident_provider::ResidentProvider;
use crate::{plan, resolve};

/// Most values that are examined on the caller's own thread; beyond that the engine's threads do it.
const NOW_VALUES: u64 = 60_000;

/// Rows from files, held at one version.
#[derive(Debug)]
pub struct Dataset {
    about: Description,
    rows: RowStorage,
    file: Option<Arc<SourceFile>>,
    engine: Arc<Engine>,
    reservation: Option<Arc<Reservation>>,
}

/// The storage of the rows.
#[derive(Debug)]
enum RowStorage {
    Resident(Arc<Resident>),
    Parquet { table: Arc<ParquetTable>, files: Arc<Files> },
}

impl Dataset {
    /// Makes a dataset of the loaded content of `spec`, and indexes it.
    ///
    /// # Errors
    /// If `spec` declares a key with columns that do not exist, or a file has vanished since it was loaded.
    pub fn new(spec: &DatasetSpec, loaded: Loaded, engine: &Arc<Engine>) -> Result<Self> {
        let Loaded { content, version, rows, memory_bytes, source, file, reservation } = loaded;
        let (Content::Resident { schema, .. } | Content::Parquet { schema, .. }) = &content;
        let schema = Arc::clone(schema);
        let key = key_columns(spec, &schema)?;
        let mut index_bytes = 0;
        let place = match content {
            Content::Resident { chunks, .. } => {
                let key = if key.is_empty() { None } else { KeyIndex::build(&chunks, key) };
                index_bytes = key.as_ref().map_or(0, KeyIndex::memory_bytes);
                let zones = Zones::build(&chunks);
                RowStorage::Resident(Arc::new(Resident { chunks, rows, key, zones }))
            }
            Content::Parquet { files, partition_columns, kept, .. } => {
                let places = Arc::clone(engine.held_files());
                let held = Arc::new(Files::new(&schema, &files, &partition_columns, kept, places)?);
                let cache = Some(engine.columns()).filter(|_| spec.residency != Residency::Never);
                let table = ParquetTable::new(&schema, &files, &partition_columns, Arc::clone(&held), cache)?;
                // Computed here, before the first request waits for it.
                held.head();
                RowStorage::Parquet { table: Arc::new(table), files: held }
            }
        };
        if rows >= u64::from(u32::MAX) && matches!(place, RowStorage::Resident(_)) {
            return Err(Error::new(Code::Source, format!("`{}` has too many rows to hold in memory", spec.name))
                .with_hint("set `memory = \"never\"` for it"));
        }
        let about = Description {
            name: spec.name.clone(),
            kind: EntryKind::Dataset,
            schema,
            key: spec.key.clone(),
            relations: spec.relations.clone(),
            rows: Some(rows),
            version,
            source,
            memory_bytes: memory_bytes + index_bytes,
        };
        let (file, reservation) = (file.map(Arc::new), reservation.map(Arc::new));
        Ok(Self { about, rows: place, file, engine: Arc::clone(engine), reservation })
    }

    /// Returns the directories of its files, as they appear in the engine's plans.
    pub(crate) fn directories(&self) -> Vec<String> {
        match &self.rows {
            RowStorage::Resident(_) => Vec::new(),
            RowStorage::Parquet { table, .. } => table.directories(),
        }
    }

    /// Returns its files, if they are Parquet.
    #[cfg(feature = "ballista")]
    pub(crate) fn parquet(&self) -> Option<&ParquetTable> {
        match &self.rows {
            RowStorage::Resident(_) => None,
            RowStorage::Parquet { table, .. } => Some(table),
        }
    }

    /// Returns the dataset as a table of the engine.
    pub(crate) fn provider(&self) -> Arc<dyn TableProvider> {
        match &self.rows {
            RowStorage::Resident(resident) => {
                Arc::new(ResidentProvider::new(Arc::clone(&self.about.schema), Arc::clone(resident)))
            }
            RowStorage::Parquet { table, .. } => Arc::new(ParquetProvider::plain(Arc::clone(table))),
        }
    }
}

fn key_columns(spec: &DatasetSpec, schema: &arrow::datatypes::Schema) -> Result<Vec<usize>> {
    spec.key
        .iter()
        .map(|name| {
            schema.index_of(name).map_err(|_| {
                let names = schema.fields().iter().map(|field| field.name().as_str());
                Error::unknown_column(Code::Config, name, spec.name.as_str(), names)
            })
        })
        .collect()
}

#[async_trait]
impl Table for Dataset {
    fn describe(&self) -> &Description {
        &self.about
    }

    fn read<'a>(&'a self, query: &'a Query) -> MaybeReady<'a, Result<Rows>> {
        if query.is_grouped() || query.distinct {
            let provider = self.provider();
            return MaybeReady::pending(async move {
                plan::read_grouped(&self.engine, &provider, &self.about, query).await
            });
        }
        let resolved = match check_having(query).and_then(|()| resolve::resolve(query, &self.about)) {
            Ok(resolved) => resolved,
            Err(error) => return MaybeReady::Ready(Err(error)),
        };
        match &self.rows {
            RowStorage::Parquet { table, .. } => MaybeReady::pending(async move {
                let placed: Arc<dyn TableProvider> = Arc::new(ParquetProvider::placed(Arc::clone(table)));
                plan::read(&self.engine, &placed, &self.about, query, resolved).await
            }),
            RowStorage::Resident(resident) => {
                let plan = direct::DirectPlan::of(resident, resolved);
                if plan.cost(resident) <= NOW_VALUES {
                    return MaybeReady::Ready(plan.run(resident, &self.about, query, &Cancel::default()));
                }
                MaybeReady::pending(async move {
                    let (resident, about, query) = (Arc::clone(resident), self.about.clone(), query.clone());
                    let work = move |cancel: &Cancel| plan.run(&resident, &about, &query, cancel);
                    self.engine.compute(work).await
                })
            }
        }
    }

    async fn hold(&self, parts: usize) -> Result<Arc<dyn Held>> {
        let (about, file) = (self.about.clone(), self.file.clone());
        match &self.rows {
            RowStorage::Resident(resident) => {
                let rows = ResidentRows::new(Arc::clone(resident), self.reservation.clone());
                Ok(Arc::new(HeldDataset::new(about, parts, rows, file)))
            }
            RowStorage::Parquet { files, .. } => {
                let (files, engine) = (Arc::clone(files), Arc::clone(&self.engine));
                let rows = self.engine.start_decoding(move || ParquetRows::new(&files, engine))?.done().await?;
                Ok(Arc::new(HeldDataset::new(about, parts, rows, file)))
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Refuses `having` in a query that has neither groups nor aggregates.
pub(crate) fn check_having(query: &Query) -> Result<()> {
    match query.having {
        None => Ok(()),
        Some(_) => Err(Error::new(Code::InvalidFilter, "`having` needs groups or an aggregate")
            .with_hint("use a filter to choose rows")),
    }
}
