//! The settings of roles and of access rules.

use super::new_row;
use crate::keys::{Section, Setting, SettingKind};

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    // Role
    new_row(Section::Role, "name", SettingKind::Text, ["", r#""analyst""#],
        "The name that `[[access]]` has it by. Required.",
        &["id"]),
    new_row(Section::Role, "callers", SettingKind::Texts, ["[]", r#"["api_key:reporting", "basic:ann"]"#],
        "Who has the role, as the way to prove it and the name: `api_key:NAME`, `basic:NAME`, `jwt:ISSUER SUB`, \
            `user:NAME` for users of the table, `proxy:NAME` for whom the proxy names. Anybody when not given.",
        &["users", "members"]),
    new_row(Section::Role, "addresses", SettingKind::Texts, ["[]", r#"["10.0.0.0/8"]"#],
        "Addresses and networks from where the role can be had; anywhere when not given.",
        &["networks"]),
    new_row(Section::Role, "when", SettingKind::Text, ["", r#""caller.group = 'analysts'""#],
        "An expression over the caller that must hold, in the words of `rows`. All that is given here must hold.",
        &["if", "claim"]),
    // Access
    new_row(Section::Access, "roles", SettingKind::Texts, ["[]", r#"["analyst"]"#],
        "The roles that the rule is about; every caller, also one who proves nothing, when not given.",
        &["role", "to"]),
    new_row(Section::Access, "entries", SettingKind::Texts, ["[]", r#"["cities", "blog.*"]"#],
        "The entries it is about, by name or pattern with `*`: datasets, streams, views, named queries, files of \
            functions, and tables of databases as `database.table`. Required.",
        &["entry", "tables"]),
    new_row(Section::Access, "permissions", SettingKind::Texts, ["[]", r#"["read", "sql"]"#],
        "What is decided: `read` (REST, GraphQL, key-value, records, schemas), `sql`, `export` (with cursors), \
            `create`, `update`, `delete` (records), `append`, `consume` (events of streams), `call` (functions), \
            `administer` (the schema of a database; `/metrics`, whose entry is `metrics`). The first three when not \
            given.",
        &["operations", "allow"]),
    new_row(Section::Access, "deny", SettingKind::Bool, ["false", "true"],
        "Whether it is refused, and not permitted.",
        &[]),
    new_row(Section::Access, "columns_hidden", SettingKind::Texts, ["[]", r#"["email", "secret_*"]"#],
        "Columns that are not there.",
        &["columns"]),
    new_row(Section::Access, "columns_masked", SettingKind::Pairs,
        ["", r#"{ email = "left(email, 1) || '***'", salary = "null" }"#],
        "Columns that have other values, each with the expression that gives them: `null`, a number or text, \
            `left(c, n)` and `right(c, n)` with texts and `||`, `floor(c, step)`, `trunc(c, 'year')` (`month`, `day`, \
            `hour`). A pattern with `*` takes a constant. Nothing tells of the values behind, but `rows` sees them; \
            what is masked can't be written.",
        &["mask", "columns_mask", "masks"]),
    new_row(Section::Access, "rows", SettingKind::Text, ["", r#""region = caller.region""#],
        "The rows that are there: an expression over the columns and the caller, also those that may be written.",
        &["records", "filter"]),
];
