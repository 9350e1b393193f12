//! Zero-copy decoding of a call's frame.

/// Decoded call.
#[derive(Debug)]
pub(super) struct Call<'a> {
    /// Index of the endpoint; negative for the application.
    pub(super) endpoint: i32,
    /// Method.
    pub(super) method: &'a str,
    /// Path.
    pub(super) path: &'a str,
    /// Query string.
    pub(super) query: &'a str,
    /// Headers.
    pub(super) headers: Fields<'a>,
    /// Text of a JSON object, or empty.
    pub(super) arguments: &'a [u8],
    /// Address of the caller.
    pub(super) address: &'a str,
    /// Parameter whose value is the body, as an Arrow stream.
    pub(super) table: Option<&'a str>,
    /// Body.
    pub(super) body: &'a [u8],
}

impl<'a> Call<'a> {
    /// Decodes the payload of a call, or of one with a table; `None` when it is malformed.
    pub(super) fn read(payload: &'a [u8], has_table: bool) -> Option<Self> {
        let mut rest = Rest(payload);
        let table = if has_table { Some(rest.text()?) } else { None };
        let endpoint = i32::from_le_bytes(rest.take()?);
        let arguments = rest.bytes()?;
        let (method, path, query, address) = (rest.text()?, rest.text()?, rest.text()?, rest.text()?);
        let (headers, body) = (Fields::read(&mut rest)?, rest.bytes()?);
        Some(Self { endpoint, method, path, query, headers, arguments, address, table, body })
    }
}

/// Headers in a frame, validated as complete, but decoded on demand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    /// Number of headers.
    pub(super) count: usize,
    /// Their texts, each with a length prefix.
    pub(super) bytes: &'a [u8],
}

impl<'a> Fields<'a> {
    fn read(rest: &mut Rest<'a>) -> Option<Self> {
        let count = u32::from_le_bytes(rest.take()?) as usize;
        let all = rest.0;
        for _ in 0..count {
            rest.bytes()?;
            rest.bytes()?;
        }
        Some(Self { count, bytes: &all[..all.len() - rest.0.len()] })
    }

    /// Returns their names, or their values: every second text. One that is not UTF-8 is returned as empty.
    pub(super) fn texts(self, values: bool) -> impl Iterator<Item = &'a str> {
        let mut rest = Rest(self.bytes);
        std::iter::from_fn(move || rest.bytes())
            .skip(usize::from(values))
            .step_by(2)
            .map(|text| std::str::from_utf8(text).unwrap_or_default())
    }
}

/// Remaining bytes of a payload.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = u32::from_le_bytes(self.take()?) as usize;
        let (first, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(first)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}
