//! Validates one `[[dataset]]`. Its relations are validated later, when every dataset is known.

use std::time::Duration;

use salver_model::limits::REFRESH_MS_MIN;
use salver_model::spec::{
    CsvOptions, DatasetSpec, DateOrder, GoogleSheetSource, JsonOptions, ObjectStoreKind, Quote, Residency,
    SheetOptions, SourceFormat,
};

use super::{columns, object_store, options};
use crate::mistake::{Findings, Mistake};
use crate::raw::Table;
use crate::setting_place::SettingPlace;
use crate::value;

/// Returns the dataset, or `None` when its name or sources are missing. Other mistakes are recorded and replaced by a
/// placeholder, so that checking can continue.
pub(super) fn check(table: &Table, findings: &mut Findings) -> Option<DatasetSpec> {
    let name = super::name(table, "name", findings);
    let sources = sources(table, findings);
    let schema = columns::check(table, findings);
    let key = table.texts("key").unwrap_or_default().to_vec();
    let spec = DatasetSpec {
        headers: table.pairs("headers").unwrap_or_default().to_vec(),
        object_store: object_store::check(table, findings),
        format: table.text("format").and_then(SourceFormat::of_word),
        csv: csv(table, findings),
        json: json(table, !schema.is_empty(), findings),
        sheet: sheet(table, findings),
        schema,
        partitions: table.bool("partitions"),
        key,
        refresh: refresh(table, findings),
        residency: match table.text("memory") {
            Some("always") => Residency::Always,
            Some("never") => Residency::Never,
            _ => Residency::Auto,
        },
        ..DatasetSpec::new(name?, sources?)
    };
    warn_of_headers(table, &spec, findings);
    options::warn_of_idle(table, &spec, findings);
    object_store::warn_of_idle(table, &spec, findings);
    Some(spec)
}

fn sources(table: &Table, findings: &mut Findings) -> Option<Vec<String>> {
    let place = table.place_of("source");
    let sources = table.texts("source").unwrap_or_default();
    if sources.is_empty() && table.is_mistaken("source") {
        return None;
    }
    if sources.is_empty() || sources.iter().any(String::is_empty) {
        let what = if table.get("source").is_some() { "an empty" } else { "no" };
        let message = format!("[[dataset]] has {what} `source`");
        findings.mistake(Mistake::new(place, message).with_hint("add source = \"data/uk_cities.csv\""));
        return None;
    }
    for source in sources {
        match source.split_once("://").map(|(scheme, _)| scheme) {
            None | Some("http" | "https") => {}
            Some(_) if ObjectStoreKind::of_source(source).is_some() => {}
            Some(GoogleSheetSource::SCHEME) => spreadsheet(source, place, findings),
            Some(scheme) => findings.mistake(
                Mistake::new(place, format!("sources of kind `{scheme}://` can't be read by this release")).with_hint(
                    "use a file, a directory, a glob, an http(s) URL, `s3://`, `gs://`, `az://` or `gsheets://`",
                ),
            ),
        }
    }
    Some(sources.to_vec())
}

fn spreadsheet(source: &str, place: &SettingPlace, findings: &mut Findings) {
    if GoogleSheetSource::of_source(source).is_none() {
        let mistake = Mistake::new(place, format!("`{source}` names no spreadsheet of Google"));
        findings.mistake(mistake.with_hint("write `gsheets://ID` with the id, or the address of the page as it is"));
    }
}

fn csv(table: &Table, findings: &mut Findings) -> CsvOptions {
    let encoding = table.text("encoding");
    if let Some(label) = encoding
        && encoding_rs::Encoding::for_label(label.as_bytes()).is_none()
    {
        let known = ["utf-8", "utf-16le", "utf-16be", "windows-1252", "iso-8859-1", "windows-1251", "shift_jis", "gbk"];
        findings.mistake(
            Mistake::new(table.place_of("encoding"), format!("there is no encoding `{label}`"))
                .with_hint_if(salver_model::suggest::hint(label, known)),
        );
    }
    let thousands = thousands(table, findings);
    CsvOptions {
        delimiter: character(table, "delimiter", findings),
        header: table.is_set("header").then(|| table.bool("header")),
        quote: match table.text("quote") {
            Some("") => Quote::Off,
            _ => character(table, "quote", findings).map_or(Quote::Guessed, Quote::Is),
        },
        escape: character(table, "escape", findings),
        comment: character(table, "comment", findings),
        skip_rows: table.is_set("skip_rows").then(|| usize::try_from(table.count("skip_rows")).unwrap_or(usize::MAX)),
        null_tokens: table.texts("null_tokens").unwrap_or_default().to_vec(),
        encoding: encoding.map(str::to_owned),
        decimal: table.text("decimal").and_then(|mark| mark.chars().next()),
        thousands,
        dates: table.text("dates").and_then(DateOrder::of_word),
    }
}

