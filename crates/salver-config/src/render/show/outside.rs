//! Masks in shown settings what environment variables and files put into them.

use salver_model::secrecy::MASK;

use crate::checked::Checked;
use crate::hidden::{self, HiddenText};
use crate::keys::{Section, Setting};

/// Returns the settings with [`MASK`] in the URLs, headers and other texts that are masked for themselves, too: behind
/// that, the text from outside could not be found whole.
pub(super) fn without(checked: &Checked) -> Checked {
    let mut checked = checked.clone();
    let hidden = checked.hidden.clone();
    let mask = |section: Section, key: &str, text: &mut String| {
        if let Some(setting) = section.setting(key) {
            *text = hidden::masked_in(&hidden, setting, text);
        }
    };
    for dataset in &mut checked.datasets {
        let urls = dataset.sources.iter_mut().filter(|source| source.contains("://"));
        urls.for_each(|url| mask(Section::Dataset, "source", url));
        dataset.headers.iter_mut().for_each(|(_, value)| mask(Section::Dataset, "headers", value));
    }
    for database in checked.databases.iter_mut().filter(|database| database.url.contains("://")) {
        mask(Section::Database, "url", &mut database.url);
    }
    for kafka in checked.streams.iter_mut().filter_map(|stream| stream.kafka.as_mut()) {
        kafka.properties.iter_mut().for_each(|(_, value)| mask(Section::Stream, "kafka", value));
    }
    for function in &mut checked.functions {
        function.environment.iter_mut().for_each(|(_, value)| mask(Section::Function, "environment", value));
    }
    let key_set = checked.auth.as_mut().and_then(|auth| auth.jwt.key_set.as_mut());
    if let Some(url) = key_set.filter(|location| location.contains("://")) {
        mask(Section::Auth, "jwt_key_set", url);
    }
    checked
}

/// Masks in a written value what came from outside; all of it, should it not be readable.
pub(super) fn masked(hidden: &[HiddenText], setting: &Setting, written: &str) -> String {
    let mut value = written.parse().unwrap_or_else(|_| toml::Value::String(MASK.to_owned()));
    mask(hidden, setting, &mut value);
    value.to_string()
}

fn mask(hidden: &[HiddenText], setting: &Setting, value: &mut toml::Value) {
    match value {
        toml::Value::String(text) => *text = hidden::masked_in(hidden, setting, text),
        toml::Value::Array(items) => items.iter_mut().for_each(|item| mask(hidden, setting, item)),
        toml::Value::Table(table) => table.iter_mut().for_each(|(_, item)| mask(hidden, setting, item)),
        _ => {}
    }
}
