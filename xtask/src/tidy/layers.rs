//! The layer table, read against the manifests: a crate uses only crates of a lower layer, and a heavy dependency
//! stays in the one crate that was made for it.

use crate::tree::Tree;

/// Every crate with its layer.
const LAYERS: [(&str, u8); 14] = [
    ("salver", 4),
    ("salver-http", 3),
    ("salver-wire", 3),
    ("salver-service", 2),
    ("salver-console", 2),
    ("salver-formats", 2),
    ("salver-config", 2),
    ("salver-datasets", 2),
    ("salver-records", 2),
    ("salver-functions", 2),
    ("salver-streams", 2),
    ("salver-testkit", 2),
    ("salver-model", 1),
    ("salver-text", 1),
];

/// Dependencies (by the beginning of their name) that only the named crates may have.
const ONLY: [(&str, &[&str]); 15] = [
    ("datafusion", &["salver-datasets"]),
    ("object_store", &["salver-datasets"]),
    ("ureq", &["salver-datasets", "salver"]),
    ("hyper", &["salver-http", "salver-wire"]),
    ("arrow-flight", &["salver-wire"]),
    ("ballista", &["salver-datasets"]),
    ("tonic", &["salver-datasets", "salver-wire"]),
    ("rusqlite", &["salver-records"]),
    ("tokio-postgres", &["salver-records"]),
    ("mysql", &["salver-records"]),
    ("rdkafka", &["salver-streams"]),
    ("clap", &["salver"]),
    ("instant-acme", &["salver"]),
    ("opentelemetry", &["salver"]),
    ("prost", &["salver", "salver-wire"]),
];

/// Dependencies a crate must do without: no runtime and no wire form in the vocabulary, no runtime in the formats.
const NEVER: [(&str, &[&str]); 4] = [
    ("salver-model", &["tokio", "serde", "serde_json", "tracing"]),
    ("salver-formats", &["tokio", "serde", "http"]),
    ("salver-config", &["tokio", "serde_json"]),
    ("salver-service", &["http", "serde", "serde_json", "parquet"]),
];

/// Chores that stand outside the house; only tests and nobody else may use the testkit.
const DEV: [&str; 2] = ["xtask", "salver-testkit"];

/// What is measured beside Salver is built by itself, of what its own text names.
const PEERS: &str = "bench/peers/";

/// Checks every manifest.
pub(crate) fn check(tree: &Tree) -> Result<Vec<String>, String> {
    let mut complaints = Vec::new();
    let is_member = |path: &str| path != "Cargo.toml" && !path.starts_with(PEERS);
    for file in tree.files.iter().filter(|file| file.name() == "Cargo.toml" && is_member(&file.path)) {
        let manifest: toml::Table = file.text.parse().map_err(|error| format!("{}: {error}", file.path))?;
        let name = manifest.get("package").and_then(|p| p.get("name")).and_then(toml::Value::as_str).unwrap_or("");
        for (section, testing) in [("dependencies", false), ("build-dependencies", false), ("dev-dependencies", true)] {
            let used = manifest.get(section).and_then(toml::Value::as_table).into_iter().flatten();
            complaints.extend(
                used.filter_map(|(used, _)| judge(name, used, testing)).map(|why| format!("{}: {why}", file.path)),
            );
        }
        if name != "xtask" && layer(name).is_none() {
            complaints.push(format!("{}: `{name}` has no layer; give it one in xtask/src/tidy/layers.rs", file.path));
        }
    }
    Ok(complaints)
}

/// Checks that every crate with a layer is there.
pub(crate) fn check_table(tree: &Tree) -> Vec<String> {
    let gone = LAYERS.iter().filter(|(name, _)| tree.file(&format!("crates/{name}/Cargo.toml")).is_none());
    gone.map(|(name, _)| format!("xtask/src/tidy/layers.rs: `{name}` has a layer, and is no crate")).collect()
}

fn layer(name: &str) -> Option<u8> {
    LAYERS.iter().find(|(crate_name, _)| *crate_name == name).map(|(_, layer)| *layer)
}

/// Why `user` may not depend on `used`.
fn judge(user: &str, used: &str, testing: bool) -> Option<String> {
    if used == "salver-testkit" {
        return (!testing).then(|| "`salver-testkit` belongs under dev-dependencies".to_owned());
    }
    if let Some(below) = layer(used) {
        let own = if DEV.contains(&user) { u8::MAX } else { layer(user)? };
        return (below >= own)
            .then(|| format!("`{user}` (layer {own}) must not use `{used}` (layer {below}): only lower layers"));
    }
    if testing {
        return None;
    }
    let only = ONLY.iter().find(|(start, users)| used.starts_with(start) && !users.contains(&user));
    let never = NEVER.iter().find(|(name, list)| *name == user && list.contains(&used));
    match (only, never) {
        (Some((_, users)), _) => Some(format!("`{used}` belongs only in {}", users.join(", "))),
        (_, Some(_)) => Some(format!("`{user}` must do without `{used}`")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{LAYERS, check, check_table, judge};
    use crate::tree::Tree;

    #[test]
    fn edges() {
        assert_eq!(judge("salver-http", "salver-service", false), None);
        assert_eq!(judge("salver-http", "salver-testkit", true), None);
        assert_eq!(judge("salver-datasets", "datafusion", false), None);
        assert_eq!(judge("xtask", "salver-config", false), None);
        for (user, used) in [
            ("salver-http", "salver"),
            ("salver-service", "salver-datasets"),
            ("salver-model", "salver-service"),
            ("salver-http", "salver-testkit"),
            ("salver-http", "datafusion"),
            ("salver-service", "hyper-util"),
            ("salver-model", "tokio"),
            ("salver-config", "clap_complete"),
        ] {
            assert!(judge(user, used, false).is_some(), "{user} -> {used}");
        }
    }

    #[test]
    fn a_manifest() {
        let tree =
            Tree::of(&[("crates/x/Cargo.toml", "[package]\nname = \"salver-x\"\n[dependencies]\nhyper = \"1\"")]);
        let complaints = check(&tree).unwrap();
        assert_eq!(complaints.len(), 2, "{complaints:?}");
        let tree = Tree::of(&[("crates/salver-http/Cargo.toml", "")]);
        assert_eq!(check_table(&tree).len(), LAYERS.len() - 1);
    }
}