/// Returns the mark between groups of digits: one character that can't be part of a number otherwise.
fn thousands(table: &Table, findings: &mut Findings) -> Option<char> {
    let text = table.text("thousands")?;
    let mut characters = text.chars();
    let mark = characters.next().filter(|_| characters.next().is_none());
    let is_mark = |mark: &char| !mark.is_alphanumeric() && !mark.is_control() && !matches!(mark, '+' | '-' | '"');
    let place = table.place_of("thousands");
    let Some(mark) = mark.filter(is_mark) else {
        let message = format!("`thousands` is one character between digits, not \"{}\"", text.escape_debug());
        findings.mistake(Mistake::new(place, message).with_hint("for example thousands = \".\", or \"'\""));
        return None;
    };
    if table.text("decimal") == Some(text) {
        let message = format!("`decimal` and `thousands` are both \"{text}\"");
        let other = if mark == ',' { '.' } else { ',' };
        findings.mistake(Mistake::new(place, message).with_hint(format!("write decimal = \"{other}\"")));
    }
    Some(mark)
}

/// Returns one ASCII character, which is what CSV readers support.
fn character(table: &Table, key: &str, findings: &mut Findings) -> Option<u8> {
    let text = table.text(key)?;
    match (text, text.as_bytes()) {
        ("tab" | "\\t", _) => Some(b'\t'),
        (_, &[byte]) if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Some(byte),
        _ => {
            let message = format!("`{key}` is one ASCII character, not \"{}\"", text.escape_debug());
            let hint = format!("for example {key} = \",\", or \"tab\"");
            findings.mistake(Mistake::new(table.place_of(key), message).with_hint(hint));
            None
        }
    }
}

fn json(table: &Table, has_schema: bool, findings: &mut Findings) -> JsonOptions {
    let pointer = table.text("pointer");
    if let Some(text) = pointer.filter(|text| !text.is_empty() && !text.starts_with('/')) {
        let place = table.place_of("pointer");
        let mistake = Mistake::new(place, format!("`{text}` is not a JSON pointer: it doesn't begin with `/`"));
        findings.mistake(mistake.with_hint(format!("write \"/{}\"", text.trim_start_matches("$.").replace('.', "/"))));
    }
    let array_encoded = table.bool("array_encoded");
    if array_encoded && !has_schema {
        let place = table.place_of("array_encoded");
        let mistake = Mistake::new(place, "`array_encoded` rows have no names, so `schema` must declare the columns");
        findings.mistake(mistake.with_hint("add schema = [{ name = \"id\", type = \"int\" }, ...]"));
    }
    JsonOptions { pointer: pointer.filter(|text| !text.is_empty()).map(str::to_owned), array_encoded }
}

fn sheet(table: &Table, findings: &mut Findings) -> SheetOptions {
    let range = table.text("range");
    if let Some(text) = range.filter(|text| !is_range(text)) {
        let mistake = Mistake::new(table.place_of("range"), format!("`{text}` is not a range of cells"));
        findings.mistake(mistake.with_hint("write \"B3:F100\", \"B:F\", or \"B3\" for all from there on"));
    }
    SheetOptions {
        sheet: table.text("sheet").map(str::to_owned),
        range: range.map(str::to_owned),
        no_header: table.is_set("header") && !table.bool("header"),
    }
}

fn is_range(text: &str) -> bool {
    let cell = |text: &str| {
        let row = text.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let column_len = text.len() - row.len();
        let row_fits = row.is_empty() || row.parse::<u32>().is_ok_and(|row| (1..=1_048_576).contains(&row));
        (1..=3).contains(&column_len) && row_fits
    };
    let mut ends = text.splitn(2, ':');
    ends.all(cell)
}

fn refresh(table: &Table, findings: &mut Findings) -> Option<Duration> {
    let text = table.text("refresh").filter(|text| *text != "never")?;
    let place = table.place_of("refresh");
    match value::duration_ms(text) {
        Some(ms) if ms >= REFRESH_MS_MIN => Some(Duration::from_millis(ms)),
        Some(_) => {
            let mistake = Mistake::new(place, format!("`refresh` is at least {REFRESH_MS_MIN}ms, not {text}"));
            findings.mistake(mistake.with_hint("write refresh = \"1s\", or \"never\""));
            None
        }
        None => {
            let mistake = Mistake::new(place, format!("`{text}` is not a time"));
            findings.mistake(mistake.with_hint("write \"30s\", \"5m\", \"1h\", or \"never\""));
            None
        }
    }
}

fn warn_of_headers(table: &Table, spec: &DatasetSpec, findings: &mut Findings) {
    let has_headers = |source: &String| {
        source.starts_with("http://") || source.starts_with("https://") || GoogleSheetSource::is_meant(source)
    };
    if !spec.headers.is_empty() && !spec.sources.iter().any(has_headers) {
        let message = format!("`headers` of `{}` go nowhere: none of its sources is an http(s) URL", spec.name);
        findings.warning(Mistake::new(table.place_of("headers"), message).with_hint("remove `headers`"));
    }
}
