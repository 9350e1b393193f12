//! Functions over geometries. PostGIS and MySQL have them under the names of the standard; SQLite has none.

use salver_model::records::Spatial;

use super::Dialect;

impl Dialect {
    /// The function of a spatial operator, when the system has it.
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

/// Whether the operator looks at the column's geometry alone.
pub(crate) fn is_unary(operator: Spatial) -> bool {
    matches!(operator, Spatial::IsClosed | Spatial::IsSimple | Spatial::IsValid)
}
