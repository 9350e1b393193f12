//! What `/openapi.json` says, held against what the server does, by Schemathesis: it makes requests of the document,
//! good and bad ones, and checks each response.

use std::process::Command;

use super::super::demo::demo;

/// What is checked of every response. Not among them are five checks that look at what the document can't say: a
/// statement, a filter or a key that fits its schema may still be wrong (`positive_data_acceptance`), values that
/// another system takes are taken (`negative_data_rejection`), code of users and AQL may fail (`not_a_server_error`),
/// and paths of one entry have fewer operations than those of any (`unsupported_method`, `allow_header_conformance`).
const CHECKS: &str = "status_code_conformance,content_type_conformance,response_headers_conformance,\
    response_schema_conformance,missing_required_header,use_after_free,ensure_resource_availability,ignored_auth";
const HERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/openapi");

#[test]
#[allow(clippy::print_stderr, reason = "a test that could not be made says so")]
fn responses_are_those_that_the_document_describes() {
    let version = Command::new("python3").args(["-m", "schemathesis.cli", "--version"]).output();
    if !version.is_ok_and(|done| done.status.success()) {
        eprintln!("left out: Schemathesis is not there; `xtask/setup.sh test` installs it");
        return;
    }
    let (server, folder) = (demo(""), tempfile::tempdir().expect("a directory"));
    let mut run = Command::new("python3");
    run.args(["-m", "schemathesis.cli", "run", &format!("http://{}/openapi.json", server.address())]);
    run.args(["--checks", CHECKS, "--phases", "examples,coverage,fuzzing", "--max-examples", "1", "--workers", "4"]);
    run.args(["--generation-deterministic", "--no-color"]);
    run.env("SCHEMATHESIS_HOOKS", "hooks").env("PYTHONPATH", HERE).env("PYTHONDONTWRITEBYTECODE", "1");
    let done = run.current_dir(folder.path()).output().expect("Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}
