//! Log-in at an identity provider, by a browser that is tricked in every way that is known.

mod provider;

use std::collections::HashMap;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use self::provider::{CLIENT, Provider, SECRET, Wrong, form};
use crate::client::{Answer, Client, value};
use crate::process::Process;

const ROWS: &str = "id,name\n1,ann\n2,bob\n";
/// Where there is something to read.
const TARGET: &str = "/api/tables/people";

fn settings(provider: &Provider, more: &str) -> String {
    format!(
        "[auth]\noidc_issuer = \"{}\"\noidc_client_id = \"{CLIENT}\"\noidc_client_secret_file = \"client.secret\"\n{more}\n\
         [[dataset]]\nname = \"people\"\nsource = \"people.csv\"\n\
         [[role]]\nname = \"ann\"\ncallers = [\"oidc:ann\"]\nwhen = \"caller.groups = 'staff' and caller.user = 'ann'\"\n\
         [[access]]\nroles = [\"ann\"]\nentries = [\"people\"]\npermissions = [\"read\"]\n",
        provider.url
    )
}

fn start(provider: &Provider) -> Process {
    start_with(&settings(provider, ""))
}

fn start_with(settings: &str) -> Process {
    Process::with(settings, &[("people.csv", ROWS), ("client.secret", &format!("{SECRET}\n"))])
}

#[track_caller]
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ask(process: &Process, method: &str, target: &str, headers: &[(&str, &str)]) -> Answer {
    Client::new(process.address()).send(method, target, headers, None).expect("an answer")
}

/// The cookie of this name that an answer sets, as a browser sends it back; `None` if it sets none, or takes it away.
fn cookie(answer: &Answer, name: &str) -> Option<String> {
    let mut set = answer.headers.iter().filter(|(header, _)| header == "set-cookie").map(|(_, value)| value);
    let line = set.find(|line| line.starts_with(&format!("{name}=")) && !line.contains("Max-Age=0"))?;
    assert!(line.contains("; HttpOnly") && line.contains("; SameSite=Lax") && line.contains("; Path=/;"), "{line}");
    line.split(';').next().map(str::to_owned)
}

/// Begins a log-in: where the browser is sent, and the cookie that it keeps.
fn begin(process: &Process, target: &str) -> (String, String) {
    let answer = ask(process, "GET", target, &[]);
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let kept = cookie(&answer, "salver_login").expect("a cookie");
    (answer.header("location").expect("a place").to_owned(), kept)
}

/// The parameters of a URL.
fn query(url: &str) -> HashMap<String, String> {
    form(url.split_once('?').expect("a query").1)
}

/// The target of a URL of the server.
fn target(process: &Process, url: &str) -> String {
    url.strip_prefix(&format!("http://{}", process.address())).unwrap_or_else(|| panic!("{url}")).to_owned()
}

/// Comes back from the provider.
fn come_back(process: &Process, url: &str, kept: &str) -> Answer {
    ask(process, "GET", &target(process, url), &[("cookie", kept)])
}

/// Logs a user in; the cookie of the session.
fn log_in(process: &Process, provider: &Provider, user: &str) -> String {
    let (location, kept) = begin(process, "/auth/login");
    let answer = come_back(process, &provider.authorize(&location, user), &kept);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer:?}");
    cookie(&answer, "salver_session").expect("a session")
}

fn status(process: &Process, session: &str) -> u16 {
    ask(process, "GET", TARGET, &[("cookie", session)]).status
}

#[track_caller]
fn is_out(answer: &Answer, status: u16) {
    assert_eq!(answer.status, status, "{answer:?}");
    assert_eq!(cookie(answer, "salver_session"), None, "{answer:?}");
}

