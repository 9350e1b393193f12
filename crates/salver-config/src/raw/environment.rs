//! Reads environment variables. `SALVER_SERVER_LISTEN` sets `listen` in `[server]`, `SALVER_DATASET__CITIES__SOURCE`
//! sets `source` of the dataset `cities`; with `_FILE` behind it, a variable names a file with the value.

mod entries;

use std::path::Path;

use super::{Raw, value_file};
use crate::keys::{SETTINGS, Section, Setting};
use crate::mistake::{Findings, Mistake};
use crate::setting_place::SettingPlace;

const PREFIX: &str = "SALVER_";
/// Suffix of variables that name a file with the value.
const FILE: &str = "_FILE";

/// Variables that container platforms set for a service called `salver`; they are ignored.
const FOREIGN: [&str; 2] = ["SALVER_SERVICE_", "SALVER_PORT"];

/// Value that a variable gives to a setting.
#[derive(Debug)]
struct Given {
    setting: &'static Setting,
    text: String,
    place: SettingPlace,
    /// Whether the text is the content of a file.
    is_hidden: bool,
}

/// Reads every variable with our prefix. An unknown name is only a warning, since other programs may set such
/// variables, unless it has the form of a setting of an entry.
pub(crate) fn read(variables: &[(String, String)], raw: &mut Raw, findings: &mut Findings) {
    let is_ours = |name: &str| name.starts_with(PREFIX) && !FOREIGN.iter().any(|foreign| name.starts_with(foreign));
    let mut ours: Vec<&(String, String)> = variables.iter().filter(|(name, _)| is_ours(name)).collect();
    // The environment has no order.
    ours.sort();
    let mut of_entries = Vec::new();
    for (name, text) in &ours {
        let place = SettingPlace::Environment(name.as_str().into());
        if entries::has_form(name) {
            match with_file(name, entries::find) {
                Some(((entry, setting), is_file)) => {
                    let given = given(setting, (name, text), is_file, &ours, findings);
                    of_entries.extend(given.map(|given| (entry, given)));
                }
                None => findings.mistake(entries::unknown(name, &place)),
            }
            continue;
        }
        let single = |name: &str| SETTINGS.iter().find(|setting| setting.variable().as_deref() == Some(name));
        match with_file(name, single) {
            Some((setting, is_file)) => {
                let given = given(setting, (name, text), is_file, &ours, findings);
                if let (Some(given), Some(table)) = (given, raw.single(setting.section)) {
                    given.set(table, findings);
                }
            }
            None => findings.warning(unknown(name, &place)),
        }
    }
    entries::set(of_entries, raw, findings);
}

/// Finds what a variable sets: by its name, or by its name without [`FILE`]. A setting that ends with `_file` itself
/// comes first.
fn with_file<'n, T>(name: &'n str, find: impl Fn(&'n str) -> Option<T>) -> Option<(T, bool)> {
    let of_file = || Some((find(name.strip_suffix(FILE)?)?, true));
    find(name).map(|found| (found, false)).or_else(of_file)
}

/// Returns the value of a variable, or that in the file it names.
fn given(
    setting: &'static Setting,
    (name, text): (&str, &str),
    is_file: bool,
    all: &[&(String, String)],
    findings: &mut Findings,
) -> Option<Given> {
    let place = SettingPlace::Environment(name.into());
    if !is_file {
        return Some(Given { setting, text: text.to_owned(), place, is_hidden: false });
    }
    let direct = name.strip_suffix(FILE).unwrap_or(name);
    if all.iter().any(|(other, _)| other == direct) {
        let mistake = Mistake::new(&place, format!("`{direct}` and `{name}` are both set"));
        findings.mistake(mistake.with_hint("unset one of them"));
        return None;
    }
    let read = value_file::read(Path::new(text));
    let read = read.map_err(|why| {
        let hint = format!(
            "name a file with the value; a relative path starts at the current directory; `{direct}` \
            takes the value itself"
        );
        Mistake::new(&place, format!("`{}`: {why}", setting.path())).with_hint(hint)
    });
    let text = findings.keep(read)?;
    findings.hide(setting, &place, &text);
    Some(Given { setting, text, place, is_hidden: true })
}

/// Returns the warning of an unknown variable.
fn unknown(name: &str, place: &SettingPlace) -> Mistake {
    let mistake = Mistake::new(place, "no setting has this name");
    let entry = Section::ALL.into_iter().find_map(|section| {
        let plain = format!("{PREFIX}{}", section.named_key()?.to_uppercase());
        let is_like = name.strip_prefix(&plain).is_some_and(|rest| rest.starts_with('_') || rest.starts_with("S_"));
        is_like.then(|| section.settings().find(|setting| setting.key != "name")?.variable())?
    });
    if let Some(example) = entry {
        return mistake.with_hint(format!("the name of an entry stands between double underscores: {example}"));
    }
    let names: Vec<String> =
        SETTINGS.iter().filter(|setting| setting.section.is_single()).filter_map(Setting::variable).collect();
    // All names share long beginnings, so the comparison leaves the prefix out.
    let short = names.iter().map(|known| &known[PREFIX.len()..]);
    let near = salver_model::suggest::nearest(&name[PREFIX.len()..], short);
    mistake.with_hint(near.map_or_else(
        || "`salver config example` lists every setting; SALVER_SECTION_KEY sets it".to_owned(),
        |near| format!("did you mean {PREFIX}{near}?"),
    ))
}
