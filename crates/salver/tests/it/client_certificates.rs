//! Certificates of clients: who they prove to be, and which are none.

use std::path::Path;
use std::process::Command;

use super::served::{Served, until};

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
const FILES: &str =
    "[server]\ntls_certificate = \"server.pem\"\ntls_key = \"server.key\"\ntls_client_ca = \"ca.pem\"\n";
const ROLES: &str = "[[role]]\nname = \"r\"\ncallers = [\"certificate:ann\", \"certificate:spiffe://shop/web\"]\n\
    [[access]]\nroles = [\"r\"]\nentries = [\"people\"]\npermissions = [\"read\"]\n";
const KEY: &str = "a-key-0123456789abcdef";

/// A server that speaks TLS, and its directory.
struct Secured {
    served: Served,
    directory: tempfile::TempDir,
}

impl Secured {
    /// Replaces a file, as tools that renew certificates do.
    fn put(&self, name: &str, text: &str) {
        let path = self.directory.path().join(name);
        let beside = path.with_extension("new");
        std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path)).expect("a file");
    }

    /// Has it read other settings.
    fn reload(&self, settings: &str) {
        self.put("salver.toml", settings);
        self.served.signal("-HUP");
    }
}

/// Authorities and certificates in a directory.
struct Authorities(tempfile::TempDir);

impl Authorities {
    /// Two authorities, and the server's own certificate.
    fn new() -> Self {
        let own = Self(tempfile::tempdir().expect("a directory"));
        let usage = |usage: &str| std::fs::write(own.path().join("usage"), usage).expect("a file");
        for name in ["ca", "foreign"] {
            let constraints = "basicConstraints=critical,CA:TRUE";
            own.openssl(&format!(
                "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN={name} \
                 -addext {constraints} -keyout {name}.key -out {name}.pem"
            ));
        }
        usage("basicConstraints=CA:FALSE\nsubjectAltName=DNS:localhost,IP:127.0.0.1\n");
        own.signed("server", "ca", "/CN=localhost", "2");
        usage("basicConstraints=CA:FALSE\nextendedKeyUsage=clientAuth\n");
        own.signed("ann", "ca", "/O=Shop/CN=ann", "2");
        own.signed("bob", "ca", "/CN=bob", "2");
        own.signed("late", "ca", "/CN=ann", "-1");
        own.signed("other", "foreign", "/CN=ann", "2");
        usage("basicConstraints=CA:FALSE\nsubjectAltName=URI:spiffe://shop/web\n");
        own.signed("mesh", "ca", "/O=Shop", "2");
        own.signed("two", "ca", "/CN=ann/CN=bob", "2");
        usage("basicConstraints=CA:FALSE\nextendedKeyUsage=serverAuth\n");
        own.signed("misused", "ca", "/CN=ann", "2");
        own
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).expect("a file")
    }

    fn openssl(&self, arguments: &str) {
        let made =
            Command::new("openssl").args(arguments.split(' ')).current_dir(self.path()).output().expect("openssl");
        assert!(made.status.success(), "{arguments}: {}", String::from_utf8_lossy(&made.stderr));
    }

    fn signed(&self, name: &str, authority: &str, subject: &str, days: &str) {
        self.openssl(&format!(
            "req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj {subject} -keyout {name}.key \
             -out {name}.csr"
        ));
        self.openssl(&format!(
            "x509 -req -in {name}.csr -CA {authority}.pem -CAkey {authority}.key -CAcreateserial -days {days} \
             -extfile usage -out {name}.pem"
        ));
    }

    /// A server with these settings, which stand in a directory of its own.
    fn serve(&self, settings: &str) -> Secured {
        let directory = tempfile::tempdir().expect("a directory");
        for name in ["server.pem", "server.key", "ca.pem"] {
            std::fs::copy(self.path().join(name), directory.path().join(name)).expect("a file");
        }
        for (name, text) in [("people.csv", ROWS), ("salver.toml", settings)] {
            std::fs::write(directory.path().join(name), text).expect("a file");
        }
        let mut command = Command::new(env!("CARGO_BIN_EXE_salver"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).arg(directory.path());
        let served = Secured { served: Served::start(command), directory };
        until("the server is ready", || {
            self.ask(&served, Some("ann"), &["-f"], "/ready").is_ok_and(|text| text.contains("\"ready\":true"))
        });
        served
    }

    /// What curl says with this certificate: the body and behind it the status; its error otherwise.
    fn ask(&self, server: &Secured, name: Option<&str>, options: &[&str], target: &str) -> Result<String, String> {
        let mut command = Command::new("curl");
        command.args(["-sS", "--max-time", "30", "--cacert", "ca.pem", "-w", " %{http_code}"]).args(options);
        if let Some(name) = name {
            command.args(["--cert", &format!("{name}.pem"), "--key", &format!("{name}.key")]);
        }
        let url = format!("{}{target}", server.served.place);
        let output = command.arg(url).current_dir(self.path()).output().expect("curl");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }

    #[track_caller]
    fn expect(&self, server: &Secured, name: Option<&str>, options: &[&str], status: &str) {
        let said = self.ask(server, name, options, "/api/tables/people?limit=1");
        assert!(said.as_ref().is_ok_and(|said| said.ends_with(status)), "{name:?} {options:?}: {said:?}");
    }

    #[track_caller]
    fn expect_no_connection(&self, server: &Secured, name: Option<&str>) {
        for version in ["1.2", "1.3"] {
            let least = format!("--tlsv{version}");
            let said = self.ask(server, name, &[&least, "--tls-max", version], "/health");
            assert!(said.is_err(), "{name:?} with TLS {version}: {said:?}");
        }
    }
}

