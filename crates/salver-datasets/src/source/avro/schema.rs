//! Avro schemas: the columns of a file, with all names of types resolved.
//!
//! Each named type may be used any number of times, so that a schema of a kilobyte can have more columns than fit into
//! memory; the parts are counted with all names written out.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::{DECIMAL256_MAX_PRECISION, TimeUnit};
use salver_model::limits::AVRO_TYPES_MAX;
use serde_json::{Map, Value as Json};

/// The type of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Null,
    Boolean,
    Int,
    Long,
    Float,
    Double,
    Bytes,
    String,
    Date,
    TimeMillis,
    TimeMicros,
    /// The unit, and whether it is an instant and not a local time.
    Timestamp(TimeUnit, bool),
    /// Digits, those behind the decimal point, and the bytes if they are fixed.
    Decimal(u8, i8, Option<usize>),
    Duration,
    /// A UUID of 16 bytes.
    Uuid,
    Fixed(usize),
    Enum(Arc<[String]>),
    Array(Box<Self>),
    Map(Box<Self>),
    Record(Vec<(String, Self)>),
    /// A union of a type and null, and whether null is the first.
    Nullable(Box<Self>, bool),
    /// Any other union, with the names of its types.
    Union(Vec<(String, Self)>),
}

/// The reason why a schema can't be read.
#[derive(Debug, PartialEq)]
pub(super) enum Flaw {
    /// It is not a schema.
    Invalid(String),
    /// It is valid, but no table can have it: why, and the way out.
    Unsupported(String, &'static str),
}

fn invalid(why: impl Into<String>) -> Flaw {
    Flaw::Invalid(why.into())
}

/// Parses a schema of rows, and returns their columns.
pub(super) fn columns(text: &[u8]) -> Result<Vec<(String, Type)>, Flaw> {
    let json: Json =
        serde_json::from_slice(text).map_err(|cause| invalid(format!("its schema is not JSON: {cause}")))?;
    match (Parser { names: HashMap::new(), parts: 0 }).parse(&json, "")? {
        Type::Record(columns) => Ok(columns),
        other => Err(Flaw::Unsupported(
            format!("its rows are of the type `{}`, and only records have columns", kind(&other)),
            "write each value as a record with one field",
        )),
    }
}

struct Parser {
    /// What is known by its full name, with the number of its parts; `None` while it is being read.
    names: HashMap<String, Option<(Type, u64)>>,
    parts: u64,
}

impl Parser {
    // The library limits the depth of JSON, and so that of this recursion.
    fn parse(&mut self, json: &Json, namespace: &str) -> Result<Type, Flaw> {
        self.count(1)?;
        match json {
            Json::String(name) => self.named(name, namespace),
            Json::Array(branches) => self.union(branches, namespace),
            Json::Object(members) => match members.get("type") {
                Some(Json::String(name)) => self.complex(name, members, namespace),
                Some(inner @ (Json::Object(_) | Json::Array(_))) => self.parse(inner, namespace),
                _ => Err(invalid("a type in its schema has no `type`")),
            },
            _ => Err(invalid(format!("`{json}` in its schema is no type"))),
        }
    }

    fn count(&mut self, parts: u64) -> Result<(), Flaw> {
        self.parts = self.parts.saturating_add(parts);
        if self.parts > AVRO_TYPES_MAX {
            let why = format!("the types of its schema have more than {AVRO_TYPES_MAX} parts, all names written out");
            return Err(invalid(why));
        }
        Ok(())
    }

    fn complex(&mut self, name: &str, members: &Map<String, Json>, namespace: &str) -> Result<Type, Flaw> {
        let inner = |member: &str| {
            members.get(member).ok_or_else(|| invalid(format!("`{name}` in its schema has no `{member}`")))
        };
        match name {
            "array" => Ok(Type::Array(Box::new(self.parse(inner("items")?, namespace)?))),
            "map" => Ok(Type::Map(Box::new(self.parse(inner("values")?, namespace)?))),
            "record" | "error" | "enum" | "fixed" => {
                let own = full_name(members, namespace).ok_or_else(|| invalid("a type in its schema has no `name`"))?;
                let before = self.parts;
                self.names.insert(own.clone(), None);
                let made = match name {
                    "enum" => symbols(inner("symbols")?)?,
                    "fixed" => fixed(inner("size")?, members)?,
                    _ => self.record(inner("fields")?, own.rsplit_once('.').map_or("", |(space, _)| space))?,
                };
                self.names.insert(own, Some((made.clone(), self.parts - before)));
                Ok(made)
            }
            name => logical(self.named(name, namespace)?, members),
        }
    }

