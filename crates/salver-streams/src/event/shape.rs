//! The shape of a stream: its columns so far, and the kinds of values in them.

use std::sync::Arc;

use arrow::datatypes::{Fields, Schema, SchemaRef};
use salver_model::error::{Code, Error, Result};
use salver_text::json::Reader;
use serde::{Deserialize, Serialize};

use super::compiled_shape::CompiledShape;
use super::kind_tree::{Node, Widening};

/// Immutable shape of the events seen so far; a wider one replaces it.
#[derive(Debug)]
pub(crate) struct EventShape {
    root: Node,
    /// Number of columns ever created.
    columns: usize,
    plan: CompiledShape,
    schema: SchemaRef,
}

/// Serialized form of a shape.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredShape {
    columns: usize,
    event: Node,
}

impl Default for EventShape {
    fn default() -> Self {
        Self::new(Node::default(), 0)
    }
}

impl EventShape {
    fn new(root: Node, columns: usize) -> Self {
        let plan = CompiledShape::new(&root, columns);
        let schema = Arc::new(Schema::new(root.fields()));
        Self { root, columns, plan, schema }
    }

    /// Parses the output of [`EventShape::to_json`].
    ///
    /// # Errors
    /// Returns `Source` when the text is anything else.
    pub(crate) fn from_json(text: &str) -> Result<Self> {
        let written: StoredShape = serde_json::from_str(text).map_err(|error| {
            Error::new(Code::Source, "the shape of a stream's events can't be read").with_source(error)
        })?;
        Ok(Self::new(written.event, written.columns))
    }

    /// Returns the shape as JSON text.
    pub(crate) fn to_json(&self) -> String {
        let written = StoredShape { columns: self.columns, event: self.root.clone() };
        serde_json::to_string(&written).unwrap_or_default()
    }

    /// Returns the columns for the members of events, all nullable, without Salver's own columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Returns the same columns; those that are null in all events have the type `Null`.
    pub(crate) fn known_fields(&self) -> Fields {
        self.root.known_fields()
    }

    /// Returns whether the column `index` has had a value other than null.
    pub(crate) fn has_values(&self, index: usize) -> bool {
        self.root.members.get(index).is_some_and(|(_, node)| node.has_values())
    }

    /// Returns the shape widened by `event`, a validated JSON text; `None` when it adds nothing.
    pub(crate) fn with_event(&self, event: &[u8]) -> Option<Self> {
        let (mut root, mut widening) = (self.root.clone(), Widening { columns: self.columns });
        widening.observe(&mut root, &mut Reader::new(event), 0);
        (root != self.root).then(|| Self::new(root, widening.columns))
    }

