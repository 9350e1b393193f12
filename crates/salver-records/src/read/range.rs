//! Limit and offset of a list.

use salver_model::access::Bound;
use salver_model::records::RecordQuery;
use salver_model::spec::DatabaseSpec;
use salver_model::{Code, Error, Result};

use crate::dialect::Sql;
use crate::statement::Bind;

/// Default number of rows of a page.
const PAGE_ROWS: u64 = 20;

/// A range of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ListRange {
    pub(crate) limit: Option<u64>,
    pub(crate) offset: u64,
}

impl ListRange {
    /// Returns the bounds of `query`, within the entry's limits and the bound on `rows`.
    ///
    /// # Errors
    /// `PageForbidden` after the last page that may be requested.
    pub(crate) fn of(spec: &DatabaseSpec, rows: Bound, query: &RecordQuery) -> Result<Self> {
        let mut bounds = Self { limit: query.size, offset: 0 };
        if let Some(page) = query.page {
            let number = page.number.max(1);
            if spec.pages_max.is_some_and(|max| number > max) {
                return Err(Error::new(Code::PageForbidden, "Pagination forbidden")
                    .with_hint(format!("at most page {} may be requested", spec.pages_max.unwrap_or(0))));
            }
            let size = page.size.unwrap_or(PAGE_ROWS);
            bounds.offset = (number - 1).saturating_mul(size);
            bounds.limit = least(bounds.limit, Some(size));
        } else if query.after.is_some() {
            bounds.limit = bounds.limit.or(Some(PAGE_ROWS));
        }
        bounds.limit = least(bounds.limit, spec.records_max);
        if let Some(rows_max) = rows.most() {
            // One extra row tells that there are too many.
            bounds.limit = least(bounds.limit, Some(rows_max.saturating_add(1)));
        }
        Ok(bounds)
    }

    /// Returns whether it is the whole list.
    pub(crate) fn is_all(self) -> bool {
        self.limit.is_none() && self.offset == 0
    }

    /// Appends ` LIMIT ... OFFSET ...`. The limit is written as a literal, since limits are few and planners use them;
    /// the offset is bound, since offsets are many.
    pub(crate) fn write(self, sql: &mut Sql) {
        let Some(limit) = self.limit else { return };
        let limit = limit.min(i64::MAX as u64);
        sql.push(" LIMIT ").push(itoa::Buffer::new().format(limit));
        if self.offset > 0 {
            sql.push(" OFFSET ").bind(Bind::Int(i64::try_from(self.offset).unwrap_or(i64::MAX)));
        }
    }
}

/// Returns the smaller of two bounds.
pub(crate) fn least(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (bound, None) | (None, bound) => bound,
    }
}

#[cfg(test)]
mod tests {
    use salver_model::records::{ListPage, RecordQuery};
    use salver_model::spec::{DatabaseKind, DatabaseSpec};
    use salver_model::{CallerLimits, Name};

    use super::ListRange;

    #[test]
    fn pages_and_sizes() {
        let mut spec = DatabaseSpec::new(Name::new("blog").unwrap(), DatabaseKind::Sqlite, "sqlite::memory:");
        let of = |spec: &DatabaseSpec, page: Option<(u64, Option<u64>)>, size| {
            let page = page.map(|(number, size)| ListPage { number, size });
            let query = RecordQuery { page, size, ..RecordQuery::default() };
            let rows = CallerLimits::default().rows(spec.rows_max);
            ListRange::of(spec, rows, &query).map(|b| (b.limit, b.offset)).ok()
        };
        assert_eq!(of(&spec, None, None), Some((None, 0)));
        assert_eq!(of(&spec, Some((2, Some(5))), Some(3)), Some((Some(3), 5)));
        assert_eq!(of(&spec, Some((3, None)), None), Some((Some(20), 40)));
        assert_eq!(of(&spec, Some((0, Some(1))), None), Some((Some(1), 0)));
        assert_eq!(of(&spec, Some((u64::MAX, Some(u64::MAX))), None), Some((Some(u64::MAX), u64::MAX)));
        spec.pages_max = Some(5);
        spec.records_max = Some(10);
        assert_eq!(of(&spec, None, None), Some((Some(10), 0)));
        assert_eq!(of(&spec, Some((5, Some(100))), None), Some((Some(10), 400)));
        assert_eq!(of(&spec, Some((6, Some(1))), None), None);
    }
}
