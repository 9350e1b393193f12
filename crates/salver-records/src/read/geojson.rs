//! Rows as GeoJSON: one feature per row, whose geometry is one of the columns and whose id is the primary key. Rules
//! and tenancy apply as everywhere.

use salver_model::records::{
    Area, ColumnKind, Condition, Document, GeoQuery, Operation, Operator, RecordKey, RecordQuery, Spatial, TableInfo,
};
use salver_model::{Code, Error, Result, suggest};

use super::document::ListSink;
use super::list;
use super::plan::{ReadPlan, run};
use super::root_rows::Root;
use super::rows::Envelope;
use super::statements;
use super::{key, order};
use crate::condition::ConditionContext;
use crate::scope::Scope;

/// Returns a list of features, or one by its key.
pub(crate) async fn geojson(scope: &Scope<'_>, asked: &GeoQuery, key: Option<&RecordKey>) -> Result<Document> {
    let query = &asked.query;
    let Some(key) = key else {
        let plan = plan(scope, asked)?;
        return run(scope, plan).await;
    };
    let keys = std::slice::from_ref(key);
    let table = key::table(scope, &query.table, keys)?;
    let ground = list::ground(scope, Operation::Read, query);
    let geometry = geometry(&ground, table, asked)?;
    let areas = areas(table, geometry, asked)?;
    let mut root = Root::new(ground, table);
    root.filters.extend(query.filter.as_ref().filter(|_| ground.strict));
    root.filters.extend(&areas);
    root.keys = Some(vec![key]);
    let (parts, rows) = features(&root, query, geometry)?;
    let found = key::fetch(&root, keys, parts, (rows, key::EtagScope::No)).await?;
    key::single(found.rows.into_iter().next().flatten(), key, None)
}

/// Plans a list of features.
fn plan(scope: &Scope<'_>, asked: &GeoQuery) -> Result<ReadPlan> {
    let query = &asked.query;
    let ground = list::ground(scope, Operation::List, query);
    let table = scope.table(Operation::List, &query.table)?;
    if query.after.is_some() || query.distinct || super::group::is_grouped(query) {
        return Err(Error::new(Code::InvalidRequest, "features can't be grouped, made distinct or paged with `after`"));
    }
    let geometry = geometry(&ground, table, asked)?;
    let areas = areas(table, geometry, asked)?;
    let mut root = list::root(ground, table, query)?;
    root.filters.extend(&areas);
    order::complete(&ground, table, &mut root.order);
    let (mut parts, rows) = features(&root, query, geometry)?;
    let counts = query.page.is_some();
    if counts {
        parts.reads.push(statements::count(&root)?);
    }
    let read = statements::select(&root, &parts, false)?;
    parts.reads.push(read);
    Ok(ReadPlan { reads: parts.reads, sink: ListSink::features(rows, counts), small: false })
}

/// Returns the shape of features: members without the id and the geometry, which are separate.
fn features<'s>(
    root: &Root<'s>,
    query: &'s RecordQuery,
    geometry: Option<usize>,
) -> Result<(statements::Parts, super::rows::RowsWriter)> {
    let id = root.table.single_key();
    let scope = root.ground.scope;
    let seen =
        |index: &usize| scope.access.column(root.ground.operation, &root.table.name, &root.table.columns[*index].name);
    let (id, geometry) = (id.filter(seen), geometry);
    let forced: Vec<usize> = id.into_iter().chain(geometry).collect();
    statements::joined(root, query, &forced, |mut shape, fetched| {
        let mut take = |column: Option<usize>| {
            let cell = fetched.iter().position(|index| Some(*index) == column)?;
            shape.root.take(cell);
            Some(cell)
        };
        let (id, geometry) = (take(id), take(geometry));
        (shape, Envelope::Feature { id, geometry })
    })
}

/// Returns the geometry column: the requested one, or the first.
fn geometry(ground: &ConditionContext<'_>, table: &TableInfo, asked: &GeoQuery) -> Result<Option<usize>> {
    let seen = |index: &usize| {
        let column = &table.columns[*index];
        column.kind == ColumnKind::Geometry && ground.scope.access.column(ground.operation, &table.name, &column.name)
    };
    let all: Vec<usize> = (0..table.columns.len()).filter(seen).collect();
    let Some(name) = &asked.geometry else { return Ok(all.first().copied()) };
    let found = all.iter().find(|index| table.columns[**index].name == *name);
    if found.is_none() && ground.strict {
        let names: Vec<&str> = all.iter().map(|index| table.columns[*index].name.as_str()).collect();
        return Err(Error::new(Code::InvalidColumn, format!("no geometry `{name}` in `{}`", table.name))
            .with_hint_if(suggest::hint(name, names.iter().copied())));
    }
    Ok(found.copied())
}

/// Converts the areas to conditions on the geometry.
fn areas(table: &TableInfo, geometry: Option<usize>, asked: &GeoQuery) -> Result<Vec<Condition>> {
    let Some(geometry) = geometry else {
        if asked.areas.is_empty() {
            return Ok(Vec::new());
        }
        return Err(Error::new(Code::InvalidRequest, format!("`{}` has no geometry to look for areas in", table.name)));
    };
    let condition = |area: &Area| Condition::Test {
        path: vec![table.columns[geometry].name.clone()],
        operator: Operator::Spatial(Spatial::Intersects),
        negated: false,
        value: polygon(*area),
    };
    Ok(asked.areas.iter().map(condition).collect())
}

/// Returns the area as well-known text.
fn polygon(area: Area) -> String {
    let [west, south, east, north] = match area {
        Area::Box(bounds) => bounds,
        Area::Tile([zoom, column, row]) => tile(zoom, column, row),
    };
    format!("POLYGON(({west} {south},{east} {south},{east} {north},{west} {north},{west} {south}))")
}

/// Returns the bounds of a Web Mercator tile.
fn tile(zoom: u32, column: u32, row: u32) -> [f64; 4] {
    let tiles = 2_f64.powi(i32::try_from(zoom).unwrap_or(i32::MAX).min(30));
    let longitude = |x: f64| x / tiles * 360.0 - 180.0;
    let latitude = |y: f64| (std::f64::consts::PI * (1.0 - 2.0 * y / tiles)).sinh().atan().to_degrees();
    let (x, y) = (f64::from(column), f64::from(row));
    [longitude(x), latitude(y + 1.0), longitude(x + 1.0), latitude(y)]
}

#[cfg(test)]
mod tests {
    use salver_model::records::Area;

    use super::{polygon, tile};

    #[test]
    fn areas_as_text() {
        assert_eq!(polygon(Area::Box([1.0, 2.5, 3.0, 4.0])), "POLYGON((1 2.5,3 2.5,3 4,1 4,1 2.5))");
        let [west, south, east, north] = tile(0, 0, 0);
        assert!((west + 180.0).abs() < 1e-9 && (east - 180.0).abs() < 1e-9);
        assert!((north - 85.051_128).abs() < 1e-5 && (south + north).abs() < 1e-9);
    }
}
