//! Tokens for resources that the server keeps for clients, sealed under keys of the server and bound to their owner.
//!
//! There are two kinds of tokens. A *position* names a place to continue at and grants nothing: the `after` of a page.
//! It is signed (`salver_model::cursor`), the same for every caller, and access is checked anew for each request. A
//! *capability* stands for something that was opened for a caller: an export, a cursor, a job, a consumer, a response
//! under an idempotency key. Only that caller can use it. For any other caller, the response is byte for byte that for
//! a token that never existed.

use std::borrow::Cow;
use std::fmt;

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hmac;
use salver_model::owner::put_texts;
pub(crate) use salver_model::owner::{OF_LOGIN, Owner};
use salver_model::seal::{self, RootKey};
use salver_model::{Error, Result};

/// Largest ID. It fits in a signed 64-bit integer, since clients of ArangoDB may parse IDs as one.
pub(crate) const LARGEST_ID: u64 = u64::MAX >> 1;

/// Seals and opens tokens.
pub(crate) struct Tokens {
    sealing: LessSafeKey,
    masking: hmac::Key,
}

impl Tokens {
    /// Derives the keys for tokens from `root`.
    pub(crate) fn new(root: &RootKey) -> Self {
        let sealing = LessSafeKey::new(sealing_key(root));
        let masking = hmac::Key::new(hmac::HMAC_SHA256, &root.derive("ids of leases"));
        Self { sealing, masking }
    }

    /// Encrypts `content` for its owner, at one door.
    ///
    /// # Errors
    /// `Internal` when the system has no random numbers.
    pub(crate) fn seal(&self, door: &str, owner: &Owner, mut content: Vec<u8>) -> Result<Vec<u8>> {
        let nonce: [u8; NONCE_LEN] = seal::random()?;
        let aad = Aad::from(about(door, owner));
        let sealed = self.sealing.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), aad, &mut content);
        sealed.map_err(|_| Error::internal("a token can't be sealed"))?;
        let mut out = nonce.to_vec();
        out.append(&mut content);
        Ok(out)
    }

    /// Decrypts what was sealed for exactly this owner at exactly this door; `None` for anything else.
    pub(crate) fn open(&self, door: &str, owner: &Owner, mut sealed: Vec<u8>) -> Option<Vec<u8>> {
        let (nonce, _) = sealed.split_first_chunk::<NONCE_LEN>()?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.sealing.open_within(nonce, Aad::from(about(door, owner)), &mut sealed, NONCE_LEN..).ok()?;
        Some(opened.to_vec())
    }

    /// Converts the ID of a lease to the one that its owner sees, and back: each caller sees IDs under a mask of its
    /// own, so that the same number is no valid ID for another caller. That needs no state, and to others an expired ID
    /// looks the same as one that never existed.
    pub(crate) fn masked(&self, owner: &Owner, id: u64) -> u64 {
        let tag = hmac::sign(&self.masking, owner.as_bytes());
        let mut mask = [0; 8];
        mask.copy_from_slice(&tag.as_ref()[..8]);
        (id ^ u64::from_le_bytes(mask)) & LARGEST_ID
    }
}

fn sealing_key(root: &RootKey) -> UnboundKey {
    let key = root.derive("tokens of exports");
    match UnboundKey::new(&CHACHA20_POLY1305, &key) {
        Ok(key) => key,
        // A key of this algorithm has 32 bytes, and so has this one.
        Err(_) => unreachable!("a key of 32 bytes is one of ChaCha20"),
    }
}

fn about(door: &str, owner: &Owner) -> Vec<u8> {
    let mut about = Vec::with_capacity(64);
    put_texts([door], &mut about);
    about.extend_from_slice(owner.as_bytes());
    about
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tokens(...)")
    }
}

/// Returns a request target for the log, with tokens truncated.
pub(crate) fn shown(target: &str) -> String {
    let (path, query) = target.split_once('?').map_or((target, None), |(path, query)| (path, Some(query)));
    let mut shown = String::with_capacity(target.len());
    let mut before = "";
    for (at, part) in path.split('/').enumerate() {
        shown.push_str(if at > 0 { "/" } else { "" });
        let is_token = matches!(before, "export" | "cursor" | "jobs" | "instances") && is_secret(part);
        push(part, is_token, &mut shown);
        before = part;
    }
    // What a provider gives a browser to log in with.
    let is_callback = path.ends_with("/auth/callback");
    for (at, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        match pair.split_once('=') {
            Some((name, value)) if name == "after" || is_callback && matches!(name, "code" | "state") => {
                shown.push_str(name);
                shown.push('=');
                push(value, true, &mut shown);
            }
            _ => shown.push_str(pair),
        }
    }
    shown
}

