//! Parses the configuration file: TOML by the table of settings, every mistake with its line and column.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::placeholders::{self, Placeholders};
use super::{Raw, Table, unknown_key};
use crate::keys::{Section, Setting, SettingKind};
use crate::mistake::{Findings, Mistake};
use crate::setting_place::{Lines, SettingPlace};
use crate::value;

/// Names of sections in other systems.
const OTHER_SECTIONS: [(&str, &str); 18] = [
    ("roles", "[[role]]"),
    ("permissions", "[[access]]"),
    ("rule", "[[access]]"),
    ("databases", "[[database]]"),
    ("streams", "[[stream]]"),
    ("functions", "[[function]]"),
    ("views", "[[view]]"),
    ("canned_queries", "[[query]]"),
    ("topic", "[[stream]]"),
    ("kafka", "`kafka` in [[stream]]"),
    ("table", "[[dataset]]"),
    ("tables", "[[dataset]]"),
    ("datasets", "[[dataset]]"),
    ("kvstore", "[[store]]"),
    ("kvstores", "[[store]]"),
    ("stores", "[[store]]"),
    ("addr", "`listen` in [server]"),
    ("reload_interval", "`refresh` in [[dataset]]"),
];

/// Parses `text`, the content of the file at `path`.
pub(crate) fn read(path: &Arc<PathBuf>, text: &str, given: &Placeholders<'_>, findings: &mut Findings) -> Raw {
    let lines = Lines::new(Arc::clone(path), text);
    let mut reader = FileReader { lines, given, findings, raw: Raw::new() };
    let (document, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let place = reader.lines.place(error.span().map_or(0, |span| span.start));
        reader.findings.unreadable(&place, error.message());
    }
    reader.document(document.get_ref());
    reader.raw
}

struct FileReader<'a> {
    lines: Lines<'a>,
    given: &'a Placeholders<'a>,
    findings: &'a mut Findings,
    raw: Raw,
}