    fn record(&mut self, fields: &Json, namespace: &str) -> Result<Type, Flaw> {
        let fields = fields.as_array().ok_or_else(|| invalid("the `fields` of a record in its schema are no array"))?;
        let mut columns = Vec::new();
        for field in fields {
            let (name, of) = (field.get("name").and_then(Json::as_str), field.get("type"));
            let (Some(name), Some(of)) = (name, of) else {
                return Err(invalid("a field in its schema has no `name` or no `type`"));
            };
            columns.push((name.to_owned(), self.parse(of, namespace)?));
        }
        Ok(Type::Record(columns))
    }

    fn named(&mut self, name: &str, namespace: &str) -> Result<Type, Flaw> {
        if let Some(primitive) = primitive(name) {
            return Ok(primitive);
        }
        // Some writers leave out a namespace where they should not.
        match self.names.get(&qualified(name, namespace)).or_else(|| self.names.get(name)) {
            Some(Some((of, parts))) => {
                let (of, parts) = (of.clone(), *parts);
                self.count(parts)?;
                Ok(of)
            }
            Some(None) => Err(Flaw::Unsupported(
                format!("the type `{name}` in its schema contains itself, and no column can be that deep"),
                "write the rows with a limited depth, or as JSON text",
            )),
            None => Err(invalid(format!("its schema has no type `{name}`"))),
        }
    }

    fn union(&mut self, branches: &[Json], namespace: &str) -> Result<Type, Flaw> {
        let mut types = Vec::with_capacity(branches.len());
        for branch in branches {
            let of = self.parse(branch, namespace)?;
            if matches!(of, Type::Union(_) | Type::Nullable(..)) {
                return Err(invalid("a union in its schema contains a union"));
            }
            let name = match branch {
                Json::Object(members) if members.contains_key("name") => full_name(members, namespace),
                Json::String(name) if primitive(name).is_none() => Some(qualified(name, namespace)),
                _ => None,
            };
            let name = name.unwrap_or_else(|| kind(&of).to_owned());
            if types.iter().any(|(other, _)| *other == name) {
                return Err(invalid(format!("a union in its schema has `{name}` twice")));
            }
            types.push((name, of));
        }
        match &types[..] {
            [] => Err(invalid("a union in its schema is empty")),
            [(_, Type::Null), (_, of)] => Ok(Type::Nullable(Box::new(of.clone()), true)),
            [(_, of), (_, Type::Null)] => Ok(Type::Nullable(Box::new(of.clone()), false)),
            _ if i8::try_from(types.len()).is_err() => Err(Flaw::Unsupported(
                format!("a union in its schema has {} types", types.len()),
                "write unions of up to 127 types",
            )),
            _ => Ok(Type::Union(types)),
        }
    }
}

/// Returns the name in a definition with its namespace.
fn full_name(members: &Map<String, Json>, enclosing: &str) -> Option<String> {
    let name = members.get("name")?.as_str()?;
    Some(qualified(name, members.get("namespace").and_then(Json::as_str).unwrap_or(enclosing)))
}

fn qualified(name: &str, namespace: &str) -> String {
    if name.contains('.') || namespace.is_empty() { name.to_owned() } else { format!("{namespace}.{name}") }
}

fn primitive(name: &str) -> Option<Type> {
    Some(match name {
        "null" => Type::Null,
        "boolean" => Type::Boolean,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "bytes" => Type::Bytes,
        "string" => Type::String,
        _ => return None,
    })
}

/// Returns what a logical type makes of a primitive one. One that does not fit is ignored, as Avro says.
fn logical(of: Type, members: &Map<String, Json>) -> Result<Type, Flaw> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond};
    let logical = members.get("logicalType").and_then(Json::as_str).unwrap_or_default();
    let is_nanosecond = members.get("arrowTimeUnit").and_then(Json::as_str) == Some("nanosecond");
    Ok(match (of, logical) {
        (Type::Bytes, "decimal") => decimal(members, None)?.unwrap_or(Type::Bytes),
        (Type::Int, "date") => Type::Date,
        (Type::Int, "time-millis") => Type::TimeMillis,
        (Type::Long, "time-micros") => Type::TimeMicros,
        (Type::Long, "timestamp-millis") => Type::Timestamp(Millisecond, true),
        (Type::Long, "timestamp-micros") => Type::Timestamp(Microsecond, true),
        (Type::Long, "timestamp-nanos") => Type::Timestamp(Nanosecond, true),
        (Type::Long, "local-timestamp-millis") => Type::Timestamp(Millisecond, false),
        (Type::Long, "local-timestamp-micros") => Type::Timestamp(Microsecond, false),
        (Type::Long, "local-timestamp-nanos") => Type::Timestamp(Nanosecond, false),
        // The mark of Arrow's own writer.
        (Type::Long, _) if is_nanosecond => Type::Timestamp(Nanosecond, true),
        (other, _) => other,
    })
}

