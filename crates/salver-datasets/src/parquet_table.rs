//! Parquet files as a table of the engine: exactly the files that were found when the dataset was loaded, with the
//! values of their partition columns.

use std::path::Component;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, FieldRef, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::stats::Precision;
use datafusion::common::{DataFusionError, ScalarValue, Statistics};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::execution::object_store::ObjectStoreUrl;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use object_store::ObjectMeta;
use parquet::arrow::RowNumber;
use salver_model::{Code, Error, Result};

use crate::cached_columns::CachedColumns;
use crate::column_cache::ColumnCache;
use crate::file_stamp;
use crate::held_rows::{Files, Number, Opened, OpenedReaders};
use crate::parquet_filters::SureSource;
use crate::residency::ParquetFile;

/// The number of a row's file, as a column. Together with [`ROW`] it is the row's position in the source. No column of
/// a file is likely to have these names.
pub(crate) const FILE: &str = "(salver: file)";
/// The number of a row in its file, as a column.
pub(crate) const ROW: &str = "(salver: row)";

/// Bytes of a batch of wide rows.
const BATCH_BYTES: u64 = 256 * 1024;
/// Fewest rows of such a batch.
const LEAST_BATCH_ROWS: usize = 4;
/// Most rows of such a batch.
const FULL_BATCH_ROWS: usize = 8_192;

/// Files that make up one table.
#[derive(Debug)]
pub(crate) struct ParquetTable {
    files: Vec<PartitionedFile>,
    /// The files, which are opened when a plan is made.
    held: Arc<Files>,
    rows: u64,
    bytes: u64,
    /// Bytes of a value of each wide column, by its index; 0 for all others.
    value_bytes: Vec<u64>,
    /// Whether only parts of some file are on disk.
    is_remote: bool,
    /// Whether the files are copies that belong to this process.
    #[cfg(feature = "ballista")]
    are_copies: bool,
    plain: TableSchema,
    placed: TableSchema,
    /// The order of the columns, unless the partition columns are the last ones.
    order: Option<Order>,
    /// The columns in memory, if any may be there.
    cached: Option<Arc<CachedColumns>>,
}

/// The order of columns that differs from that of the engine, which has partition columns behind all others.
#[derive(Debug)]
struct Order {
    /// For each column of the table its place in the engine's order.
    columns: Vec<usize>,
    plain: SchemaRef,
    placed: SchemaRef,
}

impl Order {
    /// Returns the order of the columns of `schema`; `None` if it is the engine's.
    fn of(schema: &SchemaRef, plain: &TableSchema, placed: &TableSchema) -> Result<Option<Self>> {
        let engine = plain.table_schema();
        let place = |field: &FieldRef| engine.index_of(field.name());
        let odd = |cause| Error::internal("a table has columns that its files have not").with_source(cause);
        let columns: Vec<usize> = schema.fields().iter().map(place).collect::<Result<_, _>>().map_err(odd)?;
        if columns.is_sorted() {
            return Ok(None);
        }
        let all: Vec<usize> =
            columns.iter().copied().chain(columns.len()..placed.table_schema().fields().len()).collect();
        let projected = |table: &TableSchema, columns: &[usize]| table.table_schema().project(columns).map(Arc::new);
        let (plain, placed) = (projected(plain, &columns).map_err(odd)?, projected(placed, &all).map_err(odd)?);
        Ok(Some(Self { columns: all, plain, placed }))
    }
}