#[test]
fn users_log_in_and_out() {
    let provider = Provider::start();
    let mut process = start(&provider);
    assert_eq!(ask(&process, "GET", TARGET, &[]).status, 401);
    let (location, kept) = begin(&process, &format!("/auth/login?to={}", value("/api/tables/people?limit=1")));
    let url = provider.authorize(&location, "ann");
    let answer = come_back(&process, &url, &kept);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/api/tables/people?limit=1")), "{answer:?}");
    assert!(answer.headers.iter().any(|(_, value)| value.starts_with("salver_login=;") && value.contains("Max-Age=0")));
    let ann = cookie(&answer, "salver_session").expect("a session");
    assert_eq!(status(&process, &ann), 200);
    // Somebody else is somebody else, whatever the claims say.
    let ben = log_in(&process, &provider, "ben");
    assert_eq!(status(&process, &ben), 404);
    // The session outlives the server, with all that is known of the user.
    let journal = process.directory().join("salver-data/sessions.journal");
    until("both are stored", || {
        std::fs::read_to_string(&journal).unwrap_or_default().matches("{\"begin\":").count() >= 2
    });
    process.restart();
    assert_eq!((status(&process, &ann), status(&process, &ben)), (200, 404));
    let out = ask(&process, "POST", "/auth/logout", &[("cookie", &ann)]);
    is_out(&out, 204);
    assert!(out.header("set-cookie").is_some_and(|set| set.contains("Max-Age=0")), "{out:?}");
    assert_eq!(status(&process, &ann), 401);
    process.restart();
    assert_eq!((status(&process, &ann), status(&process, &ben)), (401, 404));
    let out = ask(&process, "POST", "/auth/logout?to=/api/version", &[("cookie", &ben)]);
    assert_eq!((out.status, out.header("location")), (303, Some("/api/version")), "{out:?}");
    assert_eq!(status(&process, &ben), 401);
    // A second log-in of a browser ends the first session.
    let first = log_in(&process, &provider, "ann");
    let (location, kept) = begin(&process, "/auth/login");
    let url = provider.authorize(&location, "ann");
    let answer = come_back(&process, &url, &format!("{kept}; {first}"));
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(status(&process, &first), 401);
}

#[test]
fn a_log_out_leads_to_the_provider() {
    let provider = Provider::start();
    let end = format!("{}/end?x=1", provider.url);
    provider.state().metadata.push(("end_session_endpoint", json!(end)));
    let process = start_with(&settings(&provider, "oidc_logout = true"));
    for (target, back) in [("/auth/logout", "/"), ("/auth/logout?to=/api/version", "/api/version")] {
        let session = log_in(&process, &provider, "ann");
        let out = ask(&process, "POST", target, &[("cookie", &session)]);
        let location = out.header("location").expect("a place");
        assert_eq!((out.status, location.starts_with(&format!("{end}&"))), (303, true), "{out:?}");
        let query = query(location);
        assert_eq!(query["client_id"], CLIENT);
        assert_eq!(query["post_logout_redirect_uri"], format!("http://{}{back}", process.address()));
        // The session here has ended before, and is not at the provider's mercy.
        assert_eq!(status(&process, &session), 401);
    }
    // Who was not logged in is not sent there, and no other site sends anybody.
    assert_eq!(ask(&process, "POST", "/auth/logout", &[]).status, 204);
    assert_eq!(ask(&process, "POST", "/auth/logout", &[("cookie", "salver_session=x")]).status, 204);
    let session = log_in(&process, &provider, "ann");
    let foreign = [("origin", "https://evil.example"), ("cookie", session.as_str())];
    assert_eq!(ask(&process, "POST", "/auth/logout", &foreign).status, 403);
    assert_eq!(status(&process, &session), 200);
    // A provider without such a place.
    let provider = Provider::start();
    let process = start_with(&settings(&provider, "oidc_logout = true"));
    let session = log_in(&process, &provider, "ann");
    assert_eq!(ask(&process, "POST", "/auth/logout", &[("cookie", &session)]).status, 204);
    assert_eq!(status(&process, &session), 401);
}

