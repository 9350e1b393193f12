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
