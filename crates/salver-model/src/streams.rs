//! The words of streams: what is appended, what is acknowledged, what is read again.

use bytes::Bytes;

/// What an append waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ack {
    /// The events are in the server's memory: lost when it dies within the next moments.
    Memory,
    /// The events are on the server's disk, and survive its death and the machine's.
    #[default]
    Disk,
    /// The events are in Kafka, on every in-sync replica; for a stream without Kafka the same as `Disk`.
    Broker,
}

impl Ack {
    /// Every choice with its word in requests and settings.
    pub const ALL: [(&'static str, Self); 3] =
        [("memory", Self::Memory), ("disk", Self::Disk), ("broker", Self::Broker)];

    /// The choice called `word`.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(own, _)| *own == word).map(|(_, ack)| *ack)
    }
}

/// How far into a JSON text a reader has come: the text may come in pieces. Made by `default` for each text and handed
/// back with each piece.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// Nothing was read yet, or only white space.
    #[default]
    Start,
    /// Objects one after the other, with any white space between them.
    Values,
    /// In the middle of lines that are no event, behind what is wrong with them.
    Lines,
    /// Inside an array, before its first value.
    ArrayValue,
    /// Inside an array, behind a comma.
    ArrayNext,
    /// Inside an array, behind a value.
    ArrayComma,
    /// Behind the end of an array.
    End,
    /// Behind something that is no array any more: nothing that follows is an event.
    Lost,
    /// In the middle of a value that is too long for an event.
    Within(Within),
}

/// How far the text of one value has come that is gone over to find its end, and not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// Whether it is a value of an array of events.
    pub in_array: bool,
    /// How many objects and arrays are open.
    pub depth: u64,
    /// Which of the outermost 64 of these are objects, by bit.
    pub objects: u64,
    /// What comes next.
    pub expects: Expects,
    /// Whether the last byte was the end of a line.
    pub behind_newline: bool,
}

/// What comes next in the text of a value.
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
    /// What follows a value: a comma or an end.
    Behind,
    /// More of a string.
    Text {
        /// Whether it is the name of a member.
        is_name: bool,
    },
    /// What a backslash in a string means.
    Escape {
        /// Whether the string is the name of a member.
        is_name: bool,
    },
    /// More of a number or a word.
    Scalar,
}

/// An event that a door has taken out of its protocol.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewEvent {
    /// The event: JSON text, unless the stream's clients agree on something else.
    pub value: Bytes,
    /// Whether it is a tombstone, which has a key and no value; `value` is empty then.
    pub is_tombstone: bool,
    /// Whether the value is JSON, where the protocol carries other bytes too: such a one must be well-formed.
    pub is_json: bool,
    /// Its key; `None` takes the one the stream picks.
    pub key: Option<Bytes>,
    /// Its id; `None` takes the one the stream picks, or makes one.
    pub id: Option<Bytes>,
    /// The partition it is for; `None` leaves that to the key.
    pub partition: Option<u32>,
    /// Its headers.
    pub headers: Vec<(String, Bytes)>,
    /// Its time, in milliseconds since 1970; `None` takes the one the stream picks, or now.
    pub time_ms: Option<i64>,
}

/// What holds for all events of a request that do not say otherwise themselves.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// The key.
    pub key: Option<Bytes>,
    /// The partition.
    pub partition: Option<u32>,
    /// Headers that go with each event.
    pub headers: Vec<(String, Bytes)>,
    /// The time, in milliseconds since 1970.
    pub time_ms: Option<i64>,
    /// The id, for a request of one event; of several the events are `ID-0`, `ID-1`, ... in order.
    pub id: Option<Bytes>,
    /// How many events of the request came before, in earlier pieces of it.
    pub before: u64,
    /// Whether [`Receipt::each`] is wanted.
    pub each: bool,
    /// Whether values are taken as they are, JSON objects or not: for protocols that carry any bytes.
    pub opaque: bool,
    /// What will be waited for, so that what can't be promised now is refused before anything is taken.
    pub ack: Ack,
}

/// What became of one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is in the stream.
    Taken {
        /// Where.
        offset: u64,
    },
    /// It was there already.
    Duplicate {
        /// Where.
        offset: u64,
    },
    /// It does not belong into the stream, and lies in its quarantine.
    Quarantined {
        /// Why.
        reason: String,
    },
}

/// What became of the events of one append.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The offset behind the last one that was taken. 0 when none was.
    pub end: u64,
    /// What [`crate::ports::EventStream::settle`] waits for: `end`, and the end of earlier events that duplicates stand
    /// for.
    pub through: u64,
    /// The same in the quarantine. 0 when nothing was.
    pub quarantine_end: u64,
    /// How many are in the stream now. They lie together: the first is `end - taken`.
    pub taken: u64,
    /// How many were there already.
    pub duplicates: u64,
    /// How many are in the quarantine now.
    pub quarantined: u64,
    /// Why the first of those is there.
    pub reason: Option<String>,
    /// The id of the first event that was taken, as text.
    pub id: Option<String>,
    /// What became of each, in order, when [`Envelope::each`] asked for it.
    pub each: Vec<Outcome>,
    /// How many bytes of a text were used up; the rest is the beginning of an event that goes on in the next piece.
    pub consumed: usize,
}

/// Where Kafka put an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The partition.
    pub partition: u32,
    /// The offset in it.
    pub offset: u64,
}

/// An event as it is read again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the stream.
    pub offset: u64,
    /// Its time, in milliseconds since 1970.
    pub time_ms: i64,
    /// Its id, as text.
    pub id: String,
    /// Its key.
    pub key: Option<Bytes>,
    /// The partition it was meant for.
    pub partition: Option<u32>,
    /// Its headers.
    pub headers: Vec<(String, Bytes)>,
    /// The event; empty for a tombstone.
    pub value: Bytes,
    /// Whether it has no value.
    pub is_tombstone: bool,
}

/// Where a stream begins and ends now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The offset of the oldest event that is kept.
    pub first: u64,
    /// The offset the next event will have.
    pub next: u64,
}