impl FileReader<'_> {
    fn document(&mut self, document: &DeTable<'_>) {
        for (key, value) in document {
            let place = self.lines.place(key.span().start);
            let section = Section::ALL.into_iter().find(|section| section.key() == Some(key.get_ref()));
            match (section, value.get_ref()) {
                (Some(section), DeValue::Table(table)) if section.is_single() => {
                    let table = self.table(section, table, place);
                    if let Some(single) = self.raw.single(section) {
                        *single = table;
                    }
                }
                (Some(section), DeValue::Array(items)) if !section.is_single() => {
                    let tables = self.tables(section, items.iter());
                    match section {
                        Section::Role => self.raw.roles = tables,
                        Section::Access => self.raw.access = tables,
                        Section::Limit => self.raw.caller_limits = tables,
                        Section::Store => self.raw.stores = tables,
                        Section::Database => self.raw.databases = tables,
                        Section::Stream => self.raw.streams = tables,
                        Section::Function => self.raw.functions = tables,
                        Section::View => self.raw.views = tables,
                        Section::Query => self.raw.queries = tables,
                        _ => self.raw.datasets = tables,
                    }
                }
                (Some(section), _) => {
                    let message = format!("`{key}` is not a section of its own", key = key.get_ref());
                    let hint = match section {
                        Section::Limit | Section::Limits => "write [limits] for all, [[limit]] by role".to_owned(),
                        section => format!("write {}", section.header()),
                    };
                    self.findings.mistake(Mistake::new(&place, message).with_hint(hint));
                }
                (None, _) => self.unknown_section(key.get_ref(), &place),
            }
        }
    }

    fn unknown_section(&mut self, key: &str, place: &SettingPlace) {
        let mistake = Mistake::new(place, format!("unknown section or key `{key}`"));
        let elsewhere = OTHER_SECTIONS.iter().find(|(other, _)| *other == key).map(|(_, here)| (*here).to_owned());
        let within = || {
            let setting = Section::ALL.iter().filter(|s| s.is_single()).find_map(|section| section.setting(key))?;
            Some(format!("`{key}` in {}", setting.section.header()))
        };
        let sections = Section::ALL.iter().filter_map(|section| section.key());
        let hint = match elsewhere.or_else(within) {
            Some(here) => Some(format!("here it is {here}")),
            None => salver_model::suggest::hint(key, sections),
        };
        self.findings.mistake(mistake.with_hint_if(hint));
    }

    fn tables<'v>(&mut self, section: Section, items: impl Iterator<Item = &'v Spanned<DeValue<'v>>>) -> Vec<Table> {
        let mut tables = Vec::new();
        for item in items {
            let place = self.lines.place(item.span().start);
            match item.get_ref() {
                DeValue::Table(table) => tables.push(self.table(section, table, place)),
                other => {
                    let message = format!("{} takes tables, not {}", section.header(), article(other));
                    self.findings.mistake(Mistake::new(&place, message));
                }
            }
        }
        tables
    }

    fn table(&mut self, section: Section, written: &DeTable<'_>, place: SettingPlace) -> Table {
        let mut table = Table::new(section, place);
        for (key, value) in written {
            let key_place = self.lines.place(key.span().start);
            match section.setting(key.get_ref()) {
                Some(setting) => self.value(&mut table, setting, value),
                None => self.findings.mistake(unknown_key(section, key.get_ref(), &key_place)),
            }
        }
        table
    }

    fn value(&mut self, table: &mut Table, setting: &'static Setting, value: &Spanned<DeValue<'_>>) {
        let place = self.lines.place(value.span().start);
        if let (SettingKind::Tables(section), DeValue::Array(items)) = (setting.kind, value.get_ref()) {
            let tables = self.tables(section, items.iter());
            table.tables.extend(tables);
            return;
        }
        let Some(filled) = self.filled(setting, value.get_ref(), &place) else {
            table.unfilled.push(setting.key);
            return;
        };
        let read = match (setting.kind, &filled) {
            // Nothing but a text can have a placeholder.
            (SettingKind::Bool | SettingKind::Count(_), Cow::Owned(DeValue::String(text))) => {
                value::from_text(setting.kind, text)
            }
            (kind, filled) => value::from_toml(kind, filled),
        };
        match read {
            Ok(value) => table.set(setting, value, place),
            Err(fix) => {
                let shown = match value.get_ref() {
                    DeValue::String(text) => format!("\"{text}\""),
                    DeValue::Integer(n) => n.to_string(),
                    DeValue::Float(n) => n.to_string(),
                    DeValue::Boolean(b) => b.to_string(),
                    other => part_that_is_no_text(setting.kind, other).unwrap_or_else(|| article(other).to_owned()),
                };
                let (key, words) = (setting.key, setting.kind.words());
                let is_time = value::duration_ms(setting.example.trim_matches('"')).is_some();
                let fix = match value.get_ref() {
                    DeValue::Integer(n) if is_time && setting.kind == SettingKind::Text => {
                        format!("write it in quotes with its unit: \"{n}s\"")
                    }
                    _ => fix.unwrap_or_else(|| format!("for example {key} = {}", setting.example)),
                };
                let message = format!("`{key}` is {words}, not {shown}");
                table.refused.push(setting.key);
                self.findings.mistake(Mistake::new(&place, message).with_hint(fix));
            }
        }
    }

    /// Replaces the placeholders in a value, and hides what came in. `None` if one can't be replaced.
    fn filled<'v>(
        &mut self,
        setting: &Setting,
        value: &'v DeValue<'v>,
        place: &SettingPlace,
    ) -> Option<Cow<'v, DeValue<'v>>> {
        if !placeholders::are_in(value) {
            return Some(Cow::Borrowed(value));
        }
        let mut filled = value.clone();
        let mut is_right = true;
        placeholders::each_text(&mut filled, &mut |text| match self.given.fill(text) {
            Ok(own) => {
                *text = Cow::Owned(own.text);
                own.parts.iter().for_each(|part| self.findings.hide(setting, place, part));
            }
            Err(wrong) => {
                is_right = false;
                let mistake = Mistake::new(place, format!("`{}`: {}", setting.path(), wrong.why));
                self.findings.mistake(mistake.with_hint(wrong.hint));
            }
        });
        is_right.then_some(Cow::Owned(filled))
    }
}

/// Describes a list or table of which a member is no text, where all have to be.
fn part_that_is_no_text(kind: SettingKind, value: &DeValue<'_>) -> Option<String> {
    match (kind, value) {
        (SettingKind::Texts, DeValue::Array(items)) => {
            let other = items.iter().find(|item| item.get_ref().as_str().is_none())?;
            Some(format!("a list with {}", article(other.get_ref())))
        }
        (SettingKind::Pairs, DeValue::Table(table)) => {
            let (key, other) = table.iter().find(|(_, value)| value.get_ref().as_str().is_none())?;
            Some(format!("one in which `{}` is {}", key.get_ref(), article(other.get_ref())))
        }
        _ => None,
    }
}

fn article(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
