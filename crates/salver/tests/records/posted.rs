//! One value by every way that there is to write it.

use serde_json::Value as Json;

use super::program::Program;

/// The ways.
pub(crate) const WAYS: &[&str] =
    &["post", "put", "put by condition", "upsert", "ndjson", "csv", "batch", "operations", "graphql"];

/// The row that a value is written to by a way, both by their numbers.
pub(crate) fn row(value: usize, way: usize) -> usize {
    value * 10 + way + 1
}

/// Statements that make the rows which ways need to be there, for so many values.
pub(crate) fn rows(table: &str, values: usize) -> String {
    let put = WAYS.iter().enumerate().filter(|(_, way)| way.starts_with("put")).map(|(way, _)| way);
    let ids: Vec<String> = put.flat_map(|way| (0..values).map(move |value| format!("({})", row(value, way)))).collect();
    format!("insert into {table} (id) values {};\n", ids.join(", "))
}

/// Writes `value`, which is JSON, into the column `v` of the row `id`; why it was refused.
pub(crate) fn post(program: &Program, table: &str, way: &str, id: usize, value: &str) -> Result<(), String> {
    let record = format!("{{\"id\":{id},\"v\":{value}}}");
    let typed = |kind: &str, body: &str| {
        program.ask("POST", &format!("/records/{table}?bytes=base64"), &[("content-type", kind)], Some(body))
    };
    let answer = match way {
        "post" => program.send("POST", &format!("/records/{table}"), &record),
        "put" => program.send("PUT", &format!("/records/{table}/{id}"), &format!("{{\"v\":{value}}}")),
        "put by condition" => {
            let target = format!("/records/{table}?filter=id,eq,{id}&max_affected=1");
            program.send("PUT", &target, &format!("{{\"v\":{value}}}"))
        }
        "upsert" => program.send("POST", &format!("/records/{table}?on_conflict=id&upsert=update"), &record),
        "ndjson" => typed("application/x-ndjson", &format!("{record}\n")),
        "csv" => {
            let text = serde_json::from_str::<Json>(value).expect("a value");
            let text =
                text.as_str().map_or_else(|| value.to_owned(), |text| format!("\"{}\"", text.replace('"', "\"\"")));
            typed("text/csv", &format!("id,v\n{id},{text}\n"))
        }
        "batch" => program.send("POST", &format!("/records/{table}"), &format!("[{record}]")),
        "operations" => {
            let body = format!("{{\"operations\":[{{\"create\":\"{table}\",\"record\":{record}}}]}}");
            program.send("POST", "/records", &body)
        }
        _ => {
            let query = format!("mutation {{ create_{table}(records: [{{id: {id}, v: {value}}}]) {{ id }} }}");
            let body = Json::from_iter([("query", query)]).to_string();
            program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(&body))
        }
    };
    let refused = answer.status != 200 || answer.body.contains("\"refused\":1") || answer.body.contains("\"errors\"");
    if refused { Err(format!("{} {}", answer.status, answer.body)) } else { Ok(()) }
}
