//! The messages of clients, from their bytes.

use bytes::{Buf, Bytes};

use super::refusal::Refusal;

/// A message of a client.
#[derive(Debug)]
pub(super) enum Message {
    /// Runs the statements of a text.
    Query(String),
    /// Prepares a statement.
    Parse(Parse),
    /// Makes a portal of a prepared statement and its parameters.
    Bind(Bind),
    /// Asks for parameters and columns.
    Describe(Target),
    /// Runs a portal, for at most as many rows; 0 is for all.
    Execute(String, u32),
    /// Closes a statement or a portal.
    Close(Target),
    /// Asks for what is ready.
    Flush,
    /// Ends a group of messages.
    Sync,
    /// Ends the connection.
    Terminate,
    /// What proves who the client is, when it was asked for.
    Proof,
    /// What belongs to copying into the server, which there is none of.
    Copy,
}

/// A statement to be prepared.
#[derive(Debug)]
pub(super) struct Parse {
    /// Name; empty for the one without a name.
    pub(super) name: String,
    /// Text.
    pub(super) text: String,
    /// Types of the parameters, as far as the client says them; 0 is for one that it does not say.
    pub(super) types: Vec<u32>,
}

/// A portal to be made.
#[derive(Debug)]
pub(super) struct Bind {
    /// Name; empty for the one without a name.
    pub(super) portal: String,
    /// Name of its statement.
    pub(super) statement: String,
    /// Formats of the parameters.
    pub(super) formats: Formats,
    /// Values of the parameters; `None` is null.
    pub(super) values: Vec<Option<Bytes>>,
    /// Formats of the columns of the rows.
    pub(super) row_formats: Formats,
}

/// What a message is about, by its name.
#[derive(Debug)]
pub(super) enum Target {
    Statement(String),
    Portal(String),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Format {
    #[default]
    Text,
    Binary,
}

/// The formats of several values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Formats(Vec<Format>);

impl Formats {
    /// Returns one format for all values.
    #[cfg(test)]
    pub(super) fn of(format: Format) -> Self {
        Self(vec![format])
    }

    /// Returns the format of the value at this place: none is said, one is said for all, or each has its own.
    pub(super) fn at(&self, place: usize) -> Format {
        match self.0.as_slice() {
            [one] => *one,
            all => all.get(place).copied().unwrap_or_default(),
        }
    }

    /// Returns whether they fit this many values.
    pub(super) fn fit(&self, values: usize) -> bool {
        self.0.len() <= 1 || self.0.len() == values
    }
}

impl Message {
    /// Returns whether it begins something that can be cancelled.
    pub(super) fn begins(&self) -> bool {
        matches!(self, Self::Query(_) | Self::Parse(_) | Self::Bind(_) | Self::Execute(..))
    }