#[test]
fn a_certificate_is_a_proof() {
    let authorities = Authorities::new();
    let server = authorities.serve(&format!("{FILES}access_log = true\n{ROLES}"));
    for options in [&["--tlsv1.2", "--tls-max", "1.2"][..], &["--tlsv1.3"], &["--http1.1"], &["--http2"]] {
        authorities.expect(&server, Some("ann"), options, "[{\"id\":1,\"name\":\"ann\"}] 200");
        authorities.expect(&server, Some("bob"), options, " 404");
    }
    // By its alternative name where there is no other; and not at all where there are two, which proves nothing.
    authorities.expect(&server, Some("mesh"), &[], " 200");
    authorities.expect(&server, Some("two"), &[], " 401");
    for name in [None, Some("late"), Some("other"), Some("misused")] {
        authorities.expect_no_connection(&server, name);
    }
}

#[test]
fn one_way_beside_others() {
    let authorities = Authorities::new();
    let auth = format!("[auth]\napi_keys = [\"reporting:{KEY}\"]\n");
    let rules = "[[access]]\nentries = [\"people\"]\npermissions = [\"read\"]\nrows = \"name = caller.user\"\n";
    let server = authorities.serve(&format!("{FILES}tls_client = \"optional\"\n{auth}{rules}"));
    let key = format!("x-api-key: {KEY}");
    authorities.expect(&server, None, &[], " 401");
    authorities.expect(&server, None, &["-H", &key], "[] 200");
    authorities.expect(&server, Some("bob"), &[], "[{\"id\":2,\"name\":\"bob\"}] 200");
    // What the request says goes before what the connection proves, and must be right.
    authorities.expect(&server, Some("bob"), &["-H", &key], "[] 200");
    authorities.expect(&server, Some("bob"), &["-H", "x-api-key: wrong-0123456789abcdef"], " 401");
    for name in [Some("late"), Some("other"), Some("misused")] {
        authorities.expect_no_connection(&server, name);
    }
    // Without another way, whoever has no certificate proves nothing.
    let alone = authorities.serve(&format!("{FILES}tls_client = \"optional\"\n"));
    authorities.expect(&alone, None, &[], " 401");
    authorities.expect(&alone, Some("bob"), &[], " 200");
    let open = authorities.serve(&format!("{FILES}tls_client = \"optional\"\n[auth]\nmode = \"optional\"\n"));
    authorities.expect(&open, None, &[], " 200");
}

