//! An identity provider that does what the specifications say, and on demand what they forbid.

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::{digest, hmac};
use serde_json::{Value, json};

use crate::client::value;
use crate::it::identity::SigningKey;

pub(crate) const CLIENT: &str = "shop";
pub(crate) const SECRET: &str = "a secret: of %the client";

/// What is wrong with the ID tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wrong {
    #[default]
    Nothing,
    Nonce,
    NoNonce,
    Audience,
    Party,
    Issuer,
    Expired,
    Endless,
    /// Signed with a key that is not published.
    Key,
    /// Signed with the secret of the client.
    Shared,
    Unsigned,
    NoToken,
    /// The token endpoint answers more than anybody reads.
    Large,
}

/// What a code stands for.
#[derive(Clone, Debug)]
struct Grant {
    redirect_uri: String,
    challenge: String,
    nonce: String,
    user: String,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) wrong: Wrong,
    /// Members of the metadata that are other than usual.
    pub(crate) metadata: Vec<(&'static str, Value)>,
    /// Requests to the token endpoint.
    pub(crate) asked: usize,
    /// Whether the secret comes in the form.
    pub(crate) secret_in_form: bool,
    codes: HashMap<String, Grant>,
    count: usize,
}

pub(crate) struct Provider {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
}

struct Keys {
    own: SigningKey,
    other: SigningKey,
}

impl Provider {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(State::default()));
        let (shared, own) = (Arc::<Mutex<State>>::clone(&state), url.clone());
        let keys = Keys { own: SigningKey::p256(), other: SigningKey::p256() };
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let _ = serve(connection, &own, &shared, &keys);
            }
        });
        Self { url, state }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }

    /// What happens at the provider's page: `user` agrees, and the browser is sent back to the URL that this returns.
    pub(crate) fn authorize(&self, location: &str, user: &str) -> String {
        let (endpoint, query) = location.split_once('?').expect("a query");
        assert_eq!(endpoint, format!("{}/authorize", self.url));
        let query = form(query);
        let of = |name: &str| query.get(name).cloned().unwrap_or_else(|| panic!("no {name}: {query:?}"));
        assert_eq!((of("response_type"), of("client_id")), ("code".to_owned(), CLIENT.to_owned()));
        assert_eq!(of("code_challenge_method"), "S256");
        assert!(of("scope").split(' ').any(|scope| scope == "openid"));
        assert!(of("state").len() >= 43 && of("nonce").len() >= 43 && of("state") != of("nonce"));
        let mut state = self.state();
        state.count += 1;
        let code = format!("code-{}", state.count);
        let redirect_uri = of("redirect_uri");
        let grant = Grant {
            redirect_uri: redirect_uri.clone(),
            challenge: of("code_challenge"),
            nonce: of("nonce"),
            user: user.to_owned(),
        };
        state.codes.insert(code.clone(), grant);
        format!("{redirect_uri}?code={code}&state={}&iss={}", value(&of("state")), value(&self.url))
    }
}

/// The fields of a form.
pub(crate) fn form(text: &str) -> HashMap<String, String> {
    let decoded = |text: &str| salver_text::form::decode(text).expect("text").into_owned();
    salver_text::form::pairs(text).map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn serve(mut connection: TcpStream, url: &str, state: &Mutex<State>, keys: &Keys) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    let text = loop {
        let count = connection.read(&mut piece)?;
        request.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let is_whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length = header(head, "content-length").and_then(|length| length.parse::<usize>().ok());
            body.len() >= length.unwrap_or(0)
        });
        if is_whole || count == 0 {
            break text;
        }
    };
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let path = head.split(' ').nth(1).unwrap_or_default();
    let (status, answer) = match path {
        "/.well-known/openid-configuration" => {
            let mut metadata = json!({
                "issuer": url,
                "authorization_endpoint": format!("{url}/authorize"),
                "token_endpoint": format!("{url}/token"),
                "jwks_uri": format!("{url}/keys"),
                "authorization_response_iss_parameter_supported": true,
            });
            for (name, value) in &state.lock().expect("no panic").metadata {
                metadata[*name] = value.clone();
            }
            (200, metadata.to_string())
        }
        "/keys" => (200, format!("{{\"keys\":[{}]}}", keys.own.published("one"))),
        "/token" => token(&mut state.lock().expect("no panic"), (head, body), url, keys),
        _ => (404, String::new()),
    };
    let head = format!("HTTP/1.1 {status} x\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
    connection.write_all(format!("{head}{answer}").as_bytes())
}

