//! The files of a dataset for plans of the engine: they are read through the descriptors that were open when the plan
//! was made, so that a file that is replaced meanwhile is read to its end unchanged.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use bytes::Bytes;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::ParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::parquet::metadata::CachedParquetMetaData;
use datafusion::execution::cache::cache_manager::{CachedFileMetadataEntry, FileMetadataCache};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use salver_model::Error;

use super::open_files::Opened;
use super::parquet_file::OpenFile;
use super::plain_footer::{is_made, plain};

/// The number of a plan's file among the dataset's files.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number(pub(crate) usize);

/// Factory of the engine's readers for open files.
#[derive(Debug)]
pub(crate) struct OpenedReaders {
    opened: Arc<Opened>,
    /// Cache of footers, shared by all datasets.
    footers: Arc<FileMetadataCache>,
    keeps_indexes: bool,
}

impl OpenedReaders {
    /// Returns a factory of readers for the files in `opened`, which it keeps open. With `keeps_indexes`, for a scan
    /// with conditions, the page index of a file that is read again is kept with its footer.
    pub(crate) fn new(opened: Arc<Opened>, footers: Arc<FileMetadataCache>, keeps_indexes: bool) -> Self {
        Self { opened, footers, keeps_indexes }
    }
}

impl ParquetFileReaderFactory for OpenedReaders {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> datafusion::common::Result<Box<dyn AsyncFileReader + Send>> {
        let number = file.extension::<Number>().map_or(usize::MAX, |number| number.0);
        let about = file.object_meta.clone();
        let store = Arc::new(OneFile { opened: Arc::clone(&self.opened), number, about, file: OnceLock::new() });
        let about = file.object_meta.clone();
        let inner = CachedParquetFileReaderFactory::new(store, Arc::clone(&self.footers))
            .create_reader(partition, file, hint, metrics)?;
        Ok(Box::new(PlainReader {
            inner,
            about,
            opened: Arc::clone(&self.opened),
            number,
            footers: Arc::clone(&self.footers),
            keeps_indexes: self.keeps_indexes,
        }))
    }
}

/// Reader whose columns have the names of the dataset's, and texts their types. A file may ask for views of texts,
/// which would be copied into plain ones batch by batch.
struct PlainReader {
    inner: Box<dyn AsyncFileReader + Send>,
    about: ObjectMeta,
    opened: Arc<Opened>,
    number: usize,
    footers: Arc<FileMetadataCache>,
    keeps_indexes: bool,
}

impl PlainReader {
    /// Returns the metadata with the page index, if that should be kept. The engine asks for a footer alone, and then
    /// decodes the index for each scan anew, which is most of the time of a look-up (DataFusion 55).
    async fn with_index(
        &mut self,
        read: Arc<ParquetMetaData>,
        options: Option<&ArrowReaderOptions>,
    ) -> parquet::errors::Result<Arc<ParquetMetaData>> {
        if read.column_index().is_some() || !has_index(&read) {
            return Ok(read);
        }
        let options = options.cloned().unwrap_or_default().with_page_index_policy(PageIndexPolicy::Optional);
        self.inner.get_metadata(Some(&options)).await
    }
}

/// Returns whether the file has a page index, as files of one writer have for each column or for none.
fn has_index(metadata: &ParquetMetaData) -> bool {
    let first = metadata.row_groups().first();
    first.is_some_and(|group| group.columns().iter().any(|column| column.column_index_offset().is_some()))
}

impl AsyncFileReader for PlainReader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, parquet::errors::Result<Bytes>> {
        self.inner.get_bytes(range)
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, parquet::errors::Result<Vec<Bytes>>> {
        self.inner.get_byte_ranges(ranges)
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, parquet::errors::Result<Arc<ParquetMetaData>>> {
        Box::pin(async move {
            let is_known = self.footers.get(&self.about.location).is_some();
            let mut read = self.inner.get_metadata(options).await?;
            if self.keeps_indexes && is_known {
                read = self.with_index(read, options).await?;
            }
            let needed = self.opened.needs_plain(self.number);
            // The cache may have the other one already: also for another dataset with this file.
            if is_made(&read) || needed.and_then(OnceLock::get) == Some(&false) {
                return Ok(read);
            }
            let plain = plain(&read)?.map(Arc::new);
            needed.map(|known| known.get_or_init(|| plain.is_some()));
            let Some(plain) = plain else { return Ok(read) };
            // From here on the cache has that one.
            let kept = Arc::new(CachedParquetMetaData::new(Arc::clone(&plain)));
            self.footers.put(&self.about.location, CachedFileMetadataEntry::new(self.about.clone(), kept));
            Ok(plain)
        })
    }
}

/// A single file, where the engine expects an object store.
#[derive(Debug)]
struct OneFile {
    opened: Arc<Opened>,
    number: usize,
    about: ObjectMeta,
    /// The file, opened at the first read if there are too many to be kept open.
    file: OnceLock<Arc<OpenFile>>,
}

impl OneFile {
    fn file(&self) -> Result<Arc<OpenFile>, Error> {
        if let Some(file) = self.file.get() {
            return Ok(Arc::clone(file));
        }
        let file = self.opened.numbered(self.number)?;
        Ok(Arc::clone(self.file.get_or_init(|| file)))
    }

    async fn read(&self, ranges: Vec<Range<u64>>) -> object_store::Result<Vec<Bytes>> {
        let file = self.file().map_err(failed)?;
        let reading = tokio::task::spawn_blocking(move || read(&file, &ranges));
        reading.await.map_err(|cause| object_store::Error::JoinError { source: cause })?.map_err(failed)
    }
}

/// Reads some ranges of the file, unchanged since it was loaded. Blocks.
fn read(file: &Arc<OpenFile>, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, Error> {
    let _parts = file.prepare(ranges)?;
    let bytes = ranges.iter().map(|range| file.range(range).map_err(|cause| file.failed(cause)));
    let bytes = bytes.collect::<Result<_, _>>()?;
    // Checked after reading, so that no overwritten bytes are returned.
    file.check()?;
    Ok(bytes)
}

fn failed(error: Error) -> object_store::Error {
    object_store::Error::Generic { store: "dataset", source: Box::new(error) }
}

impl fmt::Display for OneFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file of a dataset")
    }
}

#[async_trait]
impl ObjectStore for OneFile {
    async fn get_opts(&self, _: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let bytes = self.file().map_err(failed)?.bytes;
        let range = match options.range {
            None => 0..bytes,
            Some(range) => range
                .as_range(bytes)
                .map_err(|cause| object_store::Error::Generic { store: "dataset", source: Box::new(cause) })?,
        };
        let read = if options.head { Vec::new() } else { self.read(vec![range.clone()]).await? };
        let payload = GetResultPayload::Stream(stream::iter(read.into_iter().map(Ok)).boxed());
        Ok(GetResult { payload, meta: self.about.clone(), range, attributes: object_store::Attributes::new() })
    }

    async fn get_ranges(&self, _: &Path, ranges: &[Range<u64>]) -> object_store::Result<Vec<Bytes>> {
        self.read(ranges.to_vec()).await
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> object_store::Result<PutResult> {
        Err(only_read())
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        Err(only_read())
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        stream::iter([Err(only_read())]).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        stream::iter([Ok(self.about.clone())]).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> object_store::Result<ListResult> {
        Err(only_read())
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> object_store::Result<()> {
        Err(only_read())
    }
}

fn only_read() -> object_store::Error {
    object_store::Error::NotImplemented {
        operation: "anything but reading".to_owned(),
        implementer: "a file of a dataset".to_owned(),
    }
}
