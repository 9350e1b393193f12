//! Tokens that are trusted, and tokens that are not.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use ring::hmac;
use salver_model::ports::KeySetSource;
use salver_model::spec::{JwtSpec, Secret};
use salver_model::{Code, Error, Result};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Identity, Jwt, TokenCheck};

const NOW_S: f64 = 1_700_000_000.0;
const SECRET: &str = "a secret of thirty-two characters or more";
const PUBLIC: &str = include_str!("tests/public.pem");
const PUBLIC_BARE: &str = include_str!("tests/public-pkcs1.pem");
/// `{"sub":"9","exp":4102444800}` under RS256, RS384 and RS512.
const SIGNED: &str = include_str!("tests/tokens.txt");

/// Under RS256 to ES384 and EdDSA, made by PyJWT; the keys are named `rsa`, `p256`, `p384` and `ed`.
const FOREIGN: &str = include_str!("tests/foreign-tokens.txt");
/// The public keys of these, with some that are not for signatures.
const KEY_SET: &str = include_str!("tests/key-set.json");
/// The public keys of P-256, P-384 and Ed25519 among these, in PEM.
const OTHER_PUBLIC: &str = include_str!("tests/other-public.pem");

impl Jwt {
    /// Returns the identity in a token that is trusted.
    fn prove_at(&self, token: &str, now_s: f64) -> Option<Identity> {
        match self.check_at(token, now_s) {
            TokenCheck::Trusted(identity) => Some(identity),
            TokenCheck::Refused | TokenCheck::UnknownKey => None,
        }
    }
}

fn jwt(secrets: &[(Option<&str>, &str)], change: impl FnOnce(&mut JwtSpec)) -> Jwt {
    let secrets = secrets.iter().map(|(kid, text)| (kid.map(str::to_owned), Secret::new(*text))).collect();
    let mut spec = JwtSpec {
        secrets,
        leeway: Duration::from_secs(5),
        ttl: Duration::from_secs(30),
        endless: true,
        ..JwtSpec::default()
    };
    change(&mut spec);
    Jwt::new(&spec, None, ("", None)).unwrap()
}