/// A proxy that has a certificate may name its callers, and is itself where it names none.
#[test]
fn a_proxy_with_a_certificate() {
    let authorities = Authorities::new();
    let rules = "[[access]]\nentries = [\"people\"]\npermissions = [\"read\"]\nrows = \"name = caller.user\"\n";
    let proxy = "reverse_proxy = true\ncaller = { user = \"X-User\" }\n";
    let server = authorities.serve(&format!("{FILES}{proxy}{rules}"));
    authorities.expect(&server, Some("ann"), &["-H", "x-user: bob"], "[{\"id\":2,\"name\":\"bob\"}] 200");
    authorities.expect(&server, Some("ann"), &[], "[{\"id\":1,\"name\":\"ann\"}] 200");
    authorities.expect(&server, Some("ann"), &["-H", "x-user;"], "[{\"id\":1,\"name\":\"ann\"}] 200");
    authorities.expect_no_connection(&server, None);
}

#[test]
fn authorities_change() {
    let authorities = Authorities::new();
    let server = authorities.serve(&format!("{FILES}{ROLES}"));
    let comes_in = |name: &str| authorities.ask(&server, Some(name), &[], "/health").is_ok();
    server.put("ca.pem", &authorities.text("foreign.pem"));
    until("others are trusted", || comes_in("other"));
    authorities.expect_no_connection(&server, Some("ann"));
    authorities.expect(&server, Some("other"), &[], "[{\"id\":1,\"name\":\"ann\"}] 200");
    // What is wrong changes nothing.
    server.put("ca.pem", "-----BEGIN CERTIFICATE-----\nbroken");
    server.served.until_logged("the last authorities of clients stay");
    assert!(comes_in("other"));
    authorities.expect_no_connection(&server, Some("ann"));
    server.put("ca.pem", &format!("{}{}", authorities.text("ca.pem"), authorities.text("foreign.pem")));
    until("both are trusted", || comes_in("ann"));
    assert!(comes_in("other"));
}

/// A session that is resumed would have the certificate of then.
#[test]
fn sessions_are_not_resumed() {
    let authorities = Authorities::new();
    let resumes = |server: &Secured| {
        let address = server.served.place.strip_prefix("https://").expect("a place");
        let output = Command::new("openssl")
            .args(["s_client", "-tls1_2", "-reconnect", "-connect", address])
            .args(["-cert", "ann.pem", "-key", "ann.key"])
            .stdin(std::process::Stdio::null())
            .current_dir(authorities.path())
            .output()
            .expect("openssl");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains("New, TLSv1.2"), "{text}");
        text.contains("Reused, TLSv1.2")
    };
    assert!(!resumes(&authorities.serve(FILES)));
    assert!(resumes(&authorities.serve(&FILES.replace("tls_client_ca = \"ca.pem\"\n", ""))));
}

#[test]
fn files_that_are_wrong() {
    let authorities = Authorities::new();
    std::fs::write(authorities.path().join("people.csv"), ROWS).expect("a file");
    std::fs::write(authorities.path().join("ca.txt"), ROWS).expect("a file");
    for (file, expected) in [
        ("none.pem", "none.pem can't be read"),
        ("ann.key", "ann.key has no certificate"),
        ("ca.txt", "ca.txt has no certificate"),
        (".", "is not a file"),
    ] {
        let settings = FILES.replace("ca.pem", file);
        std::fs::write(authorities.path().join("salver.toml"), settings).expect("a file");
        for command in [&["check"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let output = Command::new(env!("CARGO_BIN_EXE_salver"))
                .args(command)
                .args(["--config", "salver.toml", "people.csv"])
                .current_dir(authorities.path())
                .output()
                .expect("the program is there");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && told.contains(expected), "{command:?} {file}: {told}");
            assert!(told.contains("hint: "), "{told}");
        }
    }
}

/// Whether connections ask for certificates is settled when the server starts, and [auth] goes with it.
#[test]
fn a_reload_leaves_no_door_open() {
    let authorities = Authorities::new();
    let optional = format!("{FILES}tls_client = \"optional\"\n");
    let server = authorities.serve(&optional);
    authorities.expect(&server, None, &[], " 401");
    server.reload("[server]\ntls_certificate = \"server.pem\"\ntls_key = \"server.key\"\n");
    server.served.until_logged("SIGHUP: the settings stay as they were");
    authorities.expect(&server, None, &[], " 401");
    server.reload(&format!("{optional}[auth]\nmode = \"optional\"\n"));
    server.served.until_logged("SIGHUP: the settings were read again");
    authorities.expect(&server, None, &[], " 200");
    authorities.expect(&server, Some("bob"), &[], " 200");
}
