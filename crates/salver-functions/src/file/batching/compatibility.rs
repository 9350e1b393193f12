//! Compatibility of calls that can be combined.

use salver_model::functions::Call;
use serde_json::{Map, Value as Json};

/// Key of compatible calls: the function, and the type of each given argument. Each call thus sees values of the same
/// types as it would alone, both in R's vectors and in numpy's arrays.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::file) struct CallSignature {
    /// Number of the load in which the endpoint was looked up.
    load: u64,
    endpoint: usize,
    /// Given parameters, in order.
    given: Box<[(usize, ArgumentType)]>,
}

/// Type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ArgumentType {
    Null,
    Boolean,
    /// Integer in the range of R's, whose least value means missing.
    Small,
    /// Integer in the range of most languages.
    Whole,
    /// Larger integer.
    Large,
    Fraction,
    Text,
}

impl CallSignature {
    /// Returns the key of a call; `None` when it must run alone.
    pub(in crate::file) fn of(call: &Call) -> Option<Self> {
        let (index, interface) = (call.endpoint?, call.interface.as_ref()?);
        let endpoint = interface.endpoints.get(index).filter(|endpoint| endpoint.gathers)?;
        let mut arguments: Map<String, Json> = serde_json::from_slice(&call.arguments).ok()?;
        let count = arguments.len();
        let named = endpoint.parameters.iter().enumerate();
        let given: Box<[_]> = named
            .filter_map(|(place, own)| Some((place, ArgumentType::of(&arguments.remove(&own.name)?))))
            .map(|(place, given)| given.map(|given| (place, given)))
            .collect::<Option<_>>()?;
        // Without a column the number of rows would be unknown.
        let has_column = given.iter().any(|(_, given)| *given != ArgumentType::Null);
        (has_column && given.len() == count).then_some(Self { load: interface.load, endpoint: index, given })
    }
}

impl ArgumentType {
    fn of(value: &Json) -> Option<Self> {
        Some(match value {
            Json::Null => Self::Null,
            Json::Bool(_) => Self::Boolean,
            Json::Number(number) => match number.as_i64() {
                Some(number) if i32::try_from(number).is_ok_and(|number| number != i32::MIN) => Self::Small,
                Some(_) => Self::Whole,
                None if number.is_u64() => Self::Large,
                None => Self::Fraction,
            },
            Json::String(_) => Self::Text,
            Json::Array(_) | Json::Object(_) => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use salver_model::functions::{Call, Endpoint, Interface, Parameter};

    use super::CallSignature;

    #[test]
    fn what_goes_together() {
        let parameters = ["a", "b"].map(|name| Parameter { name: name.to_owned(), ..Parameter::default() });
        let gathering = Endpoint { gathers: true, parameters: parameters.to_vec(), ..Endpoint::default() };
        let endpoints =
            vec![gathering.clone(), gathering, Endpoint { parameters: parameters.into(), ..Endpoint::default() }];
        let interface = |load| Arc::new(Interface { endpoints: endpoints.clone(), load, ..Interface::default() });
        let call = |interface, endpoint, arguments: &str| {
            let arguments = arguments.to_owned().into();
            CallSignature::of(&Call {
                endpoint: Some(endpoint),
                interface: Some(interface),
                arguments,
                ..Call::default()
            })
        };
        let of = |arguments: &str| call(interface(1), 0, arguments);
        for same in [
            [r#"{"a":1,"b":"x"}"#, r#"{"b":"y","a":-2147483647}"#],
            [r#"{"b":true}"#, r#"{"b":false}"#],
            [r#"{"a":2147483648}"#, r#"{"a":-2147483648}"#],
            [r#"{"a":1.0,"b":null}"#, r#"{"a":-1e300,"b":null}"#],
            [r#"{"a":9223372036854775808}"#, r#"{"a":18446744073709551615}"#],
        ] {
            assert!(of(same[0]).is_some() && of(same[0]) == of(same[1]), "{same:?}");
        }
        let kinds = ["1", "2147483648", "9223372036854775808", "1.0", "true", r#""x""#];
        for (at, one) in kinds.iter().enumerate() {
            for other in &kinds[at + 1..] {
                assert_ne!(of(&format!(r#"{{"a":{one}}}"#)), of(&format!(r#"{{"a":{other}}}"#)));
            }
        }
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"b":1}"#));
        assert_ne!(of(r#"{"a":1}"#), of(r#"{"a":1,"b":null}"#));
        assert_ne!(of(r#"{"a":1}"#), call(interface(1), 1, r#"{"a":1}"#));
        assert_ne!(of(r#"{"a":1}"#), call(interface(2), 0, r#"{"a":1}"#));
        for alone in ["{}", r#"{"a":null}"#, r#"{"a":[1]}"#, r#"{"a":1,"b":{}}"#, r#"{"a":1,"c":1}"#, ""] {
            assert_eq!(of(alone), None, "{alone}");
        }
        assert_eq!(call(interface(1), 2, r#"{"a":1}"#), None);
    }
}
