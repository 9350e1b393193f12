//! Settings as written: every value has its setting's kind and its place; nothing is validated yet.

pub mod arguments;
pub(crate) mod environment;
pub(crate) mod file;
pub(crate) mod placeholders;
mod value_file;

use crate::keys::{Section, Setting, SettingKind};
use crate::mistake::{Findings, Mistake};
use crate::setting_place::SettingPlace;
use crate::value::{self, Value};

/// Value as written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenValue {
    pub(crate) setting: &'static Setting,
    pub(crate) value: Value,
    pub(crate) place: SettingPlace,
}

/// Section as written.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) section: Section,
    pub(crate) place: SettingPlace,
    pub(crate) written: Vec<WrittenValue>,
    /// Columns and relations of a dataset, rules and checks of a database, or parameters of a query.
    pub(crate) tables: Vec<Table>,
    /// Keys that are written, but whose placeholders could not be replaced.
    pub(crate) unfilled: Vec<&'static str>,
    /// Keys with a value of the wrong kind, which is a mistake of its own.
    pub(crate) refused: Vec<&'static str>,
}

impl Table {
    pub(crate) fn new(section: Section, place: SettingPlace) -> Self {
        Self { section, place, written: Vec::new(), tables: Vec::new(), unfilled: Vec::new(), refused: Vec::new() }
    }

    /// Sets a value, replacing an earlier one.
    pub(crate) fn set(&mut self, setting: &'static Setting, value: Value, place: SettingPlace) {
        self.written.retain(|written| written.setting.key != setting.key);
        self.written.push(WrittenValue { setting, value, place });
    }

    /// Returns the value written for `key`.
    pub(crate) fn get(&self, key: &str) -> Option<&WrittenValue> {
        debug_assert!(self.section.setting(key).is_some(), "{key} is not in the table of settings");
        self.written.iter().find(|written| written.setting.key == key)
    }

