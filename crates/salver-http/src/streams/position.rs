//! Where in a stream a reader begins.

use salver_model::ports::EventStream;
use salver_model::{Code, Error, Result};

use super::moment;

/// Where a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// With the oldest event that is kept.
    Earliest,
    /// With the next event.
    Latest,
    /// With the event of this offset.
    Offset(u64),
    /// With the first event at or after a time, in milliseconds since 1970.
    Time(i64),
}

impl Position {
    /// Reads `earliest`, `latest`, an offset, or a time as RFC 3339.
    pub(super) fn read(text: &str) -> Result<Self> {
        let number = || text.parse().ok().map(Self::Offset);
        let time = || moment::rfc3339(text).map(Self::Time);
        match text {
            "earliest" => Ok(Self::Earliest),
            "latest" => Ok(Self::Latest),
            _ => number().or_else(time).ok_or_else(|| {
                Error::new(Code::InvalidValue, format!("a reader can't begin at `{text}`"))
                    .with_hint("write an offset, `earliest`, `latest`, or a time like `2026-01-31T10:20:30Z`")
            }),
        }
    }

    /// The offset. One behind the end, from before a log was made anew, becomes the end: else its reader would wait
    /// for ever.
    pub(super) async fn offset(self, stream: &dyn EventStream) -> Result<u64> {
        let ends = stream.ends();
        Ok(match self {
            Self::Earliest => ends.first,
            Self::Latest => ends.next,
            Self::Offset(offset) => offset.min(ends.next),
            Self::Time(time_ms) => stream.offset_at(time_ms).await?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn words_numbers_and_times() {
        assert_eq!(Position::read("earliest").ok(), Some(Position::Earliest));
        assert_eq!(Position::read("12").ok(), Some(Position::Offset(12)));
        assert_eq!(Position::read("1970-01-01T00:00:01Z").ok(), Some(Position::Time(1_000)));
        assert!(Position::read("-1").is_err() && Position::read("first").is_err());
    }
}
