//! The reference page of settings, `docs/settings.md`.

use crate::data_type;
use crate::keys::{Section, Setting, SettingKind};

const INTRODUCTION: &str = "\
# Settings

<!-- Generated from crates/salver-config/src/keys/table.rs by `cargo xtask docs`; changes made here are lost. -->

`salver serve DIR` reads `DIR/salver.toml` when there is one; `--config FILE` names another. Settings are taken in
this order, later ones over earlier ones: defaults, file, environment, command line. `salver check` says every mistake
in a file, with line, column and the fix; `salver config example` prints a file with every setting; `salver config
show` prints those in force.

The settings of sections that stand once have an environment variable each. Relative paths in a file start at the
file's directory, those on the command line at the current one. After `NAME=URI` on the command line, any setting of
`[[dataset]]` can follow: `cities=uk.csv,delimiter=;,key=id`.
";

const TYPES: &str = "
## Types of columns

Case does not matter, and Arrow's own names (`Int64`, `Utf8`, `Timestamp(Second, None)`) are understood too.

";

/// The reference page.
#[must_use]
pub fn reference() -> String {
    let mut out = String::from(INTRODUCTION);
    for section in Section::ALL {
        out.push_str(&format!("\n## `{}`\n\n{}\n", section.header(), section.help()));
        for setting in section.settings() {
            entry(setting, &mut out);
        }
    }
    out.push_str(TYPES);
    let names: Vec<String> = data_type::names().map(|name| format!("`{name}`")).collect();
    out.push_str(&super::wrap(&names.join(", "), 118, ""));
    out
}

fn entry(setting: &Setting, out: &mut String) {
    out.push_str(&format!("\n### `{}`\n\n{}\n\n", setting.path(), setting.help));
    let value = match setting.kind {
        SettingKind::Tables(section) => format!("a list of tables with the keys of `{}`", section.header()),
        SettingKind::Choice(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
            format!("one of {}", words.join(", "))
        }
        kind => kind.words().replace("\"64MiB\"", "`\"64MiB\"`").replace("\"30s\"", "`\"30s\"`"),
    };
    out.push_str(&format!("- Value: {value}\n"));
    if !setting.default.is_empty() {
        out.push_str(&format!("- Default: `{}`\n", setting.default));
    }
    out.push_str(&format!("- Example: `{} = {}`\n", setting.key, setting.example));
    if let Some(variable) = setting.variable() {
        out.push_str(&format!("- Environment: `{variable}`\n"));
    }
    out.push_str(&format!("- Since: {}\n", setting.since));
}
