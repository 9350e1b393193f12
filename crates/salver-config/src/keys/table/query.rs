//! The settings of views and named queries.

use super::new_row;
use crate::keys::{Section, Setting, SettingKind};

/// Words of `runs_as`.
const RUNS_AS: SettingKind = SettingKind::Choice(&["caller", "owner"]);

/// Rows of the table.
#[rustfmt::skip]
pub(super) const ROWS: &[Setting] = &[
    new_row(Section::View, "name", SettingKind::Text, ["", r#""large_cities""#],
        "The name of the view, which is an entry like any other. Required.",
        &[]),
    new_row(Section::View, "sql", SettingKind::Text,
        ["", r#""SELECT city, lat, lng FROM uk_cities WHERE lat > 53""#],
        "The query that gives its rows, over entries and other views. Required.",
        &["query", "definition"]),
    new_row(Section::View, "runs_as", RUNS_AS, [r#""caller""#, r#""owner""#],
        "Whose rights it has: the `caller`'s, for whom columns and rows that rules keep back are not there in it \
            either, or the `owner`'s, for whom every table is there as a whole. Then the rules about the view itself \
            are the only ones for its callers.",
        &["security", "definer"]),
    new_row(Section::Query, "name", SettingKind::Text, ["", r#""cities_of""#],
        "The name of the query, which runs at `/api/queries/NAME`. Required.",
        &[]),
    new_row(Section::Query, "sql", SettingKind::Text,
        ["", r#""SELECT city, lat, lng FROM uk_cities WHERE city LIKE $beginning || '%'""#],
        "The statement. `$NAME` stands for a parameter, which `?NAME=` gives a value; so do `$1`, `$2` for those that \
            `parameter` declares, in order. Required.",
        &["query", "statement"]),
    new_row(Section::Query, "description", SettingKind::Text, ["", r#""Cities whose name begins so.""#],
        "What it is for, for people.",
        &["title"]),
    new_row(Section::Query, "parameter", SettingKind::Tables(Section::Parameter),
        ["", r#"[{ name = "beginning", type = "text", default = "A" }]"#],
        "Its parameters. Those that the statement names and that are not here are required, and of the type of what \
            they are compared with; where the statement does not tell that, they are texts.",
        &["parameters", "params"]),
    new_row(Section::Query, "runs_as", RUNS_AS, [r#""caller""#, r#""owner""#],
        "Whose rights it has, as of a view.",
        &["security", "definer"]),
    new_row(Section::Parameter, "name", SettingKind::Text, ["", r#""beginning""#],
        "The name, without `$`: letters, digits and `_`. Required.",
        &[]),
    new_row(Section::Parameter, "type",
        SettingKind::Choice(&["text", "integer", "number", "boolean", "date", "timestamp"]), ["", r#""text""#],
        "What its values are. Without it, what the statement compares it with, or else a text.",
        &["kind", "data_type"]),
    new_row(Section::Parameter, "default", SettingKind::Text, ["", r#""A""#],
        "The value that counts when none is given, as a request would have it.",
        &[]),
    new_row(Section::Parameter, "required", SettingKind::Bool, ["true", "false"],
        "Whether a request without it is refused, where it has no `default`. If not, it is null then.",
        &[]),
    new_row(Section::Parameter, "description", SettingKind::Text, ["", r#""The first letters of the name.""#],
        "What it is, for people.",
        &[]),
];