#[test]
fn who_one_is() {
    let provider = Provider::start();
    let process = start(&provider);
    assert_eq!(ask(&process, "GET", "/api/me", &[]).status, 401);
    let session = log_in(&process, &provider, "ann");
    let me = ask(&process, "GET", "/api/me", &[("cookie", &session)]);
    assert_eq!((me.status, me.header("cache-control")), (200, Some("no-store")), "{me:?}");
    let me = me.json();
    assert_eq!((&me["user"], &me["groups"], &me["sub"]), (&json!("ann"), &json!("staff"), &json!("ann")), "{me}");
    assert!(me.get("identity").is_none() && me.get("auth").is_none() && me.get("nonce").is_none(), "{me}");
    ask(&process, "POST", "/auth/logout", &[("cookie", &session)]);
    assert_eq!(ask(&process, "GET", "/api/me", &[("cookie", &session)]).status, 401);
    // Without either way to log in there is nobody to be.
    let process = start_with("");
    assert_eq!(ask(&process, "GET", "/api/me", &[]).status, 404);
}

#[test]
fn what_the_provider_must_not_say() {
    let provider = Provider::start();
    let process = start(&provider);
    let wrongs = [
        Wrong::Nonce,
        Wrong::NoNonce,
        Wrong::Audience,
        Wrong::Party,
        Wrong::Issuer,
        Wrong::Expired,
        Wrong::Endless,
        Wrong::Key,
        Wrong::Shared,
        Wrong::Unsigned,
        Wrong::NoToken,
    ];
    for wrong in wrongs {
        provider.state().wrong = wrong;
        let (location, kept) = begin(&process, "/auth/login");
        let answer = come_back(&process, &provider.authorize(&location, "ann"), &kept);
        is_out(&answer, 401);
        assert!(answer.headers.iter().any(|(_, value)| value.starts_with("salver_login=;")), "{wrong:?}: {answer:?}");
    }
    provider.state().wrong = Wrong::Large;
    let (location, kept) = begin(&process, "/auth/login");
    is_out(&come_back(&process, &provider.authorize(&location, "ann"), &kept), 503);
    provider.state().wrong = Wrong::Nothing;
    assert_eq!(status(&process, &log_in(&process, &provider, "ann")), 200);
}

#[test]
fn log_ins_that_belong_to_others() {
    let provider = Provider::start();
    let process = start(&provider);
    let (location, kept) = begin(&process, "/auth/login");
    let url = provider.authorize(&location, "ann");
    let asked = || provider.state().asked;
    let state = &query(&location)["state"];
    // Neither without the cookie, nor with another's, nor with one that was changed, asks the provider for anything.
    let (_, other) = begin(&process, "/auth/login");
    let sealed = kept.split_once('=').expect("a value").1;
    let flipped = if sealed.ends_with('A') { "B" } else { "A" };
    let changed = format!("salver_login={}{flipped}", &sealed[..sealed.len() - 1]);
    let shortened = &kept[..kept.len() - 8];
    let doubled = format!("{kept}; {other}");
    for cookie in ["salver_session=x", "salver_login=", &other, &changed, shortened, &doubled] {
        is_out(&come_back(&process, &url, cookie), 400);
    }
    let another = begin(&process, "/auth/login").0;
    for (from, to) in [
        (format!("state={}", value(state)), "state=x".to_owned()),
        (format!("state={}", value(state)), "state=".to_owned()),
        (format!("&state={}", value(state)), String::new()),
        (format!("state={}", value(state)), format!("state={}", value(&query(&another)["state"]))),
        (format!("state={}", value(state)), format!("state={0}&state={0}", value(state))),
        ("code=".to_owned(), "code=x&code=".to_owned()),
        ("code=".to_owned(), "kode=".to_owned()),
        // A mix-up: the answer of another issuer, or of one that does not say who it is.
        (format!("iss={}", value(&provider.url)), format!("iss={}", value("https://evil.example"))),
        (format!("&iss={}", value(&provider.url)), String::new()),
        (format!("iss={}", value(&provider.url)), "iss=".to_owned()),
    ] {
        assert!(url.contains(&from), "{url}: {from}");
        is_out(&come_back(&process, &url.replace(&from, &to), &kept), 400);
    }
    assert_eq!(ask(&process, "HEAD", &target(&process, &url), &[("cookie", &kept)]).status, 405);
    assert_eq!(asked(), 0);
    // None of this has used up the code.
    let answer = come_back(&process, &url, &kept);
    assert_eq!((answer.status, asked()), (303, 1), "{answer:?}");
    // It is good once, also with the cookie that should be gone.
    is_out(&come_back(&process, &url, &kept), 401);
    // A code that was stolen from another browser is none of this one's (PKCE).
    let (location, _) = begin(&process, "/auth/login");
    let stolen = provider.authorize(&location, "ann");
    let (location, kept) = begin(&process, "/auth/login");
    let own = provider.authorize(&location, "eve");
    let code = |url: &str| url.split(['?', '&']).nth(1).expect("a code").to_owned();
    is_out(&come_back(&process, &own.replace(&code(&own), &code(&stolen)), &kept), 401);
    // The user says no.
    let (location, kept) = begin(&process, "/auth/login");
    let url = provider.authorize(&location, "ann");
    let refused = come_back(&process, &url.replace(&code(&url), "error=access_denied%0D%0A%3Cb%3E"), &kept);
    is_out(&refused, 401);
    assert!(refused.body.contains("access_deniedb") && !refused.body.contains('<'), "{}", refused.body);
}

