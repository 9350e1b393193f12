//! Malformed SQL never panics and is never the server's fault.

use std::sync::Arc;

use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, SqlParameters, SqlQuery, Value};

use super::generated::{self, Catalog, Dice, collect};

const SOUP: [&str; 96] = [
    "select",
    "from",
    "where",
    "t",
    "id",
    "text",
    "float",
    "flag",
    "day",
    "place",
    "tags",
    "*",
    ",",
    "(",
    ")",
    "=",
    "<",
    ">",
    "<>",
    "+",
    "-",
    "/",
    "%",
    "1",
    "0",
    "2.5",
    "'x'",
    "''",
    "null",
    "true",
    "and",
    "or",
    "not",
    "in",
    "like",
    "between",
    "is",
    "order",
    "by",
    "group",
    "having",
    "limit",
    "offset",
    "count",
    "sum",
    "min",
    "as",
    "n",
    "join",
    "on",
    "left",
    "union",
    "all",
    "distinct",
    "case",
    "when",
    "then",
    "else",
    "end",
    "cast",
    "int",
    "[",
    "]",
    ".",
    "::",
    ";",
    "with",
    "x",
    "over",
    "partition",
    "exists",
    "interval",
    "'1 day'",
    "now",
    "$1",
    "?",
    "->",
    "->>",
    "|",
    "||",
    "json_get",
    "unnest",
    "generate_series",
    "information_schema",
    "tables",
    "explain",
    "values",
    "except",
    "array_agg",
    "extract",
    "year",
    "desc",
    "nulls",
    "first",
    "using",
    "\"",
];

#[tokio::test(flavor = "multi_thread")]
async fn token_soup() {
    let (engine, _dir) = generated::engine();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(generated::resident(
        &generated::spec("t", &["id"]),
        &generated::rows(30, 1),
        &engine,
    ))]));
    let mut ran = 0;
    for seed in 1..=6_000_u64 {
        let mut dice = Dice(seed * 15_485_863);
        let mut words: Vec<&str> = if dice.one_in(4) { Vec::new() } else { vec!["select"] };
        match dice.below(3) {
            0 => words.extend(["id", "from", "t", "where"]),
            1 => words.extend(["*", "from", "t", "order", "by"]),
            _ => {}
        }
        words.extend((0..dice.below(12)).map(|_| *dice.pick(&SOUP)));
        let text = words.join(" ");
        let parameters =
            if dice.one_in(4) { SqlParameters::Positional(vec![Value::Int(1)]) } else { SqlParameters::None };
        let query = SqlQuery { text: text.clone(), parameters, is_safe: false, ..SqlQuery::default() };
        let answer = match engine.run(Arc::clone(&tables), &query).await {
            Ok(rows) => collect(rows).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(_) => ran += 1,
            Err(error) => assert_ne!(error.code, Code::Internal, "seed {seed}: {text}: {error:?}"),
        }
    }
    assert!(ran > 20, "only {ran} statements ran: the soup is too thin to find anything");
}

const COLUMNS: [&str; 16] = [
    "id",
    "small",
    "big",
    "short",
    "float",
    "text",
    "flag",
    "day",
    "at",
    "local",
    "price",
    "time",
    "bytes",
    "place",
    "tags",
    "\"Mixed Name\"",
];
const FUNCTIONS: [&str; 68] = [
    "abs",
    "round",
    "sqrt",
    "ln",
    "power",
    "upper",
    "lower",
    "trim",
    "substr",
    "replace",
    "repeat",
    "lpad",
    "left",
    "length",
    "concat",
    "split_part",
    "strpos",
    "regexp_match",
    "regexp_replace",
    "regexp_like",
    "to_char",
    "date_trunc",
    "date_part",
    "date_bin",
    "to_timestamp",
    "extract",
    "coalesce",
    "nullif",
    "greatest",
    "array_length",
    "array_agg",
    "array_sort",
    "array_slice",
    "flatten",
    "make_array",
    "unnest",
    "struct",
    "get_field",
    "md5",
    "sha256",
    "encode",
    "json_get",
    "json_get_int",
    "json_length",
    "json_object_keys",
    "jsonb",
    "jsonb_build_object",
    "jsonb_concat",
    "jsonb_contains",
    "jsonb_has_any",
    "jsonb_minus",
    "jsonb_pretty",
    "jsonb_set",
    "jsonb_step",
    "json_elements",
    "json_path_text",
    "json_values",
    "count",
    "sum",
    "avg",
    "median",
    "stddev",
    "approx_percentile_cont",
    "first_value",
    "string_agg",
    "row_number",
    "lag",
    "nanvl",
];