impl ParquetTable {
    /// Returns a table of `files` with the columns of `schema`, of which some are `partition_columns`. Columns of files
    /// that are on disk as a whole may be in `cache`.
    pub(crate) fn new(
        schema: &SchemaRef,
        files: &[ParquetFile],
        partition_columns: &[Field],
        held: Arc<Files>,
        cache: Option<&Arc<ColumnCache>>,
    ) -> Result<Self> {
        let is_partition = |field: &FieldRef| partition_columns.iter().any(|own| own.name() == field.name());
        let own: Vec<FieldRef> = schema.fields().iter().filter(|field| !is_partition(field)).cloned().collect();
        let file_schema = Arc::new(Schema::new_with_metadata(own, schema.metadata().clone()));
        let partitions: Vec<FieldRef> = partition_columns.iter().cloned().map(Arc::new).collect();
        let mut with_file = partitions.clone();
        with_file.push(Arc::new(Field::new(FILE, DataType::UInt32, false)));
        let row = Arc::new(Field::new(ROW, DataType::Int64, false).with_extension_type(RowNumber));
        let placed = TableSchema::builder(Arc::clone(&file_schema))
            .with_table_partition_cols(with_file)
            .with_virtual_columns(vec![row])
            .build();
        let plain = TableSchema::builder(file_schema).with_table_partition_cols(partitions.clone()).build();
        let order = Order::of(schema, &plain, &placed)?;
        let is_remote = files.iter().any(|file| file.remote.0.is_some());
        let cached = cache.filter(|_| !is_remote).map(|cache| Arc::new(CachedColumns::new(cache, &held)));
        let made = files.iter().enumerate().map(|(number, file)| partitioned(number, file));
        Ok(Self {
            files: made.collect::<Result<_>>()?,
            rows: files.iter().map(|file| file.rows).sum(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            value_bytes: schema.fields().iter().map(|field| value_bytes(files, field.name())).collect(),
            is_remote,
            #[cfg(feature = "ballista")]
            are_copies: held.are_copies(),
            plain,
            placed,
            order,
            cached,
            held,
        })
    }

    /// Returns the size of all files, in bytes.
    #[cfg(feature = "ballista")]
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.object_meta.size).sum()
    }

    /// Returns the number of files.
    #[cfg(feature = "ballista")]
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }

    /// Returns why another process can't read the files under their names; `None` if it can.
    #[cfg(feature = "ballista")]
    pub(crate) fn is_only_here(&self) -> Option<&'static str> {
        match (self.is_remote, self.are_copies) {
            (true, _) => Some("is read from objects, of which parts are on this server's disk"),
            (_, true) => Some("is read from a copy that this server made"),
            _ => None,
        }
    }

    /// Returns the directories of the files without the leading slash, as they appear in the engine's plans.
    pub(crate) fn directories(&self) -> Vec<String> {
        let directory = |file: &PartitionedFile| {
            let path = file.object_meta.location.as_ref();
            path.rfind('/').map(|end| path[..=end].to_owned())
        };
        let mut directories: Vec<String> = self.files.iter().filter_map(directory).collect();
        directories.dedup();
        directories
    }

    /// Returns the number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns whether only parts of some file are on disk.
    pub(crate) fn is_remote(&self) -> bool {
        self.is_remote
    }

    /// Returns the bytes of a row's values in those of `columns` that are wide.
    pub(crate) fn row_bytes(&self, columns: &[usize]) -> u64 {
        columns.iter().filter_map(|column| self.value_bytes.get(*column)).sum()
    }

    /// Returns the columns in memory, if any may be there.
    pub(crate) fn cached(&self) -> Option<&Arc<CachedColumns>> {
        self.cached.as_ref()
    }

    /// Opens the files, unless they are open already. Blocks.
    pub(crate) fn open(&self) -> Result<Arc<Opened>> {
        self.held.open()
    }
}

/// Returns the largest size of a column's values in any file, in bytes; 0 if the column is not wide.
fn value_bytes(files: &[ParquetFile], column: &str) -> u64 {
    let wide = files.iter().flat_map(|file| &file.wide).filter(|wide| wide.name == column);
    wide.map(|wide| wide.value_bytes).max().unwrap_or(0)
}

fn unreadable(file: &ParquetFile, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let name = file_stamp::name(&file.path);
    Error::new(Code::Source, format!("`{name}` can't be read")).with_source(cause)
}

