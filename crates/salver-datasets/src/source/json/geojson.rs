//! Features of GeoJSON as rows: the properties are columns, and the geometry is text.

use std::borrow::Cow;
use std::collections::HashSet;

use salver_text::json::pieces;
use serde_json::value::RawValue;

use super::nested_text::Members;

/// Writes a feature as an object: its `id`, if it has one, its properties, and its geometry as GeoJSON in a text. A
/// property called `id` or `geometry` keeps its name; the member of the feature is then `feature_id` or
/// `feature_geometry`, or has a number behind that.
///
/// # Errors
/// Why it is not a feature.
pub(super) fn row(feature: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
    let invalid = |cause: serde_json::Error| {
        let text = cause.to_string();
        text.split(" at line ").next().unwrap_or(&text).to_owned()
    };
    let members: Members<'_> = serde_json::from_slice(feature).map_err(invalid)?;
    let kind = members.get("type").map_or("null", RawValue::get);
    if kind != "\"Feature\"" {
        return Err(format!("its `type` is {kind:.40}, not \"Feature\""));
    }
    let given = |name: &str| members.get(name).filter(|value| value.get() != "null");
    let properties: Members<'_> = match given("properties") {
        Some(object) if object.get().starts_with('{') => serde_json::from_str(object.get()).map_err(invalid)?,
        Some(_) => return Err("its `properties` are not an object".to_owned()),
        None => Members(Vec::new()),
    };
    let taken: HashSet<&str> = properties.0.iter().map(|(name, _)| name.as_ref()).collect();
    let free = |name: &'static str| {
        let others = std::iter::once(format!("feature_{name}")).chain((2..).map(|n| format!("feature_{name}_{n}")));
        let mut all = std::iter::once(name.to_owned()).chain(others);
        all.find(|name| !taken.contains(name.as_str())).map_or(Cow::Borrowed(name), Cow::Owned)
    };
    let mut parts: Vec<(Cow<'_, str>, String)> = Vec::with_capacity(properties.0.len() + 2);
    parts.extend(given("id").map(|id| (free("id"), id.get().to_owned())));
    parts.extend(properties.0.iter().map(|(name, value)| (Cow::Borrowed(name.as_ref()), value.get().to_owned())));
    let geometry = match given("geometry") {
        Some(object) if object.get().starts_with('{') => {
            serde_json::Value::String(pieces(object.get()).collect()).to_string()
        }
        Some(_) => return Err("its `geometry` is not an object".to_owned()),
        None => "null".to_owned(),
    };
    parts.push((free("geometry"), geometry));
    for (place, (name, value)) in parts.into_iter().enumerate() {
        out.push(if place == 0 { b'{' } else { b',' });
        out.extend_from_slice(serde_json::Value::from(name.as_ref()).to_string().as_bytes());
        out.push(b':');
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b'}');
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::row;

    fn shown(feature: &str) -> Result<String, String> {
        let mut out = Vec::new();
        row(feature.as_bytes(), &mut out).map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn features() {
        for (feature, expected) in [
            (
                r#"{"type": "Feature", "id": 7, "geometry": {"type": "Point", "coordinates": [1.50, 2]},
                    "properties": {"name": "a\"b", "n": {"x": [1]}}}"#,
                r#"{"id":7,"name":"a\"b","n":{"x": [1]},"geometry":"{\"type\":\"Point\",\"coordinates\":[1.50,2]}"}"#,
            ),
            (r#"{"type":"Feature","properties":null,"geometry":null}"#, r#"{"geometry":null}"#),
            (r#"{"type":"Feature"}"#, r#"{"geometry":null}"#),
            (
                r#"{"type":"Feature","id":"f","properties":{"id":1,"geometry":"g"},"geometry":{}}"#,
                r#"{"feature_id":"f","id":1,"geometry":"g","feature_geometry":"{}"}"#,
            ),
            (
                r#"{"type":"Feature","properties":{"geometry":1,"feature_geometry":"mine"},"geometry":{}}"#,
                r#"{"geometry":1,"feature_geometry":"mine","feature_geometry_2":"{}"}"#,
            ),
        ] {
            assert_eq!(shown(feature).as_deref(), Ok(expected));
        }
        for (feature, expected) in [
            (r#"{"type":"Point","coordinates":[1,2]}"#, "its `type` is \"Point\", not \"Feature\""),
            (r#"{"properties":{}}"#, "its `type` is null"),
            (r#"{"type":"Feature","properties":[1]}"#, "its `properties` are not an object"),
            (r#"{"type":"Feature","geometry":"POINT (1 2)"}"#, "its `geometry` is not an object"),
            ("[1]", "invalid type"),
            (r#"{"type":"Feature",}"#, "trailing comma"),
        ] {
            let why = shown(feature).unwrap_err();
            assert!(why.contains(expected), "{why}");
        }
    }
}
