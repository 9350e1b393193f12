//! Paths with parameters: `/fib/<n:int>`, `/users/{id}`.

use salver_model::functions::ParameterKind;

use crate::number_text::{is_number, is_whole, truth};
use crate::segment::segment;

/// A path with parameters, each a whole segment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pattern {
    segments: Box<[Segment]>,
    /// Whether further segments may follow.
    prefix: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum Segment {
    Literal(String),
    Parameter(String, ParameterKind),
}

impl Pattern {
    /// Parses a path as user code declares it, below a mount point, which has no parameters. A trailing slash is
    /// ignored.
    pub(crate) fn below(mount: &str, path: &str, prefix: bool) -> Self {
        let mount = split(mount).map(|text| Segment::Literal(text.to_owned()));
        Self { segments: mount.chain(split(path).map(Segment::new)).collect(), prefix }
    }

    /// Returns the pattern of a path without parameters.
    pub(crate) fn of_literal(path: &str) -> Self {
        Self::below(path, "", false)
    }

    /// Returns the path itself, when it has no parameters and is not a prefix.
    pub(crate) fn literal(&self) -> Option<String> {
        let literal = |segment: &Segment| match segment {
            Segment::Literal(text) => Some(format!("/{text}")),
            Segment::Parameter(..) => None,
        };
        let path: Option<String> = self.segments.iter().map(literal).collect();
        path.filter(|_| !self.prefix)
    }

    /// Returns the decoded values of the parameters in `path`; `None` when it does not match.
    pub(crate) fn values(&self, path: &str) -> Option<Vec<(String, String)>> {
        let mut values = Vec::new();
        let mut given = split(path);
        for own in &self.segments {
            let text = given.next()?;
            match own {
                Segment::Literal(literal) => {
                    (literal == text || text.contains('%') && *literal == segment(text)).then_some(())?;
                }
                Segment::Parameter(name, kind) => {
                    let value = segment(text);
                    fits(*kind, &value).then_some(())?;
                    values.push((name.clone(), value.into_owned()));
                }
            }
        }
        (self.prefix || given.next().is_none()).then_some(values)
    }

    /// Returns whether it matches every path that `other` matches.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let (own, others) = (self.segments.len(), other.segments.len());
        let is_long_enough = if self.prefix { own <= others } else { own == others && !other.prefix };
        is_long_enough && self.segments.iter().zip(&other.segments).all(|(own, other)| own.covers(other))
    }

    /// Returns a path that it matches.
    pub(crate) fn sample(&self) -> String {
        let part = |segment: &Segment| match segment {
            Segment::Literal(text) => format!("/{text}"),
            Segment::Parameter(_, kind) => format!("/{}", sample(*kind)),
        };
        let path: String = self.segments.iter().map(part).collect();
        if path.is_empty() { "/".to_owned() } else { path }
    }

    /// Formats the path as in OpenAPI.
    pub(crate) fn template(&self) -> String {
        let part = |segment: &Segment| match segment {
            Segment::Literal(text) => format!("/{text}"),
            Segment::Parameter(name, _) => format!("/{{{name}}}"),
        };
        let path: String = self.segments.iter().map(part).collect();
        if path.is_empty() { "/".to_owned() } else { path }
    }

    /// Returns the names of its parameters.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Parameter(name, _) => Some(name.as_str()),
            Segment::Literal(_) => None,
        })
    }
}

/// Splits a path into segments; `/` has none.
fn split(path: &str) -> impl Iterator<Item = &str> {
    let trimmed = path.trim_start_matches('/').trim_end_matches('/');
    trimmed.split('/').take(if trimmed.is_empty() { 0 } else { usize::MAX })
}

impl Segment {
    fn new(text: &str) -> Self {
        let inner = [('<', '>'), ('{', '}')]
            .into_iter()
            .find_map(|(open, close)| text.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)));
        match inner.filter(|inner| !inner.is_empty()) {
            Some(inner) => {
                let (name, kind) = inner.split_once(':').unwrap_or((inner, ""));
                Self::Parameter(name.to_owned(), kind_named(kind))
            }
            None => Self::Literal(text.to_owned()),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Literal(own), Self::Literal(other)) => own == other,
            (Self::Literal(_), Self::Parameter(..)) => false,
            (Self::Parameter(_, kind), Self::Literal(text)) => fits(*kind, text),
            (Self::Parameter(_, own), Self::Parameter(_, other)) => takes_all(*own) || own == other,
        }
    }
}

