//! Filters in `EXPLAIN`.

use std::fmt;

use salver_model::Filter;

/// A filter, formatted for people.
pub(crate) struct Shown<'a>(pub(crate) &'a Filter);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Filter::And(all) | Filter::Or(all) => {
                let word = if matches!(self.0, Filter::And(_)) { " AND " } else { " OR " };
                for (index, inner) in all.iter().enumerate() {
                    let separator = if index == 0 { "" } else { word };
                    let nested = matches!(inner, Filter::And(_) | Filter::Or(_)) && all.len() > 1;
                    if nested {
                        write!(f, "{separator}({})", Self(inner))?;
                    } else {
                        write!(f, "{separator}{}", Self(inner))?;
                    }
                }
                Ok(())
            }
            Filter::Not(inner) => write!(f, "NOT ({})", Self(inner)),
            Filter::Compare { column, op, value } => {
                let sign = match op {
                    salver_model::Comparison::Eq => "=",
                    salver_model::Comparison::NotEq => "!=",
                    salver_model::Comparison::Lt => "<",
                    salver_model::Comparison::LtEq => "<=",
                    salver_model::Comparison::Gt => ">",
                    salver_model::Comparison::GtEq => ">=",
                };
                write!(f, "{column} {sign} {value}")
            }
            Filter::In { column, values } => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                write!(f, "{column} IN ({})", values.join(", "))
            }
            Filter::Like { column, pattern, .. } => write!(f, "{column} LIKE '{pattern}'"),
            Filter::IsNull { column } => write!(f, "{column} IS NULL"),
        }
    }
}
