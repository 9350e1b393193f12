//! Resolves a token to its export: the open one, or one that is opened again at the same version.

use std::sync::Arc;
use std::time::Duration;

use salver_model::entry::EntryKind;
use salver_model::{Caller, Code, Error, Permission, Result};

use crate::app::App;
use crate::export_state::{ExportToken, Missing, Opened};

/// Resolves `token` to its export: the open one, or one that is opened again at the same version.
///
/// # Errors
/// `ExpiredCursor`, with the reason, when the export is no longer available.
pub(super) async fn find(app: &App, caller: &Caller, token: &ExportToken) -> Result<Arc<Opened>> {
    let sessions = &app.exports.sessions;
    if let Ok(opened) = sessions.find(token) {
        return Ok(opened);
    }
    let _alone = sessions.alone().await;
    let missing = match sessions.find(token) {
        Ok(opened) => return Ok(opened),
        Err(missing) => missing,
    };
    let opened = Arc::new(hold_again(app, caller, token, missing).await?);
    let id = sessions.open(caller, Arc::clone(&opened), token.ttl_s)?;
    sessions.renewed(token, id);
    Ok(opened)
}

async fn hold_again(app: &App, caller: &Caller, token: &ExportToken, missing: Missing) -> Result<Opened> {
    let (name, ttl_s) = (token.entry.as_str(), token.ttl_s);
    if missing == Missing::Ended {
        return Err(over(format!("this export of `{name}` was ended")));
    }
    let snapshot = app.service.snapshot_with(caller, Permission::Export, name).await;
    let table = match snapshot.resolve(name) {
        Err(error) if error.code == Code::UnknownEntry => {
            return Err(over(format!("`{name}` is not served any more, and with it this export is gone")));
        }
        found => found?,
    };
    if !table.describe().kind.is_fixed() {
        return Err(over(match missing {
            Missing::Expired => format!(
                "this export of `{name}` expired: nobody read it for {ttl_s} s, and the snapshot of a {} is kept \
                 no longer than that",
                if table.describe().kind == EntryKind::View { "view" } else { "database" }
            ),
            _ => format!("the snapshot of `{name}` went with the server that held it: it was started anew since"),
        }));
    }
    let held = app.service.hold_at(caller, (&snapshot, name), token.version, 1).await?.ok_or_else(|| {
        let expired =
            if missing == Missing::Expired { format!("nobody read it for {ttl_s} s, and ") } else { String::new() };
        over(format!("this export is gone: {expired}`{name}` changed since it began"))
    })?;
    let width = held.describe().schema.fields().len();
    let columns = token.columns.clone().unwrap_or_else(|| (0..width).collect());
    if columns.iter().any(|column| *column >= width) {
        return Err(over(format!("this export is gone: `{name}` has other columns since")));
    }
    Ok(Opened::new(held, columns, token.streams))
}

/// The error for an export that is no longer available.
fn over(message: String) -> Error {
    Error::new(Code::ExpiredCursor, message).with_hint("begin a new one with `POST /api/export`")
}

/// Renews the lease until the returned value is dropped.
pub(super) fn keep_alive(app: &Arc<App>, token: ExportToken) -> AbortOnDrop {
    let app = Arc::clone(app);
    AbortOnDrop(tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(token.ttl_s.saturating_mul(1000) / 3)).await;
            app.exports.sessions.renew(&token);
        }
    }))
}

/// A task that is aborted when this value is dropped.
pub(super) struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