fn header(head: &str, wanted: &str) -> Option<String> {
    let mut lines = head.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim().to_owned())
}

/// Redeems a code (RFC 6749, section 4.1.3; RFC 7636, section 4.6).
fn token(state: &mut State, (head, body): (&str, &str), url: &str, keys: &Keys) -> (u16, String) {
    state.asked += 1;
    let form = form(body);
    let of = |name: &str| form.get(name).map(String::as_str).unwrap_or_default();
    let in_header = header(head, "authorization")
        == Some(format!("Basic {}", STANDARD.encode(format!("{CLIENT}:{}", value(SECRET)))));
    let in_form = (of("client_id"), of("client_secret")) == (CLIENT, SECRET);
    let is_client = if state.secret_in_form { in_form } else { in_header };
    if !is_client {
        return (401, json!({ "error": "invalid_client" }).to_string());
    }
    let grant = state.codes.remove(of("code")).filter(|grant| {
        let challenge = URL_SAFE_NO_PAD.encode(digest::digest(&digest::SHA256, of("code_verifier").as_bytes()));
        of("grant_type") == "authorization_code"
            && grant.redirect_uri == of("redirect_uri")
            && grant.challenge == challenge
    });
    let Some(grant) = grant else { return (400, json!({ "error": "invalid_grant" }).to_string()) };
    let mut claims = json!({
        "iss": url, "aud": CLIENT, "sub": grant.user, "iat": 1_700_000_000, "exp": 4_102_444_800_u64,
        "nonce": grant.nonce, "groups": "staff", "identity": "oidc:root", "user": "root",
    });
    let members = claims.as_object_mut().expect("an object");
    match state.wrong {
        Wrong::Nonce => members.insert("nonce".to_owned(), json!("another")),
        Wrong::NoNonce => members.remove("nonce"),
        Wrong::Audience => members.insert("aud".to_owned(), json!("desk")),
        Wrong::Party => members.insert("azp".to_owned(), json!("desk")),
        Wrong::Issuer => members.insert("iss".to_owned(), json!("http://127.0.0.1:1")),
        Wrong::Expired => members.insert("exp".to_owned(), json!(1_700_000_001)),
        Wrong::Endless => members.remove("exp"),
        _ => None,
    };
    let claims = claims.to_string();
    let shared = || {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"HS256","typ":"JWT"}"#);
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(&claims));
        let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, SECRET.as_bytes()), signed.as_bytes());
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(tag))
    };
    let unsigned = || {
        let header = URL_SAFE_NO_PAD.encode(r#"{"alg":"none"}"#);
        format!("{header}.{}.", URL_SAFE_NO_PAD.encode(&claims))
    };
    let token = match state.wrong {
        Wrong::Key => keys.other.token("one", &claims),
        Wrong::Shared => shared(),
        Wrong::Unsigned => unsigned(),
        _ => keys.own.token("one", &claims),
    };
    match state.wrong {
        Wrong::NoToken => (200, json!({ "access_token": "x", "token_type": "Bearer" }).to_string()),
        Wrong::Large => (200, "x".repeat(10 * 1024 * 1024)),
        _ => (200, json!({ "access_token": "x", "token_type": "Bearer", "id_token": token }).to_string()),
    }
}
