//! Password hashing on threads of its own, so that the milliseconds it takes delay no other request.

mod stored;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use salver_model::limits::{PASSWORD_WAIT_S_MAX, PASSWORDS_MAX};
use salver_model::{Code, Error, Result};
use tokio::sync::Semaphore;

use self::stored::{Stored, Work};

/// bcrypt cost of a new hash; PHP's own default for long.
const COST: u32 = 10;
/// Highest bcrypt cost to which a cheaper check is padded. A check of a hash with a higher cost takes longer than all
/// others.
const PADDED_COST: u32 = 14;
/// Salt of the padding work.
const NOBODYS: [u8; 16] = *b"nobody's own one";
/// Timeout for a password check that waits for a permit.
const PATIENCE: Duration = Duration::from_secs(PASSWORD_WAIT_S_MAX);

/// The hashing service.
#[derive(Debug)]
pub(crate) struct Passwords {
    turns: Semaphore,
    known: Arc<Known>,
}

/// Highest cost of any known hash. Every check is padded to it, so that timing reveals neither whether a user exists
/// nor which kind of hash it has.
#[derive(Debug)]
struct Known {
    cost: AtomicU32,
    rounds: AtomicU32,
}

impl Known {
    fn learn(&self, work: Work) {
        self.cost.fetch_max(work.cost.min(PADDED_COST), Ordering::Relaxed);
        self.rounds.fetch_max(work.rounds, Ordering::Relaxed);
    }

    /// Does the padding work that remains after `done`, and returns the amount.
    fn make_up(&self, password: &str, done: Work) -> Work {
        let (cost, rounds) = (self.cost.load(Ordering::Relaxed), self.rounds.load(Ordering::Relaxed));
        let mut made_up = Work::default();
        // Each step of the cost doubles the work, so the steps between two costs add up to their difference.
        let steps = if done.cost == 0 { cost..cost + 1 } else { done.cost..cost };
        for step in steps {
            let _ = bcrypt::hash_with_salt(password, step, NOBODYS);
            made_up.cost = step;
        }
        if done.rounds < rounds {
            stored::portable_work(rounds, password);
            made_up.rounds = rounds;
        }
        made_up
    }
}

impl Passwords {
    pub(super) fn new() -> Self {
        let known = Known { cost: AtomicU32::new(COST), rounds: AtomicU32::new(0) };
        Self { turns: Semaphore::new(PASSWORDS_MAX), known: Arc::new(known) }
    }

    /// Records the cost of `hash`.
    pub(super) fn learn(&self, hash: &str) {
        if let Some(stored) = Stored::of(hash) {
            self.known.learn(stored.work());
        }
    }

    /// Returns whether `password` matches `hash`; without a hash it takes just as long and returns `false`.
    pub(crate) async fn is_right(&self, password: String, hash: Option<String>) -> Result<bool> {
        let known = Arc::clone(&self.known);
        self.work(move || {
            let stored = hash.as_deref().and_then(Stored::of);
            let done = stored.map(Stored::work).unwrap_or_default();
            known.learn(done);
            let fits = stored.is_some_and(|stored| stored.fits(&password));
            known.make_up(&password, done);
            Ok(fits)
        })
        .await
    }

    /// Hashes a new password.
    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        self.work(move || {
            let parts = bcrypt::hash_with_result(password, COST)
                .map_err(|error| Error::internal("a password can't be hashed").with_source(error.to_string()))?;
            // PHP's prefix for the same algorithm, so that PHP programs can read the table.
            Ok(parts.format_for_version(bcrypt::Version::TwoY))
        })
        .await
    }

    pub(super) async fn work<T: Send + 'static>(&self, work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
        let turn = tokio::time::timeout(PATIENCE, self.turns.acquire()).await;
        let Ok(Ok(_turn)) = turn else {
            return Err(Error::new(Code::Overloaded, "too many passwords are being checked").with_hint("try again"));
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|broken| Error::internal("checking a password failed").with_source(broken))?
    }
}

#[cfg(test)]
mod tests {
    use super::{COST, Known, Passwords, Work};

    #[test]
    fn every_look_takes_the_same_work() {
        let known = Known { cost: COST.into(), rounds: 0.into() };
        let made_up = |done: Work| known.make_up("x", done);
        let work = |cost, rounds| Work { cost, rounds };
        assert_eq!(made_up(work(0, 0)), work(10, 0), "nobody");
        assert_eq!(made_up(work(10, 0)), work(0, 0), "a hash as we make them");
        assert_eq!(made_up(work(8, 0)), work(9, 0), "a quick one, and the steps 8 and 9");
        known.learn(work(11, 8));
        assert_eq!(made_up(work(0, 0)), work(11, 8), "nobody, where others take more");
        assert_eq!(made_up(work(10, 0)), work(10, 8));
        assert_eq!(made_up(work(0, 8)), work(11, 0), "a portable one");
        assert_eq!(made_up(work(11, 0)), work(0, 8));
        known.learn(work(31, 0));
        assert_eq!(known.cost.load(std::sync::atomic::Ordering::Relaxed), 14);
    }

    #[tokio::test]
    async fn passwords_and_hashes() {
        let passwords = Passwords::new();
        let is_right = async |password: &str, hash: &str| {
            passwords.is_right(password.to_owned(), Some(hash.to_owned())).await.unwrap()
        };
        // The format that PHP's `password_hash` writes.
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
    }
}
