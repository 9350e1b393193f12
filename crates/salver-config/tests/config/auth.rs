//! `[auth]`: a mistake never leaves the door open, and no secret is shown.

use salver_config::show;

use crate::{Written, meant, told};

/// Users in a database, after what is asked of it.
fn with_database(settings: &str) -> String {
    format!("[auth]\ndatabase = 'app'\n{settings}\n[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n")
}

/// A hashed key, with something before and after it.
fn hashed(before: &str, after: &str) -> String {
    let hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    format!("[auth]\napi_keys = ['{before}sha256:{hash}{after}']\n")
}

#[test]
fn keys_of_an_issuer_and_hashes() {
    for location in ["https://id.example.com/keys", "http://127.0.0.1:8080/keys", "http://[::1]:8080/keys", "keys.json"]
    {
        let (checked, warnings) = meant(&format!("[auth]\njwt_key_set = '{location}'\n"));
        let auth = checked.auth.expect("a way to prove who one is");
        assert!(auth.jwt.key_set.is_some_and(|own| own.ends_with(location)));
        assert!(warnings.iter().any(|warning| warning.message.contains("made for other applications")));
    }
    let (_, warnings) = meant("[auth]\njwt_key_set = 'keys.json'\njwt_audiences = ['shop']\n");
    assert!(warnings.is_empty(), "{warnings:?}");
    let (checked, warnings) = meant(&hashed("a:", "@2026-01-01"));
    assert!(warnings.iter().any(|warning| warning.message.contains("the key of `a` has expired")), "{warnings:?}");
    assert!(show(&checked).contains(r#"api_keys = ["a:***"]"#));
}

#[test]
fn without_a_way_nobody_is_shut_out_by_accident() {
    assert!(meant("[auth]\n").0.auth.is_none());
    for text in [
        "[auth]\nmode = 'required'\n",
        "[auth]\nrealm = 'x'\n",
        "[auth]\napi_keys = []\n",
        &with_database("login = false"),
    ] {
        let told = told(text);
        assert!(told.contains("so that everybody would be let in"), "{text}: {told}");
    }
}

#[test]
fn mistakes() {
    for (text, expected) in [
        ("[auth]\napi_keys = ['a:']\n", "the secret of `a` in `api_keys` is empty"),
        ("[auth]\napi_keys = ['a:***']\n", "is not shown here"),
        ("[auth]\napi_keys = ['a:0123456789abcdef', 'b:0123456789abcdef']\n", "stands there twice"),
        ("[auth]\nbasic_users = ['ann:secret']\n", "`ann` in `basic_users` has neither a bcrypt hash"),
        ("[auth]\njwt_secrets = ['-----BEGIN CERTIFICATE-----\\n-----END CERTIFICATE-----']\n", "not a public key"),
        (
            "[auth]\njwt_secrets = ['0123456789abcdef0123456789abcdef']\njwt_algorithms = ['none']\n",
            "no algorithm `none`",
        ),
        ("[auth]\napi_keys = ['0123456789abcdef']\napi_key_header = 'a b'\n", "not the name of a header"),
        ("[auth]\napi_keys = ['0123456789abcdef']\nrealm = 'a\"b'\n", "characters that a header can't have"),
        ("[auth]\ndatabase = 'ap'\n[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n", "no database called `ap`"),
        (
            "[auth]\ndatabase = 'app'\n[[database]]\nname = 'app'\nurl = 'sqlite:{caller.user}.db'\n",
            "`app` is another one for each caller",
        ),
        (&with_database("register = true"), "`register` writes to `app`, which is read-only"),
        (&with_database("wordpress = 'wp-'"), "`wp-` is not what the names of WordPress's tables begin with"),
        (&with_database("session_cookie = 'a;b'"), "`a;b` is not the name of a cookie"),
        (
            "[auth]\napi_keys = ['a:sha256:0123456789abcdef']\n",
            "`a` in `api_keys`: what follows `sha256:` is not a hash",
        ),
        (
            "[auth]\napi_keys = ['a:test', 'b:sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08']\n",
            "stands there twice, once as its hash",
        ),
        (&hashed("a:", "").replace("sha256", "SHA256"), "does not begin with `sha256:`"),
        (&hashed("a:", "").replace("sha256", "sha512"), "does not begin with `sha256:`"),
        (&hashed("", ""), "a hash in `api_keys` has no name before it"),
        (&hashed("a:", "@tomorrow"), "`tomorrow` is not the expiry of a key"),
        ("[auth]\njwt_key_set = 'http://id.example.com/keys'\n", "who changes it on its way can make tokens"),
        ("[auth]\njwt_key_set = 'http://localhost.example.com/keys'\n", "who changes it on its way can make tokens"),
        (
            "[auth]\njwt_key_set = 'http://localhost:80@id.example.com/keys'\n",
            "who changes it on its way can make tokens",
        ),
        ("[auth]\njwt_key_set = 'ftp://id.example.com/keys'\n", "`ftp` is no way to fetch keys"),
        ("[auth]\njwks = 'keys.json'\n", "it is called `jwt_key_set` here"),
        (
            "[auth]\noidc_issuer = 'http://id.example.com'\noidc_client_id = 'a'\n",
            "who changes it on its way can be anybody",
        ),
        ("[auth]\noidc_issuer = 'https://id.example.com?a'\noidc_client_id = 'a'\n", "is not the URL of an issuer"),
        ("[auth]\noidc_issuer = 'https://id.example.com'\n", "the provider has no `oidc_client_id`"),
        ("[auth]\noidc_client_id = 'a'\n", "is for a provider, and there is none"),
        (
            "[auth]\noidc_issuer = 'https://id.example.com'\noidc_client_id = 'a'\noidc_scopes = 'email'\n",
            "does not ask the provider who the user is",
        ),
        (
            "[auth]\noidc_issuer = 'https://id.example.com'\noidc_client_id = 'a'\noidc_client_secret = '***'\n",
            "the secret of the client is not shown here",
        ),
        ("[auth]\nkeys = ['0123456789abcdef']\n", "it is called `api_keys` here"),
    ] {
        let told = told(text);
        assert!(told.contains(expected), "{text}: {told}");
        assert!(!told.contains("0123456789abcdef") && !told.contains("secret'"), "{told}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let (checked, warnings) = meant(
        "[auth]\napi_keys = ['a:0123456789abcdef', 'tooshort']\n\
         basic_users = ['ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe.']\n\
         jwt_secrets = ['k1:0123456789abcdef0123456789abcdef']\n",
    );
    assert!(warnings.iter().any(|warning| warning.message.contains("short enough to be found out")));
    let shown = format!("{}\n{checked:?}\n{warnings:?}", show(&checked));
    for secret in ["0123456789abcdef", "tooshort", "cg7/nswx"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    assert!(shown.contains(r#"api_keys = ["a:***", "***"]"#), "{shown}");
    // Nor is what is shown taken for the secrets.
    let again = Written::new(&show(&checked));
    assert!(salver_config::load(&again.sources()).is_err());
}

#[test]
fn users_of_a_wordpress() {
    let users = |settings: &str| {
        let (checked, _) = meant(&with_database(settings));
        let again = Written::new(&show(&checked));
        assert_eq!(salver_config::load(&again.sources()).unwrap().0.auth, checked.auth, "{settings}");
        let users = checked.auth.and_then(|auth| auth.users).unwrap();
        (users.table, users.username_column, users.password_column)
    };
    let names = |table: &str, name: &str, password: &str| (table.to_owned(), name.to_owned(), password.to_owned());
    assert_eq!(users("wordpress = 'my_'"), names("my_users", "user_login", "user_pass"));
    assert_eq!(
        users("wordpress = 'wp_'\nusers_table = 'all'\nusername_column = 'username'"),
        names("all", "username", "user_pass")
    );
    assert_eq!(users(""), names("users", "username", "password"));
}

/// Who registers gets no name that another way to prove who one is has, or could have.
#[test]
fn who_registers_is_nobody_else() {
    let users = |settings: &str, writable: &str| format!("{}{writable}", with_database(settings));
    let open = |settings: &str| users(&format!("register = true\n{settings}"), "writable = true\n");
    let jwt = "jwt_secrets = ['0123456789abcdef0123456789abcdef']\n";
    let said = told(&open(jwt));
    assert!(said.contains("could take the name of the subject of a token") && said.contains("users_prefix"), "{said}");
    let proxy = "[server]\nreverse_proxy = true\ncaller = { user = 'X-User' }\n";
    let said = told(&format!("{proxy}{}", open("")));
    assert!(said.contains("could take the name of somebody whom the proxy names"), "{said}");
    let prefix = "users_prefix = 'user:'\n";
    for fine in
        [open(""), open(&format!("{jwt}{prefix}")), format!("{proxy}{}", open(prefix)), users(jwt, "writable = true\n")]
    {
        assert!(meant(&fine).0.auth.is_some(), "{fine}");
    }
    let said = told(&open("users_prefix = 'rep'\napi_keys = ['reporting:0123456789abcdef']\n"));
    assert!(said.contains("`reporting` begins as the names of users in the table do"), "{said}");
}

#[test]
fn exceptions_are_of_callers() {
    let rule = |except: &str| {
        format!(
            "[[database]]\nname = 'app'\nurl = 'sqlite:app.db'\n[[database.rule]]\ndeny = true\nexcept = \"{except}\"\n"
        )
    };
    assert!(meant(&rule("caller.role = 'staff'")).0.databases[0].rules[0].except.is_some());
    let said = told(&rule("role = 'staff'"));
    assert!(said.contains("`except` is about callers, and names the column `role`"), "{said}");
}
