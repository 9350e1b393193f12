//! Tells statements about the system catalog from others.

use super::definitions;

/// Words that only statements about the system catalog have, beside the names of its relations.
const WORDS: [&str; 30] = [
    "information_schema",
    "current_schema",
    "current_schemas",
    "current_database",
    "current_catalog",
    "current_user",
    "session_user",
    "version",
    "regclass",
    "regtype",
    "regproc",
    "regnamespace",
    "obj_description",
    "col_description",
    "shobj_description",
    "inet_server_addr",
    "inet_client_addr",
    "txid_current",
    "format_type",
    "has_table_privilege",
    "has_schema_privilege",
    "has_database_privilege",
    "has_column_privilege",
    "has_any_column_privilege",
    "set_config",
    "current_setting",
    "to_regtype",
    "to_regclass",
    "_pg_expandarray",
    "oidvector",
];
/// Beginning of the names of most functions and relations of the system catalog.
const PREFIX: &str = "pg_";

/// Returns whether a statement is about the system catalog, unless `is_entry` says that its word is the name of an
/// entry. A word in a text or a comment counts, too: such a statement sees more tables and functions, and means the
/// same.
pub(crate) fn is_about_it(text: &str, is_entry: impl Fn(&str) -> bool) -> bool {
    let is_of_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    text.split(|char: char| !is_of_word(char)).filter(|word| !word.is_empty()).any(|word| {
        let word = word.to_ascii_lowercase();
        let is_known = word.starts_with(PREFIX) || WORDS.contains(&word.as_str());
        is_known && (definitions::columns(&word).is_some() || !is_entry(&word))
    })
}

#[cfg(test)]
mod tests {
    use super::is_about_it;

    #[test]
    fn statements_about_the_catalog() {
        let is_entry = |name: &str| name == "pg_orders";
        for text in [
            "select * from information_schema.tables",
            "select * from PG_CLASS",
            "select version()",
            "select 'a'::regclass",
            "select pg_backend_pid()",
        ] {
            assert!(is_about_it(text, is_entry), "{text}");
        }
        for text in ["select * from orders", "select a from pg_orders", "select versions, my_pg_class from t"] {
            assert!(!is_about_it(text, is_entry), "{text}");
        }
    }
}