fn signed(algorithm: hmac::Algorithm, secret: &str, header: &str, claims: &str) -> String {
    let message = format!("{}.{}", URL_SAFE_NO_PAD.encode(header), URL_SAFE_NO_PAD.encode(claims));
    let signature = hmac::sign(&hmac::Key::new(algorithm, secret.as_bytes()), message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn token(header: &str, claims: &str) -> String {
    signed(hmac::HMAC_SHA256, SECRET, header, claims)
}

const HEADER: &str = r#"{"alg":"HS256","typ":"JWT"}"#;

#[test]
fn secrets_of_every_length() {
    let jwt = jwt(&[(None, SECRET)], |_| {});
    for (name, algorithm) in [("HS256", hmac::HMAC_SHA256), ("HS384", hmac::HMAC_SHA384), ("HS512", hmac::HMAC_SHA512)]
    {
        let header = format!(r#"{{"alg":"{name}","typ":"JWT"}}"#);
        let claims = r#"{"sub":"9","role":"admin","n":1.5,"tags":["a"],"none":null,"iat":1699999999}"#;
        let identity = jwt.prove_at(&signed(algorithm, SECRET, &header, claims), NOW_S).unwrap();
        let expected = [
            ("auth", "jwt"),
            ("identity", "jwt:9"),
            ("sub", "9"),
            ("role", "admin"),
            ("n", "1.5"),
            ("tags", "[\"a\"]"),
            ("user", "9"),
        ];
        assert_eq!(identity, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert!(jwt.prove_at(&signed(algorithm, "another secret", &header, claims), NOW_S).is_none());
    }
}

#[test]
fn the_subject_is_the_name() {
    let jwt = jwt(&[(None, SECRET)], |_| {});
    for (claims, user, whole) in [
        (r#"{"sub":"9","user":"admin"}"#, Some("9"), "jwt:9"),
        (r#"{"user":"admin","sub":"9","iss":"id"}"#, Some("9"), "jwt:id 9"),
        (r#"{"sub":9,"user":["admin"]}"#, Some("9"), "jwt:9"),
        (r#"{"user":"ann"}"#, Some("ann"), "jwt:ann"),
        (r#"{"sub":null,"user":"ann"}"#, Some("ann"), "jwt:ann"),
    ] {
        let identity = jwt.prove_at(&token(HEADER, claims), NOW_S).unwrap();
        let all = |wanted: &str| {
            identity.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(all("user"), user.into_iter().collect::<Vec<_>>(), "{claims}");
        assert_eq!(all("identity"), [whole], "{claims}");
    }
}

#[test]
fn public_keys() {
    for key in [PUBLIC, PUBLIC_BARE] {
        let rsa = jwt(&[(None, key)], |_| {});
        for signed in SIGNED.lines() {
            assert!(rsa.prove_at(signed, NOW_S).is_some(), "{signed}");
            let (message, signature) = signed.rsplit_once('.').unwrap();
            let (header, _) = message.split_once('.').unwrap();
            let other = URL_SAFE_NO_PAD.encode(r#"{"sub":"1","exp":4102444800}"#);
            assert!(rsa.prove_at(&format!("{header}.{other}.{signature}"), NOW_S).is_none());
        }
        // A public key is public: it can't serve as a secret.
        let forged = signed(hmac::HMAC_SHA256, key, HEADER, "{}");
        assert!(rsa.prove_at(&forged, NOW_S).is_none());
        let forged = signed(hmac::HMAC_SHA256, key, r#"{"alg":"RS256"}"#, "{}");
        assert!(rsa.prove_at(&forged, NOW_S).is_none());
        assert!(
            jwt(&[(None, key)], |spec| spec.algorithms = vec!["HS256".into()])
                .prove_at(SIGNED.lines().next().unwrap_or_default(), NOW_S)
                .is_none()
        );
    }
    for bad in ["-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----", "-----BEGIN PUBLIC KEY-----\nMAA=\n"] {
        assert!(super::Key::of(bad).is_err(), "{bad}");
    }
}

#[test]
fn headers() {
    let jwt = jwt(&[(None, SECRET)], |_| {});
    for good in [r#"{"alg":"HS256"}"#, HEADER, r#"{"alg":"HS256","typ":"at+jwt"}"#] {
        assert!(jwt.prove_at(&token(good, "{}"), NOW_S).is_some(), "{good}");
    }
    for bad in [
        r#"{"typ":"JWT"}"#,
        r#"{"alg":"none","typ":"JWT"}"#,
        r#"{"alg":"HS384","typ":"JWT"}"#,
        r#"{"alg":"hs256","typ":"JWT"}"#,
        r#"{"alg":"HS256","typ":"JWE"}"#,
        r#"{"alg":"HS256","crit":["b64"]}"#,
        r#"{"alg":"HS256","kid":"k1"}"#,
        r#"{"alg":"HS256","kid":7}"#,
        r#"["HS256"]"#,
        "",
    ] {
        assert!(jwt.prove_at(&token(bad, "{}"), NOW_S).is_none(), "{bad}");
    }
    let whole = token(HEADER, "{}");
    let unsigned = format!("{}.", whole.rsplit_once('.').unwrap().0);
    for bad in [&unsigned, "", ".", "..", "a.b", &whole[..whole.len() - 2], &format!("{whole}.x"), &format!("x{whole}")]
    {
        assert!(jwt.prove_at(bad, NOW_S).is_none(), "{bad}");
    }
    assert!(jwt.prove_at(&token(HEADER, "[]"), NOW_S).is_none());
}

#[test]
fn keys_by_their_names() {
    let two = jwt(&[(Some("k1"), SECRET), (Some("k2"), "another secret")], |_| {});
    let of = |kid: &str| token(&format!(r#"{{"alg":"HS256","kid":"{kid}"}}"#), "{}");
    assert!(two.prove_at(&of("k1"), NOW_S).is_some());
    for bad in [of("k2"), of("k3"), token(HEADER, "{}")] {
        assert!(two.prove_at(&bad, NOW_S).is_none(), "{bad}");
    }
}

#[test]
fn times() {
    let jwt = jwt(&[(None, SECRET)], |_| {});
    for (claims, expected) in [
        (r#"{"exp":1699999996}"#, true),
        (r#"{"exp":1699999994}"#, false),
        (r#"{"nbf":1700000004}"#, true),
        (r#"{"nbf":1700000006}"#, false),
        (r#"{"iat":1700000006}"#, false),
        (r#"{"iat":1699999966}"#, true),
        (r#"{"iat":1699999960}"#, false),
        (r#"{"iat":1699999960,"exp":1700000001}"#, true),
        (r#"{"exp":"4102444800"}"#, false),
        (r#"{"exp":null}"#, false),
    ] {
        assert_eq!(jwt.prove_at(&token(HEADER, claims), NOW_S).is_some(), expected, "{claims}");
    }
}

#[test]
fn tokens_must_end() {
    let strict = jwt(&[(None, SECRET)], |spec| spec.endless = false);
    let open = jwt(&[(None, SECRET)], |_| {});
    for (claims, expected) in [
        ("{}", false),
        (r#"{"sub":"9"}"#, false),
        (r#"{"nbf":1699999990}"#, false),
        (r#"{"iat":1699999990}"#, true),
        (r#"{"exp":1700000010}"#, true),
        (r#"{"exp":1699999990}"#, false),
    ] {
        assert_eq!(strict.prove_at(&token(HEADER, claims), NOW_S).is_some(), expected, "{claims}");
        let is_over = claims.contains("\"exp\":1699");
        assert_eq!(open.prove_at(&token(HEADER, claims), NOW_S).is_some(), !is_over, "{claims}");
    }
}

#[test]
fn who_it_is_for_and_from() {
    let jwt = jwt(&[(None, SECRET)], |spec| {
        spec.audiences = vec!["shop".into(), "desk".into()];
        spec.issuers = vec!["id".into()];
    });
    for (claims, expected) in [
        (r#"{"aud":"shop","iss":"id"}"#, true),
        (r#"{"aud":["x","desk"],"iss":"id"}"#, true),
        (r#"{"aud":["x"],"iss":"id"}"#, false),
        (r#"{"aud":"shop","iss":"other"}"#, false),
        (r#"{"aud":"shop","iss":["id"]}"#, false),
        (r#"{"aud":"shop"}"#, false),
        (r#"{"iss":"id"}"#, false),
    ] {
        assert_eq!(jwt.prove_at(&token(HEADER, claims), NOW_S).is_some(), expected, "{claims}");
    }
}

/// An issuer whose set is what a test says; `None` while it is away.
#[derive(Debug, Default)]
struct Issuer(Mutex<(Option<String>, usize)>);

impl Issuer {
    fn publish(&self, set: Option<&str>) {
        self.0.lock().unwrap().0 = set.map(str::to_owned);
    }

    fn times_asked(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

#[async_trait::async_trait]
impl KeySetSource for Issuer {
    async fn fetch(&self) -> Result<Bytes> {
        let mut own = self.0.lock().unwrap();
        own.1 += 1;
        own.0.clone().map(Bytes::from).ok_or_else(|| Error::new(Code::Source, "the issuer is away"))
    }
}

fn with_key_set(issuer: &Arc<Issuer>, change: impl FnOnce(&mut JwtSpec)) -> Jwt {
    let mut spec = JwtSpec { leeway: Duration::from_secs(5), ..JwtSpec::default() };
    change(&mut spec);
    let source: Arc<dyn KeySetSource> = Arc::<Issuer>::clone(issuer);
    Jwt::new(&spec, Some(source), ("", None)).unwrap()
}

#[test]
fn public_keys_of_curves() {
    let pems: Vec<String> = OTHER_PUBLIC.split_inclusive("-----END PUBLIC KEY-----\n").map(str::to_owned).collect();
    let names = ["p256", "p384", "ed"];
    assert_eq!(pems.len(), names.len());
    for (name, pem) in names.iter().zip(&pems) {
        let own = jwt(&[(Some(name), pem)], |_| {});
        let trusted = FOREIGN.lines().filter(|token| own.prove_at(token, NOW_S).is_some()).count();
        assert_eq!(trusted, 1, "{name}");
        // Under another's name, the key verifies nothing.
        let misnamed = jwt(&[(Some("rsa"), pem)], |_| {});
        assert!(FOREIGN.lines().all(|token| misnamed.prove_at(token, NOW_S).is_none()), "{name}");
    }
}

#[tokio::test]
async fn a_published_key_set() {
    let issuer = Arc::new(Issuer::default());
    let own = with_key_set(&issuer, |_| {});
    for token in FOREIGN.lines() {
        assert!(matches!(own.check_at(token, NOW_S), TokenCheck::UnknownKey));
    }
    let unavailable = own.check_again(FOREIGN.lines().next().unwrap()).await.unwrap_err();
    assert_eq!(unavailable.code, Code::AuthenticationUnavailable);
    issuer.publish(Some(KEY_SET));
    own.fetch_key_set().await.unwrap();
    for token in FOREIGN.lines() {
        assert!(own.prove_at(token, NOW_S).is_some(), "{token}");
        let (message, _) = token.rsplit_once('.').unwrap();
        let (header, _) = message.split_once('.').unwrap();
        let other = URL_SAFE_NO_PAD.encode(r#"{"sub":"1","exp":4102444800}"#);
        let (_, signature) = token.rsplit_once('.').unwrap();
        assert!(own.prove_at(&format!("{header}.{other}.{signature}"), NOW_S).is_none());
    }
    // Neither is a shared secret taken from a public set, nor a public key for a secret, nor a key for another purpose.
    let shared =
        signed(hmac::HMAC_SHA256, "a shared secret of thirty-two bytes", r#"{"alg":"HS256","kid":"shared"}"#, "{}");
    assert!(own.prove_at(&shared, NOW_S).is_none());
    for kid in ["rsa", "p256", "ed", "enc"] {
        let forged = signed(hmac::HMAC_SHA256, KEY_SET, &format!(r#"{{"alg":"HS256","kid":"{kid}"}}"#), "{}");
        assert!(own.prove_at(&forged, NOW_S).is_none(), "{kid}");
    }
    let one = with_key_set(&issuer, |spec| spec.algorithms = vec!["ES256".into()]);
    one.fetch_key_set().await.unwrap();
    assert_eq!(FOREIGN.lines().filter(|token| one.prove_at(token, NOW_S).is_some()).count(), 1);
}

#[tokio::test]
async fn keys_that_change() {
    let issuer = Arc::new(Issuer::default());
    let own = with_key_set(&issuer, |_| {});
    let only = |name: &str| {
        let mut set: serde_json::Value = serde_json::from_str(KEY_SET).unwrap();
        set["keys"].as_array_mut().unwrap().retain(|key| key["kid"] == name);
        set.to_string()
    };
    let signed_by = |name: &str| {
        let named = |token: &&str| {
            let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
            String::from_utf8(header).unwrap().contains(&format!("\"{name}\""))
        };
        FOREIGN.lines().find(named).unwrap()
    };
    issuer.publish(Some(&only("p256")));
    assert!(own.check_again(signed_by("p256")).await.unwrap().is_some());
    // A new key is looked for, but not with every token.
    issuer.publish(Some(&only("ed")));
    assert!(own.check_again(signed_by("ed")).await.unwrap().is_none());
    assert_eq!(issuer.times_asked(), 1);
    // What can't be used leaves the last set in place.
    for bad in [None, Some("{}"), Some("[]"), Some(r#"{"keys":[]}"#), Some(&only("shared")[..]), Some(&only("enc")[..])]
    {
        issuer.publish(bad);
        assert!(own.fetch_key_set().await.is_err(), "{bad:?}");
        assert!(own.prove_at(signed_by("p256"), NOW_S).is_some());
    }
    issuer.publish(Some(&only("ed")));
    own.fetch_key_set().await.unwrap();
    assert!(own.prove_at(signed_by("ed"), NOW_S).is_some());
    assert!(own.prove_at(signed_by("p256"), NOW_S).is_none());
}
