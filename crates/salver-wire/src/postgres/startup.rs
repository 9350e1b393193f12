//! The beginning of a connection: TLS, who is there, and what the client is told
//! (<https://www.postgresql.org/docs/16/protocol-flow.html#PROTOCOL-FLOW-START-UP>).

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Buf, Bytes};
use salver_model::limits::STARTUP_MS_MAX;
use salver_service::reception::{Proof, Visitor, WireLogin};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Shared;
use super::cancellation::Cancellable;
use super::client::{ByteStream, Client, Stop};
use super::frames::Frames;
use super::message::Fields;
use super::refusal::Refusal;
use super::scram;
use super::session::Session;
use super::session_settings::SessionSettings;
use crate::places::Place;

/// First byte of a TLS handshake, with which no packet can begin.
const HANDSHAKE: u8 = 22;
/// Versions and requests, as packets begin with them.
const VERSION_3: u16 = 3;
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
/// Ways in which clients prove who they are.
const PROVED: u32 = 0;
const PASSWORD: u32 = 3;
/// Beginning of the names of options of the protocol.
const PROTOCOL_OPTION: &str = "_pq_.";

/// A session that has begun.
pub(super) struct Begun {
    pub(super) session: Session,
    /// What the client needs to cancel a statement.
    pub(super) cancellable: Cancellable,
    /// Its place among the connections.
    pub(super) place: Place,
}

/// Begins a session; `None` if there will be none.
pub(super) async fn begin(stream: TcpStream, address: IpAddr, shared: &Shared) -> Option<(Client, Begun)> {
    let patience = Duration::from_millis(STARTUP_MS_MAX);
    tokio::time::timeout(patience, begun(stream, address, shared)).await.ok().flatten()
}

async fn begun(stream: TcpStream, address: IpAddr, shared: &Shared) -> Option<(Client, Begun)> {
    let (stream, is_secure, first) = negotiate(stream, shared).await?;
    let mut client = Client::new(stream);
    match start(&mut client, (address, is_secure), first, shared).await {
        Ok(Some(begun)) => Some((client, begun)),
        Ok(None) | Err(Stop::Left) => None,
        Err(Stop::Refused(refusal)) => {
            client.outbox.refuse(&refusal.fatal());
            let _ = client.send().await;
            None
        }
    }
}

/// Finds out whether the client wants TLS, and completes the handshake; with the packet that the session begins with,
/// if it has come.
async fn negotiate(stream: TcpStream, shared: &Shared) -> Option<(Box<dyn ByteStream>, bool, Option<Bytes>)> {
    let mut first = [0];
    if let Some(tls) = &shared.tls
        && stream.peek(&mut first).await.ok()? == 1
        && first[0] == HANDSHAKE
    {
        let stream = tls.accept(stream).await.inspect_err(|error| tracing::debug!("no TLS: {error}")).ok()?;
        return Some((Box::new(stream), true, None));
    }
    let mut stream = stream;
    loop {
        let mut frames = Frames::new(stream);
        let packet = frames.packet().await.ok()?;
        // A client that says more before it is answered would have it taken for what came with TLS.
        stream = frames.into_source()?;
        let code = packet.get(..4).map_or(0, |code| u32::from_be_bytes([code[0], code[1], code[2], code[3]]));
        match (code, &shared.tls) {
            (TLS, Some(tls)) => {
                stream.write_all(b"S").await.ok()?;
                let stream = tls.accept(stream).await.inspect_err(|error| tracing::debug!("no TLS: {error}")).ok()?;
                return Some((Box::new(stream), true, None));
            }
            (TLS | GSS, _) => stream.write_all(b"N").await.ok()?,
            _ => return Some((Box::new(stream), false, Some(packet))),
        }
    }
}

