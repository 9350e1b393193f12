//! Measures an Avro schema after expansion of its named types. Each type may refer to the one before any number of
//! times, so that a schema of a kilobyte can expand to more columns than fit into memory.

use std::collections::HashMap;

use salver_model::limits::AVRO_TYPES_MAX;
use serde_json::Value as Json;

/// Returns whether `schema` expands to more than [`AVRO_TYPES_MAX`]. An invalid schema is left to the reader.
pub(super) fn are_too_many(schema: &[u8]) -> bool {
    // The library limits the depth that it parses, and so that of this recursion.
    let Ok(schema) = serde_json::from_slice(schema) else { return false };
    size(&schema, &mut HashMap::new()) > AVRO_TYPES_MAX
}

fn size<'s>(schema: &'s Json, names: &mut HashMap<&'s str, u64>) -> u64 {
    match schema {
        Json::String(name) => names.get(simple(name)).copied().unwrap_or(1),
        Json::Array(branches) => sum(branches.iter(), names),
        Json::Object(members) => {
            let inner = match members.get("fields").and_then(Json::as_array) {
                Some(fields) => sum(fields.iter().filter_map(|field| field.get("type")), names),
                None => sum(["type", "items", "values"].iter().filter_map(|member| members.get(*member)), names),
            };
            if let Some(name) = members.get("name").and_then(Json::as_str) {
                // Of types whose names differ only in the namespace, the largest counts.
                let own = names.entry(simple(name)).or_insert(0);
                *own = inner.max(*own);
            }
            inner
        }
        _ => 1,
    }
}

fn sum<'s>(types: impl Iterator<Item = &'s Json>, names: &mut HashMap<&'s str, u64>) -> u64 {
    types.fold(1, |sum: u64, one| sum.saturating_add(size(one, names)))
}

/// Returns a name without its namespace.
fn simple(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::are_too_many;

    #[test]
    fn types_that_double() {
        let doubled = |times: usize| {
            let mut fields = r#"{"name":"f0","type":{"type":"record","name":"r0","fields":[]}}"#.to_owned();
            for n in 1..times {
                let before = n - 1;
                fields += &format!(
                    r#",{{"name":"f{n}","type":{{"type":"record","name":"ns.r{n}","fields":[
                        {{"name":"a","type":"r{before}"}},{{"name":"b","type":["null","r{before}"]}}]}}}}"#
                );
            }
            format!(r#"{{"type":"record","name":"all","fields":[{fields}]}}"#)
        };
        assert!(!are_too_many(doubled(8).as_bytes()));
        assert!(are_too_many(doubled(20).as_bytes()));
        assert!(are_too_many(doubled(2_000).as_bytes()));
        for other in ["\"int\"", "{", "[]", r#"{"type":"array","items":{"type":"map","values":"long"}}"#] {
            assert!(!are_too_many(other.as_bytes()));
        }
    }
}
