//! Refusals and failures: what passes is not seen, what lasts says what to do, and nothing says a secret.

use salver_model::spec::Secret;
use salver_model::{Code, Error};
use salver_testkit::google_sheets::{Fault, GoogleSheets, ID};

use super::{EVERY_TYPE, every_type, of, whole};
use crate::generated::{load, probe, show};

fn answer(status: u16, headers: &str) -> Fault {
    Fault::Answer(status, headers.to_owned(), String::new())
}

/// Checks that an error names the spreadsheet and has a way out, and none of what is secret.
fn checked(google: &GoogleSheets, error: Error) -> String {
    assert_eq!(error.code, Code::Source);
    let whole = format!("{error:?}");
    for secret in google.secrets() {
        assert!(!whole.contains(&secret), "{secret} stands in {whole}");
    }
    format!("{}; {}", error.message, error.hint.unwrap())
}

#[test]
fn tokens_are_kept_and_got_anew() {
    let (google, made, spec) = whole(vec![every_type()]);
    for _ in 0..3 {
        load(&spec).unwrap();
    }
    let other = of(&google, &made, &format!("gsheets://{ID}#gid=7"));
    load(&other).unwrap();
    probe(&other).unwrap();
    assert_eq!(google.tokens(), 1, "they are the account's");
    // A 401 gets another one, once.
    google.revoke_tokens();
    assert_eq!(show(&load(&spec).unwrap()), EVERY_TYPE);
    assert_eq!(google.tokens(), 2);
    google.fail([answer(401, ""), answer(401, "")]);
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains("401"), "{said}");
    assert_eq!(google.tokens(), 3);
    // One that ends within a minute is not used again.
    google.revoke_tokens();
    google.let_tokens_live(59);
    load(&spec).unwrap();
    let given = google.tokens();
    load(&spec).unwrap();
    assert!(google.tokens() > given);
}

#[test]
fn failures_that_pass_are_not_seen() {
    let (google, _made, spec) = whole(vec![every_type()]);
    for faults in [
        vec![answer(500, ""), answer(500, "")],
        vec![answer(429, "retry-after: 0\r\n"); 4],
        vec![answer(503, "Retry-After: soon\r\n")],
        vec![Fault::Cut],
    ] {
        google.fail_tokens(faults.clone());
        google.revoke_tokens();
        google.fail(faults);
        assert_eq!(show(&load(&spec).unwrap()), EVERY_TYPE);
    }
}

#[test]
fn failures_that_last() {
    let (google, _made, spec) = whole(vec![every_type()]);
    load(&spec).unwrap();
    // Five attempts, and not a sixth.
    google.fail(vec![Fault::Answer(429, "retry-after: 0\r\n".to_owned(), String::new()); 5]);
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains("429") && said.contains("`refresh` longer"), "{said}");
    assert_eq!(show(&load(&spec).unwrap()), EVERY_TYPE);
    // Nobody waits for an hour.
    google.fail([answer(503, "retry-after: 3600\r\n")]);
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains("503"), "{said}");
    for (fault, expected) in [
        (Fault::Endless, "too long"),
        (Fault::Answer(200, String::new(), "{\"sheets\": [{".to_owned()), "no list of sheets"),
        (Fault::Answer(200, String::new(), "<html>Log in</html>".to_owned()), "no list of sheets"),
        (Fault::Answer(200, String::new(), "{}".to_owned()), "no visible sheet"),
        (Fault::Answer(302, "location: https://accounts.google.com/\r\n".to_owned(), String::new()), "302"),
        (Fault::Answer(403, String::new(), "<html>a proxy</html>".to_owned()), "share the spreadsheet with"),
        (Fault::of_google(403, "PERMISSION_DENIED", "The caller does not have permission"), "does not have permission"),
        (
            Fault::of_google(
                403,
                "PERMISSION_DENIED",
                "Google Sheets API has not been used in project 1 before or it is disabled.",
            ),
            "enable the Google Sheets API",
        ),
        (
            Fault::of_google(400, "FAILED_PRECONDITION", "This operation is not supported for this document"),
            "save it as a Google spreadsheet",
        ),
        (Fault::of_google(404, "NOT_FOUND", "Requested entity\nwas not found."), "Requested entity was not found."),
    ] {
        google.fail([fault.clone()]);
        let said = checked(&google, load(&spec).unwrap_err());
        assert!(said.contains(expected) && said.contains(&format!("gsheets://{ID}")), "{fault:?}: {said}");
    }
    assert_eq!(show(&load(&spec).unwrap()), EVERY_TYPE);
}

