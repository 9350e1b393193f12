//! Tokens that nobody issued, and headers in which anybody could write who they are: at a server that knows one public
//! key and one API key.

use std::net::TcpListener;

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};

use crate::server::Server;

const TARGET: &str = "/api/tables/people";
const PEOPLE: &[(&str, &[u8])] = &[("people.csv", b"id,name\n1,Ann\n")];
const KEY: (&str, &str) = ("x-api-key", "a-key-of-the-boss-1");
const HEADER: &str = r#"{"alg":"ES256","kid":"ec"}"#;
const CLAIMS: &str = r#"{"sub":"ann","exp":4102444800}"#;
/// What stands before the point of a public key of P-256 in DER.
const SPKI: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

fn new_key() -> EcdsaKeyPair {
    let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
    let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
    EcdsaKeyPair::from_pkcs8(algorithm, made.as_ref(), &random).expect("a key")
}

fn message(header: &str, claims: &str) -> String {
    format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims))
}

fn with_signature(message: &str, signature: &[u8]) -> String {
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn signed(key: &EcdsaKeyPair, header: &str, claims: &str) -> String {
    let message = message(header, claims);
    let signature = key.sign(&SystemRandom::new(), message.as_bytes()).expect("a signature");
    with_signature(&message, signature.as_ref())
}

/// A token under a secret that is none.
fn with_secret(secret: &[u8]) -> String {
    let message = message(r#"{"alg":"HS256","kid":"ec"}"#, CLAIMS);
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
    with_signature(&message, tag.as_ref())
}

fn named(field: &str) -> String {
    format!(r#"{{"alg":"ES256","kid":"ec",{field}}}"#)
}

/// Tokens of which each is wrong, made by somebody who knows the public key, one good token and an address.
fn forged(key: &EcdsaKeyPair, (der, pem): (&[u8], &str), good: &str, url: &str) -> Vec<(&'static str, String)> {
    let other = new_key();
    let (head, signature) = (message(HEADER, CLAIMS), good.rsplit_once('.').expect("a signature").1);
    let unsigned = |header: &str| with_signature(&message(header, CLAIMS), b"");
    let point = other.public_key().as_ref();
    let (x, y) = (URL_SAFE_NO_PAD.encode(&point[1..33]), URL_SAFE_NO_PAD.encode(&point[33..]));
    let brought = named(&format!(r#""jwk":{{"kty":"EC","crv":"P-256","x":"{x}","y":"{y}"}}"#));
    let claims = |text: &str| signed(key, HEADER, text);
    vec![
        ("no algorithm", unsigned(r#"{"alg":"none","kid":"ec"}"#)),
        ("no algorithm, in other letters", unsigned(r#"{"alg":"nOnE","kid":"ec"}"#)),
        ("no algorithm in the end", unsigned(r#"{"alg":"ES256","alg":"none","kid":"ec"}"#)),
        ("no signature", unsigned(HEADER)),
        ("no signature at all", head.clone()),
        ("a signature of zeros", with_signature(&head, &[0; 64])),
        ("the public key as a secret", with_secret(pem.as_bytes())),
        ("the public key as a secret, without its last line end", with_secret(pem.trim_end().as_bytes())),
        ("the public key as a secret, in DER", with_secret(der)),
        ("the point of the public key as a secret", with_secret(key.public_key().as_ref())),
        ("no secret", with_secret(b"")),
        ("another's key", signed(&other, HEADER, CLAIMS)),
        ("another's key, which it brings along", signed(&other, &brought, CLAIMS)),
        ("another's key, with its address", signed(&other, &named(&format!(r#""jku":"{url}""#)), CLAIMS)),
        ("another's certificate, with its address", signed(&other, &named(&format!(r#""x5u":"{url}""#)), CLAIMS)),
        ("a key that is a path", signed(key, r#"{"alg":"ES256","kid":"../../../dev/null"}"#, CLAIMS)),
        ("a key that is a condition", signed(key, r#"{"alg":"ES256","kid":"ec' or '1'='1"}"#, CLAIMS)),
        ("a key without a name", signed(key, r#"{"alg":"ES256"}"#, CLAIMS)),
        ("an extension", signed(key, &named(r#""crit":["x"],"x":1"#), CLAIMS)),
        ("another algorithm of the same key", signed(key, r#"{"alg":"ES384","kid":"ec"}"#, CLAIMS)),
        ("other claims", format!("{}.{signature}", message(HEADER, r#"{"sub":"boss","exp":4102444800}"#))),
        ("more parts", format!("{good}.x.y")),
        ("no end", claims(r#"{"sub":"ann"}"#)),
        ("an end that is over", claims(r#"{"sub":"ann","exp":1}"#)),
        ("an end that is a text", claims(r#"{"sub":"ann","exp":"4102444800"}"#)),
        ("an end beyond all numbers", claims(r#"{"sub":"ann","exp":1e999}"#)),
        ("a beginning that is to come", claims(r#"{"sub":"ann","exp":4102444800,"nbf":4102444000}"#)),
    ]
}

#[test]
fn tokens_that_nobody_issued_are_refused() {
    let key = new_key();
    let der = [&SPKI[..], key.public_key().as_ref()].concat();
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", STANDARD.encode(&der));
    let settings = format!("[auth]\napi_keys = [\"boss:{}\"]\njwt_secrets = ['''ec:{pem}''']\n", KEY.1);
    let server = Server::with(&settings, PEOPLE);
    // Where a token says that its key is; nobody looks there.
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    elsewhere.set_nonblocking(true).expect("a listener");
    let url = format!("http://{}/keys", elsewhere.local_addr().expect("an address"));
    let status = |token: &str| server.get_with(TARGET, &[("authorization", &format!("Bearer {token}"))]).status;
    let good = signed(&key, HEADER, CLAIMS);
    assert_eq!(status(&good), 200);
    for (name, token) in forged(&key, (&der, &pem), &good, &url) {
        assert_eq!(status(&token), 401, "{name}: {token}");
    }
    let twice = |first: (&str, &str), second: (&str, &str)| server.get_with(TARGET, &[first, second]).status;
    let bearer = format!("Bearer {good}");
    assert_eq!(twice(("authorization", &bearer), ("authorization", "Bearer x.y.z")), 401);
    assert_eq!(twice(KEY, ("x-api-key", "another")), 401);
    assert_eq!(server.get_with(TARGET, &[KEY]).status, 200);
    assert!(elsewhere.accept().is_err(), "the server asked for a key where a token said");
}

/// Headers that only a proxy of the operator may write, at a server that has none.
#[test]
fn headers_of_proxies_are_not_believed() {
    let server = Server::with("[server]\nfirewall = [\"10.0.0.0/8\"]\n", PEOPLE);
    for (name, value) in [
        ("x-forwarded-for", "10.0.0.1"),
        ("x-real-ip", "10.0.0.1"),
        ("x-client-ip", "10.0.0.1"),
        ("x-cluster-client-ip", "10.0.0.1"),
        ("x-originating-ip", "10.0.0.1"),
        ("x-remote-addr", "10.0.0.1"),
        ("true-client-ip", "10.0.0.1"),
        ("cf-connecting-ip", "10.0.0.1"),
        ("client-ip", "10.0.0.1"),
        ("forwarded", "for=10.0.0.1"),
    ] {
        let answer = server.get_with(TARGET, &[(name, value)]);
        assert_eq!(answer.status, 403, "{name}: {answer:?}");
    }
    let settings = format!("[auth]\napi_keys = [\"boss:{}\"]\n", KEY.1);
    let server = Server::with(&settings, PEOPLE);
    for (name, value) in [
        ("x-user", "boss"),
        ("x-remote-user", "boss"),
        ("remote-user", "boss"),
        ("x-forwarded-user", "boss"),
        ("x-authenticated-user", "boss"),
        ("x-forwarded-for", "127.0.0.1"),
        ("x-original-url", "/health"),
        ("x-rewrite-url", "/health"),
        ("x-original-method", "OPTIONS"),
        ("x-http-method-override", "OPTIONS"),
        ("x-http-method", "OPTIONS"),
    ] {
        assert_eq!(server.get_with(TARGET, &[(name, value)]).status, 401, "{name}: {value}");
    }
    let open = server.get_with("/health", &[("x-original-url", TARGET), ("x-rewrite-url", TARGET)]);
    assert_eq!((open.status, open.text()), (200, "OK"));
    assert_eq!(server.get_with(TARGET, &[KEY]).status, 200);
}
