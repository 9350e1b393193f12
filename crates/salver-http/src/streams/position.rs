//! The position in a stream at which a reader begins.

use salver_model::{Code, Error, Result};
use salver_service::Consumer;

use super::moment;

/// The position at which a reader begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Position {
    /// The oldest event that is kept.
    Earliest,
    /// The next event.
    Latest,
    /// The event of this offset.
    Offset(u64),
    /// The first event at or after a time, in milliseconds since 1970.
    Time(i64),
}

impl Position {
    /// Parses `earliest`, `latest`, an offset, or a time in RFC 3339.
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

    /// Resolves it to an offset. An offset past the end, from before the log was created anew, is clamped to the end:
    /// the reader would wait for it forever.
    pub(super) async fn offset(self, stream: &Consumer) -> Result<u64> {
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
