//! Reads the encoded values of a block.

use std::fmt;

use salver_model::limits::AVRO_EMPTY_VALUES_MAX;

/// The reason why a value can't be read.
#[derive(Debug)]
pub(super) struct Fault {
    why: String,
    /// The way out, if the file is not damaged.
    pub(super) hint: Option<&'static str>,
}

impl Fault {
    /// Says that the value is valid, and what can be done about it.
    pub(super) fn with_hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint), ..self }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.why)
    }
}

#[cold]
pub(super) fn fault(why: impl Into<String>) -> Fault {
    Fault { why: why.into(), hint: None }
}

/// The bytes of a block that are not read yet.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    /// How many values without a byte the file may still have.
    empty_left: u64,
}

impl<'a> Cursor<'a> {
    /// Begins a block of a file that may have `empty_left` values without a byte.
    pub(super) fn new(rest: &'a [u8], empty_left: u64) -> Self {
        Self { rest, empty_left }
    }

    /// Returns how many bytes are left.
    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    /// Returns how many values without a byte the file may still have.
    pub(super) fn empty_left(&self) -> u64 {
        self.empty_left
    }

    /// Counts values that took no byte: their number is all that the file says of them, and it may be any.
    pub(super) fn count_empty(&mut self, values: u64) -> Result<(), Fault> {
        let left = self.empty_left.checked_sub(values);
        self.empty_left =
            left.ok_or_else(|| fault(format!("it has more than {AVRO_EMPTY_VALUES_MAX} values that take no byte")))?;
        Ok(())
    }

    /// Takes the next bytes.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else {
            return Err(fault("the block has too few bytes for its rows"));
        };
        self.rest = rest;
        Ok(taken)
    }

    /// Takes as many of the next bytes as this type has.
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        self.take(N)?.try_into().map_err(|_| fault("the block has too few bytes for its rows"))
    }

    /// Takes a zig-zag varint.
    pub(super) fn long(&mut self) -> Result<i64, Fault> {
        let mut sum = 0_u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.array::<1>()?;
            if shift == 63 && byte > 1 {
                break;
            }
            sum |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok((sum >> 1).cast_signed() ^ -(sum & 1).cast_signed());
            }
        }
        Err(fault("a number has more than 64 bits"))
    }

    /// Takes a zig-zag varint of 32 bits.
    pub(super) fn int(&mut self) -> Result<i32, Fault> {
        let value = self.long()?;
        i32::try_from(value).map_err(|_| fault(format!("`{value}` is not an `int`")))
    }

    /// Takes bytes behind their number.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Fault> {
        let count = self.long()?;
        let count = usize::try_from(count).map_err(|_| fault(format!("a value has {count} bytes")))?;
        self.take(count)
    }

    /// Takes the index of one of `count` types or symbols.
    pub(super) fn index(&mut self, count: usize, of: &str) -> Result<usize, Fault> {
        let index = self.long()?;
        usize::try_from(index)
            .ok()
            .filter(|index| *index < count)
            .ok_or_else(|| fault(format!("`{index}` is the index of none of the {count} {of}")))
    }

    /// Takes the items of an array or a map, which come in blocks that say how many they have.
    pub(super) fn items(&mut self, mut item: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        loop {
            let count = self.long()?;
            if count == 0 {
                return Ok(());
            }
            if count < 0 {
                // The number of bytes follows, for those who skip the block.
                self.long()?;
            }
            for _ in 0..count.unsigned_abs() {
                item(self)?;
            }
        }
    }
}