fn fixed(size: &Json, members: &Map<String, Json>) -> Result<Type, Flaw> {
    let size = size.as_u64().and_then(|size| i32::try_from(size).ok()).and_then(|size| usize::try_from(size).ok());
    let size = size.ok_or_else(|| invalid("a `size` in its schema is not a size"))?;
    Ok(match (members.get("logicalType").and_then(Json::as_str), size) {
        (Some("decimal"), _) => decimal(members, Some(size))?.unwrap_or(Type::Fixed(size)),
        (Some("duration"), 12) => Type::Duration,
        (Some("uuid"), 16) => Type::Uuid,
        _ => Type::Fixed(size),
    })
}

/// Returns the decimal of these attributes; `None` if they don't fit together, and so are to be ignored.
fn decimal(members: &Map<String, Json>, size: Option<usize>) -> Result<Option<Type>, Flaw> {
    let precision = members.get("precision").and_then(Json::as_u64).unwrap_or(0);
    let scale = members.get("scale").map_or(Some(0), Json::as_u64);
    let Some(scale) = scale.filter(|scale| *scale <= precision && precision > 0) else { return Ok(None) };
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(digits), Ok(scale)) if digits <= DECIMAL256_MAX_PRECISION => Ok(Some(Type::Decimal(digits, scale, size))),
        _ => Err(Flaw::Unsupported(
            format!("its schema has a decimal of {precision} digits, and a column has {DECIMAL256_MAX_PRECISION}"),
            "write the values with fewer digits, or as text",
        )),
    }
}

fn symbols(symbols: &Json) -> Result<Type, Flaw> {
    let texts: Option<Vec<String>> =
        symbols.as_array().and_then(|all| all.iter().map(|one| one.as_str().map(str::to_owned)).collect());
    Ok(Type::Enum(texts.ok_or_else(|| invalid("the `symbols` of an enum in its schema are not texts"))?.into()))
}

/// Returns the word for a type that has no name of its own.
fn kind(of: &Type) -> &'static str {
    use TimeUnit::{Microsecond, Millisecond};
    match of {
        Type::Null => "null",
        Type::Boolean => "boolean",
        Type::Int => "int",
        Type::Long => "long",
        Type::Float => "float",
        Type::Double => "double",
        Type::Bytes => "bytes",
        Type::String => "string",
        Type::Date => "date",
        Type::TimeMillis => "time_millis",
        Type::TimeMicros => "time_micros",
        Type::Timestamp(Millisecond, true) => "timestamp_millis_utc",
        Type::Timestamp(Millisecond, false) => "timestamp_millis_local",
        Type::Timestamp(Microsecond, true) => "timestamp_micros_utc",
        Type::Timestamp(Microsecond, false) => "timestamp_micros_local",
        Type::Timestamp(_, true) => "timestamp_nanos_utc",
        Type::Timestamp(_, false) => "timestamp_nanos_local",
        Type::Decimal(..) => "decimal",
        Type::Duration => "duration",
        Type::Uuid => "uuid",
        Type::Fixed(_) => "fixed",
        Type::Enum(_) => "enum",
        Type::Array(_) => "array",
        Type::Map(_) => "map",
        Type::Record(_) => "record",
        Type::Nullable(..) | Type::Union(_) => "union",
    }
}

