//! Validates what of `[server]` is about TLS: where the certificate comes from, and whose certificates clients show.

use std::net::IpAddr;
use std::path::PathBuf;

use salver_model::limits::{ACME_DOMAINS_MAX, DOMAIN_BYTES_MAX, DOMAIN_LABEL_BYTES_MAX};

use super::{AcmeSpec, CertificateSource, Tls, TlsClient, TlsFiles};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::setting_place::SettingPlace;

/// Returns where the certificate comes from, and what clients have to show.
pub(super) fn tls(table: &Table, findings: &mut Findings) -> Option<Tls> {
    let client = client(table, findings);
    let files = files(table, findings);
    let acme = acme(table, findings);
    let source = match (files, acme) {
        (Some(_), Some(_)) => {
            let message = "`acme_domains` and `tls_certificate` both say where the certificate comes from";
            let hint = "leave out `tls_certificate` and `tls_key`, or `acme_domains`";
            findings.mistake(Mistake::new(table.place_of("acme_domains"), message).with_hint(hint));
            return None;
        }
        (Some(files), None) => Some(CertificateSource::Files(files)),
        (None, acme) => acme.map(CertificateSource::Acme),
    };
    if client.is_some() && source.is_none() && is_absent(table) {
        let message = "`tls_client_ca` needs `tls_certificate`";
        let hint = "clients show certificates to a server that speaks TLS itself: name `tls_certificate` and `tls_key` \
                    too, or `acme_domains`";
        findings.mistake(Mistake::new(table.place_of("tls_client_ca"), message).with_hint(hint));
    }
    source.map(|source| Tls { source, client })
}

/// Returns whether nothing says where a certificate comes from.
fn is_absent(table: &Table) -> bool {
    ["tls_certificate", "tls_key"].iter().all(|key| file(table, key).is_none()) && domains_of(table).is_empty()
}

fn file(table: &Table, key: &str) -> Option<PathBuf> {
    table.text(key).map(PathBuf::from)
}

fn domains_of(table: &Table) -> &[String] {
    table.texts("acme_domains").unwrap_or_default()
}

