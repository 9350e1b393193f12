//! Passwords as SCRAM-SHA-256 keeps them (RFC 5802, RFC 7677): a client proves that it knows the password without
//! sending it, and what the server keeps does not suffice to log in elsewhere. They are written as PostgreSQL writes
//! them in `pg_authid`: `SCRAM-SHA-256$ITERATIONS:SALT$STORED_KEY:SERVER_KEY`, in Base64.

use std::fmt;
use std::num::NonZeroU32;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};

use crate::error::Result;
use crate::limits::SCRAM_ITERATIONS_MAX;
use crate::seal;

/// Prefix of a verifier.
const PREFIX: &str = "SCRAM-SHA-256$";
/// Bytes of a new salt, as PostgreSQL has them.
const SALT_BYTES: usize = 16;
/// Iterations of a new verifier, as PostgreSQL has them.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(4_096).expect("it is not zero");

/// Bytes of a key, a signature or a proof.
pub type ScramKey = [u8; 32];

/// What the server knows of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct ScramVerifier {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: ScramKey,
    server_key: ScramKey,
}

impl ScramVerifier {
    /// Parses a verifier; `None` if the text is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (head, keys) = text.strip_prefix(PREFIX)?.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored, server) = keys.split_once(':')?;
        let iterations = iterations.parse::<NonZeroU32>().ok().filter(|own| own.get() <= SCRAM_ITERATIONS_MAX)?;
        let salt = STANDARD.decode(salt).ok().filter(|salt| !salt.is_empty())?;
        let key = |text: &str| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Self { iterations, salt, stored_key: key(stored)?, server_key: key(server)? })
    }

    /// Returns the verifier of a password, with a random salt.
    ///
    /// # Errors
    /// `Internal` when the system has no random numbers.
    pub fn new(password: &str) -> Result<Self> {
        Ok(Self::with_salt(password, seal::random::<SALT_BYTES>()?.to_vec()))
    }

    /// Returns the verifier of a password with this salt. Takes a millisecond or two, on purpose.
    #[must_use]
    pub fn with_salt(password: &str, salt: Vec<u8>) -> Self {
        Self::of(password, salt, ITERATIONS)
    }

    fn of(password: &str, salt: Vec<u8>, iterations: NonZeroU32) -> Self {
        // What can't be prepared is taken as it is, as PostgreSQL and its clients do.
        let prepared = stringprep::saslprep(password);
        let password = prepared.as_deref().unwrap_or(password);
        let mut salted = ScramKey::default();
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, password.as_bytes(), &mut salted);
        let stored_key = hashed(&signed(&salted, b"Client Key"));
        Self { iterations, salt, stored_key, server_key: signed(&salted, b"Server Key") }
    }

    /// Returns whether this is the verifier of `password`.
    #[must_use]
    pub fn fits(&self, password: &str) -> bool {
        let own = Self::of(password, self.salt.clone(), self.iterations);
        is_same(&own.stored_key, &self.stored_key)
    }

    /// Returns the salt.
    #[must_use]
    pub fn salt(&self) -> &[u8] {
        &self.salt
    }

    /// Returns the number of iterations.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        self.iterations.get()
    }

    /// Returns the server's signature of an exchange, if the proof shows that the client knows the password.
    /// `messages` is what the two have said, as RFC 5802 puts it together.
    #[must_use]
    pub fn answer(&self, messages: &[u8], proof: &ScramKey) -> Option<ScramKey> {
        let signature = signed(&self.stored_key, messages);
        let mut client_key = *proof;
        client_key.iter_mut().zip(signature).for_each(|(byte, other)| *byte ^= other);
        is_same(&hashed(&client_key), &self.stored_key).then(|| signed(&self.server_key, messages))
    }
}

impl fmt::Display for ScramVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |bytes: &[u8]| STANDARD.encode(bytes);
        let (salt, stored, server) = (text(&self.salt), text(&self.stored_key), text(&self.server_key));
        write!(f, "{PREFIX}{}:{salt}${stored}:{server}", self.iterations)
    }
}

impl fmt::Debug for ScramVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScramVerifier").field("iterations", &self.iterations).finish_non_exhaustive()
    }
}

fn signed(key: &ScramKey, text: &[u8]) -> ScramKey {
    bytes_of(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text).as_ref())
}

fn hashed(bytes: &ScramKey) -> ScramKey {
    bytes_of(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn bytes_of(bytes: &[u8]) -> ScramKey {
    let mut key = ScramKey::default();
    key.copy_from_slice(bytes);
    key
}

/// Compares two keys in constant time.
fn is_same(a: &ScramKey, b: &ScramKey) -> bool {
    a.iter().zip(b).fold(0, |different, (a, b)| different | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::ScramVerifier;

    /// The example of RFC 7677.
    #[test]
    fn the_exchange_of_the_standard() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let verifier = ScramVerifier::with_salt("pencil", salt);
        let server = "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
        let nonce = &server[..server.find(',').unwrap()];
        let messages = format!("n=user,r=rOprNGfwEbeRWgbNEkqO,{server},c=biws,{nonce}");
        let proof = |text: &str| STANDARD.decode(text).unwrap().try_into().unwrap();
        let right = proof("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
        let answer = verifier.answer(messages.as_bytes(), &right).unwrap();
        assert_eq!(STANDARD.encode(answer), "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        assert_eq!(verifier.answer(b"other words", &right), None);
        assert_eq!(verifier.answer(messages.as_bytes(), &[0; 32]), None);
    }

    #[test]
    fn verifiers_are_written_as_they_are_read() {
        // Of PostgreSQL 15: `create role ann password 'pencil'`, and `rolpassword` in `pg_authid`.
        let theirs = "SCRAM-SHA-256$4096:sudD6bKXnN2NWj3y+p4OTQ==$9HomAWwPiSs1kcS2giOD40iElC7irnjW4FDFS1TyTec=:\
                      wBKzF+NAexw1GwO3XMdqeLCwEF5tvcYCdYJ36wdrTYM=";
        assert!(ScramVerifier::parse(theirs).is_some_and(|own| own.fits("pencil") && own.to_string() == theirs));
        let made = ScramVerifier::new("it's \u{fc}").unwrap();
        let text = made.to_string();
        assert!(text.starts_with("SCRAM-SHA-256$4096:"), "{text}");
        assert_eq!(ScramVerifier::parse(&text), Some(made.clone()));
        assert!(made.fits("it's \u{fc}") && made.fits("it's u\u{308}") && !made.fits("its \u{fc}"));
        assert_ne!(ScramVerifier::new("it's \u{fc}").unwrap(), made);
        for wrong in [
            "",
            "SCRAM-SHA-256$",
            &text.replace("4096", "0"),
            &text.replace("4096", "4294967295"),
            &text.replace("SHA-256", "SHA-1"),
            &text[..text.len() - 4],
            &format!("{text}$"),
        ] {
            assert_eq!(ScramVerifier::parse(wrong), None, "{wrong}");
        }
    }
}
