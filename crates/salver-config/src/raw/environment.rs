//! Reads environment variables: `SALVER_SERVER_LISTEN` sets `listen` in `[server]`.

use super::Raw;
use crate::keys::SETTINGS;
use crate::mistake::{Findings, Mistake};
use crate::setting_place::SettingPlace;

const PREFIX: &str = "SALVER_";

/// Variables that container platforms set for a service called `salver`; they are ignored.
const FOREIGN: [&str; 2] = ["SALVER_SERVICE_", "SALVER_PORT"];

/// Reads every variable with our prefix. An unknown name is only a warning, since other programs may set such
/// variables.
pub(crate) fn read(variables: &[(String, String)], raw: &mut Raw, findings: &mut Findings) {
    for (name, text) in variables {
        if !name.starts_with(PREFIX) || FOREIGN.iter().any(|foreign| name.starts_with(foreign)) {
            continue;
        }
        let place = SettingPlace::Environment(name.as_str().into());
        let found = SETTINGS.iter().find(|setting| setting.variable().as_deref() == Some(name));
        match found.and_then(|setting| Some((setting, raw.single(setting.section)?))) {
            Some((setting, table)) => table.set_text(setting, text, &place, findings),
            None => {
                let names: Vec<String> = SETTINGS.iter().filter_map(|setting| setting.variable()).collect();
                // All names share long beginnings, so the comparison leaves the prefix out.
                let short = names.iter().map(|known| &known[PREFIX.len()..]);
                let near = salver_model::suggest::nearest(&name[PREFIX.len()..], short);
                let hint = near.map_or_else(
                    || "`salver config example` lists every setting; SALVER_SECTION_KEY sets it".to_owned(),
                    |near| format!("did you mean {PREFIX}{near}?"),
                );
                findings.warning(Mistake::new(&place, "no setting has this name").with_hint(hint));
            }
        }
    }
}
