//! TLS, with the certificate of the server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::{FLIGHT, python};

/// A server, which ends with the value.
struct Served {
    child: Child,
    directory: tempfile::TempDir,
    uri: String,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn served() -> Served {
    let directory = tempfile::tempdir().expect("a directory");
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(directory.path())
        .output()
        .expect("openssl");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    std::fs::write(directory.path().join("people.csv"), "id,name\n1,Ann\n").expect("a file");
    let settings = format!(
        "{FLIGHT}[server]\ntls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n[auth]\napi_keys = [\"team:a-long-random-text-for-this-test\"]\n"
    );
    std::fs::write(directory.path().join("salver.toml"), settings).expect("a file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_salver"))
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("the server starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let uri = loop {
        let line = lines.next().expect("the server says where clients connect").expect("text");
        if let Some((_, uri)) = line.split_once("clients of Arrow Flight SQL at ") {
            break uri.to_owned();
        }
    };
    // Read on, so that the server never waits for somebody to take its output.
    std::thread::spawn(move || lines.for_each(drop));
    Served { child, directory, uri }
}

#[test]
fn clients_have_tls_where_they_want_it() {
    let program = r#"
import sys
import adbc_driver_flightsql.dbapi as flight
uri, certificate = sys.argv[1:3]
assert uri.startswith("grpc+tls://"), uri
roots = {"adbc.flight.sql.client_option.tls_root_certs": open(certificate).read()}
login = {"username": "x", "password": "a-long-random-text-for-this-test"}
for address, options in [(uri, {**roots, **login}), (uri.replace("grpc+tls", "grpc"), login)]:
    with flight.connect(address, options, autocommit=True) as c, c.cursor() as cursor:
        cursor.execute("select name from people")
        assert cursor.fetchall() == [("Ann",)], address
try:
    with flight.connect(uri, login, autocommit=True) as c, c.cursor() as cursor:
        cursor.execute("select 1")
    raise SystemExit("a certificate that nobody knows was taken")
except flight.Error as error:
    assert "certificate" in str(error), error
print("well")
"#;
    let served = served();
    let certificate = served.directory.path().join("cert.pem");
    python("adbc_driver_flightsql.dbapi, pyarrow", program, &[&served.uri, certificate.to_str().expect("a path")]);
}