/// Begins the session that a packet asks for; `None` if it asked to cancel a statement of another.
async fn start(
    client: &mut Client,
    (address, is_secure): (IpAddr, bool),
    first: Option<Bytes>,
    shared: &Shared,
) -> Result<Option<Begun>, Stop> {
    let packet = match first {
        Some(packet) => packet,
        None => client.packet().await?,
    };
    let mut fields = Fields(packet);
    let code = fields.number()?;
    if code == CANCEL {
        shared.cancellations.cancel(fields.number()?, fields.number()?);
        return Ok(None);
    }
    let (major, minor) = ((code >> 16) as u16, code as u16);
    if major != VERSION_3 {
        let message = format!("unsupported frontend protocol {major}.{minor}: the server supports 3.0");
        return Err(Refusal::new("0A000", message).into());
    }
    let said = said(&mut fields)?;
    let unknown: Vec<&str> =
        said.iter().map(|(name, _)| name.as_str()).filter(|name| name.starts_with(PROTOCOL_OPTION)).collect();
    if minor > 0 || !unknown.is_empty() {
        client.outbox.negotiated(u32::from(VERSION_3) << 16, &unknown);
    }
    let user =
        said.iter().find(|(name, _)| name == "user").map(|(_, user)| user.clone()).filter(|user| !user.is_empty());
    let user = user.ok_or_else(|| Refusal::new("28000", "no PostgreSQL user name specified in startup packet"))?;
    let encoding = said.iter().find(|(name, _)| name.eq_ignore_ascii_case("client_encoding"));
    if let Some((name, encoding)) = encoding {
        // A client that goes on in another encoding would read wrong texts.
        SessionSettings::default().set(name, encoding)?;
    }
    let place = shared.places.take(address).ok_or_else(|| {
        Refusal::new("53300", "sorry, too many clients already").with_hint("the limit is `limits.connections_max`")
    })?;
    let visitor = prove(client, (address, is_secure), &user, shared).await?;
    let settings = SessionSettings::new(&user, &said);
    let session = Session::new(Arc::clone(&shared.reception), visitor, settings);
    let cancellable = shared.cancellations.register().map_err(|error| session.refusal(error, ""))?;
    client.outbox.authentication(PROVED, &[]);
    session.settings.reported().for_each(|(name, value)| client.outbox.setting(name, value));
    client.outbox.cancellable(&cancellable);
    client.outbox.ready(session.transaction);
    client.send().await?;
    Ok(Some(Begun { session, cancellable, place }))
}

/// Reads what the client says of itself: names and values, up to an empty name.
fn said(fields: &mut Fields) -> Result<Vec<(String, String)>, Refusal> {
    let mut said = Vec::new();
    while fields.0.has_remaining() {
        let name = fields.text()?;
        if name.is_empty() {
            break;
        }
        said.push((name, fields.text()?));
    }
    Ok(said)
}

/// Finds out who is there, and that they may come in.
async fn prove(
    client: &mut Client,
    (address, is_secure): (IpAddr, bool),
    user: &str,
    shared: &Shared,
) -> Result<Visitor, Stop> {
    let mut visitor = Visitor { address: Some(address), ..Visitor::default() };
    let told = |error| Stop::from(Refusal::of(shared.reception.disclose(error), ""));
    if shared.reception.asks_for_proof() {
        let is_hidden = !is_secure && !address.is_loopback();
        let proof = match shared.reception.scram(&visitor, user, is_hidden).await.map_err(told)? {
            Some(login) => {
                let state = scram::shown(client, login).await?;
                shared.reception.forgive(&visitor, user);
                Some(Proof::Scram(state))
            }
            None if is_hidden => {
                let message = "a password is only taken over TLS, and from this machine";
                let hint = "connect with `sslmode=require`; the server needs `server.tls_certificate` for it";
                return Err(Refusal::new("28000", message).with_hint(hint).into());
            }
            None => {
                client.outbox.authentication(PASSWORD, &[]);
                client.send().await?;
                let secret = Fields(client.proof().await?).text()?;
                (!secret.is_empty()).then_some(Proof::Secret(secret))
            }
        };
        visitor.login = proof.map(|proof| Arc::new(WireLogin { user: user.to_owned(), proof }));
    }
    shared.reception.admit(&visitor).await.map_err(told)?;
    Ok(visitor)
}
