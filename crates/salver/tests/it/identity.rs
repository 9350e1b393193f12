//! Who asks: keys that are stored as hashes and end, and tokens of an issuer who publishes its keys.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair};

use crate::client::Client;
use crate::process::Process;

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
/// Where there is something to read.
const TARGET: &str = "/api/tables/people";

fn status(process: &Process, headers: &[(&str, &str)]) -> u16 {
    Client::new(process.address()).send("GET", TARGET, headers, None).expect("an answer").status
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What `salver key new` prints: the key, and the line for the settings if it was not added to a file.
fn new_key(directory: &Path, arguments: &[&str]) -> (String, String) {
    let made = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["key", "new"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .expect("the program");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let text = String::from_utf8(made.stdout).expect("text");
    let indented: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    (indented[0].to_owned(), indented.get(1).copied().unwrap_or_default().to_owned())
}

#[test]
fn keys_are_stored_as_hashes() {
    let place = tempfile::tempdir().expect("a directory");
    let (key, line) = new_key(place.path(), &["reporting"]);
    let (ended, old) = new_key(place.path(), &["old", "--expires", "1d"]);
    assert!(!line.contains(&key) && line.starts_with("reporting:sha256:"), "{line}");
    // The end of a key is part of its line, and can be changed there.
    let old = format!("{}@2026-01-01", old.split_once('@').expect("an end").0);
    let settings = format!(
        "[auth]\napi_keys = [\"{line}\", \"{old}\"]\napi_keys_file = \"keys.txt\"\n\
         [[dataset]]\nname = \"people\"\nsource = \"people.csv\"\n"
    );
    let process = Process::started_with(&settings, &[("people.csv", ROWS), ("keys.txt", "# nobody yet\n")]);
    let bearer = |key: &str| format!("Bearer {key}");
    until("the entry is there", || status(&process, &[("x-api-key", &key)]) == 200);
    assert_eq!(status(&process, &[("authorization", &bearer(&key))]), 200);
    assert_eq!(status(&process, &[]), 401);
    let hash = line.rsplit_once(':').expect("a hash").1;
    for wrong in [hash, &line, &key[..key.len() - 1], &format!("{key}0"), &key.to_uppercase()] {
        assert_eq!(status(&process, &[("x-api-key", wrong)]), 401, "{wrong}");
        assert_eq!(status(&process, &[("authorization", &bearer(wrong))]), 401, "{wrong}");
    }
    let refused =
        Client::new(process.address()).send("GET", TARGET, &[("x-api-key", &ended)], None).expect("an answer");
    assert_eq!(refused.status, 401);
    assert!(refused.body.contains("the key has expired"), "{}", refused.body);
    // One more, without a restart; and none again.
    let (added, _) = new_key(process.directory(), &["later", "--file", "keys.txt"]);
    until("the key of the file", || status(&process, &[("x-api-key", &added)]) == 200);
    assert_eq!(status(&process, &[("x-api-key", &key)]), 200);
    // A file that is wrong changes nothing, and a pipe keeps nobody waiting.
    let path = process.directory().join("keys.txt");
    let pipe = process.directory().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    std::fs::rename(&pipe, &path).expect("a pipe");
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(status(&process, &[("x-api-key", "wrong-0123456789abcdef")]), 401);
    assert_eq!(status(&process, &[("x-api-key", &added)]), 200);
    std::fs::remove_file(&path).expect("a pipe");
    std::fs::write(&path, "later:a-key-in-the-clear-is-wrong").expect("a file");
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(status(&process, &[("x-api-key", &added)]), 200);
    std::fs::write(&path, "# nobody again\n").expect("a file");
    until("the key is gone", || status(&process, &[("x-api-key", &added)]) == 401);
}

#[test]
fn a_file_of_keys_that_is_wrong() {
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    for (text, expected) in [
        ("reporting".to_owned(), "line 1 of the file of API keys"),
        (format!("# x\n\nsha256:{hash}"), "line 3 of the file of API keys `keys.txt` has no name"),
        ("a:plain-text-of-a-key".to_owned(), "has no hash of a key"),
        (format!("a:sha256:{hash}@tomorrow"), "`tomorrow` is not the expiry of a key"),
        ("a:sha256:12".to_owned(), "is not a hash of 64 hexadecimal digits"),
    ] {
        let place = tempfile::tempdir().expect("a directory");
        std::fs::write(place.path().join("keys.txt"), &text).expect("a file");
        let settings = "[auth]\napi_keys_file = \"keys.txt\"\n[[dataset]]\nname = \"p\"\nsource = \"p.csv\"\n";
        std::fs::write(place.path().join("salver.toml"), settings).expect("a file");
        std::fs::write(place.path().join("p.csv"), ROWS).expect("a file");
        let checked = Command::new(env!("CARGO_BIN_EXE_salver"))
            .arg("check")
            .current_dir(place.path())
            .output()
            .expect("the program");
        let told = String::from_utf8_lossy(&checked.stderr);
        assert_eq!(checked.status.code(), Some(1), "{told}");
        assert!(told.contains(expected), "{text}: {told}");
        assert!(!told.contains("plain-text"), "{told}");
    }
}

/// A key that signs, with its name.
pub(crate) enum SigningKey {
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl SigningKey {
    pub(crate) fn p256() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let made = EcdsaKeyPair::generate_pkcs8(algorithm, &random).expect("a key");
        Self::P256(EcdsaKeyPair::from_pkcs8(algorithm, made.as_ref(), &random).expect("a key"))
    }

    fn ed25519() -> Self {
        let made = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a key");
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(made.as_ref()).expect("a key"))
    }

    /// The public key in a set.
    pub(crate) fn published(&self, kid: &str) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::P256(key) => {
                let point = key.public_key().as_ref();
                let (x, y) = (text(&point[1..33]), text(&point[33..]));
                format!(r#"{{"kty":"EC","crv":"P-256","alg":"ES256","use":"sig","kid":"{kid}","x":"{x}","y":"{y}"}}"#)
            }
            Self::Ed25519(key) => {
                let x = text(key.public_key().as_ref());
                format!(r#"{{"kty":"OKP","crv":"Ed25519","kid":"{kid}","x":"{x}"}}"#)
            }
        }
    }

    pub(crate) fn token(&self, kid: &str, claims: &str) -> String {
        let algorithm = match self {
            Self::P256(_) => "ES256",
            Self::Ed25519(_) => "EdDSA",
        };
        let header = URL_SAFE_NO_PAD.encode(format!(r#"{{"alg":"{algorithm}","typ":"JWT","kid":"{kid}"}}"#));
        let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims));
        let signature = match self {
            Self::P256(key) => {
                key.sign(&SystemRandom::new(), signed.as_bytes()).expect("a signature").as_ref().to_vec()
            }
            Self::Ed25519(key) => key.sign(signed.as_bytes()).as_ref().to_vec(),
        };
        format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// An issuer that publishes its keys over HTTP.
struct Issuer {
    address: String,
    set: Arc<Mutex<Option<String>>>,
}

impl Issuer {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let set = Arc::new(Mutex::new(None));
        let published = Arc::<Mutex<Option<String>>>::clone(&set);
        std::thread::spawn(move || {
            for mut connection in listener.incoming().flatten() {
                let mut asked = Vec::new();
                let mut piece = [0; 4096];
                while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                    match connection.read(&mut piece) {
                        Ok(0) | Err(_) => break,
                        Ok(count) => asked.extend_from_slice(&piece[..count]),
                    }
                }
                let answer = match &*published.lock().expect("no panic") {
                    Some(set) => {
                        format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{set}", set.len())
                    }
                    None => "HTTP/1.1 503 Away\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned(),
                };
                let _ = connection.write_all(answer.as_bytes());
            }
        });
        Self { address, set }
    }

    fn publish(&self, keys: &[String]) {
        *self.set.lock().expect("no panic") = Some(format!(r#"{{"keys":[{}]}}"#, keys.join(",")));
    }
}

const CLAIMS: &str = r#"{"iss":"https://id.example.com/","aud":"shop","sub":"ann","exp":4102444800}"#;

#[test]
fn tokens_of_an_issuer() {
    let issuer = Issuer::new();
    let settings = format!(
        "[auth]\njwt_key_set = \"http://{}/jwks.json\"\njwt_key_set_interval = \"1s\"\njwt_audiences = [\"shop\"]\n\
         [[dataset]]\nname = \"people\"\nsource = \"people.csv\"\n\
         [[role]]\nname = \"ann\"\ncallers = [\"jwt:https://id.example.com/ ann\"]\n\
         [[access]]\nroles = [\"ann\"]\nentries = [\"people\"]\npermissions = [\"read\"]\n",
        issuer.address
    );
    let process = Process::started_with(&settings, &[("people.csv", ROWS)]);
    let with = |token: &str| status(&process, &[("authorization", &format!("Bearer {token}"))]);
    let (first, second) = (SigningKey::p256(), SigningKey::ed25519());
    // Before its keys are known, nobody can say whether a token is right.
    until("the issuer is away", || with(&first.token("one", CLAIMS)) == 503);
    assert_eq!(status(&process, &[]), 401);
    issuer.publish(&[first.published("one")]);
    until("the first key", || with(&first.token("one", CLAIMS)) == 200);
    assert_eq!(with(&second.token("two", CLAIMS)), 401);
    assert_eq!(with(&second.token("one", CLAIMS)), 401);
    assert_eq!(with(&first.token("one", &CLAIMS.replace("shop", "desk"))), 401);
    assert_eq!(with(&first.token("one", &CLAIMS.replace("4102444800", "1700000000"))), 401);
    assert_eq!(with(&first.token("one", &CLAIMS.replace("ann", "ben"))), 404, "somebody else");
    // Both keys while tokens of the first are about, then the second alone.
    issuer.publish(&[first.published("one"), second.published("two")]);
    until("the second key", || with(&second.token("two", CLAIMS)) == 200);
    assert_eq!(with(&first.token("one", CLAIMS)), 200);
    issuer.publish(&[second.published("two")]);
    until("the first key is gone", || with(&first.token("one", CLAIMS)) == 401);
    assert_eq!(with(&second.token("two", CLAIMS)), 200);
    // A reload of something else in [auth] while the issuer is away forgets no key.
    *issuer.set.lock().expect("no panic") = None;
    let key = "a-key-0123456789abcdef";
    let other = settings.replace("[auth]\n", &format!("[auth]\napi_keys = [\"ben:{key}\"]\n"));
    std::fs::write(process.directory().join("salver.toml"), other).expect("a file");
    let sent = Command::new("kill").args(["-HUP", &process.pid().to_string()]).status().expect("kill");
    assert!(sent.success());
    until("the other key", || status(&process, &[("x-api-key", key)]) == 404);
    assert_eq!(with(&second.token("two", CLAIMS)), 200);
}