/// Parses the type of a parameter, as plumber and Python name it.
fn kind_named(word: &str) -> ParameterKind {
    match word.trim_matches(['[', ']']) {
        "int" | "integer" => ParameterKind::Integer,
        "dbl" | "double" | "float" | "number" | "numeric" => ParameterKind::Number,
        "bool" | "boolean" | "logical" => ParameterKind::Boolean,
        "str" | "string" | "chr" | "character" => ParameterKind::Text,
        _ => ParameterKind::Any,
    }
}

/// Returns whether every text that is not empty is a value of this type.
fn takes_all(kind: ParameterKind) -> bool {
    !matches!(kind, ParameterKind::Integer | ParameterKind::Number | ParameterKind::Boolean)
}

/// Returns a value of this type, which only types that take it take as well.
fn sample(kind: ParameterKind) -> &'static str {
    match kind {
        ParameterKind::Integer => "7",
        ParameterKind::Number => "7.5",
        ParameterKind::Boolean => "true",
        _ => "x7",
    }
}

/// Returns whether a segment is a valid value of this type; otherwise the path does not match, as in plumber.
fn fits(kind: ParameterKind, text: &str) -> bool {
    match kind {
        ParameterKind::Integer => is_whole(text),
        ParameterKind::Number => is_number(text),
        ParameterKind::Boolean => truth(text).is_some(),
        _ => !text.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::Pattern;

    fn pattern(path: &str, prefix: bool) -> Pattern {
        Pattern::below("", path, prefix)
    }

    #[test]
    fn covered() {
        for (own, other, covers) in [
            ("/a/<x>", "/a/<y:int>", true),
            ("/a/<x:int>", "/a/<y>", false),
            ("/a/<x:int>", "/a/<y:int>", true),
            ("/a/<x:int>", "/a/7", true),
            ("/a/<x:int>", "/a/b", false),
            ("/a/b", "/a/b/", true),
            ("/a/b", "/a/<x>", false),
            ("/a/<x>", "/a/<x>/b", false),
        ] {
            assert_eq!(pattern(own, false).covers(&pattern(other, false)), covers, "{own} {other}");
        }
        assert!(pattern("/a", true).covers(&pattern("/a/<x>/b", false)));
        assert!(!pattern("/a", false).covers(&pattern("/a", true)));
        for path in ["/", "/a/<x:int>/<y:dbl>/<z:bool>/<w>", "/a"] {
            let pattern = pattern(path, false);
            assert!(pattern.values(&pattern.sample()).is_some(), "{path}");
        }
    }

    #[test]
    fn below_a_mount_point() {
        let mounted = Pattern::below("/maths", "/fib/<n:int>", false);
        assert_eq!(mounted.template(), "/maths/fib/{n}");
        assert_eq!(Pattern::below("/maths", "/", false).literal().as_deref(), Some("/maths"));
        assert_eq!(Pattern::below("/{x}", "/a", false).literal().as_deref(), Some("/{x}/a"), "no parameter");
    }

    #[test]
    fn paths() {
        let fib = pattern("/fib/<n:int>/of/{who}", false);
        assert_eq!(fib.template(), "/fib/{n}/of/{who}");
        assert_eq!(fib.literal(), None);
        let found = |path: &str| fib.values(path).map(|values| values.into_iter().map(|(_, v)| v).collect::<Vec<_>>());
        assert_eq!(found("/fib/10/of/a%20b"), Some(vec!["10".to_owned(), "a b".to_owned()]));
        for other in ["/fib/x/of/a", "/fib/10/of", "/fib/10/of/a/b", "/", ""] {
            assert_eq!(found(other), None, "{other}");
        }
        assert_eq!(pattern("/a/b/", false).literal().as_deref(), Some("/a/b"));
        assert_eq!(pattern("/", false).literal().as_deref(), Some(""));
        assert!(pattern("/files", true).values("/files/a/b").is_some());
        assert!(pattern("/files", true).values("/fil").is_none());
    }
}
