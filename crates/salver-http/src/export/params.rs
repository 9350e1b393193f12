//! The parameters of an export request: columns and format.

use salver_formats::{Choice, Format};
use salver_model::limits::LIST_ITEMS_MAX;
use salver_model::{Code, Description, Error, Result, Version, suggest};
use salver_service::Snapshot;

use crate::request_context::{RequestContext, parameters};

/// The names and values of a query string.
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// Reads the parameters of a request, which must be among `known`.
    ///
    /// # Errors
    /// `InvalidRequest` for any other, with the nearest known name as hint.
    pub(super) fn of(context: &RequestContext<'_>, known: &[&str]) -> Result<Self> {
        let parameters = parameters(context.query)?;
        match parameters.iter().find(|(name, _)| !known.contains(&name.as_str())) {
            Some((name, _)) => Err(unknown("parameter", name, known)),
            None => Ok(Self(parameters)),
        }
    }

    /// Returns the last value of the parameter `name`.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().rev().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// The error for an unknown name.
pub(super) fn unknown(what: &str, name: &str, known: &[&str]) -> Error {
    let near = suggest::nearest(name, known.iter().copied()).map(|near| format!("did you mean `{near}`?"));
    Error::new(Code::InvalidRequest, format!("unknown {what} `{name}`"))
        .with_hint(near.unwrap_or_else(|| format!("an export knows {}", known.join(", "))))
}

/// Splits a target into the entry's name and the format of its suffix. A name that exists wins over a suffix.
pub(super) fn split<'a>(snapshot: &Snapshot, target: &'a str) -> (&'a str, Option<Format>) {
    if snapshot.entry(target).is_none()
        && let Some((name, suffix)) = target.rsplit_once('.')
        && let Some(format) = Format::of_suffix(suffix)
    {
        return (name, Some(format));
    }
    (target, None)
}

/// The requested columns and format of an entry's rows.
#[derive(Debug)]
pub(super) struct ExportParams {
    /// The columns, by their indexes in the schema.
    pub(super) columns: Vec<usize>,
    /// Whether these are all columns, in the schema's order.
    pub(super) is_all: bool,
    /// The format.
    pub(super) choice: Choice,
}

impl ExportParams {
    /// Reads the columns and the format that `parameters` request of the entry of `description`. The default format is
    /// NDJSON, which can be parsed while it arrives.
    pub(super) fn read(
        context: &RequestContext<'_>,
        parameters: &Parameters,
        description: &Description,
        suffix: Option<Format>,
    ) -> Result<Self> {
        let choice = context.choose_or(suffix, parameters.value("format"), Format::NdJson)?;
        let names = parameters.value("columns").map(list);
        let columns = indexes(names.as_deref(), description)?;
        let is_all = names.is_none() || columns.iter().copied().eq(0..description.schema.fields().len());
        Ok(Self { columns, is_all, choice })
    }

    /// Hashes everything beside the rows that determines the bytes of the body.
    pub(super) fn shape(&self, context: &RequestContext<'_>, how: &str) -> Version {
        let media_type = self.choice.media_type;
        Version::of(&(env!("CARGO_PKG_VERSION"), media_type, &self.columns, how, context.app.options.omit_nulls))
    }
}

/// Returns the indexes of the columns `names`, in this order; all columns when `names` is `None`.
///
/// # Errors
/// `InvalidColumn` for a column that does not exist or is named twice, and for an empty list.
pub(super) fn indexes(names: Option<&[String]>, description: &Description) -> Result<Vec<usize>> {
    let fields = description.schema.fields();
    let Some(names) = names else { return Ok((0..fields.len()).collect()) };
    if names.is_empty() || names.len() > LIST_ITEMS_MAX {
        return Err(Error::new(Code::InvalidColumn, format!("`columns` names {} columns", names.len()))
            .with_hint(format!("name 1 to {LIST_ITEMS_MAX}, or leave `columns` out for all")));
    }
    let mut indexes: Vec<usize> = Vec::with_capacity(names.len());
    for name in names {
        let Some(index) = fields.iter().position(|field| field.name() == name) else {
            let all = fields.iter().map(|field| field.name().as_str());
            return Err(Error::unknown_column(Code::InvalidColumn, name, description.name.as_str(), all));
        };
        if indexes.contains(&index) {
            return Err(Error::new(Code::InvalidColumn, format!("`columns` names `{name}` twice"))
                .with_hint("name each column once"));
        }
        indexes.push(index);
    }
    Ok(indexes)
}

/// Splits a list such as `a,b,"last, first"`; within double quotes a double quote is doubled.
fn list(text: &str) -> Vec<String> {
    let (mut names, mut name, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => name.extend(letters.next()),
            '"' if is_quoted || name.trim().is_empty() => {
                is_quoted = !is_quoted;
                if is_quoted {
                    name.clear();
                }
            }
            ',' if !is_quoted => names.push(std::mem::take(&mut name)),
            _ => name.push(letter),
        }
    }
    names.push(name);
    names
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn names_with_and_without_quotes() {
        assert_eq!(list("a,b c"), ["a", "b c"]);
        assert_eq!(list("a,\"last, \"\"first\"\"\",c"), ["a", "last, \"first\"", "c"]);
        assert_eq!(list("a\"b,"), ["a\"b", ""]);
    }
}
