//! Pages of `docs/` that are made from the code, so that they can't say anything else than it does.

use salver_model::Code;

use crate::tree::Tree;

/// Every generated page: its path and its text.
pub(crate) fn pages() -> Vec<(&'static str, String)> {
    vec![("docs/errors.md", errors()), ("docs/settings.md", salver_config::reference())]
}

/// Writes the pages that are not as they should be.
pub(crate) fn write(tree: &Tree) -> Result<(), String> {
    for (path, text) in pages() {
        if tree.file(path).is_none_or(|file| file.text != text) {
            let target = tree.root.join(path);
            std::fs::write(&target, text).map_err(|error| format!("can't write {}: {error}", target.display()))?;
            println!("wrote {path}");
        }
    }
    Ok(())
}

fn errors() -> String {
    let mut page = String::from(
        "# Errors

<!-- Made by `cargo xtask docs` from crates/salver-model/src/error.rs; edit there. -->

Every error has one shape, whatever the door and whatever the format that was asked for, and the content type
`application/json`:

```json
{\"code\": 400, \"error\": \"invalid_projection\", \"message\": \"no column `agee` in `people`\",
 \"hint\": \"did you mean `age`?\"}
```

`code` is the HTTP status, `error` is one of the words below, `message` names the thing that is wrong, and `hint`, where
there is one, says what to try. Programs should look at `error`: its meaning never changes. The words that ROAPI's
clients know have kept their names.

| `error` | meaning |
|---|---|
",
    );
    for (_, slug, meaning) in Code::TABLE {
        page.push_str(&format!("| `{slug}` | {meaning} |\n"));
    }
    page
}

#[cfg(test)]
mod tests {
    use super::pages;
    use salver_model::Code;

    #[test]
    fn every_slug_is_documented_and_none_twice() {
        let (_, page) = pages().into_iter().find(|(path, _)| *path == "docs/errors.md").unwrap();
        for (_, slug, _) in Code::TABLE {
            assert_eq!(page.matches(&format!("| `{slug}` |")).count(), 1, "{slug}");
        }
    }
}