/// Returns whether a segment in the place of a token is a token and not a name.
fn is_secret(segment: &str) -> bool {
    let has_digit = segment.bytes().any(|byte| byte.is_ascii_digit());
    segment.starts_with("x_") || (segment.len() > 8 && has_digit)
}

fn push(text: &str, is_token: bool, out: &mut String) {
    if is_token {
        out.push_str(&beginning(text));
    } else {
        out.push_str(text);
    }
}

/// Truncates a token for the log: enough is left to tell it from others, and too little to use it.
pub(crate) fn beginning(token: &str) -> Cow<'_, str> {
    const SHOWN: usize = 6;
    match token.char_indices().nth(SHOWN) {
        Some((end, _)) => Cow::Owned(format!("{}...", &token[..end])),
        None => Cow::Borrowed(token),
    }
}

#[cfg(test)]
mod tests {
    use salver_model::{Caller, Principal, RootKey};

    use super::{Owner, Tokens, shown};

    fn owner(attributes: &[(&str, &str)]) -> Owner {
        let attributes = attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Owner::of(&Caller::from(Principal { attributes, ..Principal::default() }))
    }

    #[test]
    fn owners_are_who_was_proved_and_how() {
        let ann = owner(&[("auth", "api_key"), ("user", "ann")]);
        let row = |seen: &str| owner(&[("auth", "user"), ("user", "ann"), ("seen", seen)]);
        assert_eq!(row("today"), row("yesterday"));
        let login = |sid: &str| owner(&[("auth", "jwt"), ("sub", "ann"), ("sid", sid)]);
        assert_eq!(login("1"), login("2"));
        assert_eq!(
            owner(&[]),
            Owner::of(&Caller::from(Principal { address: "192.0.2.1".parse().ok(), ..Principal::default() }))
        );
        let others = [
            owner(&[]),
            owner(&[("user", "ann")]),
            owner(&[("auth", "jwt"), ("user", "ann")]),
            owner(&[("auth", "jwt"), ("user", "ann"), ("tenant", "north")]),
            owner(&[("auth", "jwt"), ("user", "ann"), ("tenant", "south")]),
            row("today"),
            owner(&[("auth", "jwt"), ("sub", "ann"), ("iss", "here")]),
            owner(&[("auth", "jwt"), ("sub", "ann"), ("iss", "there")]),
            owner(&[("auth", "api_key"), ("user", "ben")]),
            owner(&[("auth", "api_key"), ("api_key", "1")]),
            owner(&[("auth", "api_key"), ("api_key", "2")]),
        ];
        for (at, other) in others.iter().enumerate() {
            assert_ne!(*other, ann);
            assert!(others[at + 1..].iter().all(|another| another != other), "{other:?}");
        }
    }

    #[test]
    fn tokens_are_for_one_owner_at_one_door_under_one_key() {
        let root = RootKey::random();
        let (tokens, ann) = (Tokens::new(&root), owner(&[("user", "ann")]));
        let sealed = tokens.seal("export", &ann, b"content".to_vec()).unwrap();
        assert_ne!(sealed, tokens.seal("export", &ann, b"content".to_vec()).unwrap());
        assert_eq!(Tokens::new(&root).open("export", &ann, sealed.clone()).as_deref(), Some(&b"content"[..]));
        assert_eq!(tokens.open("cursor", &ann, sealed.clone()), None);
        assert_eq!(tokens.open("export", &Owner::default(), sealed.clone()), None);
        assert_eq!(Tokens::new(&RootKey::random()).open("export", &ann, sealed.clone()), None);
        for at in 0..sealed.len() {
            let mut damaged = sealed.clone();
            damaged[at] ^= 1;
            assert_eq!(tokens.open("export", &ann, damaged), None, "{at}");
            assert_eq!(tokens.open("export", &ann, sealed[..at].to_vec()), None, "{at}");
        }
        let masked = tokens.masked(&ann, 12);
        assert_eq!(tokens.masked(&ann, masked), 12);
        assert_ne!(tokens.masked(&Owner::default(), masked), 12);
    }

    #[test]
    fn logs_show_how_tokens_begin() {
        for (target, expected) in [
            ("/api/export/x_AbCdEfGhIj/0?offset=1", "/api/export/x_AbCd.../0?offset=1"),
            ("/api/export/people_2026", "/api/export/people..."),
            ("/api/export/people.csv?columns=a", "/api/export/people.csv?columns=a"),
            ("/_api/cursor/1234567890/2", "/_api/cursor/123456.../2"),
            ("/api/jobs/01234567-89ab/result", "/api/jobs/012345.../result"),
            ("/consumers/g/instances/rest-consumer-0123/records", "/consumers/g/instances/rest-c.../records"),
            ("/api/tables/t?limit=2&after=0123456789&count=true", "/api/tables/t?limit=2&after=012345...&count=true"),
            ("/", "/"),
        ] {
            assert_eq!(shown(target), expected);
        }
    }
}
