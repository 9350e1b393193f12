//! `salver config example`: every setting with its help, commented out.

use super::wrap;
use crate::keys::{Section, SettingKind};

/// Returns a file with every setting, its help and its default or an example, all commented out except the headers of
/// single sections: using it unchanged has no effect.
#[must_use]
pub fn example() -> String {
    let mut out = String::from(
        "# Every setting of Salver. Remove the `#` before a line to set it; what is left out keeps its default.\n\
         # Order: defaults, this file, environment (SALVER_SECTION_KEY), command line.\n",
    );
    for section in Section::ALL.into_iter().filter(|section| section.key().is_some()) {
        let comment = if section.is_single() { "" } else { "# " };
        out.push('\n');
        out.push_str(&wrap(section.help(), 100, "# "));
        out.push_str(&format!("{comment}{}\n", section.header()));
        settings(section, &mut out);
    }
    out
}

fn settings(section: Section, out: &mut String) {
    for setting in section.settings() {
        out.push('\n');
        out.push_str(&wrap(setting.help, 100, "# "));
        if let SettingKind::Tables(inner) = setting.kind {
            for part in inner.settings() {
                out.push_str(&wrap(&format!("{}: {}", part.key, part.help), 96, "#   "));
            }
        }
        // An empty default is not informative; the example is.
        let value = if matches!(setting.default, "" | "[]" | "\"\"") { setting.example } else { setting.default };
        out.push_str(&format!("# {} = {value}\n", setting.key));
    }
}