/// Returns the files of the certificate, of which none or both must be given.
fn files(table: &Table, findings: &mut Findings) -> Option<TlsFiles> {
    match (file(table, "tls_certificate"), file(table, "tls_key")) {
        (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
        (None, None) => None,
        (certificate, _) => {
            let names = ["tls_certificate", "tls_key"];
            let [given, missing] = if certificate.is_some() { names } else { [names[1], names[0]] };
            let message = format!("`{given}` needs `{missing}`");
            let hint = "name both files: the certificate, and its private key";
            findings.mistake(Mistake::new(table.place_of(given), message).with_hint(hint));
            None
        }
    }
}

/// Returns how an authority is asked for the certificate; `None` without names for it.
fn acme(table: &Table, findings: &mut Findings) -> Option<AcmeSpec> {
    let names = domains_of(table);
    if names.is_empty() {
        for key in ["acme_contact", "acme_ca"] {
            if file(table, key).is_some() {
                let mistake = Mistake::new(table.place_of(key), format!("`{key}` needs `acme_domains`"));
                findings.mistake(mistake.with_hint("name the domains that the certificate is for"));
            }
        }
        return None;
    }
    if names.len() > ACME_DOMAINS_MAX {
        let message = format!("`acme_domains` has {} names; a certificate has {ACME_DOMAINS_MAX} at most", names.len());
        let hint = "leave some out, or put a proxy of your own with other certificates before the server";
        findings.mistake(Mistake::new(table.place_of("acme_domains"), message).with_hint(hint));
    }
    let mut domains: Vec<String> = Vec::new();
    for name in names {
        match domain(name) {
            Ok(name) if domains.contains(&name) => {}
            Ok(name) => domains.push(name),
            Err((why, hint)) => {
                let message = format!("`{name}` can't be in the certificate: {why}");
                findings.mistake(Mistake::new(table.place_of("acme_domains"), message).with_hint(hint));
            }
        }
    }
    let directory = table.text("acme_directory").unwrap_or_default();
    if !is_directory(directory) {
        let message = format!("`{directory}` is not the directory of an authority");
        let hint = "write its URL, like \"https://acme-v02.api.letsencrypt.org/directory\"";
        findings.mistake(Mistake::new(table.place_of("acme_directory"), message).with_hint(hint));
    }
    Some(AcmeSpec {
        domains,
        contact: contact(table, findings),
        directory: directory.to_owned(),
        authorities: file(table, "acme_ca"),
    })
}

/// Returns a name as it stands in certificates, or why it can't, and the way out.
fn domain(name: &str) -> Result<String, (&'static str, &'static str)> {
    let spelled = "write a name like \"data.example.org\"; one in another script as `xn--...`";
    if name.parse::<IpAddr>().is_ok() {
        return Err(("it is an address", "write the name that clients ask for"));
    }
    if name.contains('*') {
        let hint = "write out every name; the challenge that is answered here (TLS-ALPN-01) proves no wildcard";
        return Err(("it stands for several names", hint));
    }
    let name = name.to_ascii_lowercase();
    let is_label = |label: &str| {
        let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        is_plain
            && (1..=DOMAIN_LABEL_BYTES_MAX).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    if name.len() > DOMAIN_BYTES_MAX || !name.split('.').all(is_label) {
        return Err(("it is not the name of a host", spelled));
    }
    if name.contains('.') { Ok(name) } else { Err(("no authority knows a name without a dot", spelled)) }
}

/// Returns whether a URL can be that of a directory. Without TLS, anybody on the way could hand out certificates.
fn is_directory(url: &str) -> bool {
    let rest = url.strip_prefix("https://").unwrap_or_default();
    let host = rest.split('/').next().unwrap_or_default();
    !host.is_empty() && !host.contains('@') && url.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Returns the address of mail for the authority.
fn contact(table: &Table, findings: &mut Findings) -> Option<String> {
    let text = table.text("acme_contact").filter(|text| !text.is_empty())?;
    let address = text.strip_prefix("mailto:").unwrap_or(text);
    let is_address = address.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.'));
    if !is_address || address.chars().any(|letter| letter.is_whitespace() || "?,".contains(letter)) {
        let message = format!("`{text}` is not an address of mail");
        let hint = "write one address, like \"ops@example.org\"";
        findings.mistake(Mistake::new(table.place_of("acme_contact"), message).with_hint(hint));
    }
    Some(address.to_owned())
}

/// Returns whose certificates clients show, and whether they must.
fn client(table: &Table, findings: &mut Findings) -> Option<TlsClient> {
    let authorities = file(table, "tls_client_ca");
    if authorities.is_none() && *table.place_of("tls_client") != SettingPlace::Default {
        let message = "`tls_client` needs `tls_client_ca`";
        let hint = "name the file with the certificates of the authorities that sign those of clients";
        findings.mistake(Mistake::new(table.place_of("tls_client"), message).with_hint(hint));
    }
    let required = table.text("tls_client") != Some("optional");
    authorities.map(|authorities| TlsClient { authorities, required })
}

/// Returns whether requests without TLS are redirected, which needs somebody who speaks it.
pub(super) fn ssl_redirect(table: &Table, findings: &mut Findings) -> bool {
    let wanted = table.bool("ssl_redirect");
    let has_certificate = table.text("tls_certificate").is_some() || !domains_of(table).is_empty();
    if wanted && !has_certificate && !table.bool("reverse_proxy") {
        let message = "`ssl_redirect` needs `tls_certificate`, `acme_domains` or `reverse_proxy`";
        let hint = "give the server a certificate, or put a proxy of your own before it that has one";
        findings.mistake(Mistake::new(table.place_of("ssl_redirect"), message.to_owned()).with_hint(hint));
    }
    wanted
}

#[cfg(test)]
mod tests {
    use super::{domain, is_directory};

    #[test]
    fn names_in_certificates() {
        for (name, expected) in [
            ("data.example.org", Some("data.example.org")),
            ("Data.Example.ORG", Some("data.example.org")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("a.b-c.d1", Some("a.b-c.d1")),
            ("localhost", None),
            ("*.example.org", None),
            ("127.0.0.1", None),
            ("::1", None),
            ("b\u{fc}cher.example", None),
            ("example.org.", None),
            (".example.org", None),
            ("a..b", None),
            ("-a.example", None),
            ("a_b.example", None),
            ("a.example:443", None),
            ("https://a.example", None),
            ("", None),
        ] {
            assert_eq!(domain(name).ok().as_deref(), expected, "{name}");
        }
        assert!(domain(&format!("{}.example", "a".repeat(64))).is_err());
        assert!(domain(&format!("{}example", "a.".repeat(127))).is_err());
    }

    #[test]
    fn directories() {
        assert!(is_directory("https://acme.example:14000/dir") && is_directory("https://acme.example"));
        for url in
            ["", "acme.example", "http://acme.example/", "https://", "https:///dir", "https://a@b/", "https://a b/"]
        {
            assert!(!is_directory(url), "{url}");
        }
    }
}
