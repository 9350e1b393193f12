//! The documentation as a site: the pages as they stand in the checkout, in the same folders, so that their links lead
//! where they lead there. Zensical makes HTML of them; what it made is looked through for links that lead nowhere, and
//! for what a browser would fetch from other hosts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cache;
use crate::tidy::links;
use crate::tree::Tree;

/// The generator, where `setup.sh` puts it.
pub(crate) const GENERATOR: &str = "site/bin/zensical";
/// How it builds.
const SETTINGS: &str = "zensical.toml";
/// Where it builds, with the pages in `pages` and what is made of them in `html`.
const FOLDER: &str = ".site";

/// Builds the site, and fails at anything that is wrong with it.
pub(crate) fn run(tree: &Tree) -> Result<(), String> {
    let generator = cache::installed(GENERATOR).ok_or("Zensical is not installed: `make site` does it")?;
    let folder = tree.root.join(FOLDER);
    stage(tree, &folder).map_err(|error| format!("can't write to {}: {error}", folder.display()))?;
    let built = Command::new(generator).args(["build", "--strict", "--clean"]).current_dir(&folder).output();
    let built = built.map_err(|error| format!("can't run Zensical: {error}"))?;
    if !built.status.success() {
        return Err([built.stdout, built.stderr].iter().map(|said| String::from_utf8_lossy(said)).collect());
    }
    let html = folder.join("html");
    let pages = files(&html).map_err(|error| format!("can't read {}: {error}", html.display()))?;
    let mut complaints = unlisted(tree);
    for page in pages.iter().filter(|page| page.extension().is_some_and(|suffix| suffix == "html")) {
        let text = fs::read_to_string(page).map_err(|error| format!("can't read {}: {error}", page.display()))?;
        let name = page.strip_prefix(&html).unwrap_or(page);
        // The page of what is not there has links from the root of whatever server shows it.
        if name != Path::new("404.html") {
            let wrong = wrong_targets(&text, |target| page.with_file_name(target).exists());
            complaints.extend(wrong.into_iter().map(|target| format!("{}: {target}", name.display())));
        }
    }
    if complaints.is_empty() {
        println!("site: {}", html.join("index.html").display());
        return Ok(());
    }
    Err(complaints.join("\n"))
}

/// Whether a page of the checkout is one of the site.
fn is_page(path: &str) -> bool {
    path.ends_with(".md") && (path.starts_with("docs/") || !path.contains('/'))
}

/// Copies the pages, and what else they link to.
fn stage(tree: &Tree, folder: &Path) -> std::io::Result<()> {
    let pages = folder.join("pages");
    if pages.exists() {
        fs::remove_dir_all(&pages)?;
    }
    let copy = |path: &str| {
        let target = pages.join(path);
        fs::create_dir_all(target.parent().unwrap_or(&pages))?;
        fs::copy(tree.root.join(path), target).map(drop)
    };
    for file in tree.files.iter().filter(|file| is_page(&file.path)) {
        copy(&file.path)?;
        for link in file.text.lines().flat_map(links::links) {
            let target = links::resolve(&file.path, link);
            if tree.file(&target).is_some_and(|linked| !is_page(&linked.path)) {
                copy(&target)?;
            }
        }
    }
    fs::copy(tree.root.join(SETTINGS), folder.join(SETTINGS)).map(drop)
}

/// Pages that the menu does not have.
fn unlisted(tree: &Tree) -> Vec<String> {
    let menu = fs::read_to_string(tree.root.join(SETTINGS)).unwrap_or_default();
    let pages = tree.files.iter().filter(|file| is_page(&file.path) && !menu.contains(&format!("\"{}\"", file.path)));
    pages.map(|file| format!("{}: not in `nav` of {SETTINGS}", file.path)).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { found.extend(files(&path)?) } else { found.push(path) }
    }
    Ok(found)
}

/// What a page of HTML links to that is not there, and what it has browsers fetch from other hosts.
fn wrong_targets(html: &str, exists: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for tag in html.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag) {
        let kind = tag.split_whitespace().next().unwrap_or_default();
        let target = [" href=", " src="].iter().find_map(|name| tag.split_once(name)).map(|(_, value)| value);
        let Some(target) = target.and_then(|value| value.trim_start_matches('"').split(['"', ' ', '#']).next()) else {
            continue;
        };
        if target.contains("://") {
            if kind != "a" {
                wrong.push(format!("`{kind}` comes from another host: {target}"));
            }
        } else if !(target.is_empty() || target.starts_with("mailto:") || target.starts_with("data:") || exists(target))
        {
            wrong.push(format!("`{target}` is not there"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::wrong_targets;

    #[test]
    fn dead_links_and_other_hosts() {
        for (html, wrong) in [
            ("<a href=\"there.html#part\">x</a> <a class=y href=there.html>", 0),
            ("<a href=\"gone.html\">x</a>", 1),
            ("<a href=\"https://other.example/\">x</a> <a href=\"#part\">x</a>", 0),
            ("<script src=\"https://other.example/a.js\"></script>", 1),
            ("<link rel=\"stylesheet\" href=\"https://other.example/a.css\"><img src=\"gone.png\">", 2),
            ("<code>&lt;a href=\"gone.html\"&gt;</code>", 0),
        ] {
            assert_eq!(wrong_targets(html, |target| target == "there.html").len(), wrong, "{html}");
        }
    }
}
