//! Spatial functions. PostGIS and MySQL have them under their standard names; SQLite has none.

use salver_model::records::Spatial;

use super::Dialect;

impl Dialect {
    /// Returns the function of a spatial operator, if the system has it.
    pub(crate) fn spatial(self, operator: Spatial) -> Option<&'static str> {
        let name = match operator {
            Spatial::Contains => "ST_Contains",
            Spatial::Crosses => "ST_Crosses",
            Spatial::Disjoint => "ST_Disjoint",
            Spatial::Equals => "ST_Equals",
            Spatial::Intersects => "ST_Intersects",
            Spatial::Overlaps => "ST_Overlaps",
            Spatial::Touches => "ST_Touches",
            Spatial::Within => "ST_Within",
            Spatial::IsClosed => "ST_IsClosed",
            Spatial::IsSimple => "ST_IsSimple",
            Spatial::IsValid => "ST_IsValid",
        };
        (self != Self::Sqlite).then_some(name)
    }
}

/// Returns whether the operator takes the column's geometry alone.
pub(crate) fn is_unary(operator: Spatial) -> bool {
    matches!(operator, Spatial::IsClosed | Spatial::IsSimple | Spatial::IsValid)
}