#[test]
fn nobody_is_led_elsewhere() {
    let provider = Provider::start();
    let process = start(&provider);
    let session = log_in(&process, &provider, "ann");
    for to in [
        "https://evil.example",
        "//evil.example",
        "/\\evil.example",
        "/\t/evil.example",
        "http:evil.example",
        "evil.example",
        "",
        "/\r\nset-cookie: a=b",
        "/\u{e4}",
        "/a/../b",
    ] {
        let answer = ask(&process, "GET", &format!("/auth/login?to={}", value(to)), &[]);
        assert_eq!((answer.status, answer.header("location")), (400, None), "{to}: {answer:?}");
        let out = ask(&process, "POST", &format!("/auth/logout?to={}", value(to)), &[("cookie", &session)]);
        assert_eq!((out.status, out.header("location")), (400, None), "{to}: {out:?}");
    }
    assert_eq!(ask(&process, "GET", "/auth/login?to=/a&to=/b", &[]).status, 400);
    // A page of another site logs nobody in or out.
    let foreign = ("origin", "https://evil.example");
    assert_eq!(ask(&process, "GET", "/auth/login", &[foreign]).status, 403);
    assert_eq!(ask(&process, "POST", "/auth/logout", &[foreign, ("cookie", &session)]).status, 403);
    let image = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")];
    assert_eq!(ask(&process, "GET", "/auth/login", &image).status, 403);
    assert_eq!(status(&process, &session), 200);
    // Other methods, with and without somebody there.
    for (method, path) in [("POST", "/auth/login"), ("POST", "/auth/callback"), ("GET", "/auth/logout")] {
        assert_eq!(ask(&process, method, path, &[]).status, 405, "{method} {path}");
        assert_eq!(ask(&process, method, path, &[("cookie", &session)]).status, 405, "{method} {path}");
    }
}

#[test]
fn behind_a_proxy_with_tls() {
    let provider = Provider::start();
    let process =
        start_with(&format!("[server]\nreverse_proxy = true\n{}", settings(&provider, "session_cookie = \"sid\"")));
    let said = [("x-forwarded-proto", "https"), ("x-forwarded-host", "data.example")];
    let answer = ask(&process, "GET", "/auth/login", &said);
    assert_eq!(answer.status, 303, "{answer:?}");
    let location = answer.header("location").expect("a place");
    assert_eq!(query(location)["redirect_uri"], "https://data.example/auth/callback");
    let kept = cookie(&answer, "__Host-salver_login").expect("a cookie");
    assert!(answer.header("set-cookie").is_some_and(|set| set.contains("; Secure")), "{answer:?}");
    let url = provider.authorize(location, "ann");
    let path = url.strip_prefix("https://data.example").expect("the server");
    // Without TLS nothing is believed that a neighbouring host could have set.
    is_out(&ask(&process, "GET", path, &[("cookie", &kept)]), 400);
    let bare = kept.trim_start_matches("__Host-");
    is_out(&ask(&process, "GET", path, &[said[0], said[1], ("cookie", bare)]), 400);
    let answer = ask(&process, "GET", path, &[said[0], said[1], ("cookie", &kept)]);
    assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{answer:?}");
    let set = answer.headers.iter().find(|(_, value)| value.starts_with("sid=")).expect("a session");
    assert!(set.1.contains("; Secure") && set.1.contains("; HttpOnly"), "{set:?}");
}

