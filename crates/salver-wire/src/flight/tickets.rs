//! Tickets and handles: what clients hold of a statement, a prepared statement, or a share of a table. Each is signed
//! for its owner, so that nobody can make one, and to any other caller it is the same as none.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use salver_model::limits::FLIGHT_TICKET_TTL_S;
use salver_model::{Code, Error, Owner, Result, RootKey};

/// Bytes of a number in a ticket.
const NUMBER_BYTES: usize = 8;

/// What a ticket or a handle stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ticket {
    /// The rows of a statement.
    Statement(String),
    /// A prepared statement, by its number.
    Prepared(u64),
    /// A share of a table that is held, by its number and that of the share.
    Table { id: u64, share: u64 },
}

/// Signs tickets. They hold as long as this program runs.
#[derive(Debug)]
pub(super) struct Tickets(RootKey);

impl Default for Tickets {
    fn default() -> Self {
        Self(RootKey::random())
    }
}

impl Tickets {
    /// Returns the bytes of a ticket for its owner.
    pub(super) fn seal(&self, owner: &Owner, ticket: &Ticket) -> Bytes {
        let content = ticket.write(now_s() + FLIGHT_TICKET_TTL_S);
        let mut sealed = self.sign(owner, &content).to_vec();
        sealed.extend_from_slice(&content);
        sealed.into()
    }

    /// Returns the ticket that was sealed for exactly this owner.
    ///
    /// # Errors
    /// `NotFound` for anything else, `ExpiredCursor` for one that no longer holds.
    pub(super) fn open(&self, owner: &Owner, sealed: &[u8]) -> Result<Ticket> {
        let (signature, content) = sealed.split_first_chunk::<{ RootKey::BYTES }>().ok_or_else(unknown)?;
        // Signed once more before they are compared: how far two of them agree says nothing about a right one.
        let both = [signature, &self.sign(owner, content)].map(|own| self.0.derive(&hexadecimal(own)));
        if both[0] != both[1] {
            return Err(unknown());
        }
        Ticket::read(content, now_s())
    }

    fn sign(&self, owner: &Owner, content: &[u8]) -> [u8; RootKey::BYTES] {
        self.0.derive(&format!("ticket of {} for {}", hexadecimal(owner.as_bytes()), hexadecimal(content)))
    }
}

impl Ticket {
    fn write(&self, until_s: u64) -> Vec<u8> {
        let (kind, numbers, text) = match self {
            Self::Statement(text) => (b's', vec![until_s], text.as_str()),
            Self::Prepared(id) => (b'p', vec![*id], ""),
            Self::Table { id, share } => (b't', vec![*id, *share], ""),
        };
        let mut content = vec![kind];
        numbers.iter().for_each(|number| content.extend_from_slice(&number.to_le_bytes()));
        content.extend_from_slice(text.as_bytes());
        content
    }

    fn read(content: &[u8], now_s: u64) -> Result<Self> {
        let (kind, rest) = content.split_first().ok_or_else(unknown)?;
        let (first, rest) = number(rest)?;
        match kind {
            b's' if first < now_s => Err(Error::new(Code::ExpiredCursor, "the ticket has expired")
                .with_hint("ask for the statement again, and fetch its rows soon")),
            b's' => Ok(Self::Statement(String::from_utf8(rest.to_vec()).map_err(|_| unknown())?)),
            b'p' => Ok(Self::Prepared(first)),
            b't' => Ok(Self::Table { id: first, share: number(rest)?.0 }),
            _ => Err(unknown()),
        }
    }
}

fn number(bytes: &[u8]) -> Result<(u64, &[u8])> {
    let (number, rest) = bytes.split_first_chunk::<NUMBER_BYTES>().ok_or_else(unknown)?;
    Ok((u64::from_le_bytes(*number), rest))
}

fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs()
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a text does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The error for a ticket or a handle that the caller does not have.
pub(super) fn unknown() -> Error {
    Error::new(Code::NotFound, "no such ticket or prepared statement")
        .with_hint("use what the server gave this caller, as it is, before it expires")
}

#[cfg(test)]
mod tests {
    use salver_model::{Caller, Owner, Principal};

    use super::{FLIGHT_TICKET_TTL_S, Ticket, Tickets, now_s};

    #[test]
    fn tickets_are_for_their_owner_and_no_other() {
        let (tickets, nobody) = (Tickets::default(), Owner::default());
        let attributes = vec![("user".to_owned(), "ann".to_owned())];
        let ann = Owner::of(&Caller::from(Principal { attributes, ..Principal::default() }));
        for ticket in
            [Ticket::Statement("select 'ü'".to_owned()), Ticket::Prepared(7), Ticket::Table { id: u64::MAX, share: 3 }]
        {
            let sealed = tickets.seal(&ann, &ticket);
            assert_eq!(tickets.open(&ann, &sealed).unwrap(), ticket);
            assert!(tickets.open(&nobody, &sealed).is_err());
            assert!(Tickets::default().open(&ann, &sealed).is_err());
            for at in 0..sealed.len() {
                let mut damaged = sealed.to_vec();
                damaged[at] ^= 1;
                assert!(tickets.open(&ann, &damaged).is_err(), "{at}");
                assert!(tickets.open(&ann, &sealed[..at]).is_err(), "{at}");
            }
        }
        let content = Ticket::Statement(String::new()).write(now_s());
        assert!(Ticket::read(&content, now_s() + FLIGHT_TICKET_TTL_S).is_err());
    }
}
