//! The sessions of users, opened when the settings first let somebody log in.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use salver_http::Sessions;
use salver_model::RootKey;
use salver_model::ports::SessionStore;
use salver_model::spec::AuthSpec;

use crate::root_key::OpenedKey;
use crate::session_file::SessionFile;

/// Sessions that are opened once. Cheap to share.
#[derive(Clone, Debug)]
pub(crate) struct LateSessions(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    key: RootKey,
    /// The directory that keeps the key, and is to keep the sessions.
    dir: Option<PathBuf>,
    opened: OnceLock<Arc<Sessions>>,
    /// Those of settings under which nobody logs in.
    none: Arc<Sessions>,
}

impl LateSessions {
    /// Returns the sessions of a server.
    pub(crate) fn new(key: &OpenedKey) -> Self {
        let none = Sessions::open(&key.key, None);
        Self(Arc::new(Shared { key: key.key.clone(), dir: key.dir.clone(), opened: OnceLock::new(), none }))
    }

    /// Returns sessions that end with this process.
    pub(crate) fn passing() -> Self {
        Self::new(&OpenedKey { key: RootKey::random(), dir: None })
    }

    /// Returns the sessions for these settings. Call it inside the runtime.
    pub(crate) fn of(&self, spec: &AuthSpec) -> Arc<Sessions> {
        if !spec.has_sessions() {
            return Arc::clone(self.0.opened.get().unwrap_or(&self.0.none));
        }
        let open = || {
            let sessions = Sessions::open(&self.0.key, self.store());
            tokio::spawn(Arc::clone(&sessions).keep());
            sessions
        };
        Arc::clone(self.0.opened.get_or_init(open))
    }

    /// Stores what is not stored yet, when the server ends.
    pub(crate) async fn close(&self) {
        if let Some(sessions) = self.0.opened.get() {
            sessions.close().await;
        }
    }

    fn store(&self) -> Option<Arc<dyn SessionStore>> {
        match SessionFile::open(self.0.dir.as_deref()?) {
            Ok(file) => Some(Arc::new(file)),
            Err(error) => {
                let hint = error.hint.as_deref().unwrap_or_default();
                tracing::warn!("{}; sessions end with this process: {hint}", error.chain());
                None
            }
        }
    }
}
