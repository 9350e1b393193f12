//! The exchange by which a client shows that it knows a password without sending it: SCRAM-SHA-256 (RFC 5802, RFC 7677)
//! in the messages of SASL (<https://www.postgresql.org/docs/16/sasl-authentication.html>).
//!
//! ```text
//! client  n,,n=,r=NONCE
//! server  r=NONCE and more,s=SALT,i=4096
//! client  c=biws,r=NONCE and more,p=PROOF
//! server  v=SIGNATURE
//! ```

use salver_model::seal;
use salver_model::spec::ScramKey;
use salver_service::reception::ScramLogin;
use salver_text::base64;

use super::client::{Client, Stop};
use super::message::Fields;
use super::refusal::Refusal;

/// Steps of the exchange, as messages say them.
const BEGIN: u32 = 10;
const CONTINUE: u32 = 11;
const END: u32 = 12;
/// The only mechanism. That which binds the exchange to the TLS session is not offered.
const MECHANISM: &str = "SCRAM-SHA-256";
/// Bytes of the server's part of the nonce.
const NONCE_BYTES: usize = 18;

/// Lets the client show that it knows the password, and returns the state by which that is known later.
///
/// # Errors
/// `28P01` if it does not know it, `08P01` for what is no such exchange.
pub(super) async fn shown(client: &mut Client, login: ScramLogin) -> Result<String, Stop> {
    let ScramLogin { verifier, state } = login;
    client.outbox.authentication(BEGIN, format!("{MECHANISM}\0\0").as_bytes());
    client.send().await?;
    let first = ClientFirst::read(&initial(Fields(client.proof().await?))?)?;
    let own_nonce = encoded(&seal::random::<NONCE_BYTES>().map_err(|error| Refusal::of(error, ""))?);
    let (nonce, salt) = (format!("{}{own_nonce}", first.nonce), encoded(verifier.salt()));
    let server_first = format!("r={nonce},s={salt},i={}", verifier.iterations());
    client.outbox.authentication(CONTINUE, server_first.as_bytes());
    client.send().await?;
    let last = text(&client.proof().await?)?;
    let last = ClientFinal::read(&last)?;
    if base64::decode(last.binding.as_bytes()).as_deref() != Some(first.header.as_bytes()) || last.nonce != nonce {
        return Err(malformed("it is no answer to what the server said").into());
    }
    let messages = format!("{},{server_first},{}", first.bare, last.without_proof);
    // The proof is checked also where there is no such user, so that both take the same time.
    let (Some(signature), Some(state)) = (verifier.answer(messages.as_bytes(), &last.proof), state) else {
        let message = "Authentication failed: there is no such user, or the password is another";
        let hint =
            "a password or key that the server keeps as a hash is taken over TLS: connect with `sslmode=require`";
        return Err(Refusal::new("28P01", message).with_hint(hint).into());
    };
    client.outbox.authentication(END, format!("v={}", encoded(&signature)).as_bytes());
    Ok(state)
}

/// Returns the client's first words, which come with the name of the mechanism.
fn initial(mut fields: Fields) -> Result<String, Refusal> {
    if fields.text()? != MECHANISM {
        return Err(Refusal::broken("client selected an invalid SASL authentication mechanism"));
    }
    let length = fields.number()?;
    if usize::try_from(length).ok() != Some(fields.0.len()) {
        return Err(malformed("it has another length than it says"));
    }
    text(&fields.0)
}

/// `n,,n=,r=NONCE`, taken apart.
#[derive(Debug)]
struct ClientFirst {
    /// What is said of channel binding, up to the second comma.
    header: String,
    /// The rest.
    bare: String,
    nonce: String,
}

impl ClientFirst {
    fn read(message: &str) -> Result<Self, Refusal> {
        let flag = message.split(',').next().unwrap_or_default();
        if !matches!(flag, "n" | "y") {
            return Err(malformed("channel binding is not offered"));
        }
        let bare = message[flag.len()..].strip_prefix(",,");
        let bare = bare.ok_or_else(|| malformed("it asks for the rights of another user"))?;
        let mut parts = bare.split(',');
        let has_name = parts.next().is_some_and(|name| name.starts_with("n="));
        let nonce = parts.next().and_then(|part| part.strip_prefix("r=")).filter(|_| has_name);
        let nonce = nonce.filter(|nonce| !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_graphic()));
        let nonce = nonce.ok_or_else(|| malformed("it has no nonce"))?;
        Ok(Self { header: format!("{flag},,"), bare: bare.to_owned(), nonce: nonce.to_owned() })
    }
}

/// `c=biws,r=NONCE,p=PROOF`, taken apart.
#[derive(Debug)]
struct ClientFinal<'m> {
    /// Base64 of what the first message said of channel binding.
    binding: &'m str,
    nonce: &'m str,
    proof: ScramKey,
    without_proof: &'m str,
}

impl<'m> ClientFinal<'m> {
    fn read(message: &'m str) -> Result<Self, Refusal> {
        let read = || {
            let (without_proof, proof) = message.rsplit_once(",p=")?;
            let mut parts = without_proof.split(',');
            let binding = parts.next()?.strip_prefix("c=")?;
            let nonce = parts.next()?.strip_prefix("r=")?;
            let proof = base64::decode(proof.as_bytes())?.try_into().ok()?;
            Some(Self { binding, nonce, proof, without_proof })
        };
        read().ok_or_else(|| malformed("it has no proof"))
    }
}

fn encoded(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    base64::encode(bytes, &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

fn text(bytes: &[u8]) -> Result<String, Refusal> {
    std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| malformed("it is no text"))
}

fn malformed(why: &str) -> Refusal {
    Refusal::broken(format!("malformed SCRAM message: {why}"))
}

#[cfg(test)]
mod tests {
    use super::{ClientFinal, ClientFirst};

    #[test]
    fn messages_are_taken_apart() {
        let first = ClientFirst::read("y,,n=ann,r=abc,ext=1").unwrap();
        assert_eq!((&*first.header, &*first.bare, &*first.nonce), ("y,,", "n=ann,r=abc,ext=1", "abc"));
        for wrong in ["", "n", "n,,", "n,,r=abc", "n,,n=,r=", "n,,n=,r=a b", "p=tls-exporter,,n=,r=a", "n,a=b,n=,r=a"] {
            assert!(ClientFirst::read(wrong).is_err(), "{wrong}");
        }
        let message = format!("c=biws,r=abc,p={}=", "A".repeat(43));
        let last = ClientFinal::read(&message).unwrap();
        assert_eq!((last.binding, last.nonce, last.without_proof), ("biws", "abc", "c=biws,r=abc"));
        for wrong in ["", "c=biws,r=abc", "c=biws,r=abc,p=", "r=abc,c=biws,p=AAAA", &message[..message.len() - 4]] {
            assert!(ClientFinal::read(wrong).is_err(), "{wrong}");
        }
    }
}