fn expression(dice: &mut Dice, depth: u64) -> String {
    if depth == 0 || dice.one_in(3) {
        return match dice.below(4) {
            0 => (*dice.pick(&[
                "1",
                "-1",
                "0",
                "2.5",
                "'x'",
                "'%Y'",
                "null",
                "true",
                "'{\"a\":1}'",
                "9223372036854775807",
                "[1,2]",
                "'day'",
            ]))
            .to_owned(),
            _ => (*dice.pick(&COLUMNS)).to_owned(),
        };
    }
    let inner = expression(dice, depth - 1);
    match dice.below(8) {
        0 => format!(
            "({inner} {} {})",
            dice.pick(&["+", "-", "*", "/", "%", "||", "=", "<", "and", "->", "->>", "like", "&"]),
            expression(dice, depth - 1)
        ),
        1 => format!(
            "cast({inner} as {})",
            dice.pick(&["int", "varchar", "date", "timestamp", "double", "boolean", "decimal(5,2)", "bytea"])
        ),
        2 => format!("case when {inner} then {} else {} end", expression(dice, depth - 1), expression(dice, depth - 1)),
        3 => format!("{}({inner}) over (partition by small order by id)", dice.pick(&FUNCTIONS)),
        _ => {
            let more: Vec<String> = (0..dice.below(3)).map(|_| expression(dice, depth - 1)).collect();
            let comma = if more.is_empty() { "" } else { ", " };
            format!("{}({inner}{comma}{})", dice.pick(&FUNCTIONS), more.join(", "))
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn functions_of_anything() {
    let (engine, _dir) = generated::engine();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(vec![Arc::new(generated::resident(
        &generated::spec("t", &["id"]),
        &generated::rows(30, 1),
        &engine,
    ))]));
    let mut ran = 0;
    for seed in 1..=4_000_u64 {
        let mut dice = Dice(seed * 32_452_843);
        let mut text = format!("select {} from t", expression(&mut dice, 2));
        if dice.one_in(3) {
            text.push_str(&format!(" where {}", expression(&mut dice, 1)));
        }
        if dice.one_in(3) {
            text.push_str(&format!(" order by {}", expression(&mut dice, 1)));
        }
        let query = SqlQuery { text: text.clone(), ..SqlQuery::default() };
        let answer = match engine.run(Arc::clone(&tables), &query).await {
            Ok(rows) => collect(rows).await,
            Err(error) => Err(error),
        };
        match answer {
            Ok(_) => ran += 1,
            Err(error) => assert_ne!(error.code, Code::Internal, "seed {seed}: {text}: {error:?}"),
        }
    }
    assert!(ran > 500, "only {ran} statements ran");
}

#[tokio::test(flavor = "multi_thread")]
async fn random_bytes() {
    let (engine, _dir) = generated::engine();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(Vec::new()));
    let mut dice = Dice(99);
    for _ in 0..2_000 {
        let bytes: Vec<u8> = (0..dice.below(60)).map(|_| dice.next() as u8).collect();
        let query = SqlQuery { text: String::from_utf8_lossy(&bytes).into_owned(), ..SqlQuery::default() };
        if let Err(error) = engine.run(Arc::clone(&tables), &query).await {
            assert_ne!(error.code, Code::Internal, "{bytes:?}: {error:?}");
        }
    }
}