#[test]
fn providers_that_are_not_who_they_should_be() {
    for (name, other) in [
        ("issuer", json!("https://evil.example")),
        ("issuer", json!(1)),
        ("token_endpoint", json!("http://evil.example/token")),
        ("authorization_endpoint", json!("http://evil.example/")),
        ("authorization_endpoint", json!("javascript:alert(1)")),
        ("jwks_uri", json!("file:///etc/passwd")),
        ("jwks_uri", json!("http://127.0.0.1@evil.example/")),
        ("end_session_endpoint", json!("http://evil.example/end")),
    ] {
        let provider = Provider::start();
        provider.state().metadata.push((name, other.clone()));
        let process = start(&provider);
        let answer = ask(&process, "GET", "/auth/login", &[]);
        assert_eq!((answer.status, answer.header("location")), (503, None), "{name} {other}: {answer:?}");
        assert_eq!(ask(&process, "GET", TARGET, &[]).status, 401);
    }
    let provider = Provider::start();
    let post = json!(["client_secret_post", "private_key_jwt"]);
    provider.state().metadata.push(("token_endpoint_auth_methods_supported", post));
    provider.state().secret_in_form = true;
    let process = start(&provider);
    assert_eq!(status(&process, &log_in(&process, &provider, "ann")), 200);
    // The check of the settings asks the provider, too.
    let check = |process: &Process| {
        let ran = Command::new(env!("CARGO_BIN_EXE_salver")).arg("check").current_dir(process.directory()).output();
        let ran = ran.expect("the program");
        (ran.status.code(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    assert_eq!(check(&process).0, Some(0));
    provider.state().metadata.push(("issuer", json!("https://evil.example")));
    let (code, told) = check(&process);
    assert!(code == Some(1) && told.contains("says that it is the issuer `https://evil.example`"), "{told}");
    assert!(!told.contains(SECRET), "{told}");
}

#[test]
fn other_settings_end_its_sessions() {
    let provider = Provider::start();
    let process = start(&provider);
    let ann = log_in(&process, &provider, "ann");
    let (location, kept) = begin(&process, "/auth/login");
    let url = provider.authorize(&location, "ann");
    let reload = |settings: &str| {
        std::fs::write(process.directory().join("salver.toml"), settings).expect("a file");
        let sent = Command::new("kill").args(["-HUP", &process.pid().to_string()]).status().expect("kill");
        assert!(sent.success());
    };
    let key = "a-key-0123456789abcdef";
    let more = format!("api_keys = [\"k:{key}\"]");
    reload(&settings(&provider, &more));
    until("the key", || ask(&process, "GET", TARGET, &[("x-api-key", key)]).status == 404);
    assert_eq!(status(&process, &ann), 200);
    reload(&settings(&provider, &more).replace(&format!("\"{CLIENT}\""), "\"desk\""));
    until("another client", || status(&process, &ann) == 401);
    // A log-in that began before is not finished as another client.
    is_out(&come_back(&process, &url, &kept), 400);
    reload(&settings(&provider, ""));
    until("the first client", || ask(&process, "GET", TARGET, &[("x-api-key", key)]).status == 401);
    assert_eq!(status(&process, &ann), 401);
    // Without a provider there is no log-in.
    let rules = settings(&provider, &more);
    let without: String =
        rules.lines().filter(|line| !line.starts_with("oidc_")).map(|line| format!("{line}\n")).collect();
    reload(&without.replace("\"oidc:ann\"", "\"api_key:k\""));
    until("no provider", || ask(&process, "GET", "/auth/login", &[("x-api-key", key)]).status == 404);
    assert_eq!(ask(&process, "GET", "/auth/login", &[]).status, 401);
}
