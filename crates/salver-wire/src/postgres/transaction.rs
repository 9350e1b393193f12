//! The transaction of a session.

/// State of a transaction. Nothing changes in one: it only decides what is refused, and what lives until its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Transaction {
    #[default]
    Idle,
    Open,
    Failed,
}

impl Transaction {
    /// Returns the letter that clients are told.
    pub(super) fn letter(self) -> u8 {
        match self {
            Self::Idle => b'I',
            Self::Open => b'T',
            Self::Failed => b'E',
        }
    }
}