#[cfg(test)]
mod tests {
    use super::{Flaw, Type, columns};

    #[test]
    fn types_that_double() {
        let doubled = |times: usize| {
            let mut fields = r#"{"name":"f0","type":{"type":"record","name":"ns.r0","fields":[]}}"#.to_owned();
            for n in 1..times {
                let before = n - 1;
                fields += &format!(
                    r#",{{"name":"f{n}","type":{{"type":"record","name":"ns.r{n}","fields":[
                        {{"name":"a","type":"r{before}"}},{{"name":"b","type":["null","r{before}"]}}]}}}}"#
                );
            }
            columns(format!(r#"{{"type":"record","name":"all","fields":[{fields}]}}"#).as_bytes())
        };
        assert_eq!(doubled(8).map(|columns| columns.len()), Ok(8));
        for times in [20, 2_000] {
            assert!(matches!(doubled(times), Err(Flaw::Invalid(why)) if why.contains("parts")));
        }
    }

    #[test]
    fn names() {
        let schema = r#"{"type":"record","name":"r","namespace":"x.y","fields":[
            {"name":"a","type":{"type":"fixed","name":"f","size":2}},{"name":"b","type":"f"},
            {"name":"c","type":["null","x.y.f"]},
            {"name":"d","type":{"type":"record","name":"z.q","fields":[
                {"name":"e","type":{"type":"fixed","name":"f","size":3}},{"name":"g","type":"f"},
                {"name":"h","type":"x.y.f"}]}}]}"#;
        let named = |name: &str, of| (name.to_owned(), of);
        let inner = vec![named("e", Type::Fixed(3)), named("g", Type::Fixed(3)), named("h", Type::Fixed(2))];
        assert_eq!(
            columns(schema.as_bytes()).unwrap(),
            vec![
                named("a", Type::Fixed(2)),
                named("b", Type::Fixed(2)),
                named("c", Type::Nullable(Box::new(Type::Fixed(2)), true)),
                named("d", Type::Record(inner)),
            ]
        );
    }

    #[test]
    fn what_is_no_schema_is_said() {
        let field = |of: &str| format!(r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{of}}}]}}"#);
        for (schema, expected) in [
            ("{".to_owned(), "not JSON"),
            ("{}".into(), "no `type`"),
            ("7".into(), "`7`"),
            (field(r#""missing""#), "no type `missing`"),
            (field(r#"{"type":"array"}"#), "no `items`"),
            (field(r#"{"type":"enum","symbols":[]}"#), "no `name`"),
            (field(r#"{"type":"fixed","name":"f","size":-1}"#), "not a size"),
            (field("[]"), "is empty"),
            (field(r#"["null","null"]"#), "`null` twice"),
            (field(r#"["null",["int","long"]]"#), "contains a union"),
        ] {
            assert!(
                matches!(columns(schema.as_bytes()), Err(Flaw::Invalid(why)) if why.contains(expected)),
                "{schema}"
            );
        }
        for (schema, expected) in [
            ("\"string\"".to_owned(), "`string`"),
            (r#"["null","long"]"#.into(), "`union`"),
            (field(r#"["null","r"]"#), "`r`"),
            (field(r#"{"type":"bytes","logicalType":"decimal","precision":77}"#), "77 digits"),
        ] {
            let found = columns(schema.as_bytes());
            assert!(matches!(found, Err(Flaw::Unsupported(why, _)) if why.contains(expected)), "{schema}");
        }
    }

    #[test]
    fn attributes_that_do_not_fit_are_ignored() {
        for (attributes, expected) in [
            (r#""precision":5,"scale":2"#, Type::Decimal(5, 2, None)),
            (r#""precision":5"#, Type::Decimal(5, 0, None)),
            (r#""precision":4,"scale":6"#, Type::Bytes),
            (r#""precision":4,"scale":-2"#, Type::Bytes),
            (r#""scale":2"#, Type::Bytes),
        ] {
            let of = format!(r#"{{"type":"bytes","logicalType":"decimal",{attributes}}}"#);
            let schema = format!(r#"{{"type":"record","name":"r","fields":[{{"name":"a","type":{of}}}]}}"#);
            assert_eq!(columns(schema.as_bytes()).unwrap()[0].1, expected, "{attributes}");
        }
    }
}
