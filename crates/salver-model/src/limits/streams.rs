//! What streams take, keep and give.

/// Size at which a segment of a stream's log is closed, in bytes, unless the stream has another setting.
pub const SEGMENT_BYTES: u64 = 128 * 1024 * 1024;
/// Most bytes of a stream's quarantine on disk; its oldest events are deleted first. Less when the stream itself has
/// less.
pub const QUARANTINE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Most events of one body that go to the quarantine before the rest of it is refused.
pub const QUARANTINED_MAX: u64 = 100_000;
/// Largest event of a stream, in bytes, unless the stream has another setting; a larger one goes to the quarantine.
pub const EVENT_BYTES_MAX: usize = 1024 * 1024;
/// Deepest nesting of an event; a deeper one goes to the quarantine.
pub const EVENT_DEPTH_MAX: usize = 64;
/// Most columns that are inferred for a stream's table, including nested ones; further members stay in the event only.
pub const EVENT_COLUMNS_MAX: usize = 1_000;
/// Longest key or id of an event, in bytes; an event with a longer one goes to the quarantine.
pub const EVENT_KEY_BYTES_MAX: usize = 4 * 1024;
/// Largest backlog of a stream's events in memory, in bytes; more are refused with `backlogged`.
pub const STREAM_WAITING_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of a stream's latest events that are kept in memory for readers that follow it; a reader that is further
/// behind reads from the disk.
pub const STREAM_RECENT_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Most ids of events that one stream remembers; the oldest are evicted.
pub const STREAM_IDS_MAX: usize = 1_000_000;
/// Longest wait of an append for the broker's acknowledgement, in milliseconds; then the append fails with
/// `stream_unavailable`, and its events are sent later.
pub const BROKER_MS_MAX: u64 = 10_000;
/// Bytes of a request body that are appended to a stream at a time.
pub const APPEND_PIECE_BYTES: usize = 1024 * 1024;
/// Most outcomes of single events in one response; an append of more by Confluent's API is refused.
pub const APPEND_RESULTS_MAX: usize = 100_000;
/// Most conditions of a reader that follows a stream; a reader with more is refused.
pub const TAIL_TERMS_MAX: usize = 1_000;
/// Most patterns of `like` among them; a reader with more is refused.
pub const TAIL_PATTERNS_MAX: usize = 16;
/// Most consumers of Confluent's API at a time; further ones are refused.
pub const CONSUMERS_MAX: usize = 4_096;
/// Longest time without requests of a consumer, in seconds; then it is gone, and its next request is refused.
pub const CONSUMER_IDLE_S_MAX: u64 = 300;
/// Most events of one topic in one response to a consumer; the others come with the next.
pub const CONSUMED_EVENTS_MAX: usize = 5_000;
/// Most events in a page of a stream; a request for more is refused.
pub const PAGE_EVENTS_MAX: usize = 10_000;
/// Bytes of events after which a page, or a response to a consumer, is full; the others come with the next.
pub const PAGE_EVENTS_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Longest time that a request waits for events, in seconds. A page with a longer `wait` is refused; a consumer gets
/// its response by then.
pub const EVENTS_WAIT_S_MAX: u64 = 60;
/// Most records in a batch of Confluent's API, as there; a batch with more is refused.
pub const CONFLUENT_BATCH_ENTRIES_MAX: usize = 10;
/// Longest id of a record in such a batch, in bytes; a batch with a longer one is refused.
pub const CONFLUENT_ENTRY_ID_BYTES_MAX: usize = 80;
/// Longest record of Confluent's API, in bytes; a longer one is refused. The event may be in Base64, and has a key and
/// headers.
pub const CONFLUENT_RECORD_BYTES_MAX: usize = 2 * EVENT_BYTES_MAX;
/// Most bytes of a body that are searched in vain for the ends of events that are nested too deeply; beyond them such
/// an event is malformed at its beginning. Otherwise a text of unclosed brackets would be searched once per line. Only
/// the end of the text makes a search vain, so that it makes no difference how the body is cut into pieces.
pub const VAIN_BYTES_MAX: usize = 8 * EVENT_BYTES_MAX;
/// Longest reason why an event is refused, in bytes, since a validation error may quote the whole event; a longer one
/// is cut off.
pub const REASON_BYTES_MAX: usize = 1_000;
/// Largest event that Kafka takes, in bytes, where the topic does not tell its own limit; a larger one is set aside.
pub const BROKER_EVENT_BYTES_MAX: usize = 1_000_000;
/// Longest time that a broker may take to answer a question about a topic, in milliseconds; the broker counts as away
/// beyond it.
pub const BROKER_ANSWER_MS_MAX: u64 = 3_000;
/// Longest time in which a broker tells the number of a topic's partitions to a request, in seconds; the request does
/// without it beyond that.
pub const PARTITIONS_S_MAX: u64 = 2;
/// Longest time that a broker may send nothing at the start while there is something to read, in seconds; then the
/// topic counts as one that can't be read.
pub const BROKER_SILENCE_S_MAX: u64 = 10;
/// Longest time that the close of a stream waits for events that are still to be sent to Kafka, in milliseconds; the
/// others are sent after the next start.
pub const BROKER_CLOSE_MS_MAX: u64 = 5_000;
/// Number of events set aside by Kafka that are remembered with their reason; an append that still waits for an older
/// one does not learn the reason.
pub const BROKER_ASIDES_MAX: usize = 10_000;
/// Most reads of files of streams at a time, for all streams; more wait. Each holds a frame of a megabyte or more in
/// memory.
pub const STREAM_READS_MAX: usize = 16;
/// Shortest interval at which a stream adds events to its table of Delta Lake, in milliseconds; a shorter one is
/// refused.
pub const PUBLISH_MS_MIN: u64 = 1_000;
/// Most files of a table of Delta Lake that a stream publishes. There is about one for each file of the log; no further
/// events are published beyond it.
pub const PUBLISHED_FILES_MAX: usize = 100_000;
/// Most files that are no longer part of such a table and stay for readers of older versions; the oldest are deleted
/// before their time.
pub const PUBLISHED_REMOVED_MAX: usize = 100_000;
/// Number of commits of such a table from one checkpoint to the next.
pub const PUBLISHED_CHECKPOINT_COMMITS: u64 = 100;
/// Most columns of such a table with a minimum and a maximum for each file; the others have none.
pub const PUBLISHED_STATS_COLUMNS_MAX: usize = 32;
