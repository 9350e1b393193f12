//! The vocabulary of streams: appends, acknowledgements, and reads.

use std::ops::Range;

use bytes::Bytes;

/// Acknowledgement level of an append.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ack {
    /// The events are in the server's memory, and lost if it crashes within the next moments.
    Memory,
    /// The events are on the server's disk, and survive a crash of the process or the machine.
    #[default]
    Disk,
    /// The events are in Kafka, on every in-sync replica; for a stream without Kafka the same as `Disk`.
    Broker,
}

impl Ack {
    /// Every level with its word in requests and settings.
    pub const ALL: [(&'static str, Self); 3] =
        [("memory", Self::Memory), ("disk", Self::Disk), ("broker", Self::Broker)];

    /// Returns the level called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, ack)| *ack)
    }
}

/// State of a parser between the pieces of a JSON text. Start with `default` for each text, and pass it back with each
/// piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At the start; nothing but white space was read.
    #[default]
    Start,
    /// Between objects in sequence, separated by any white space.
    Values,
    /// Within the lines of a malformed event, behind the fault.
    Lines,
    /// Inside an array, before its first value.
    ArrayValue,
    /// Inside an array, behind a comma.
    ArrayNext,
    /// Inside an array, behind a value.
    ArrayComma,
    /// Behind the end of an array.
    End,
    /// Behind a syntax error in an array: nothing that follows is an event.
    Lost,
    /// Within a value that is too long for an event.
    Within(Within),
}

/// State of the search for the end of a value that is skipped without buffering it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Whether it is an element of an array of events.
    pub in_array: bool,
    /// Number of open objects and arrays.
    pub depth: u64,
    /// Bits that mark which of the outermost 64 of these are objects.
    pub objects: u64,
    /// Next expected token.
    pub expects: Expects,
    /// Whether the last byte was a line break.
    pub behind_newline: bool,
}

/// Next expected token in the text of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expects {
    /// A value.
    Value,
    /// The first value of an array, or its end.
    FirstValue,
    /// The name of a member.
    Name,
    /// The name of the first member, or the end of the object.
    FirstName,
    /// The colon behind a name.
    Colon,
    /// A comma or an end, behind a value.
    Behind,
    /// More of a string.
    Text {
        /// Whether it is the name of a member.
        is_name: bool,
    },
    /// The character behind a backslash in a string.
    Escape {
        /// Whether the string is the name of a member.
        is_name: bool,
    },
    /// More of a number or a keyword.
    Scalar,
}

/// Event that a door has decoded from its protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEvent {
    /// Event: JSON text, unless the stream's clients use another format.
    pub value: Bytes,
    /// Whether it is a tombstone, which has a key and no value; `value` is empty then.
    pub is_tombstone: bool,
    /// Whether the value is declared as JSON, where the protocol carries other bytes too. Such a value must be
    /// well-formed.
    pub is_json: bool,
    /// Key; `None` uses the one extracted by the stream.
    pub key: Option<Bytes>,
    /// Id; `None` uses the one extracted by the stream, or generates one.
    pub id: Option<Bytes>,
    /// Target partition; `None` chooses it by the key.
    pub partition: Option<u32>,
    /// Headers of the event, each with its value if it has one.
    pub headers: Vec<(String, Option<Bytes>)>,
    /// Time, in milliseconds since 1970; `None` uses the one extracted by the stream, or the current time.
    pub time_ms: Option<i64>,
}

/// Defaults for all events of a request.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// Key.
    pub key: Option<Bytes>,
    /// Partition.
    pub partition: Option<u32>,
    /// Headers added to each event.
    pub headers: Vec<(String, Bytes)>,
    /// Time, in milliseconds since 1970.
    pub time_ms: Option<i64>,
    /// Id, for a request of one event; several events get `ID-0`, `ID-1`, ... in order.
    pub id: Option<Bytes>,
    /// Number of events in earlier pieces of the request.
    pub before: u64,
    /// Whether [`Receipt::each`] is wanted.
    pub each: bool,
    /// Whether values other than JSON objects are accepted, for protocols that carry any bytes.
    pub opaque: bool,
    /// Acknowledgement level the client will wait for, so that a request is refused up front if it cannot be met now.
    pub ack: Ack,
}

/// Outcome of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventOutcome {
    /// Appended to the stream.
    Taken {
        /// Offset of the event.
        offset: u64,
    },
    /// Duplicate of an earlier event.
    Duplicate {
        /// Offset of the earlier event.
        offset: u64,
    },
    /// Rejected and stored in the quarantine.
    Quarantined {
        /// Reason for the rejection.
        reason: String,
    },
}

/// Outcome of an append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// Offset behind the last appended event; 0 when none was.
    pub end: u64,
    /// Offsets of the earlier events that have duplicates here, for which [`crate::ports::EventStream::settle`] waits
    /// too.
    pub repeated: Vec<u64>,
    /// Offset behind the last quarantined event; 0 when none was.
    pub quarantine_end: u64,
    /// Number of events appended. They are contiguous: the first is `end - taken`.
    pub taken: u64,
    /// Number of duplicates.
    pub duplicates: u64,
    /// Number of quarantined events.
    pub quarantined: u64,
    /// Reason for the first of those.
    pub reason: Option<String>,
    /// Id of the first appended event, as text.
    pub id: Option<String>,
    /// Outcome of each event, in order, if requested by [`Envelope::each`].
    pub each: Vec<EventOutcome>,
    /// Number of bytes of a text that were consumed; the rest is the beginning of an event that continues in the next
    /// piece.
    pub consumed: usize,
}

impl Receipt {
    /// Returns the offsets of the appended events.
    #[must_use]
    pub fn offsets(&self) -> Range<u64> {
        self.end - self.taken.min(self.end)..self.end
    }

    /// Returns the offset behind all events that are settled, the repeated ones included.
    #[must_use]
    pub fn through(&self) -> u64 {
        self.repeated.iter().map(|offset| offset + 1).max().unwrap_or(0).max(self.end)
    }
}

/// Event that Kafka will never accept. It stays in the stream, and lies in its quarantine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedEvent {
    /// Offset of the event.
    pub offset: u64,
    /// Reason for the rejection.
    pub reason: String,
}

/// Position of an event in Kafka.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// Partition.
    pub partition: u32,
    /// Offset in the partition.
    pub offset: u64,
}

/// What became of an event in Kafka.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EventDelivery {
    /// It is there; `None` when it is not known any more where, as after a restart.
    Placed(Option<Placement>),
    /// Kafka will never accept it, for this reason.
    Rejected(String),
}

/// Event read from a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Offset in the stream.
    pub offset: u64,
    /// Time, in milliseconds since 1970.
    pub time_ms: i64,
    /// Id, as text.
    pub id: String,
    /// Key.
    pub key: Option<Bytes>,
    /// Requested partition.
    pub partition: Option<u32>,
    /// Headers of the event, each with its value if it has one.
    pub headers: Vec<(String, Option<Bytes>)>,
    /// Event data; empty for a tombstone.
    pub value: Bytes,
    /// Whether it has no value.
    pub is_tombstone: bool,
}

/// Current range of offsets of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// Offset of the oldest event that is kept.
    pub first: u64,
    /// Offset of the next event.
    pub next: u64,
}
