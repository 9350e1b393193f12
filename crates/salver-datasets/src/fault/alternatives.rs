//! Replacements for functions of PostgreSQL that are not supported.

/// The functions, and what replaces them.
const INSTEAD: &[(&[&str], &str)] = &[
    (
        &["json_object", "jsonb_object", "json_array", "json_objectagg", "json_arrayagg"],
        "write `json_build_object('key', value, ...)`, `json_build_array(...)`, `json_object_agg` or `json_agg`",
    ),
    (
        &["json_each", "jsonb_each", "json_each_text", "jsonb_each_text"],
        "it stands in `from`: `select key, value from t, jsonb_each(t.x)`",
    ),
    (
        &[
            "json_to_record",
            "json_to_recordset",
            "json_populate_record",
            "json_populate_recordset",
            "jsonb_to_record",
            "jsonb_to_recordset",
            "jsonb_populate_record",
            "jsonb_populate_recordset",
        ],
        "write each column, as in `(x->>'id')::int as id`; of an array of rows those of `jsonb_array_elements(x)`",
    ),
    (
        &[
            "json_extract_path",
            "jsonb_extract_path",
            "jsonb_path_query",
            "jsonb_path_query_array",
            "jsonb_path_query_first",
        ],
        "write a path of steps, as in `x->'a'->0->>'b'` or `x #>> '{a,0,b}'`",
    ),
    (
        &[
            "jsonb_path_exists",
            "jsonb_path_match",
            "json_exists",
            "jsonb_exists",
            "jsonb_exists_any",
            "jsonb_exists_all",
        ],
        "write `x ? 'key'`, `x @> '{\"key\": 1}'` or `(x #>> '{a,b}')::int > 1`",
    ),
    (&["json_value", "json_query"], "write `x #>> '{a,b}'` for a text, and `x #> '{a,b}'` for JSON"),
    (&["json_strip_nulls"], "write `jsonb_strip_nulls(x::jsonb)`"),
    (&["jsonb_set_lax"], "write `jsonb_set(x, path, coalesce(value, 'null'))`, or `x #- path`"),
    (&["jsonb_delete", "jsonb_contained"], "write the operator: `x::jsonb - 'key'`, `x::jsonb <@ y::jsonb`"),
    (&["regexp_matches"], "write `regexp_match(text, pattern)` for the first match, or `regexp_split_to_table`"),
    (
        &["to_tsvector", "to_tsquery", "plainto_tsquery", "websearch_to_tsquery", "ts_rank", "ts_headline"],
        "search with `ilike '%word%'` or `~* 'word'`",
    ),
    (&["similarity", "word_similarity", "soundex", "metaphone", "dmetaphone"], "write `levenshtein(a, b)`"),
    (&["timeofday"], "write `now()::text`"),
    (&["justify_days", "justify_hours", "justify_interval"], "take it apart with `extract(epoch from x)`"),
    (&["isfinite"], "leave it out: every time here is finite"),
    (&["setseed"], "write `order by md5(id::text)` for an order that repeats"),
    (&["random_normal"], "write `sqrt(-2 * ln(random())) * cos(2 * pi() * random())`"),
    (&["scale", "min_scale", "trim_scale"], "cast it to the digits that you want, as in `x::decimal(12, 2)`"),
    (&["sind", "cosd", "tand", "asind", "acosd", "atand", "cotd", "atan2d"], "write `sin(radians(x))` and the like"),
    (&["pg_sleep", "pg_backend_pid", "pg_cancel_backend", "txid_current"], "leave it out: there is no session here"),
    (
        &["current_database", "current_schema", "current_setting", "pg_table_size", "pg_total_relation_size"],
        "ask `information_schema.tables`",
    ),
    (&["nextval", "currval", "lastval"], "write `row_number() over ()`"),
    (&["array_fill"], "write `array_repeat(x, n)`"),
    (&["array_sample", "array_shuffle"], "write `array_agg(x order by random())` over `unnest`"),
    (&["range_agg", "int4range", "int8range", "numrange", "tsrange", "tstzrange", "daterange"], COMPARE),
    (&["lower_inc", "upper_inc", "isempty"], COMPARE),
    (&["xmlagg", "xmlelement", "xmlforest", "xpath"], "ask for JSON"),
    (&["unistr"], "write the signs themselves, or `chr(97)`"),
    (&["to_ascii", "normalize", "casefold"], "write `translate(x, 'äöü', 'aou')` or `lower(x)`"),
    (
        &["get_byte", "set_byte", "get_bit", "set_bit", "bit_count"],
        "write `encode(x, 'hex')`, and take it apart as text",
    ),
    (&["host", "inet", "network", "masklen", "broadcast", "abbrev"], "keep addresses as text: `split_part(x, '/', 1)`"),
    (&["st_distance", "st_within", "st_intersects", "st_makepoint"], "compute with the coordinates"),
];

const COMPARE: &str = "keep the two ends, and compare them, as in `x >= a and x < b`";

/// Returns the replacement for a function.
pub(super) fn of(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    INSTEAD.iter().find(|(names, _)| names.contains(&lower.as_str())).map(|(_, instead)| *instead)
}