    pub(super) fn plan(&self) -> &CompiledShape {
        &self.plan
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::datatypes::DataType;
    use salver_model::limits::EVENT_COLUMNS_MAX;

    use super::EventShape;
    use crate::event::tests::Dice;
    use crate::event::{Checker, Checks, LiveShape};

    fn of(events: &[&str]) -> EventShape {
        events.iter().fold(EventShape::default(), |shape, event| shape.with_event(event.as_bytes()).unwrap_or(shape))
    }

    fn types(shape: &EventShape) -> Vec<String> {
        shape.schema().fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type())).collect()
    }

    #[test]
    fn types_of_columns() {
        let list = |item: DataType| DataType::new_list(item, true).to_string();
        for (events, expected) in [
            (&[r#"{"a":true}"#, r#"{"a":null}"#][..], "Boolean".to_owned()),
            (&[r#"{"a":-9223372036854775808}"#], "Int64".into()),
            (&[r#"{"a":9223372036854775808}"#], "Decimal128(38, 0)".into()),
            (&[r#"{"a":1}"#, r#"{"a":-99999999999999999999999999999999999999}"#], "Decimal128(38, 0)".into()),
            (&[r#"{"a":18446744073709551615}"#, r#"{"a":0.5}"#], "Float64".into()),
            (&[r#"{"a":100000000000000000000000000000000000000}"#, r#"{"a":1}"#], "Float64".into()),
            (&[r#"{"a":18446744073709551615}"#, r#"{"a":"x"}"#], "Utf8".into()),
            (&[r#"{"a":-0}"#], "Float64".into()),
            (&[r#"{"a":1.5}"#, r#"{"a":1e308}"#, r#"{"a":1e-400}"#], "Float64".into()),
            (&[r#"{"a":1}"#, r#"{"a":1e400}"#], "Utf8".into()),
            (&[r#"{"a":-1.5e+309}"#], "Utf8".into()),
            (&[r#"{"a":1}"#, r#"{"a":1e2}"#], "Float64".into()),
            (&[r#"{"a":1}"#, r#"{"a":"x"}"#], "Utf8".into()),
            (&[r#"{"a":true}"#, r#"{"a":1}"#], "Utf8".into()),
            (&[r#"{"a":null}"#], "Utf8".into()),
            (&[r#"{"a":{}}"#], "Utf8".into()),
            (&[r#"{"a":{"":1,"b":[]}}"#], r#"Struct("unnamed": Int64, "b": List(Utf8))"#.into()),
            (&[r#"{"a":[[1],[null,2.5]]}"#], list(DataType::new_list(DataType::Float64, true))),
            (&[r#"{"a":{"b":1}}"#, r#"{"a":[1]}"#, r#"{"a":{"c":1}}"#], "Utf8".into()),
        ] {
            assert_eq!(types(&of(events)), [format!("a: {expected}")], "{events:?}");
        }
        let shape = of(&[r#"{"b":1,"_id":2,"":3}"#, r#"{"a":{"_id":1},"b":2}"#]);
        assert_eq!(types(&shape), ["b: Int64", "unnamed: Int64", r#"a: Struct("_id": Int64)"#]);
    }

    #[test]
    fn types_are_known_by_values() {
        for (events, expected) in [
            (&[r#"{"a":null}"#][..], "Null"),
            (&[r#"{"a":[]}"#], "List(Utf8)"),
            (&[r#"{"a":{}}"#], "Utf8"),
            (&[r#"{"a":{"b":null}}"#], r#"Struct("b": Utf8)"#),
            (&[r#"{"a":[null,{"b":null}]}"#], r#"List(Struct("b": Utf8))"#),
            (&[r#"{"a":[{"b":null,"c":1}]}"#], r#"List(Struct("b": Null, "c": Int64))"#),
            (&[r#"{"a":{"b":null,"c":true}}"#], r#"Struct("b": Null, "c": Boolean)"#),
        ] {
            let fields = of(events).known_fields();
            assert_eq!(fields[0].data_type().to_string(), expected, "{events:?}");
        }
    }

    #[test]
    fn the_pass_sees_what_adds_and_json_keeps_it() {
        let checks = Checks::new(EventShape::default());
        let (mut dice, mut plain) = (Dice(3), EventShape::default());
        let mut checker = Checker::new(&checks);
        for _ in 0..3_000 {
            let event = dice.object(0);
            checker.check(event.as_bytes()).expect("an event");
            plain = plain.with_event(event.as_bytes()).unwrap_or(plain);
            assert_eq!(checks.shape.newest().root, plain.root, "{event}");
        }
        let again = EventShape::from_json(&plain.to_json()).expect("a shape");
        assert_eq!((&again.root, again.columns), (&plain.root, plain.columns));
        for bad in ["", "{}", r#"{"columns":1,"event":{"kinds":["what"]}}"#] {
            assert!(EventShape::from_json(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn there_is_an_end_to_columns() {
        let checks = Checks::new(EventShape::default());
        let mut checker = Checker::new(&checks);
        for n in 0..EVENT_COLUMNS_MAX + 100 {
            checker.check(format!("{{\"m{n}\":1}}").as_bytes()).expect("an event");
        }
        let full = checks.shape.newest();
        assert_eq!(full.schema().fields().len(), EVENT_COLUMNS_MAX);
        checker.check(br#"{"more":[1,{"a":2}],"m1":3}"#).expect("an event");
        assert!(Arc::ptr_eq(&full, &checks.shape.newest()), "what finds no room costs nothing");
        checker.check(br#"{"m1":"x"}"#).expect("an event");
        assert_eq!(checks.shape.newest().schema().field(1).data_type(), &DataType::Utf8);
    }

    #[tokio::test]
    async fn whoever_waits_hears_of_columns() {
        let shape = LiveShape::new(EventShape::default());
        let (stamp, ()) = tokio::join!(shape.widened(0), async { shape.widen(b"{\"a\":1}") });
        assert_ne!(stamp, 0);
        shape.widen(b"{\"a\":null}");
        assert_eq!(shape.widened(0).await, stamp, "the columns are the same");
    }
}
