//! One copy of the heavy crates: two versions of Arrow compile twice and their arrays don't fit each other.

use std::collections::BTreeMap;

use crate::tree::Tree;

/// Beginnings of names of crates that may be there once.
const ONCE: [&str; 8] = ["arrow", "parquet", "datafusion", "object_store", "tokio", "hyper", "axum", "http"];

/// Checks `Cargo.lock`.
pub(crate) fn check(tree: &Tree) -> Result<Vec<String>, String> {
    let Some(file) = tree.file("Cargo.lock") else { return Ok(vec!["Cargo.lock: missing; commit it".to_owned()]) };
    let lock: toml::Table = file.text.parse().map_err(|error| format!("Cargo.lock: {error}"))?;
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in lock.get("package").and_then(toml::Value::as_array).into_iter().flatten() {
        let text = |key: &str| package.get(key).and_then(toml::Value::as_str).unwrap_or("");
        versions.entry(text("name")).or_default().push(text("version"));
    }
    let twice = versions
        .iter()
        .filter(|(name, versions)| versions.len() > 1 && ONCE.iter().any(|start| name.starts_with(start)));
    Ok(twice
        .map(|(name, versions)| {
            format!("Cargo.lock: {} copies of {name} ({}); use one", versions.len(), versions.join(", "))
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::tree::Tree;

    #[test]
    fn a_second_copy() {
        let package = |name: &str, version: &str| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
        let one = package("arrow-array", "59.2.0") + &package("syn", "1.0.0") + &package("syn", "2.0.0");
        let two = one.clone() + &package("arrow-array", "58.0.0");
        assert!(check(&Tree::of(&[("Cargo.lock", &one)])).unwrap().is_empty());
        assert_eq!(check(&Tree::of(&[("Cargo.lock", &two)])).unwrap().len(), 1);
        assert_eq!(check(&Tree::default()).unwrap().len(), 1);
    }
}
