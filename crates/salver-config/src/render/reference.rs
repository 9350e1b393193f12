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

Settings can also come from the environment:

- Each setting of a section that stands once has a variable: `SALVER_SERVER_LISTEN` is `listen` in `[server]`.
- So has each setting of a dataset, store, database, stream, file of functions, view or query, with the entry's name
  between double underscores: `SALVER_DATABASE__SHOP__URL` is `url` of the database `shop`. If the file declares an
  entry of this name, in capital or small letters, the variable sets this one setting of it; if not, the variables
  declare the entry, in small letters. A name that can't stand in a variable is said by `NAME`, with anything in its
  place: `SALVER_DATASET__UK__NAME=uk-cities` and `SALVER_DATASET__UK__SOURCE=uk.csv`. An unknown key is a mistake.
- With `_FILE` behind its name, a variable names a file with the value, as orchestrators mount secrets:
  `SALVER_DATABASE__SHOP__URL_FILE=/run/secrets/shop_url`. The last line break is not part of the value. To set both
  variables is a mistake. (`SALVER_AUTH_API_KEYS_FILE` and the like are the settings of these names.)
- In the texts of the file, `${NAME}` stands for the environment variable `NAME`, which must be set, `${NAME:-default}`
  for the variable, or for the default if it is empty or not set, and `${file:PATH}` for what is in a file, without its
  last line break. `$${` stands for `${` itself. What comes in stays within its text, and is not looked through for
  more; in a URL, write it with percent signs (`%40` for `@`). An expression (`rows`, `when`) is read with what came in,
  so that nobody else may choose that. Where a number, `true` or `false` belongs, a text with a placeholder may stand:
  `threads = \"${THREADS:-4}\"`.

Such files are regular ones of 64 KiB at most. What they and placeholders put into texts is masked in `config show`,
mistakes and the log, except for names of entries, and except in the log for less than six characters.
[A reload](operate.md#a-reload) reads files again; the environment stays that of the start.

Relative paths in a file start at the file's directory, those in variables and on the command line at the current one.
After `NAME=URI` on the command line, any setting of `[[dataset]]` can follow: `cities=uk.csv,delimiter=;,key=id`.
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
    out.push_str(&format!("- Takes effect: {}\n- Since: {}\n", setting.effect.words(), setting.since));
}
