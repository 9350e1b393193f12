//! Returns the next batch of a cursor, and deletes cursors.

use std::time::Duration;

use http::{Response, StatusCode};
use salver_service::exports::{self, Taken};

use super::answer;
use super::id::Id;
use crate::body::Body;
use crate::cursor_state::{Cursor, CursorKind};
use crate::dialect::{Refusal, arangodb};
use crate::request_context::RequestContext;

/// Returns the first batch of a new cursor. The cursor is kept only if more batches or retries may follow.
pub(super) async fn first(
    context: &RequestContext<'_>,
    mut cursor: Cursor,
    ttl: Duration,
) -> Result<Response<Body>, Refusal> {
    let given = cursor.next().await?;
    let facts = cursor.facts.clone();
    let id = if given.has_more || facts.allows_retry {
        let (cursors, holder) = (&context.app.cursors, context.caller.holder());
        if cursor.is_live() {
            let mut permit = cursors.live.try_take(&holder);
            if permit.is_none()
                && cursors.live.lacks_one(&holder)
                && cursors.leases.make_room(&holder, Cursor::has_place)
            {
                permit = cursors.live.try_take(&holder);
            }
            let permit = permit.ok_or_else(arangodb::too_many)?;
            cursor.settle_in(permit);
        }
        cursor.prepare();
        Some(Id::of(context, cursors.leases.open(&holder, cursor, ttl)?))
    } else {
        None
    };
    Ok(answer::batch(context, StatusCode::CREATED, &facts, given, id).await?)
}

/// Returns the next batch of a cursor, or the batch of the given number.
pub(super) async fn next(
    context: &RequestContext<'_>,
    kind: CursorKind,
    id: &str,
    number: Option<&str>,
) -> Result<Response<Body>, Refusal> {
    let id = Id::read(id)?;
    let mut cursor = take(context, kind, id)?;
    let given = match number {
        None if cursor.is_finished() => Err(arangodb::of_lease(exports::LeaseError::Unknown)),
        None => cursor.next().await,
        Some(number) => match number.parse::<u64>() {
            Ok(number) if number == cursor.number() && !cursor.facts.allows_retry => {
                Err(arangodb::bad("expecting retriable option to be true"))
            }
            Ok(number) if number == cursor.number() => cursor.again().await,
            Ok(number) if number == cursor.number() + 1 && !cursor.is_finished() => cursor.next().await,
            _ => Err(arangodb::no_batch()),
        },
    };
    let given = match given {
        Ok(given) => given,
        Err(failure) => {
            if cursor.is_lost() {
                cursor.end();
            }
            return Err(failure);
        }
    };
    let facts = cursor.facts.clone();
    let id = (given.has_more || facts.allows_retry).then_some(id);
    if id.is_some() {
        cursor.prepare();
        // Released before the response is sent: the client may request the next batch at once.
        drop(cursor);
    } else {
        cursor.end();
    }
    Ok(answer::batch(context, StatusCode::OK, &facts, given, id).await?)
}

/// Deletes a cursor.
pub(super) fn end(context: &RequestContext<'_>, kind: CursorKind, id: &str) -> Result<Response<Body>, Refusal> {
    let id = Id::read(id)?;
    let (lease, leases) = (id.lease(context), &context.app.cursors.leases);
    match leases.peek(lease, |cursor| cursor.facts.kind == kind) {
        Ok(false) => Err(exports::LeaseError::Unknown),
        // A request that is reading it still gets its batch; later requests get none.
        Ok(true) | Err(exports::LeaseError::Busy) => leases.remove(lease),
        Err(refusal) => Err(refusal),
    }
    .map_err(arangodb::of_lease)?;
    Ok(answer::removed(id))
}

fn take(context: &RequestContext<'_>, kind: CursorKind, id: Id) -> Result<Taken<Cursor>, Refusal> {
    let (lease, leases) = (id.lease(context), &context.app.cursors.leases);
    // A request at the wrong endpoint must not renew the lease.
    match leases.peek(lease, |cursor| cursor.facts.kind == kind) {
        Ok(false) => Err(exports::LeaseError::Unknown),
        Ok(true) => leases.take(lease),
        Err(refusal) => Err(refusal),
    }
    .map_err(arangodb::of_lease)
}
