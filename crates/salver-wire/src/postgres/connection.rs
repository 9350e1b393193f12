//! The life of a connection: it begins with who is there, then one message after the other is answered, until the
//! client leaves, breaks the protocol, or the server ends.

use std::net::IpAddr;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio::sync::watch;

use super::client::{Client, Stop};
use super::message::{self, Message, Target};
use super::refusal::{NOT_SUPPORTED, Refusal};
use super::session::Session;
use super::{Shared, extended_query, simple_query, startup};

/// Serves a connection.
pub(super) async fn serve(stream: TcpStream, address: IpAddr, shared: &Shared, mut ended: watch::Receiver<bool>) {
    let Some((mut client, begun)) = startup::begin(stream, address, shared).await else { return };
    let startup::Begun { mut session, cancellable, place } = begun;
    client.requested = Arc::clone(&cancellable.requested);
    // Set after a failure in the extended protocol: everything up to the end of the group is skipped.
    let mut is_skipping = false;
    let last = loop {
        let message = tokio::select! {
            message = client.message(shared.message_bytes_max) => message,
            _ = ended.wait_for(|ended| *ended) => {
                break Some(Refusal::new("57P01", "terminating connection: the server shuts down").fatal());
            }
        };
        let is_extended = message.as_ref().is_ok_and(|(kind, _)| message::is_extended(*kind));
        let answered = match message {
            Ok((message::TERMINATE, _)) => break None,
            Ok((kind, _)) if is_skipping && kind != message::SYNC => continue,
            Ok((kind, body)) => match Message::read(kind, body) {
                Ok(message) => {
                    if message.begins() {
                        client.requested.forget();
                    }
                    answer(&mut client, &mut session, message, &mut is_skipping).await
                }
                // What came before it is answered before it.
                Err(refusal) => match extended_query::settle(&mut client, &mut session, None).await {
                    Ok(()) => Err(refusal.into()),
                    Err(stop) => Err(stop),
                },
            },
            Err(stop) => Err(stop),
        };
        match answered {
            Ok(()) => {}
            Err(Stop::Left) => break None,
            Err(Stop::Refused(refusal)) if refusal.is_fatal => break Some(refusal),
            Err(Stop::Refused(refusal)) => {
                session.fail();
                client.outbox.refuse(&refusal);
                is_skipping = is_extended;
                if !is_extended {
                    client.outbox.ready(session.transaction);
                }
                if client.send().await.is_err() {
                    break None;
                }
            }
        }
    };
    if let Some(refusal) = last {
        client.outbox.refuse(&refusal);
        let _ = client.send().await;
    }
    drop((cancellable, place));
}

/// Answers one message.
async fn answer(
    client: &mut Client,
    session: &mut Session,
    message: Message,
    is_skipping: &mut bool,
) -> Result<(), Stop> {
    extended_query::settle(client, session, Some(&message)).await?;
    match message {
        Message::Query(text) => {
            simple_query::answer(client, session, &text).await?;
            client.outbox.ready(session.transaction);
            client.send().await
        }
        Message::Parse(parse) => extended_query::parse(client, session, parse),
        Message::Bind(bind) => extended_query::bind(client, session, &bind).await,
        Message::Describe(target) => extended_query::describe(client, session, &target).await,
        Message::Execute(portal, rows) => extended_query::execute(client, session, &portal, rows).await,
        Message::Close(target) => {
            match target {
                Target::Statement(name) => session.close_statement(&name),
                Target::Portal(name) => session.close_portal(&name),
            };
            client.outbox.closed();
            Ok(())
        }
        Message::Flush => client.send().await,
        Message::Sync => {
            *is_skipping = false;
            session.end_group();
            client.outbox.ready(session.transaction);
            client.send().await
        }
        Message::Copy => Ok(()),
        Message::Proof => Err(Refusal::broken("a password was not asked for").into()),
        Message::Terminate => Err(Refusal::new(NOT_SUPPORTED, "the connection has ended").fatal().into()),
    }
}
