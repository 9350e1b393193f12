//! Passwords and their hashes, on threads where the milliseconds they take hold nobody up.

mod stored;

use std::time::Duration;

use salver_model::{Code, Error, Result};
use tokio::sync::Semaphore;

use self::stored::Stored;

/// The work that goes into a new hash; PHP's own default for long.
const COST: u32 = 10;
/// What a password is compared with when there is no such user, so that the time tells nothing.
const NOBODYS: &str = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
/// How long a password waits for its turn.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many are worked on at once: others must get something done too.
const AT_ONCE: usize = 2;

/// The worker.
#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
}

impl Passwords {
    pub(super) fn new() -> Self {
        Self { turns: Semaphore::new(AT_ONCE) }
    }

    /// Whether `hash` is that of `password`; without a hash it takes as long and is not.
    pub(crate) async fn is_right(&self, password: String, hash: Option<String>) -> Result<bool> {
        self.work(move || {
            let stored = hash.as_deref().and_then(Stored::of);
            // A portable hash is quick, and must not tell that its user is there.
            if matches!(stored, None | Some(Stored::Portable { .. })) {
                let _ = bcrypt::verify(&password, NOBODYS);
            }
            Ok(stored.is_some_and(|stored| stored.fits(&password)))
        })
        .await
    }

    /// The hash of a new password.
    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        self.work(move || {
            let parts = bcrypt::hash_with_result(password, COST)
                .map_err(|error| Error::internal("a password can't be hashed").with_source(error.to_string()))?;
            // PHP's own mark for this very algorithm, so that its clients of the table can read it.
            Ok(parts.format_for_version(bcrypt::Version::TwoY))
        })
        .await
    }

    async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let turn = tokio::time::timeout(PATIENCE, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(Error::new(Code::Overloaded, "too many passwords are looked at").with_hint("try again"));
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|broken| Error::internal("looking at a password broke down").with_source(broken))?
    }
}

#[cfg(test)]
mod tests {
    use super::{NOBODYS, Passwords};

    #[tokio::test]
    async fn passwords_and_hashes() {
        let passwords = Passwords::new();
        let is_right = async |password: &str, hash: &str| {
            passwords.is_right(password.to_owned(), Some(hash.to_owned())).await.unwrap()
        };
        // As PHP's `password_hash` writes it.
        let php = "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.";
        assert!(is_right("pass2", php).await && !is_right("pass3", php).await);
        assert!(is_right("test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0").await);
        for no_hash in ["pass2", "", "$2y$10$short", "$1$abc$def"] {
            assert!(!is_right("pass2", no_hash).await, "{no_hash}");
        }
        assert!(!passwords.is_right("pass2".to_owned(), None).await.unwrap());
        let own = passwords.hash("a new one".to_owned()).await.unwrap();
        assert!(own.starts_with("$2y$10$") && own.len() == 60, "{own}");
        assert!(is_right("a new one", &own).await);
        assert!(NOBODYS.parse::<bcrypt::HashParts>().is_ok());
    }
}