fn partitioned(number: usize, file: &ParquetFile) -> Result<PartitionedFile> {
    // The engine's object paths can't contain `..`.
    let path = match file.path.components().any(|part| part == Component::ParentDir) {
        true => file.path.canonicalize().map_err(|error| unreadable(file, error))?,
        false => file.path.clone(),
    };
    let location = object_store::path::Path::from_absolute_path(path).map_err(|error| unreadable(file, error))?;
    let about = std::fs::metadata(&file.path).map_err(|error| unreadable(file, error))?;
    let last_modified = about.modified().map_err(|error| unreadable(file, error))?.into();
    let meta = ObjectMeta { location, last_modified, size: about.len(), e_tag: None, version: None };
    let mut values = file.partition_values.clone();
    values.push(ScalarValue::UInt32(u32::try_from(number).ok()));
    Ok(PartitionedFile::new_from_meta(meta).with_partition_values(values).with_extension(Number(number)))
}

/// A [`ParquetTable`] with its own columns, optionally followed by [`FILE`] and [`ROW`].
#[derive(Clone, Debug)]
pub(crate) struct ParquetProvider {
    table: Arc<ParquetTable>,
    placed: bool,
    /// The own columns with some texts as views, in the engine's order and in that of the table.
    viewed: Option<(TableSchema, SchemaRef)>,
    /// Whether statements that read columns again have them cached.
    caches: bool,
}

impl ParquetProvider {
    /// Presents the table's own columns.
    pub(crate) fn plain(table: Arc<ParquetTable>) -> Self {
        Self { table, placed: false, viewed: None, caches: true }
    }

    /// Presents the table's columns and each row's position. Pages, of which each reads few rows, have no columns
    /// cached, and use what others have.
    pub(crate) fn placed(table: Arc<ParquetTable>) -> Self {
        Self { table, placed: true, viewed: None, caches: false }
    }

    /// Presents each row's position too.
    pub(crate) fn with_places(&self) -> Self {
        Self { placed: true, viewed: None, ..self.clone() }
    }

    /// Returns whether statements that read columns again have them cached.
    pub(crate) fn caches(&self) -> bool {
        self.caches
    }

    /// Refuses files that were replaced since they were loaded. Blocks.
    pub(crate) fn check(&self) -> datafusion::common::Result<()> {
        self.opened().map(|_| ())
    }

    fn opened(&self) -> datafusion::common::Result<Arc<Opened>> {
        let refused = |error| DataFusionError::External(Box::new(error));
        let opened = self.table.open().map_err(refused)?;
        opened.check_others().map_err(refused)?;
        Ok(opened)
    }

    /// Returns the table with those of its `columns` as views that are texts of its files; `None` if that is none of
    /// them, or if it presents positions.
    pub(crate) fn with_views(&self, columns: &[usize]) -> Option<Self> {
        let (own, schema) = (&self.table.plain, self.schema());
        let is_viewed = |field: &FieldRef| {
            let is_chosen = columns.iter().any(|column| schema.field(*column).name() == field.name());
            is_chosen && *field.data_type() == DataType::Utf8
        };
        let fields = own.file_schema().fields();
        if self.placed || self.viewed.is_some() || !fields.iter().any(is_viewed) {
            return None;
        }
        let view = |field: &FieldRef| match is_viewed(field) {
            true => Arc::new(Field::clone(field).with_data_type(DataType::Utf8View)),
            false => Arc::clone(field),
        };
        let metadata = own.file_schema().metadata().clone();
        let file = Arc::new(Schema::new_with_metadata(fields.iter().map(view).collect::<Vec<_>>(), metadata));
        let viewed = TableSchema::builder(file).with_table_partition_cols(own.table_partition_cols().to_vec()).build();
        let presented = match self.in_engine_order(None) {
            None => Arc::clone(viewed.table_schema()),
            Some(order) => Arc::new(viewed.table_schema().project(&order).ok()?),
        };
        Some(Self { viewed: Some((viewed, presented)), ..self.clone() })
    }

    /// Returns the table.
    pub(crate) fn table(&self) -> &Arc<ParquetTable> {
        &self.table
    }

    /// Returns the columns in the engine's order that make up `projection`.
    fn in_engine_order(&self, projection: Option<&Vec<usize>>) -> Option<Vec<usize>> {
        let Some(order) = &self.table.order else { return projection.cloned() };
        let width = if self.placed { order.placed.fields().len() } else { order.plain.fields().len() };
        let all = order.columns.get(..width).unwrap_or(&order.columns);
        match projection {
            None => Some(all.to_vec()),
            Some(columns) => Some(columns.iter().filter_map(|column| all.get(*column).copied()).collect()),
        }
    }

