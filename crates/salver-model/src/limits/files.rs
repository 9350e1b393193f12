//! What files, directories and downloads may have that datasets are read from.

/// Most names in an object of a JSON file. A file whose rows have more is refused; a nested object with more is a map
/// with keys from data, and is stored as JSON text.
pub const JSON_NAMES_MAX: usize = 2_000;
/// Longest row of a JSON file, in bytes; a file with a longer one is refused.
pub const JSON_ROW_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Most fields of a record of CSV; a file with more is refused.
pub const CSV_FIELDS_MAX: usize = 16_384;
/// Longest record of CSV, in bytes; a file with a longer one is refused.
pub const CSV_RECORD_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Most records before a table in a CSV file, such as its title, that are skipped unless `skip_rows` says how many; if
/// there are more, the table begins at the first.
pub const CSV_RECORDS_BEFORE_MAX: usize = 20;
/// Largest file of a spreadsheet, in bytes; a larger one is refused.
pub const SHEET_FILE_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Most bytes of text in all cells of a sheet; a sheet with more is refused. A file stores a text once, however many
/// cells refer to it.
pub const SHEET_TEXT_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// Most sheets of a workbook that are entries beside its first; further ones are declared by hand.
pub const SHEETS_OF_BOOK_MAX: usize = 250;
/// Most cells, including empty ones, in the used range of a sheet; a larger sheet is refused.
pub const SHEET_CELLS_MAX: usize = 32 * 1024 * 1024;
/// Most entries of the metadata in the header of an Avro file; a file with more is refused.
pub const AVRO_HEADER_ENTRIES_MAX: i64 = 10_000;
/// Largest of these entries, of which the schema is one, in bytes; a file with a larger one is refused.
pub const AVRO_HEADER_BYTES_MAX: i64 = 64 * 1024 * 1024;
/// Most types, fields and elements of the schema of an Avro file with all names written out; a file with more is
/// refused.
pub const AVRO_TYPES_MAX: u64 = 100_000;
/// Largest block of an Avro file, in bytes, compressed or not; a file with a larger one is refused.
pub const AVRO_BLOCK_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// Most values of an Avro file that take no byte, such as nulls without a union, in rows or items that have no byte
/// either; a file with more is refused. Their number is written, and so a file of a kilobyte may have any.
pub const AVRO_EMPTY_VALUES_MAX: u64 = 64 * 1024 * 1024;
/// Largest footer of an Arrow file, and largest schema of an Arrow stream, in bytes, that is read to know the types
/// before the file is; the reader judges a file with a larger one.
pub const ARROW_FOOTER_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Deepest nesting of the columns of a Parquet file; a file with deeper ones is refused.
pub const PARQUET_DEPTH_MAX: usize = 100;
/// Largest Parquet file, uncompressed, that `memory = "auto"` keeps in memory, in bytes. Larger ones are scanned in
/// place, so that they take no time at startup.
pub const RESIDENT_PARQUET_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Time for which a column of a Parquet file that is scanned in place stays in memory after the last statement that
/// read it.
pub const COLUMN_CACHE_IDLE_MS_MAX: u64 = 10 * 60 * 1000;
/// Most memory that the decoder of an xz file may take, in bytes; a file that needs more is refused. The highest preset
/// needs 65 MiB.
pub const XZ_MEMORY_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Bytes that a compressed file may always unpack to. One that unpacks to more, and to more than [`UNPACKED_RATIO_MAX`]
/// times its size, is refused.
pub const UNPACKED_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Largest ratio of the unpacked size of a larger file to its size; see [`UNPACKED_BYTES_MAX`].
pub const UNPACKED_RATIO_MAX: u64 = 1_000;
/// Deepest directory of a dataset, counted from the one that its source names; files in deeper ones are no part of it.
pub const DATASET_DEPTH_MAX: usize = 32;
/// Most files of one dataset; one with more is refused.
pub const DATASET_FILES_MAX: usize = 1_000_000;
/// Most bytes of the log of a Delta table that are read for one version: its last checkpoint and the commits after it;
/// a table with more is refused until it has a newer checkpoint.
pub const DELTA_LOG_BYTES_MAX: u64 = 4 * 1024 * 1024 * 1024;
/// Longest line of the log of a Delta table, in bytes; a table with a longer one is refused.
pub const DELTA_LINE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Longest path in the log of a Delta table, in bytes; a table with a longer one is refused.
pub const DELTA_PATH_BYTES_MAX: usize = 8 * 1024;
/// Most bytes that are kept of the log of a Delta table while a version of it is read: paths, values of partition
/// columns, deletion vectors and the schema; a table with more is refused.
pub const DELTA_KEPT_BYTES_MAX: u64 = 512 * 1024 * 1024;
/// Most columns of a Delta table, with those that are nested in others; a table with more is refused.
pub const DELTA_COLUMNS_MAX: usize = 10_000;
/// Largest deletion vector of a file of a Delta table, in bytes; a table with a larger one is refused.
pub const DELTA_VECTOR_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// Largest download of a source, in bytes; a larger one fails.
pub const DOWNLOAD_BYTES_MAX: u64 = 64 * 1024 * 1024 * 1024;
/// Longest time to connect for a download, in seconds; the download fails beyond it.
pub const DOWNLOAD_CONNECT_S_MAX: u64 = 10;
/// Longest time without a byte of a download, in seconds; the download fails beyond it.
pub const DOWNLOAD_SILENCE_S_MAX: u64 = 30;
/// Most redirects that a download follows; it fails beyond them.
pub const DOWNLOAD_REDIRECTS_MAX: u32 = 5;
/// Longest time of a download, in seconds; it fails beyond it.
pub const DOWNLOAD_S_MAX: u64 = 60 * 60;
/// Time of a download before [`DOWNLOAD_BYTES_PER_SECOND_MIN`] applies, in seconds.
pub const DOWNLOAD_GRACE_S: u64 = 60;
/// Least average rate of a download, in bytes per second; a slower one fails. A connection that is merely kept alive is
/// slower than this; a useful one is faster.
pub const DOWNLOAD_BYTES_PER_SECOND_MIN: u64 = 16 * 1024;
/// Most files that are loaded at once; more wait. Loading is bound by the processor, and two keep a small machine busy.
pub const LOADS_MAX: usize = 2;
/// Most remote sources that are loaded at once; more wait. Slow ones must not delay files, nor each other for long.
pub const DOWNLOADS_MAX: usize = 8;
/// Longest time to connect to an object store, in seconds; the attempt fails beyond it.
pub const OBJECT_CONNECT_S_MAX: u64 = 5;
/// Longest time without a byte of an object or a page of a listing, in seconds; the attempt fails beyond it.
pub const OBJECT_SILENCE_S_MAX: u64 = 10;
/// Longest time of one request to an object store, in seconds; the attempt fails beyond it. A request asks for a few
/// MiB.
pub const OBJECT_REQUEST_S_MAX: u64 = 120;
/// Most attempts of a request to an object store that fails for a reason that may pass; then the load or the query
/// fails.
pub const OBJECT_ATTEMPTS_MAX: u32 = 5;
/// Most requests for parts of objects that are under way at once; more wait. Each has a few MiB in memory.
pub const OBJECT_REQUESTS_MAX: usize = 16;
/// Longest body of an error of an object store that is read for its code and message, in bytes.
pub const OBJECT_ERROR_BYTES_MAX: usize = 16 * 1024;
/// Largest file of credentials of an object store, in bytes; a larger one is refused.
pub const OBJECT_CREDENTIALS_BYTES_MAX: u64 = 1024 * 1024;
/// Longest list of the sheets of a Google spreadsheet, and longest answer with a token, in bytes; the load fails beyond
/// it.
pub const GOOGLE_SHEETS_LIST_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Longest wait that Google may ask for before a request is made again, in seconds; if it asks for more, the load fails
/// and is tried at the next refresh.
pub const GOOGLE_SHEETS_WAIT_S_MAX: u64 = 30;
/// Largest list of the parts of an object that are on disk, in bytes; a longer one is not believed, and the parts are
/// fetched again.
pub const OBJECT_PARTS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Disk space for parts of remote objects if the free space is unknown, in bytes; the least recently used go first.
pub const OBJECT_CACHE_BYTES_MAX: u64 = 10 * 1024 * 1024 * 1024;
