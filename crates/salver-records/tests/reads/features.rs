//! Rows as GeoJSON, and spatial conditions.

use salver_model::Code;
use salver_model::ports::Database;
use salver_model::records::{Area, GeoQuery, RecordRead};
use salver_testkit::servers::Kind;

use super::fixture::{Ask, World, table, text};

async fn geojson(world: &World, query: &GeoQuery, key: Option<&str>) -> salver_model::Result<String> {
    let key = key.map(|key| vec![key.to_owned()]);
    text(world.database.read(&world.caller, &RecordRead::Features(Box::new(query.clone()), key)).await?).await
}

#[tokio::test]
async fn collections_and_features() {
    for world in World::all() {
        let spots = GeoQuery { query: table("spots"), ..GeoQuery::default() };
        let here = r#"{"type":"Feature","id":1,"properties":{"name":"here"},"geometry":{"type":"Point","coordinates":[30,10]}}"#;
        let nowhere = r#"{"type":"Feature","id":2,"properties":{"name":"nowhere"},"geometry":null}"#;
        assert_eq!(geojson(&world, &spots, Some("1")).await.unwrap(), here, "{:?}", world.kind);
        assert_eq!(geojson(&world, &spots, Some("2")).await.unwrap(), nowhere);
        assert_eq!(geojson(&world, &spots, Some("9")).await.unwrap_err().code, Code::RecordNotFound);
        let mut page = spots.clone();
        page.query = page.query.page(1, 2).include("name");
        let expected = format!(r#"{{"type":"FeatureCollection","features":[{here},{nowhere}],"results":3}}"#);
        assert_eq!(geojson(&world, &page, None).await.unwrap(), expected);
        let other = GeoQuery { geometry: Some("nothing".to_owned()), ..spots.clone() };
        let flat = r#"{"type":"Feature","id":1,"properties":{"name":"here","place":"POINT(30 10)"},"geometry":null}"#;
        assert_eq!(geojson(&world, &other, Some("1")).await.unwrap(), flat);
    }
}

#[tokio::test]
async fn areas_and_relations() {
    for world in World::all() {
        let inside = GeoQuery {
            query: table("spots").exclude("*"),
            areas: vec![Area::Box([29.0, 9.0, 31.0, 11.0])],
            ..GeoQuery::default()
        };
        if world.kind == Kind::Sqlite {
            assert_eq!(geojson(&world, &inside, None).await.unwrap_err().code, Code::Unsupported);
            continue;
        }
        let here = r#"{"type":"FeatureCollection","features":[{"type":"Feature","id":1,"properties":{},"geometry":{"type":"Point","coordinates":[30,10]}}]}"#;
        assert_eq!(geojson(&world, &inside, None).await.unwrap(), here, "{:?}", world.kind);
        let tile = GeoQuery { areas: vec![Area::Tile([1, 1, 0])], ..inside };
        assert_eq!(geojson(&world, &tile, None).await.unwrap().matches("Feature\"").count(), 2);
        assert_eq!(world.ids(&table("spots").filter("place,sin,POINT(5 5)")).await, [3], "{:?}", world.kind);
        assert_eq!(world.ids(&table("spots").filter("place,nsin,POINT(5 5)")).await, [1]);
        assert_eq!(world.ids(&table("spots").filter("place,eq,POINT(30 10)")).await, [1]);
        assert!(world.ids(&table("spots").filter("place,sis")).await.contains(&3));
        assert_eq!(world.fails(&table("spots").filter("place,sco,nonsense")).await.code, Code::InvalidValue);
    }
}
