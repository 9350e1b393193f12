//! What `[[database]]` means beyond its rules: functions around requests, and a database for each caller.

use salver_model::spec::FunctionPath;

use crate::{meant, told};

#[test]
fn functions_around_requests() {
    let text =
        "[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\nbefore = 'hooks/check'\n[[function]]\nfile = 'hooks.py'\n";
    let custom = meant(text).0.databases[0].customization.clone().unwrap();
    assert_eq!((custom.before, custom.after), (FunctionPath::parse("hooks/check"), None));
    assert_eq!(meant("[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n").0.databases[0].customization, None);
}

#[test]
fn a_database_for_each_caller() {
    let of_caller = |url: &str| {
        let (checked, _) = meant(&format!("[[database]]\nname = 'app'\nurl = '{url}'\n"));
        checked.databases[0].of_caller.clone()
    };
    assert_eq!(of_caller("sqlite:tenants/{caller.tenant}.db").as_deref(), Some("tenant"));
    assert_eq!(of_caller("mysql://u:p@h/app_{caller.user}").as_deref(), Some("user"));
    assert_eq!(of_caller("mysql://u:p@h/app"), None);
}

#[test]
fn mistakes() {
    for (settings, expected) in [
        ("before = 'check'", "`check` is not a function of a file"),
        ("after = 'hooks/a/b'", "`hooks/a/b` is not a function of a file"),
        ("after = 'hook/after'", "there is no file of functions called `hook`"),
        ("before_handler = 'hooks/a'", "it is called `before` here"),
    ] {
        let file = "[[function]]\nfile = 'hooks.py'\n";
        let said = told(&format!("[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n{settings}\n{file}"));
        assert!(said.contains(expected), "{settings}: {said}");
    }
    for (url, expected) in [
        ("sqlite:{tenant}.db", "begins no `{caller.NAME}`"),
        ("sqlite:{caller.a}-{caller.b}.db", "has more than one `{caller.NAME}`"),
        ("sqlite:tenants/{caller.tenant}", "needs an ending that no value can have"),
        ("sqlite:tenants/{caller.tenant}", "write \"sqlite:tenants/{caller.tenant}.db\""),
        ("sqlite:tenants/{caller.tenant}-db", "needs an ending that no value can have"),
        ("postgres://u:p@{caller.host}/app", "where no name of a database stands"),
    ] {
        let said = told(&format!("[[database]]\nname = 'app'\nurl = '{url}'\n"));
        assert!(said.contains(expected), "{url}: {said}");
    }
}

#[test]
fn signs_that_end_a_password_too_early() {
    for url in ["postgres://u:p@w@host/app", "mysql://u:p@w@host/app"] {
        let said = told(&format!("[[database]]\nname = 'app'\nurl = '{url}'\n"));
        assert!(said.contains("several `@`") && said.contains("%40") && !said.contains("p@w"), "{url}: {said}");
    }
    meant("[[database]]\nname = 'app'\nurl = 'postgres://u:p%40w@one:1,two:2/app?application_name=a@b'\n");
}
