//! Infers the types of JSON values while scanning them, without building the values.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::UNNAMED;
use arrow::datatypes::{DataType, Field};
use salver_model::limits::JSON_NAMES_MAX;
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The common shape of all values at one place.
#[derive(Debug, Default)]
pub(super) enum JsonShape {
    /// Only nulls.
    #[default]
    Null,
    Bool,
    Int {
        has_negative: bool,
    },
    /// Integers, some of them above `i64::MAX`.
    UInt,
    /// Integers, some of them above `i64::MAX` and others negative.
    Wide,
    /// Only negative zeros, which are integers beside these: the parser does not tell `-0` from `-0.0`.
    NegativeZero,
    Float,
    Text,
    List(Box<JsonShape>),
    Object(ObjectShape),
    /// Mixed types; stored as text.
    Mixed,
}

/// The fields of objects, in order of first appearance.
#[derive(Debug, Default)]
pub(super) struct ObjectShape {
    fields: Vec<(String, JsonShape)>,
    places: HashMap<String, usize>,
}

impl ObjectShape {
    /// Returns the fields as columns.
    pub(super) fn to_fields(&self) -> Vec<Field> {
        self.fields.iter().map(|(name, shape)| Field::new(name, shape.data_type(), true)).collect()
    }

    /// Returns the index of `key`; `expected` is its most likely index. `None` if there are too many.
    fn place(&mut self, key: &str, expected: usize) -> Option<usize> {
        if self.fields.get(expected).is_some_and(|(name, _)| name == key) {
            return Some(expected);
        }
        if let Some(place) = self.places.get(key) {
            return Some(*place);
        }
        let place = self.fields.len();
        if place >= JSON_NAMES_MAX {
            return None;
        }
        self.places.insert(key.to_owned(), place);
        self.fields.push((key.to_owned(), JsonShape::Null));
        Some(place)
    }
}

impl JsonShape {
    /// Returns the Arrow type.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Null => DataType::Null,
            Self::Bool => DataType::Boolean,
            Self::Int { .. } => DataType::Int64,
            Self::UInt => DataType::UInt64,
            Self::Wide => DataType::Decimal128(20, 0),
            Self::Float | Self::NegativeZero => DataType::Float64,
            Self::Text | Self::Mixed => DataType::Utf8,
            Self::List(item) => DataType::List(Arc::new(Field::new("item", item.data_type(), true))),
            // Most formats can't represent a struct without fields.
            Self::Object(object) if object.fields.is_empty() => DataType::Utf8,
            Self::Object(object) => DataType::Struct(object.to_fields().into()),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Self::Int { .. } | Self::UInt | Self::Wide | Self::NegativeZero | Self::Float)
    }

    fn scalar(&mut self, other: Self) {
        let old = std::mem::take(self);
        *self = match (old, other) {
            (Self::Null, other) => other,
            (Self::Bool, Self::Bool) => Self::Bool,
            (Self::Text, Self::Text) => Self::Text,
            (Self::Int { has_negative: a }, Self::Int { has_negative: b }) => Self::Int { has_negative: a || b },
            (Self::UInt, Self::UInt | Self::Int { has_negative: false })
            | (Self::Int { has_negative: false }, Self::UInt) => Self::UInt,
            (own, Self::NegativeZero) | (Self::NegativeZero, own) if own.is_number() => own,
            (Self::Int { .. } | Self::UInt | Self::Wide, Self::Int { .. } | Self::UInt | Self::Wide) => Self::Wide,
            (own, other) if own.is_number() && other.is_number() => Self::Float,
            _ => Self::Mixed,
        };
    }
}

/// Widens a shape by one value.
pub(super) struct Observe<'a>(pub(super) &'a mut JsonShape);

impl<'de> DeserializeSeed<'de> for Observe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Observe<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.0.scalar(JsonShape::Bool);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.0.scalar(JsonShape::Int { has_negative: value < 0 });
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.0.scalar(if i64::try_from(value).is_ok() {
            JsonShape::Int { has_negative: false }
        } else {
            JsonShape::UInt
        });
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        let is_negative_zero = value == 0.0 && value.is_sign_negative();
        self.0.scalar(if is_negative_zero { JsonShape::NegativeZero } else { JsonShape::Float });
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.0.scalar(JsonShape::Text);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if matches!(self.0, JsonShape::Null) {
            *self.0 = JsonShape::List(Box::default());
        }
        if let JsonShape::List(item) = self.0 {
            while items.next_element_seed(Observe(item))?.is_some() {}
        } else {
            *self.0 = JsonShape::Mixed;
            while items.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        if matches!(self.0, JsonShape::Null) {
            *self.0 = JsonShape::Object(ObjectShape::default());
        }
        let mut is_map = false;
        if let JsonShape::Object(object) = self.0 {
            let mut expected = 0;
            while let Some(place) = entries.next_key_seed(KeyLookup { object, expected, unnamed: "" })? {
                if let Some(place) = place {
                    entries.next_value_seed(Observe(&mut object.fields[place].1))?;
                    expected = place + 1;
                } else {
                    is_map = true;
                    entries.next_value::<IgnoredAny>()?;
                }
            }
        } else {
            is_map = true;
            while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        }
        if is_map {
            *self.0 = JsonShape::Mixed;
        }
        Ok(())
    }
}

/// Widens the columns by one row.
pub(super) struct ObserveRow<'a>(pub(super) &'a mut ObjectShape);

impl<'de> DeserializeSeed<'de> for ObserveRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for ObserveRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row that is an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let object = self.0;
        let mut expected = 0;
        while let Some(place) = entries.next_key_seed(KeyLookup { object, expected, unnamed: UNNAMED })? {
            let place =
                place.ok_or_else(|| A::Error::custom(format_args!("rows have more than {JSON_NAMES_MAX} names")))?;
            entries.next_value_seed(Observe(&mut object.fields[place].1))?;
            expected = place + 1;
        }
        Ok(())
    }
}

/// Finds or adds the index of a key, without allocating for known keys.
struct KeyLookup<'a> {
    object: &'a mut ObjectShape,
    expected: usize,
    /// The name that replaces the empty name.
    unnamed: &'static str,
}

impl<'de> DeserializeSeed<'de> for KeyLookup<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for KeyLookup<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.object.place(if key.is_empty() { self.unnamed } else { key }, self.expected))
    }
}
