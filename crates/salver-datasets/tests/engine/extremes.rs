//! The least and the greatest value of every type, cast to every type: an answer or a refusal, and never a fault.

use std::sync::Arc;

use salver_model::ports::{SqlEngine, Tables};
use salver_model::{Code, SqlQuery};

use super::generated::{self, Catalog};

const TYPES: [&str; 43] = [
    "Int8",
    "Int16",
    "Int32",
    "Int64",
    "UInt8",
    "UInt16",
    "UInt32",
    "UInt64",
    "Float16",
    "Float32",
    "Float64",
    "Decimal32(9, 0)",
    "Decimal64(18, 18)",
    "Decimal128(38, 0)",
    "Decimal128(38, 38)",
    "Decimal128(38, -10)",
    "Decimal256(76, 0)",
    "Decimal256(76, 76)",
    "Date32",
    "Date64",
    "Time32(Second)",
    "Time32(Millisecond)",
    "Time64(Microsecond)",
    "Time64(Nanosecond)",
    "Timestamp(Second, None)",
    "Timestamp(Millisecond, None)",
    "Timestamp(Microsecond, None)",
    "Timestamp(Nanosecond, None)",
    "Timestamp(Second, Some(\"Europe/Berlin\"))",
    "Timestamp(Millisecond, Some(\"+05:30\"))",
    "Timestamp(Microsecond, Some(\"UTC\"))",
    "Duration(Second)",
    "Duration(Nanosecond)",
    "Interval(YearMonth)",
    "Interval(DayTime)",
    "Interval(MonthDayNano)",
    "Utf8",
    "LargeUtf8",
    "Utf8View",
    "Binary",
    "Boolean",
    "List(Int64)",
    "List(Date64)",
];

/// The edges of the types: of each number of bits, as what has these bits.
fn values() -> Vec<String> {
    let long = ["-9223372036854775808", "9223372036854775807"];
    let short = ["-2147483648", "2147483647"];
    let mut values: Vec<String> = long.iter().map(|value| format!("({value})")).collect();
    for to in TYPES {
        match to {
            "Date64" => values.push("arrow_cast(9223372036854775807, 'Date64')".to_owned()),
            to if to.starts_with("Time64") || to.starts_with("Timestamp") || to.starts_with("Duration") => {
                values.extend(long.iter().map(|value| format!("arrow_cast({value}, '{to}')")));
            }
            "Date32" | "Time32(Second)" | "Time32(Millisecond)" | "Interval(YearMonth)" => {
                values.extend(short.iter().map(|value| format!("arrow_cast({value}::int, '{to}')")));
            }
            _ => {}
        }
    }
    let others = [
        "18446744073709551615::decimal(38, 0)",
        "1.7976931348623157e308",
        "'NaN'::float8",
        "'-Infinity'::float8",
        "arrow_cast('-3.4028235e38', 'Float32')",
        "arrow_cast('-99999999999999999999999999999999999999', 'Decimal128(38, 0)')",
        "arrow_cast('0.99999999999999999999999999999999999999', 'Decimal128(38, 38)')",
        "interval '178956970 years'",
        "interval '-2147483648 days'",
        "interval '9223372036 seconds'",
        "''",
        "'-9223372036854775808'",
        "'-262144-01-01 00:00:00'",
        "'9999-12-31T23:59:59.999999999Z'",
        "'1e400'",
        "'24:00:00'",
        "true",
        "null",
        "[-9223372036854775808]",
    ];
    values.extend(others.iter().map(ToString::to_string));
    values.push(format!("arrow_cast('{}', 'Decimal256(76, 0)')", "9".repeat(76)));
    values
}

#[tokio::test(flavor = "multi_thread")]
async fn casts_of_extreme_values_are_answered_or_refused() {
    let (engine, _dir) = generated::engine();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(Vec::new()));
    let ask = async |text: String| {
        let query = SqlQuery { text, ..SqlQuery::default() };
        match engine.run(Arc::clone(&tables), &query).await {
            Ok(rows) => generated::collect(rows).await.map(|_| ()),
            Err(error) => Err(error),
        }
    };
    let mut wrong = Vec::new();
    for value in values() {
        for to in TYPES {
            // The value of a table is not a constant, and not computed before it is asked for.
            for text in [
                format!("select arrow_cast({value}, '{to}')"),
                format!("select arrow_try_cast({value}, '{to}')"),
                format!("select arrow_cast(x, '{to}') as y from (values ({value})) as v(x)"),
            ] {
                match ask(text.clone()).await {
                    Err(error) if error.code == Code::Internal => wrong.push(format!("{text}: {error:?}")),
                    _ => {}
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
    let error = ask("select arrow_cast(-9223372036854775808, 'Date64')".to_owned()).await.unwrap_err();
    assert!(error.message.contains("out of the range of Date64"), "{error:?}");
    ask("select arrow_try_cast(-9223372036854775808, 'Date64')".to_owned()).await.unwrap();
}

/// The least of nested values is one, or it is said why not and what to write.
#[tokio::test(flavor = "multi_thread")]
async fn extremes_of_nested_values_are_answered_or_refused_with_a_reason() {
    let (engine, _dir) = generated::engine();
    let tables: Arc<dyn Tables> = Arc::new(Catalog(Vec::new()));
    let ask = async |text: &str| {
        let query = SqlQuery { text: text.to_owned(), ..SqlQuery::default() };
        generated::collect(engine.run(Arc::clone(&tables), &query).await?).await
    };
    for (value, instead) in [
        ("[1, 2]", None),
        ("named_struct('a', 1)", None),
        ("arrow_cast([1, 2], 'FixedSizeList(2, Int64)')", None),
        ("[[1], [2]]", Some("min(x[1])")),
        ("[named_struct('a', 1)]", Some("min(x::text)")),
        ("named_struct('member', [1])", Some("min(x.member)")),
        ("map(['key'], [1])", Some("min(x['key'])")),
    ] {
        let from = format!("from (values ({value}), ({value})) as v(x)");
        for name in ["min", "max"] {
            let found = ask(&format!("select {name}(x) as y {from}")).await;
            match instead {
                None => assert_eq!(found.unwrap().num_rows(), 1, "{value}"),
                Some(instead) => {
                    let error = found.unwrap_err();
                    assert_eq!(error.code, Code::InvalidSql, "{value}: {error:?}");
                    assert!(error.message.contains(&format!("`{name}` of `x`: ")), "{value}: {error:?}");
                    let instead = instead.replace("min", name);
                    assert!(error.hint.as_ref().is_some_and(|hint| hint.contains(&instead)), "{value}: {error:?}");
                    assert_eq!(ask(&format!("select {instead} as y {from}")).await.unwrap().num_rows(), 1, "{value}");
                }
            }
            let found = ask(&format!("select {name}(x) over () as y {from}")).await;
            assert_eq!(found.is_ok(), instead.is_none(), "{name} of {value} over (): {found:?}");
        }
        let rows = ask(&format!("select count(distinct x) as y {from}")).await.unwrap();
        assert_eq!(rows.num_rows(), 1, "{value}");
    }
}
