//! The owner of what the server keeps for a client: who was proved, and how.

use crate::caller::Caller;

/// Claims of an identity provider that describe a login rather than its user (OpenID Connect Core, section 2): they
/// change with the next login.
pub const OF_LOGIN: [&str; 7] = ["auth_time", "sid", "session_state", "nonce", "at_hash", "c_hash", "s_hash"];

/// The owner of a token: what authentication proved about the caller, and by which method; empty if nothing. Callers
/// that row rules distinguish, by a tenant or a role, are different owners. The address is not part of it, since
/// addresses change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Owner(Box<[u8]>);

impl Owner {
    /// Returns `caller` as an owner.
    #[must_use]
    pub fn of(caller: &Caller) -> Self {
        let has = |name: &str, value: &str| caller.attributes.iter().any(|(n, v)| n == name && v == value);
        let is_named = caller.attributes.iter().any(|(name, _)| name == "user");
        // The name suffices for a user in the users table. The other columns may change at any time.
        let is_lasting = |name: &str| match is_named && has("auth", "user") {
            true => matches!(name, "auth" | "user"),
            false => !OF_LOGIN.contains(&name),
        };
        let mut owner = Vec::new();
        for (name, value) in caller.attributes.iter().filter(|(name, _)| is_lasting(name)) {
            put_texts([name, value], &mut owner);
        }
        // A role may hang on the address.
        for role in caller.grants.iter().flat_map(|grants| grants.roles()) {
            put_texts(["role", role], &mut owner);
        }
        Self(owner.into())
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Returns what tells it from other owners.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Appends texts so that their boundaries are unambiguous.
pub fn put_texts<const N: usize>(texts: [&str; N], out: &mut Vec<u8>) {
    for text in texts {
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
}
