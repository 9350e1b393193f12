//! Values of settings, parsed from TOML or from plain text by the kind in the table of settings.

use toml::de::DeValue;

use crate::keys::SettingKind;

/// Value of its setting's kind, which may still be invalid.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// For [`SettingKind::Bool`].
    Bool(bool),
    /// For [`SettingKind::Count`], [`SettingKind::Bytes`] and [`SettingKind::Milliseconds`].
    Count(u64),
    /// For [`SettingKind::Text`], [`SettingKind::Location`] and [`SettingKind::Choice`].
    Text(String),
    /// For [`SettingKind::Texts`].
    Texts(Vec<String>),
    /// For [`SettingKind::Pairs`].
    Pairs(Vec<(String, String)>),
}

/// Converts a TOML value. The error is a suggested fix, if there is a better one than the description of the kind.
pub(crate) fn from_toml(kind: SettingKind, value: &DeValue<'_>) -> Result<Value, Option<String>> {
    match (kind, value) {
        (SettingKind::Bool, DeValue::Boolean(b)) => Ok(Value::Bool(*b)),
        (SettingKind::Count(_) | SettingKind::Bytes | SettingKind::Milliseconds, DeValue::Integer(n)) => {
            // TOML allows underscores and other bases.
            let digits = n.as_str().replace('_', "");
            let n = u64::from_str_radix(&digits, n.radix()).map_err(|_| None)?;
            count(kind, n)
        }
        (
            SettingKind::Bytes
            | SettingKind::Milliseconds
            | SettingKind::Text
            | SettingKind::Location
            | SettingKind::Choice(_)
            | SettingKind::Texts,
            DeValue::String(text),
        ) => {
            from_text(kind, text).map(|value| match value {
                // A text in a file is one text; a comma makes a list only elsewhere.
                Value::Texts(_) => Value::Texts(vec![text.to_string()]),
                other => other,
            })
        }
        (SettingKind::Texts, DeValue::Array(items)) => {
            let texts = items.iter().map(|item| item.get_ref().as_str().map(str::to_owned));
            texts.collect::<Option<_>>().map(Value::Texts).ok_or_else(|| {
                items.iter().find_map(|item| written_without_quotes(item.get_ref())).map(|text| in_quotes(&text))
            })
        }
        (SettingKind::Pairs, DeValue::Table(table)) => {
            let pairs = table
                .iter()
                .map(|(key, value)| Some((key.get_ref().to_string(), value.get_ref().as_str()?.to_owned())));
            pairs.collect::<Option<_>>().map(Value::Pairs).ok_or_else(|| {
                table.iter().find_map(|(key, value)| {
                    let text = written_without_quotes(value.get_ref())?;
                    Some(format!("write it in quotes: {} = \"{text}\"", key.get_ref()))
                })
            })
        }
        (SettingKind::Bool, DeValue::String(text)) if matches!(&**text, "true" | "false") => {
            Err(Some(format!("write {text} without quotes")))
        }
        (SettingKind::Text | SettingKind::Location | SettingKind::Choice(_), DeValue::Integer(n)) => {
            Err(Some(in_quotes(&n.to_string())))
        }
        _ => Err(None),
    }
}

fn in_quotes(text: &str) -> String {
    format!("write it in quotes: \"{text}\"")
}

/// Returns the text of a number or truth value that stands where a text has to; `None` of others.
fn written_without_quotes(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Integer(n) => Some(n.to_string()),
        DeValue::Float(n) => Some(n.to_string()),
        DeValue::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}

/// Parses a plain text, as in an environment variable or on the command line.
pub(crate) fn from_text(kind: SettingKind, text: &str) -> Result<Value, Option<String>> {
    match kind {
        SettingKind::Bool => match text {
            "true" | "1" | "yes" | "on" => Ok(Value::Bool(true)),
            "false" | "0" | "no" | "off" => Ok(Value::Bool(false)),
            _ => Err(None),
        },
        SettingKind::Count(_) => count(kind, text.parse().map_err(|_| None)?),
        SettingKind::Bytes => Ok(Value::Count(bytes(text).ok_or(None)?)),
        SettingKind::Milliseconds => Ok(Value::Count(milliseconds(text).ok_or(None)?)),
        SettingKind::Text | SettingKind::Location => Ok(Value::Text(text.to_owned())),
        SettingKind::Choice(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(text)) {
            Some(word) => Ok(Value::Text((*word).to_owned())),
            None => {
                let near = salver_model::suggest::nearest(text, words.iter().copied());
                Err(near.map(|near| format!("did you mean \"{near}\"?")))
            }
        },
        SettingKind::Texts if text.is_empty() => Ok(Value::Texts(Vec::new())),
        SettingKind::Texts if text.len() > 1 && text.starts_with('[') && text.ends_with(']') => {
            Ok(Value::Texts(list(text)))
        }
        SettingKind::Pairs if text.starts_with('{') => match DeValue::parse(text) {
            Ok(table) => from_toml(kind, table.get_ref()),
            Err(_) => Err(Some("write { Name = \"value\" }, in single quotes for the shell".to_owned())),
        },
        SettingKind::Texts => Ok(Value::Texts(text.split(',').map(|part| part.trim().to_owned()).collect())),
        SettingKind::Pairs | SettingKind::Tables(_) => Err(Some("it can only be set in a file".to_owned())),
    }
}

/// Parses a list in TOML, or without the quotes, which shells remove.
fn list(text: &str) -> Vec<String> {
    let parsed = DeValue::parse(text).ok().and_then(|list| from_toml(SettingKind::Texts, list.get_ref()).ok());
    if let Some(Value::Texts(texts)) = parsed {
        return texts;
    }
    let inside = text[1..text.len() - 1].trim();
    inside.split(',').map(|part| part.trim().trim_matches(['"', '\'']).to_owned()).filter(|p| !p.is_empty()).collect()
}

fn count(kind: SettingKind, n: u64) -> Result<Value, Option<String>> {
    match kind {
        SettingKind::Count(least) if n < least => Err(None),
        _ => Ok(Value::Count(n)),
    }
}

/// Splits `64MiB` into its number and its unit.
fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// Reads a size: a number of bytes, or one with a unit like `64MiB`.
pub fn bytes(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text.trim())?;
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        _ => return None,
    };
    whole(number * factor as f64)
}

fn milliseconds(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.parse() {
        Ok(n) => Some(n),
        Err(_) => duration_ms(text),
    }
}

/// Parses a duration with its unit: `500ms`, `30s`, `5m`, `1h`, `1d`.
pub fn duration_ms(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text.trim())?;
    let factor = match unit {
        "ms" => 1.0,
        "s" | "sec" => 1_000.0,
        "m" | "min" => 60_000.0,
        "h" => 3_600_000.0,
        "d" => 86_400_000.0,
        _ => return None,
    };
    whole(number * factor)
}

/// Renders a duration so that [`duration_ms`] reads it back.
pub(crate) fn duration_text(ms: u64) -> String {
    match ms {
        0 => "0ms".to_owned(),
        ms if ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        ms if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        ms if ms.is_multiple_of(1_000) => format!("{}s", ms / 1_000),
        ms => format!("{ms}ms"),
    }
}

/// Returns a number that fits: durations and sizes beyond 2^53 are mistakes.
fn whole(number: f64) -> Option<u64> {
    (0.0..=9_007_199_254_740_992.0).contains(&number).then_some(number.round() as u64)
}