#[test]
fn who_may_not_read_is_told_with_whom_to_share() {
    let (google, made, spec) = whole(vec![every_type()]);
    google.share(false, false);
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains(&format!("share the spreadsheet with `{}`", google.email())), "{said}");
    google.share(true, false);
    let said = checked(&google, load(&of(&google, &made, "gsheets://another")).unwrap_err());
    assert!(said.contains("`gsheets://another`") && said.contains("404 NOT_FOUND"), "{said}");
}

/// A body of cells that is broken replaces nothing, whoever sends it.
#[test]
fn broken_cells() {
    let (google, _made, spec) = whole(vec![every_type()]);
    for body in ["{\"sheets\":[{\"data\":[", "{}", "[]", "{\"sheets\":[{\"data\":[{\"rowData\":[{\"values\":[7]}]}]}]}"]
    {
        let list = serde_json::json!({ "sheets": [{ "properties": { "title": "Data" } }] }).to_string();
        google.fail([Fault::Answer(200, String::new(), list), Fault::Answer(200, String::new(), body.to_owned())]);
        let said = checked(&google, load(&spec).unwrap_err());
        assert!(said.contains("is no sheet of Google"), "{body}: {said}");
    }
}

#[test]
fn tokens_that_are_refused() {
    let (google, made, mut spec) = whole(vec![every_type()]);
    let grant = r#"{"error":"invalid_grant","error_description":"Invalid JWT Signature."}"#;
    google.fail_tokens([Fault::Answer(400, String::new(), grant.to_owned())]);
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains("400 invalid_grant (Invalid JWT Signature.)") && said.contains(google.email()), "{said}");
    let no_token = Fault::Answer(200, String::new(), "{\"id_token\":\"a.b.c\"}".to_owned());
    for (fault, expected) in [(Fault::Endless, "too long"), (no_token, "what came is none")] {
        google.fail_tokens([fault]);
        let said = checked(&google, load(&spec).unwrap_err());
        assert!(said.contains("there is no token for") && said.contains(expected), "{said}");
    }
    // Files that are none of a service account; what stands in them is not told.
    for (file, expected) in [
        ("{\"private_key\": 7, \"a\": \"hush-hush\"}", "no such JSON"),
        ("hush-hush", "no such JSON"),
        ("{\"type\": \"authorized_user\", \"refresh_token\": \"hush-hush\"}", "of type `authorized_user`"),
        ("{\"type\": \"service_account\"}", "needs `client_email`"),
        ("{\"client_email\": \"a@b\", \"private_key\": \"hush-hush\"}", "no RSA key"),
    ] {
        spec.object_store.credentials_file = Some(made.file("other.json", file));
        let wrong = load(&spec).unwrap_err();
        assert!(wrong.message.contains(expected) && !format!("{wrong:?}").contains("hush-hush"), "{wrong:?}");
    }
    spec.object_store.credentials_file = Some(made.dir.path().join("none.json"));
    assert!(load(&spec).unwrap_err().message.contains("can't read the credentials"));
    // An account whose tokens would be asked for without encryption.
    google.write_account(&made.dir.path().join("far.json")).unwrap();
    let far = std::fs::read_to_string(made.dir.path().join("far.json")).unwrap();
    let far = far.replace(google.address(), "http://token.example");
    spec.object_store.credentials_file = Some(made.file("far.json", far));
    let said = checked(&google, load(&spec).unwrap_err());
    assert!(said.contains("`token_uri`"), "{said}");
}

/// What a server sends back of a request is not told.
#[test]
fn echoed_secrets() {
    let (google, _made, mut spec) = whole(vec![every_type()]);
    spec.object_store.credentials_file = None;
    spec.object_store.token = Some(Secret::new("ya29.hush-hush"));
    google.fail([Fault::of_google(403, "PERMISSION_DENIED", "no: Bearer ya29.hush-hush, nor ya29.hush-hush")]);
    let wrong = load(&spec).unwrap_err();
    assert!(wrong.message.contains("no: ***, nor ***"), "{wrong:?}");
    assert!(!format!("{wrong:?}").contains("hush-hush"));
}