    /// Returns the place of `key`, or of the section if it was not written.
    pub(crate) fn place_of(&self, key: &str) -> &SettingPlace {
        self.get(key).map_or(&self.place, |written| &written.place)
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn texts(&self, key: &str) -> Option<&[String]> {
        match &self.get(key)?.value {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    pub(crate) fn pairs(&self, key: &str) -> Option<&[(String, String)]> {
        match &self.get(key)?.value {
            Value::Pairs(pairs) => Some(pairs),
            _ => None,
        }
    }

    pub(crate) fn bool(&self, key: &str) -> bool {
        matches!(self.get(key).map(|written| &written.value), Some(Value::Bool(true)))
    }

    /// Returns whether a value was written that is a mistake of its own.
    pub(crate) fn is_mistaken(&self, key: &str) -> bool {
        self.unfilled.contains(&key) || self.refused.contains(&key)
    }

    /// Returns whether there is a value, written or by default.
    pub(crate) fn is_set(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub(crate) fn count(&self, key: &str) -> u64 {
        match self.get(key).map(|written| &written.value) {
            Some(Value::Count(n)) => *n,
            _ => 0,
        }
    }

    /// Fills in the defaults of everything that was not written, recursively.
    pub(crate) fn fill(&mut self) {
        for setting in self.section.settings() {
            if !setting.default.is_empty()
                && self.get(setting.key).is_none()
                && let Ok(parsed) = toml::de::DeValue::parse(setting.default)
                && let Ok(value) = value::from_toml(setting.kind, parsed.get_ref())
            {
                self.set(setting, value, SettingPlace::Default);
            }
        }
        self.tables.iter_mut().for_each(Table::fill);
    }

    /// Takes out paths and addresses that were written and are empty, each of which is a mistake, recursively.
    fn refuse_empty_locations(&mut self, findings: &mut Findings) {
        let is_empty = |value: &Value| matches!(value, Value::Text(text) if text.trim().is_empty());
        let refused = &mut self.refused;
        self.written.retain(|WrittenValue { setting, value, place }| {
            let is_refused = setting.kind == SettingKind::Location && is_empty(value);
            if is_refused {
                refused.push(setting.key);
                let message = format!("`{}` is {}, and can't be empty", setting.key, setting.kind.words());
                let hint = format!("write one, for example {} = {}, or leave it out", setting.key, setting.example);
                findings.mistake(Mistake::new(place, message).with_hint(hint));
            }
            !is_refused
        });
        self.tables.iter_mut().for_each(|table| table.refuse_empty_locations(findings));
    }

    /// Parses a plain text for a setting, or records the mistake.
    pub(crate) fn set_text(
        &mut self,
        setting: &'static Setting,
        text: &str,
        place: &SettingPlace,
        findings: &mut Findings,
    ) {
        match value::from_text(setting.kind, text) {
            Ok(value) => self.set(setting, value, place.clone()),
            Err(fix) => {
                let message = format!("`{}` can't be `{text}`: it is {}", setting.path(), setting.kind.words());
                self.refused.push(setting.key);
                findings.mistake(Mistake::new(place, message).with_hint_if(fix));
            }
        }
    }
}

/// All settings as written.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    pub(crate) server: Table,
    pub(crate) wire: Table,
    pub(crate) cluster: Table,
    pub(crate) auth: Table,
    pub(crate) roles: Vec<Table>,
    pub(crate) access: Vec<Table>,
    pub(crate) caller_limits: Vec<Table>,
    pub(crate) limits: Table,
    pub(crate) compat: Table,
    pub(crate) datasets: Vec<Table>,
    pub(crate) stores: Vec<Table>,
    pub(crate) databases: Vec<Table>,
    pub(crate) streams: Vec<Table>,
    pub(crate) functions: Vec<Table>,
    pub(crate) views: Vec<Table>,
    pub(crate) queries: Vec<Table>,
}

impl Raw {
    pub(crate) fn new() -> Self {
        let table = |section| Table::new(section, SettingPlace::Default);
        Self {
            server: table(Section::Server),
            wire: table(Section::Wire),
            cluster: table(Section::Cluster),
            auth: table(Section::Auth),
            roles: Vec::new(),
            access: Vec::new(),
            caller_limits: Vec::new(),
            limits: table(Section::Limits),
            compat: table(Section::Compat),
            datasets: Vec::new(),
            stores: Vec::new(),
            databases: Vec::new(),
            streams: Vec::new(),
            functions: Vec::new(),
            views: Vec::new(),
            queries: Vec::new(),
        }
    }

    /// Returns a section that occurs once.
    pub(crate) fn single(&mut self, section: Section) -> Option<&mut Table> {
        match section {
            Section::Server => Some(&mut self.server),
            Section::Wire => Some(&mut self.wire),
            Section::Cluster => Some(&mut self.cluster),
            Section::Auth => Some(&mut self.auth),
            Section::Limits => Some(&mut self.limits),
            Section::Compat => Some(&mut self.compat),
            _ => None,
        }
    }

    /// Returns the entries of a section whose entries have names.
    pub(crate) fn tables(&mut self, section: Section) -> Option<&mut Vec<Table>> {
        match section {
            Section::Dataset => Some(&mut self.datasets),
            Section::Store => Some(&mut self.stores),
            Section::Database => Some(&mut self.databases),
            Section::Stream => Some(&mut self.streams),
            Section::Function => Some(&mut self.functions),
            Section::View => Some(&mut self.views),
            Section::Query => Some(&mut self.queries),
            _ => None,
        }
    }

    /// Takes out paths and addresses that were written and are empty, each of which is a mistake.
    pub(crate) fn refuse_empty_locations(&mut self, findings: &mut Findings) {
        for table in [&mut self.server, &mut self.wire, &mut self.cluster, &mut self.auth] {
            table.refuse_empty_locations(findings);
        }
        let Self { datasets, databases, streams, functions, .. } = self;
        for tables in [datasets, databases, streams, functions] {
            tables.iter_mut().for_each(|table| table.refuse_empty_locations(findings));
        }
    }

    /// Fills in the defaults of everything that was not written.
    pub(crate) fn fill(&mut self) {
        let Self { server, wire, cluster, auth, limits, compat, .. } = self;
        for table in [server, wire, cluster, auth, limits, compat] {
            table.fill();
        }
        let Self { roles, access, caller_limits, datasets, stores, databases, streams, .. } = self;
        for tables in [roles, access, caller_limits, datasets, stores, databases, streams] {
            tables.iter_mut().for_each(Table::fill);
        }
        for tables in [&mut self.functions, &mut self.views, &mut self.queries] {
            tables.iter_mut().for_each(Table::fill);
        }
    }
}

/// Returns the mistake of an unknown key: with its new name if it was renamed, else the nearest.
pub(crate) fn unknown_key(section: Section, key: &str, place: &SettingPlace) -> Mistake {
    let mistake = Mistake::new(place, format!("unknown key `{key}` in {}", section.header()));
    if let Some(new) = section.settings().find(|setting| setting.old.contains(&key)) {
        return mistake.with_hint(format!("it is called `{}` here: {} = {}", new.key, new.key, new.example));
    }
    mistake.with_hint_if(salver_model::suggest::hint(key, section.settings().map(|setting| setting.key)))
}