    fn table_schema(&self) -> &TableSchema {
        match &self.viewed {
            Some((viewed, _)) => viewed,
            None if self.placed => &self.table.placed,
            None => &self.table.plain,
        }
    }

    /// Returns the batch size for these columns; `None` for the default. Batches of wide rows are small, because
    /// several of them are in memory while they are produced and sent.
    pub(crate) fn batch_rows(&self, projection: Option<&Vec<usize>>) -> Option<usize> {
        let row_bytes = match projection {
            None => self.table.value_bytes.iter().sum(),
            Some(columns) => self.table.row_bytes(columns),
        };
        let rows = usize::try_from(BATCH_BYTES.checked_div(row_bytes)?).unwrap_or(usize::MAX);
        Some(rows.clamp(LEAST_BATCH_ROWS, FULL_BATCH_ROWS))
    }

    /// Returns what is known of the rows, whatever their columns.
    pub(crate) fn known(&self) -> Statistics {
        let mut statistics = Statistics::new_unknown(self.table_schema().table_schema());
        statistics.num_rows = Precision::Exact(usize::try_from(self.table.rows).unwrap_or(usize::MAX));
        statistics.total_byte_size = Precision::Inexact(usize::try_from(self.table.bytes).unwrap_or(usize::MAX));
        statistics
    }

    fn files(&self) -> Vec<PartitionedFile> {
        let mut files = self.table.files.clone();
        if !self.placed {
            files.iter_mut().for_each(|file| {
                file.partition_values.pop();
            });
        }
        files
    }
}

#[async_trait]
impl TableProvider for ParquetProvider {
    fn schema(&self) -> SchemaRef {
        if let Some((_, presented)) = &self.viewed {
            return Arc::clone(presented);
        }
        match &self.table.order {
            None => Arc::clone(self.table_schema().table_schema()),
            Some(order) if self.placed => Arc::clone(&order.placed),
            Some(order) => Arc::clone(&order.plain),
        }
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn statistics(&self) -> Option<Statistics> {
        Some(self.known())
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> datafusion::common::Result<Vec<TableProviderFilterPushDown>> {
        // The optimizer pushes filters into the reader later, and keeps those that the reader can't apply.
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::common::Result<Arc<dyn ExecutionPlan>> {
        // The plan reads the files that are open now, even if they are replaced; they stay open as long as the plan
        // lives.
        let opened = self.opened()?;
        let footers = state.runtime_env().cache_manager.get_file_metadata_cache();
        let ordered = state.config().target_partitions() == 1;
        let mut options = state.table_options().parquet.clone();
        options.global = state.config_options().execution.parquet.clone();
        if self.table.is_remote {
            // The footers are there; what lies before them would be fetched for nothing.
            options.global.metadata_size_hint = None;
        }
        let readers = OpenedReaders::new(Arc::clone(&opened), footers, !filters.is_empty());
        let source = ParquetSource::new(self.table_schema().clone())
            .with_table_parquet_options(options)
            .with_parquet_file_reader_factory(Arc::new(readers));
        let unseen = [(FILE, ScalarValue::UInt32(Some(0))), (ROW, ScalarValue::Int64(Some(i64::MIN)))];
        let source = Arc::new(SureSource::new(source, opened, unseen));
        let usual = state.config().batch_size();
        let batch_rows = self.batch_rows(projection).map(|rows| rows.min(usual));
        let config = FileScanConfigBuilder::new(ObjectStoreUrl::local_filesystem(), source)
            .with_file_group(FileGroup::new(self.files()))
            .with_statistics(self.known())
            .with_projection_indices(self.in_engine_order(projection))?
            .with_limit(limit.filter(|_| filters.is_empty()))
            .with_preserve_order(ordered)
            .with_batch_size(batch_rows)
            .build();
        Ok(DataSourceExec::from_data_source(config))
    }
}
