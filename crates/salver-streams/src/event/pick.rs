//! Extraction of an event's key, id and time.

use std::borrow::Cow;

use chrono::DateTime;
use salver_model::spec::{Pick, StreamSpec};
use salver_text::json::Reader;

/// Members to extract.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picks {
    key: Option<Vec<String>>,
    id: Option<Vec<String>>,
    time: Option<Vec<String>>,
}

/// Values extracted from one event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Picked<'e> {
    /// Key of the event.
    pub(crate) key: Option<Cow<'e, [u8]>>,
    /// Id of the event.
    pub(crate) id: Option<Cow<'e, [u8]>>,
    /// Time of the event.
    pub(crate) time: Time,
}

/// Time found in an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Time {
    /// Missing, or null.
    #[default]
    Unsaid,
    /// Milliseconds since 1970.
    Ms(i64),
    /// Value that is not a time.
    Unreadable,
}

impl Picks {
    /// Creates the picks that come from members. Headers are handled by the caller.
    pub(crate) fn new(spec: &StreamSpec) -> Self {
        let member = |pick: &Option<Pick>| match pick {
            Some(Pick::Member(path)) => Some(path.clone()),
            _ => None,
        };
        Self { key: member(&spec.key), id: member(&spec.id), time: member(&spec.time) }
    }

    /// Returns whether there is nothing to extract.
    pub(crate) fn is_empty(&self) -> bool {
        self.key.is_none() && self.id.is_none() && self.time.is_none()
    }

    /// Returns whether events carry their own ids.
    pub(crate) fn has_id(&self) -> bool {
        self.id.is_some()
    }

    /// Extracts from a validated event.
    pub(crate) fn pick<'e>(&self, event: &'e [u8]) -> Picked<'e> {
        let find = |path: &Option<Vec<String>>| path.as_ref().and_then(|path| find(event, path));
        Picked {
            key: find(&self.key).and_then(plain),
            // An empty id identifies nothing.
            id: find(&self.id).and_then(plain).filter(|id| !id.is_empty()),
            time: find(&self.time).map_or(Time::Unsaid, time),
        }
    }
}

/// Returns the text of the value at `path`; of duplicate members the last one.
fn find<'e>(event: &'e [u8], path: &[String]) -> Option<&'e [u8]> {
    let mut value = event;
    for name in path {
        let mut reader = Reader::new(value);
        if reader.peek() != Some(b'{') {
            return None;
        }
        reader.enter();
        let (mut is_first, mut found) = (true, None);
        while let Some(own) = reader.member(&mut is_first) {
            let is_it = if own.is_escaped { *own.unescaped() == *name.as_bytes() } else { own.raw == name.as_bytes() };
            let text = reader.skip()?;
            if is_it {
                found = Some(text);
            }
        }
        value = found?;
    }
    Some(value)
}

/// Returns a value as a key: a string unquoted and unescaped, null as `None`, anything else as its text.
fn plain(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    match value.first()? {
        b'"' => Some(Reader::new(value).string()?.unescaped()),
        b'n' => None,
        _ => Some(Cow::Borrowed(value)),
    }
}

/// Parses a time in RFC 3339 format, or a number of milliseconds since 1970.
fn time(value: &[u8]) -> Time {
    let Some(text) = plain(value) else { return Time::Unsaid };
    time_ms(value, &text).map_or(Time::Unreadable, Time::Ms)
}

fn time_ms(value: &[u8], text: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(text).ok()?;
    if value.first() == Some(&b'"') {
        return DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp_millis());
    }
    if let Ok(ms) = text.parse() {
        return Some(ms);
    }
    // A number with a fraction or an exponent is accepted if it is in range.
    let ms: f64 = text.parse().ok()?;
    (ms.abs() < i64::MAX as f64).then_some(ms as i64)
}

#[cfg(test)]
mod tests {
    use salver_model::name::Name;
    use salver_model::spec::{Pick, StreamSpec};

    use super::{Picks, Time};

    fn picks(key: &[&str], id: &[&str], time: &[&str]) -> Picks {
        let mut spec = StreamSpec::new(Name::new("s").expect("a name"), "unused".into());
        let member = |path: &[&str]| Some(Pick::Member(path.iter().map(ToString::to_string).collect()));
        (spec.key, spec.id, spec.time) = (member(key), member(id), member(time));
        Picks::new(&spec)
    }

    #[test]
    fn picks_members() {
        let picks = picks(&["user", "id"], &["i"], &["t"]);
        assert!(!picks.is_empty());
        let event = br#"{"user":{"x":[1,"}"],"id":"a\"\u00e9"},"i":-12.50,"i" : 7,"t":"2026-01-02T03:04:05.006Z"}"#;
        let picked = picks.pick(event);
        assert_eq!(picked.key.as_deref(), Some("a\"é".as_bytes()));
        assert_eq!(picked.id.as_deref(), Some(&b"7"[..]));
        assert_eq!(picked.time, Time::Ms(1_767_323_045_006));
        assert_eq!(picks.pick(br#"{"i":""}"#).id, None);
        for (value, expected) in [
            ("12", Time::Ms(12)),
            ("-1.9e3", Time::Ms(-1900)),
            ("1e300", Time::Unreadable),
            ("null", Time::Unsaid),
            ("true", Time::Unreadable),
            ("[]", Time::Unreadable),
            ("\"2026-01-02\"", Time::Unreadable),
            ("\"\"", Time::Unreadable),
            ("\"1970-01-01T01:00:00+01:00\"", Time::Ms(0)),
        ] {
            let event = format!(r#"{{"user":{{"id":null}},"t":{value},"i":{{"a": 1}}}}"#);
            let picked = picks.pick(event.as_bytes());
            assert_eq!(picked.time, expected, "{value}");
            assert_eq!(picked.key, None);
            assert_eq!(picked.id.as_deref(), Some(&br#"{"a": 1}"#[..]));
        }
        for missing in ["{}", r#"{"user":1}"#, r#"{"user":[{"id":1}]}"#, r#"{"id":1}"#] {
            assert_eq!(picks.pick(missing.as_bytes()), super::Picked::default(), "{missing}");
        }
    }
}
