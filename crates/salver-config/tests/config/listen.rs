//! What the server listens on, and who proves something by the connection itself.

use salver_config::{Listen, show};

use crate::{meant, told};

#[test]
fn sockets() {
    let listen = |text: &str| meant(&format!("[server]\nlisten = '{text}'\n")).0.server.listen;
    assert_eq!(listen("unix:/run/salver.sock"), Listen::Unix("/run/salver.sock".into()));
    assert_eq!(listen("systemd"), Listen::Systemd);
    assert_eq!(listen("8080"), Listen::Address("127.0.0.1:8080".to_owned()));
    assert_eq!(
        (listen("[::1]:80").host().to_owned(), listen("unix:/a").host().to_owned()),
        ("[::1]".into(), "".into())
    );
    let long = format!("listen = 'unix:/{}'", "a".repeat(103));
    for (settings, expected) in [
        ("listen = 'unix:salver.sock'", "begins with `/`"),
        ("listen = 'unix:'", "begins with `/`"),
        ("listen = 'unix:/run/'", "names no file"),
        ("listen = \"unix:/run/a\\u0000b\"", "names no file"),
        (long.as_str(), "has 103 bytes at most"),
        ("listen = 'Systemd'", "it has no port"),
        ("socket_mode = '0980'", "`0980` is not the mode of a file"),
        ("socket_mode = '4660'", "`4660` is not the mode of a file"),
        ("socket_mode = '+66'", "`+66` is not the mode of a file"),
        ("socket_mode = ''", "is not the mode of a file"),
        ("listen = 'unix:/a'\nfirewall = ['10.0.0.0/8']", "`firewall` would let nobody in"),
        ("proxy_protocol = ['10.0.0.0/33']", "`10.0.0.0/33` is neither an address nor a network"),
        ("proxy_protocol = ['Unix']", "or \"unix\""),
        ("firewall = ['unix']", "`unix` is neither an address nor a network"),
    ] {
        let told = told(&format!("[server]\n{settings}\n"));
        assert!(told.contains(expected), "{settings}: {told}");
    }
    for more in ["reverse_proxy = true", "proxy_protocol = ['unix']"] {
        let (checked, _) = meant(&format!("[server]\nlisten = 'unix:/a'\nfirewall = ['10.0.0.0/8']\n{more}\n"));
        assert_eq!(checked.server.firewall, ["10.0.0.0/8"], "{more}");
    }
    let (checked, _) = meant("[server]\nsocket_mode = '600'\n");
    assert_eq!(checked.server.socket_mode, 0o600);
    assert!(show(&checked).contains("socket_mode = \"0600\""));
}

#[test]
fn an_address_for_measurements() {
    let (checked, _) = meant("[server]\nmetrics_listen = '9090'\n");
    assert_eq!(checked.server.metrics_listen.as_deref(), Some("127.0.0.1:9090"));
    let (checked, _) = meant("[server]\nlisten = '127.0.0.1:0'\nmetrics_listen = '127.0.0.1:0'\n");
    assert_eq!(checked.server.metrics_listen.as_deref(), Some("127.0.0.1:0"));
    for (text, expected) in [
        ("metrics_listen = '127.0.0.1'", "it has no port"),
        ("metrics_listen = 'unix:/run/m.sock'", "is not a port"),
        ("metrics_listen = '[::1]:99999'", "is not a port"),
        ("listen = '[::1]:80'\nmetrics_listen = '[::1]:80'", "`listen` has it"),
    ] {
        let told = told(&format!("[server]\n{text}\n"));
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn certificates_from_an_authority() {
    let (checked, _) = meant("[server]\nacme_domains = ['a.example']\nssl_redirect = true\ntls_client_ca = 'c.pem'\n");
    let tls = checked.server.tls.expect("TLS");
    let spec = tls.acme().expect("an authority");
    assert_eq!(spec.directory, "https://acme-v02.api.letsencrypt.org/directory");
    assert!(tls.client.is_some() && tls.files().is_none() && spec.contact.is_none() && spec.authorities.is_none());
    let files = "tls_certificate = 'a.pem'\ntls_key = 'b.pem'";
    let many: Vec<String> = (0..101).map(|number| format!("'n{number}.example'")).collect();
    for (text, expected) in [
        (format!("acme_domains = ['a.example']\n{files}"), "both say where the certificate comes from"),
        ("acme_domains = ['*.example.org']".to_owned(), "it stands for several names"),
        ("acme_domains = ['10.0.0.1']".to_owned(), "it is an address"),
        ("acme_domains = ['localhost']".to_owned(), "without a dot"),
        (format!("acme_domains = [{}]", many.join(", ")), "101 names"),
        ("acme_contact = 'a@b.example'".to_owned(), "`acme_contact` needs `acme_domains`"),
        ("acme_domains = ['a.example']\nacme_contact = 'ops'".to_owned(), "is not an address of mail"),
        ("acme_domains = ['a.example']\nacme_directory = 'http://a.example/'".to_owned(), "is not the directory"),
    ] {
        let told = told(&format!("[server]\n{text}\n"));
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn certificates_of_clients() {
    let files = "tls_certificate = 'a.pem'\ntls_key = 'b.pem'\ntls_client_ca = 'c.pem'\n";
    let role = "[[role]]\nname = 'r'\ncallers = ['certificate:ann']\n[[access]]\nroles = ['r']\nentries = ['*']\n";
    let (checked, _) = meant(&format!("[server]\n{files}{role}"));
    let auth = checked.auth.expect("a way to prove who one is");
    assert!(auth.client_certificates && auth.required);
    assert!(checked.server.tls.and_then(|tls| tls.client).is_some_and(|client| client.required));
    let (checked, _) = meant(&format!("[server]\n{files}tls_client = 'optional'\n[auth]\nmode = 'optional'\n"));
    assert!(checked.auth.is_some_and(|auth| !auth.required));
    assert!(checked.server.tls.and_then(|tls| tls.client).is_some_and(|client| !client.required));
    let register = "[auth]\ndatabase = 'app'\nregister = true\n[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n\
                    writable = true\n";
    for (text, expected) in [
        ("[server]\ntls_client_ca = 'c.pem'\n".to_owned(), "`tls_client_ca` needs `tls_certificate`"),
        ("[server]\ntls_client = 'optional'\n".to_owned(), "`tls_client` needs `tls_client_ca`"),
        (format!("[server]\n{files}tls_client = 'off'\n"), "tls_client"),
        (role.to_owned(), "need `server.tls_client_ca`"),
        (format!("[server]\n{files}{register}"), "take the name of a client's certificate"),
    ] {
        let told = told(&text);
        assert!(told.contains(expected), "{text}: {told}");
    }
}
