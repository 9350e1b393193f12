//! Settings of entries in environment variables: `SALVER_SECTION__NAME__KEY`, with double underscores, since names and
//! keys have single ones.
//!
//! The name is that of the entry of the file whose letters are the same, whatever their case; if there is none, a new
//! entry gets it in lower case. `..__NAME` says a name that no variable can have in it.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Given, PREFIX};
use crate::keys::{Section, Setting, SettingKind};
use crate::mistake::{Findings, Mistake};
use crate::raw::{Raw, Table, arguments, unknown_key};
use crate::setting_place::SettingPlace;
use crate::value::Value;

/// Separator of section, name and key.
const SEPARATOR: &str = "__";

/// Section of an entry, and its name as it stands in the variable.
pub(super) type Entry<'v> = (Section, &'v str);

/// Returns whether a variable begins as those of entries do.
pub(super) fn has_form(name: &str) -> bool {
    split_section(name).is_some()
}

/// Returns the entry and the setting that the variable is about.
pub(super) fn find(name: &str) -> Option<(Entry<'_>, &'static Setting)> {
    let (section, rest) = split_section(name)?;
    let (entry, key) = rest.rsplit_once(SEPARATOR).filter(|(entry, _)| !entry.is_empty())?;
    let setting = section.settings().find(|setting| setting.key.to_uppercase() == key)?;
    Some(((section, entry), setting))
}

fn split_section(name: &str) -> Option<(Section, &str)> {
    let rest = name.strip_prefix(PREFIX)?;
    Section::ALL.into_iter().find_map(|section| {
        let key = section.named_key()?.to_uppercase();
        Some((section, rest.strip_prefix(&key)?.strip_prefix(SEPARATOR)?))
    })
}

/// Returns the mistake of a variable that sets nothing of an entry.
pub(super) fn unknown(name: &str, place: &SettingPlace) -> Mistake {
    let Some((section, rest)) = split_section(name) else {
        return Mistake::new(place, "no setting has this name");
    };
    match rest.rsplit_once(SEPARATOR).filter(|(entry, _)| !entry.is_empty()) {
        Some((_, key)) => unknown_key(section, &key.to_lowercase(), place),
        None => {
            let example = section.settings().find(|setting| setting.key != "name").and_then(Setting::variable);
            let mistake = Mistake::new(place, format!("no name of a {} stands in it", section.header()));
            mistake.with_hint(format!("write {}", example.unwrap_or_default()))
        }
    }
}

/// Sets what the variables give: settings of declared entries, and new entries.
pub(super) fn set(given: Vec<(Entry<'_>, Given)>, raw: &mut Raw, findings: &mut Findings) {
    let mut entries: BTreeMap<(&'static str, String), (Section, Vec<Given>)> = BTreeMap::new();
    for ((section, name), given) in given {
        // Windows has no case in names of variables, so there is none in those of entries either.
        let key = (section.header(), name.to_lowercase());
        entries.entry(key).or_insert_with(|| (section, Vec::new())).1.push(given);
    }
    let mut told: Vec<(&'static str, String, SettingPlace)> = Vec::new();
    for ((_, lower), (section, values)) in entries {
        let (Some(tables), Some(first)) = (raw.tables(section), values.first()) else { continue };
        let said = values.iter().find(|given| given.setting.key == "name");
        let at = match position(tables, said.map(|said| said.text.as_str()), &lower) {
            Ok(Some(at)) => at,
            Ok(None) => {
                let mut table = Table::new(section, first.place.clone());
                if let Some(setting) = section.setting("name") {
                    let (text, place) = said.map_or((&lower, &first.place), |said| (&said.text, &said.place));
                    table.set(setting, Value::Text(text.clone()), place.clone());
                }
                tables.push(table);
                tables.len() - 1
            }
            Err([one, other]) => {
                let message = format!("this may be the {} `{one}` or `{other}`", section.header());
                let key = section.named_key().unwrap_or_default().to_uppercase();
                let hint = format!("say which with {PREFIX}{key}{SEPARATOR}X{SEPARATOR}NAME, for any X");
                findings.mistake(Mistake::new(&first.place, message).with_hint(hint));
                continue;
            }
        };
        let table = &mut tables[at];
        let name = name_of(table).unwrap_or_default();
        let is_same = |own: &&(&str, String, SettingPlace)| own.0 == section.header() && own.1 == name;
        if let Some((_, _, other)) = told.iter().find(is_same) {
            let message = format!("{other} is about the {} `{name}`, too", section.header());
            let hint = "begin the variables of an entry with one name, or give it another by ..__NAME";
            findings.mistake(Mistake::new(&first.place, message).with_hint(hint));
            continue;
        }
        told.push((section.header(), name.to_owned(), first.place.clone()));
        values.iter().filter(|given| given.setting.key != "name").for_each(|given| given.set(table, findings));
    }
}

/// Finds the declared entry called `said`, or else `lower` in any case. The error has two that it may be.
fn position(tables: &[Table], said: Option<&str>, lower: &str) -> Result<Option<usize>, [String; 2]> {
    let names: Vec<&str> = tables.iter().map(|table| name_of(table).unwrap_or_default()).collect();
    if let Some(at) = names.iter().position(|name| *name == said.unwrap_or(lower)) {
        return Ok(Some(at));
    }
    let mut like = names.iter().enumerate().filter(|(_, name)| said.is_none() && name.to_lowercase() == lower);
    match (like.next(), like.next()) {
        (Some((_, one)), Some((_, other))) => Err([(*one).to_owned(), (*other).to_owned()]),
        (found, _) => Ok(found.map(|(at, _)| at)),
    }
}

/// Returns the name of an entry. A file of functions without one has that of the file.
fn name_of(table: &Table) -> Option<&str> {
    let of_file = || Path::new(table.text("file")?).file_stem()?.to_str();
    table.text("name").or_else(|| if table.section == Section::Function { of_file() } else { None })
}

impl Given {
    /// Sets the value in its section or entry.
    pub(super) fn set(&self, table: &mut Table, findings: &mut Findings) {
        let (setting, text, place) = (self.setting, &self.text, &self.place);
        if let SettingKind::Tables(section) = setting.kind {
            table.tables.retain(|part| part.section != section);
            arguments::tables(table, setting, section, (text, place), findings);
            return;
        }
        table.set_text(setting, text, place, findings);
        let parts: Vec<String> = match table.get(setting.key).map(|written| &written.value) {
            Some(Value::Texts(texts)) => texts.clone(),
            Some(Value::Pairs(pairs)) => pairs.iter().map(|(_, value)| value.clone()).collect(),
            _ => Vec::new(),
        };
        // What was read as a whole stands there in parts.
        parts.iter().filter(|_| self.is_hidden).for_each(|part| findings.hide(setting, place, part));
    }
}
