//! `[[role]]` and `[[access]]`: no mistake leaves a door open.

use salver_config::show;
use salver_model::{Permission, Principal};

use crate::{Written, meant, told};

const ROLES: &str = "[auth]\napi_keys = ['x:0123456789abcdef']\n[[role]]\nname = 'a'\ncallers = ['api_key:x']\n";

#[test]
fn mistakes() {
    let access = |settings: &str| format!("{ROLES}[[access]]\nentries = ['*']\n{settings}\n");
    for (text, expected) in [
        (ROLES.to_owned(), "no [[access]] that says what they may do"),
        ("[[role]]\nname = 'a'\n[[access]]\nentries = ['*']\n".to_owned(), "the role `a` is everybody's"),
        (
            format!("{ROLES}[[role]]\nname = 'a'\ncallers = ['api_key:x']\n[[access]]\nentries = ['*']\n"),
            "two roles called `a`",
        ),
        (access("roles = ['b']"), "no role called `b`"),
        (access("roles = []"), "`roles` is empty, and would mean all"),
        (access("permissions = []"), "`permissions` is empty, and would mean all"),
        (access("permissions = ['raed']"), "did you mean `read`"),
        (access("permissions = ['append']\nrows = 'a = 1'"), "gives all or nothing"),
        (access("deny = true\ncolumns_hidden = ['a']"), "means nothing where all is refused"),
        (access("rows = 'a ='"), "rule"),
        (access("deny = true\ncolumns_masked = { a = 'null' }"), "means nothing where all is refused"),
        (access("permissions = ['call']\ncolumns_masked = { a = 'null' }"), "gives all or nothing"),
        (access("columns_masked = { a = 'left(b, 1)' }"), "expected `a`, the column that is masked"),
        (access("columns_masked = { 'a*' = 'left(a, 1)' }"), "not the same in every column"),
        (format!("{ROLES}[[access]]\n"), "[[access]] has no `entries`"),
        ("[[role]]\nname = 'a'\ncallers = ['x']\n[[access]]\nentries = ['*']\n".to_owned(), "how the caller proves"),
        ("[[role]]\nname = 'a'\ncallers = ['api_key:y']\n[[access]]\nentries = ['*']\n".to_owned(), "no caller can be"),
        ("[[role]]\nname = 'a'\ncallers = ['apikey:y']\n[[access]]\nentries = ['*']\n".to_owned(), "no caller can be"),
        ("[[role]]\nname = 'a'\naddresses = ['x']\n[[access]]\nentries = ['*']\n".to_owned(), "no address or network"),
        ("[[role]]\nname = 'a'\nwhen = 'b = 1'\n[[access]]\nentries = ['*']\n".to_owned(), "names the column `b`"),
    ] {
        let told = told(&text);
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn the_first_rule_decides() {
    let (checked, _) = meant(
        "[auth]\nbasic_users = ['ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.']\n\
         [[role]]\nname = 'near'\naddresses = ['10.0.0.0/8']\n\
         [[role]]\nname = 'ann'\ncallers = ['basic:ann']\nwhen = \"caller.group = 'x'\"\n\
         [[access]]\nroles = ['near']\nentries = ['secret*']\ndeny = true\n\
         [[access]]\nroles = ['near', 'ann']\nentries = ['*']\nrows = 'a = caller.group'\n\
         [[access]]\nentries = ['public']\npermissions = ['read', 'append']\n",
    );
    // The hashes of passwords are not shown.
    let shown = show(&checked).replace("***", "$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.");
    let again = Written::new(&shown);
    assert_eq!(salver_config::load(&again.sources()).unwrap().0.access, checked.access);
    let policy = checked.access.unwrap();
    let caller = |address: &str, attributes: &[(&str, &str)]| Principal {
        address: address.parse().ok(),
        attributes: attributes.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Principal::default()
    };
    let ann = [("identity", "basic:ann"), ("group", "x")];
    for (caller, entry, permission, expected) in [
        (caller("10.1.1.1", &[]), "secrets", Permission::Read, None),
        (caller("10.1.1.1", &[]), "other", Permission::Read, Some(1)),
        (caller("10.1.1.1", &[]), "other", Permission::Create, None),
        (caller("::ffff:10.1.1.1", &[]), "public", Permission::Read, Some(1)),
        (caller("11.1.1.1", &[]), "public", Permission::Read, Some(2)),
        (caller("11.1.1.1", &[]), "public", Permission::Sql, None),
        (caller("11.1.1.1", &[]), "public", Permission::Append, Some(2)),
        (caller("11.1.1.1", &ann), "secrets", Permission::Sql, Some(1)),
        (caller("11.1.1.1", &ann[..1]), "secrets", Permission::Sql, None),
        // A proxy's or a token's attribute is no identity if another is proved.
        (
            caller("11.1.1.1", &[("identity", "jwt: x"), ("identity", "basic:ann"), ("group", "x")]),
            "a",
            Permission::Sql,
            None,
        ),
    ] {
        let decided = policy.grants(&caller).decide(permission, entry).map(|granted| granted.number);
        assert_eq!(decided, expected, "{caller:?} {entry} {permission:?}");
    }
    let same = policy.grants(&caller("11.1.1.1", &ann));
    assert_eq!(same.id(), policy.grants(&caller("11.1.1.1", &[ann[0], ann[1], ("more", "y")])).id());
    assert_ne!(same.id(), policy.grants(&caller("10.1.1.1", &ann)).id());
}

#[test]
fn mistakes_of_limits() {
    let limit = |settings: &str| format!("{ROLES}[[limit]]\n{settings}\n");
    for (text, expected) in [
        (limit("roles = ['b']\nrows_max = 1"), "no role called `b`"),
        (limit("roles = []\nrows_max = 1"), "`roles` is empty, and would mean all"),
        (limit("roles = ['a']"), "limits nothing"),
        (limit("burst = 2\nrows_max = 1"), "`burst` is about `requests_per_second`"),
        (limit("burst = 2\nrequests_per_second = 0"), "`burst` is about `requests_per_second`"),
        (limit("burst = 0\nrequests_per_second = 1"), "a whole number from 1 on"),
        (limit("rate_limit = 2"), "it is called `requests_per_second` here"),
        (limit("rows_max = 1\n[[limit]]\nroles = ['a']\nrows_max = 2"), "this [[limit]] never decides"),
        ("[limit]\nrows_max = 1\n".to_owned(), "[[limit]] by role"),
        ("[[limits]]\nrows_max = 1\n".to_owned(), "[[limit]] by role"),
    ] {
        let told = told(&text);
        assert!(told.contains(expected), "{text}: {told}");
    }
}

#[test]
fn limits_need_roles_and_no_rules() {
    let limits = "[[limit]]\nroles = ['a']\nrows_max = 0\nquery_ms_max = '2s'\n[[limit]]\nrows_max = 5\n\
        body_bytes_max = '1KiB'\nrequests_per_second = 2\nburst = 7\n";
    let (checked, _) = meant(&format!("{ROLES}{limits}"));
    assert!(checked.access.is_none());
    let shown = show(&checked).replace("***", "0123456789abcdef");
    let again = Written::new(&shown);
    assert_eq!(salver_config::load(&again.sources()).unwrap().0.caller_limits, checked.caller_limits, "{shown}");
    let policy = checked.caller_limits.unwrap();
    let known = Principal { attributes: vec![("identity".into(), "api_key:x".into())], ..Principal::default() };
    let (known, other) = (policy.limits_of(&known), policy.limits_of(&Principal::default()));
    assert_eq!((known.rows(0).most(), other.rows(0).most()), (None, Some(5)));
    assert_eq!((known.query_ms(60_000).value(), other.query_ms(60_000).value()), (2_000, 60_000));
    assert_eq!(known.body_bytes().most(), Some(1_024));
    assert_eq!(known.rate.map(|rate| (rate.per_second, rate.burst)), Some((2, 7)));
    assert!(meant("").0.caller_limits.is_none());
}

#[test]
fn one_mistake_is_told_once() {
    let limit = |settings: &str| format!("{ROLES}[[limit]]\n{settings}\n");
    for (text, expected) in [
        (limit("rows_max = -1"), "`rows_max` is a whole number, not -1"),
        (limit("requests_per_second = 0.5"), "`requests_per_second` is a whole number, not 0.5"),
        (limit("requests_per_second = 0.5\nburst = 2"), "`requests_per_second` is a whole number, not 0.5"),
        (limit("burst = 2"), "`burst` is about `requests_per_second`"),
        (
            format!("{ROLES}[[access]]\nentries = ['*']\ncolumns_masked = {{ x = 12 }}\n"),
            "`columns_masked` is a table of texts, not one in which `x` is an integer\n  hint: write it in quotes: \
             x = \"12\"",
        ),
        (
            format!("{ROLES}[[access]]\nentries = ['a', 1]\n"),
            "`entries` is a text or a list of texts, not a list with an integer\n  hint: write it in quotes: \"1\"",
        ),
    ] {
        let told = told(&text);
        assert!(told.contains(expected), "{text}: {told}");
        assert_eq!(told.matches("salver.toml:").count(), 1, "{text}: {told}");
    }
}

#[test]
fn tenants_are_attributes_or_fixed_texts() {
    let tenant =
        |value: &str| format!("[[database]]\nname = 'd'\nurl = 'sqlite:a.db'\ntenant = {{ 't.region' = '{value}' }}\n");
    for wrong in ["caller", "caller.", "Caller.region", "caller_region", "caller:region"] {
        let told = told(&tenant(wrong));
        assert!(told.contains("as a tenant is a fixed text") && told.contains("caller.tenant"), "{wrong}: {told}");
    }
    for right in ["caller.region", "north", "callers", ""] {
        assert_eq!(meant(&tenant(right)).0.databases[0].tenancy.len(), 1, "{right}");
    }
}

#[test]
fn callers_that_nobody_can_be() {
    let (checked, _) = meant(&format!("{ROLES}[[access]]\nroles = ['a']\nentries = ['*']\n"));
    assert_eq!(checked.identity_mistake("api_key:x"), None);
    for (identity, expected) in [
        ("api_key:y", "no key of that name"),
        ("basic:ann", "no user of that name"),
        ("oidc:ann", "there is no `auth.oidc_issuer`"),
        ("ann", "write how the caller proves it"),
    ] {
        let (message, hint) = checked.identity_mistake(identity).unwrap();
        assert!(message == format!("no caller can be `{identity}`") && hint.contains(expected), "{identity}: {hint}");
    }
    let (checked, _) = meant("[auth]\napi_keys = ['reporting:0123456789abcdef']\n");
    let (_, hint) = checked.identity_mistake("api_key:reportin").unwrap();
    assert!(hint.ends_with("did you mean `api_key:reporting`?"), "{hint}");
}