    /// Reads the message of this kind.
    ///
    /// # Errors
    /// A fatal refusal for what is no message.
    pub(super) fn read(kind: u8, body: Bytes) -> Result<Self, Refusal> {
        let mut fields = Fields(body);
        let message = match kind {
            b'Q' => Self::Query(fields.text()?),
            b'P' => Self::Parse(Parse { name: fields.text()?, text: fields.text()?, types: fields.types()? }),
            b'B' => Self::Bind(Bind {
                portal: fields.text()?,
                statement: fields.text()?,
                formats: fields.formats()?,
                values: fields.values()?,
                row_formats: fields.formats()?,
            }),
            b'D' => Self::Describe(fields.target()?),
            b'E' => Self::Execute(fields.text()?, fields.number()?),
            b'C' => Self::Close(fields.target()?),
            b'H' => Self::Flush,
            SYNC => Self::Sync,
            TERMINATE => Self::Terminate,
            PROOF => return Ok(Self::Proof),
            b'd' | b'c' | b'f' => return Ok(Self::Copy),
            other => return Err(Refusal::broken(format!("invalid frontend message type {other}"))),
        };
        if fields.0.has_remaining() {
            return Err(Refusal::broken("invalid message format: bytes are left over"));
        }
        Ok(message)
    }
}

/// Kind of the message that ends the connection.
pub(super) const TERMINATE: u8 = b'X';
/// Kind of the message by which a client proves who it is, when it is asked.
pub(super) const PROOF: u8 = b'p';
/// Kind of the message that ends a group.
pub(super) const SYNC: u8 = b'S';

/// Returns whether messages of this kind belong to the extended protocol, in which everything after a failure is
/// skipped until `Sync`.
pub(super) fn is_extended(kind: u8) -> bool {
    matches!(kind, b'P' | b'B' | b'D' | b'E' | b'C' | b'H')
}

/// The fields of a message.
pub(super) struct Fields(pub(super) Bytes);

impl Fields {
    /// Reads text up to a zero byte.
    pub(super) fn text(&mut self) -> Result<String, Refusal> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| Refusal::broken("invalid string in message"))?;
        let text = std::str::from_utf8(&self.0[..end]).map(str::to_owned);
        self.0.advance(end + 1);
        text.map_err(|_| Refusal::new("22021", "invalid byte sequence for encoding \"UTF8\""))
    }

    pub(super) fn number(&mut self) -> Result<u32, Refusal> {
        self.0.try_get_u32().map_err(|_| short())
    }

    fn short_number(&mut self) -> Result<u16, Refusal> {
        self.0.try_get_u16().map_err(|_| short())
    }

    fn types(&mut self) -> Result<Vec<u32>, Refusal> {
        (0..self.short_number()?).map(|_| self.number()).collect()
    }

    fn formats(&mut self) -> Result<Formats, Refusal> {
        let format = |number| match number {
            0 => Ok(Format::Text),
            1 => Ok(Format::Binary),
            other => Err(Refusal::new("22023", format!("unsupported format code: {other}"))),
        };
        (0..self.short_number()?).map(|_| format(self.short_number()?)).collect::<Result<_, _>>().map(Formats)
    }

    fn values(&mut self) -> Result<Vec<Option<Bytes>>, Refusal> {
        (0..self.short_number()?).map(|_| self.value()).collect()
    }

    /// Reads a value with its length; -1 is null.
    pub(super) fn value(&mut self) -> Result<Option<Bytes>, Refusal> {
        let length = self.0.try_get_i32().map_err(|_| short())?;
        if length == -1 {
            return Ok(None);
        }
        let length = usize::try_from(length).ok().filter(|length| *length <= self.0.len()).ok_or_else(short)?;
        Ok(Some(self.0.split_to(length)))
    }

    fn target(&mut self) -> Result<Target, Refusal> {
        match self.0.try_get_u8() {
            Ok(b'S') => Ok(Target::Statement(self.text()?)),
            Ok(b'P') => Ok(Target::Portal(self.text()?)),
            _ => Err(Refusal::broken("invalid message subtype")),
        }
    }
}

fn short() -> Refusal {
    Refusal::broken("insufficient data left in message")
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Format, Message};

    #[test]
    fn a_bind_has_its_formats_and_values() {
        let body = b"p\0s\0\0\x02\0\0\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\x01\0\x01";
        let Ok(Message::Bind(bind)) = Message::read(b'B', Bytes::from_static(body)) else { panic!("a bind") };
        assert_eq!((bind.portal.as_str(), bind.statement.as_str()), ("p", "s"));
        assert_eq!(bind.values, [Some(Bytes::from_static(b"x")), None]);
        assert_eq!([0, 1].map(|at| bind.formats.at(at)), [Format::Text, Format::Binary]);
        assert_eq!([0, 7].map(|at| bind.row_formats.at(at)), [Format::Binary, Format::Binary]);
        assert!(bind.formats.fit(2) && !bind.formats.fit(3));
    }

    #[test]
    fn no_bytes_make_it_panic() {
        let kinds = b"QPBDECHSXpdcfFzA\0\xff";
        let mut seed = 1_u32;
        for _ in 0..50_000 {
            let mut next = || {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 24) as u8
            };
            let kind = kinds[usize::from(next()) % kinds.len()];
            let length = usize::from(next() % 40);
            let body: Vec<u8> = (0..length).map(|_| if next() % 3 == 0 { 0 } else { next() % 8 }).collect();
            let _ = Message::read(kind, Bytes::from(body));
        }
    }

    #[test]
    fn what_is_no_message() {
        for (kind, body) in [(b'Q', &b"select 1"[..]), (b'S', b"x"), (b'D', b"Xa\0"), (b'E', b"\0\0\0"), (b'F', b"")] {
            assert!(Message::read(kind, Bytes::from_static(body)).unwrap_err().is_fatal, "{kind}");
        }
        let refused = Message::read(b'Q', Bytes::from_static(b"\xff\0")).unwrap_err();
        assert_eq!((refused.state, refused.is_fatal), ("22021", false));
    }
}
