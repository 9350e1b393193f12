//! ROAPI 0.12.7's answers, byte for byte, on its own example data.

use super::server::Server;

const CITIES: &[u8] = include_bytes!("../../../../examples/demo/data/uk_cities.csv");
const FIRST_TWO: &str = r#"[{"city":"Elgin, Scotland, the UK","lat":57.653484,"lng":-3.335724},{"city":"Stoke-on-Trent, Staffordshire, the UK","lat":53.002666,"lng":-2.179404}]"#;

fn cities() -> Server {
    Server::with(
        "[[dataset]]\nname = \"uk_cities\"\nsource = \"uk_cities.csv\"\n[[dataset]]\nname = \"launches\"\n\
         source = \"launches.csv\"\nkey = [\"id\"]\n[[store]]\nname = \"launch_name\"\ndataset = \"launches\"\n\
         key = \"id\"\nvalue = \"name\"\n",
        &[
            ("uk_cities.csv", CITIES),
            (
                "launches.csv",
                b"id,name\n600f9a8d8f798e2a4d5f979e,Starlink-21 (v1.0)\n5eb87cd9ffd86e000604b32a,FalconSat\n",
            ),
        ],
    )
}

#[test]
fn rows() {
    let server = cities();
    let north = r#"[{"city":"Elgin, Scotland, the UK","lat":57.653484,"lng":-3.335724},{"city":"Inverness, the UK","lat":57.477772,"lng":-4.224721},{"city":"Aberdeen, Aberdeen City, UK","lat":57.149651,"lng":-2.099075}]"#;
    for (target, expected) in [
        ("/api/tables/uk_cities?columns=city,lat,lng&limit=2", FIRST_TWO),
        (
            "/api/tables/uk_cities?limit=2&page=2&columns=city",
            r#"[{"city":"Solihull, Birmingham, UK"},{"city":"Cardiff, Cardiff county, UK"}]"#,
        ),
        ("/api/tables/uk_cities?filter[lat]gt=57&sort=-lat", north),
        ("/api/tables/uk_cities?limit=0", "[]"),
        // What ROAPI gets wrong: the limit survives a projection in another order than the schema's.
        ("/api/tables/uk_cities?columns=lat,city&limit=1", r#"[{"lat":57.653484,"city":"Elgin, Scotland, the UK"}]"#),
    ] {
        let answer = server.get(target);
        assert_eq!((answer.status, answer.text()), (200, expected), "{target}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{target}");
    }
}

#[test]
fn csv_under_roapis_media_type() {
    let answer = cities().get_with("/api/tables/uk_cities?limit=2", &[("accept", "application/csv")]);
    assert_eq!(answer.header("content-type"), Some("application/csv"));
    let expected = "city,lat,lng\n\"Elgin, Scotland, the UK\",57.653484,-3.335724\n\"Stoke-on-Trent, Staffordshire, the UK\",53.002666,-2.179404\n";
    assert_eq!(answer.text(), expected);
}

#[test]
fn graphql_and_sql_bodies() {
    let server = cities();
    for (target, body) in [
        ("/api/graphql", "query { uk_cities(limit: 2) {city, lat, lng} }"),
        ("/api/graphql", "{ uk_cities(limit: 2) {city, lat, lng} }"),
        ("/api/sql", "SELECT city, lat, lng FROM uk_cities LIMIT 2"),
    ] {
        let answer = server.post(target, body);
        assert_eq!((answer.status, answer.text()), (200, FIRST_TWO), "{body}");
    }
}

#[test]
fn errors() {
    let server = cities();
    let numeric = "Failed to parse numeric parameter value: invalid digit found in string";
    for (answer, status, slug, message) in [
        (server.post("/api/sql", "SELECT city FROM"), 400, "plan_sql", None),
        (server.get("/api/tables/uk_cities?columns=nope"), 400, "invalid_projection", None),
        (server.get("/api/tables/uk_cities?limit=-1"), 400, "invalid_numeric_param", Some(numeric)),
        (
            server.get("/api/tables/uk_cities?filter[lng]foo=1"),
            400,
            "rest_query",
            Some("unsupported filter operator foo"),
        ),
        (server.get("/api/kv/launch_name/nope"), 404, "not_found", Some("key nope not found")),
        (server.get("/api/kv/nope/nope"), 400, "invalid_kv_name", Some("keyvalue store name `nope` doesn't exist")),
        (server.get("/api/schema/nope"), 404, "not_found", Some("invalid table name")),
        (
            server.post_json("/api/table", "[]"),
            403,
            "read_only_mode",
            Some("Write operation is not allowed in read-only mode"),
        ),
    ] {
        assert_eq!(answer.status, status, "{slug}");
        assert_eq!(answer.header("content-type"), Some("application/json"), "{slug}");
        let body = answer.json();
        assert_eq!(body["code"], status, "{slug}");
        assert_eq!(body["error"], slug);
        if let Some(message) = message {
            assert_eq!(body["message"], message);
        }
    }
}

#[test]
fn key_values() {
    // The third is a finished response.
    for _ in 0..3 {
        let answer = cities().get("/api/kv/launch_name/600f9a8d8f798e2a4d5f979e");
        assert_eq!((answer.status, answer.text()), (200, "Starlink-21 (v1.0)"));
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=utf-8"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    }
}

#[test]
fn schema() {
    let server = cities();
    let expected = r#"{"fields":[{"name":"city","data_type":"Utf8","nullable":true,"dict_id":0,"dict_is_ordered":false,"metadata":{}},{"name":"lat","data_type":"Float64","nullable":true,"dict_id":0,"dict_is_ordered":false,"metadata":{}},{"name":"lng","data_type":"Float64","nullable":true,"dict_id":0,"dict_is_ordered":false,"metadata":{}}],"metadata":{}}"#;
    assert_eq!(server.get("/api/schema/uk_cities").text(), expected);
    let all = server.get("/api/schema").json();
    assert_eq!(all["uk_cities"]["fields"][0]["name"], "city");
}

/// With `compat.roapi` null fields are left out and an unknown table is 400, as there.
#[test]
fn compatibility_setting() {
    let toml = "[compat]\nroapi = true\n";
    let server = Server::with(toml, &[("t.csv", b"a,b\n1,\n,2\n")]);
    assert_eq!(server.get("/api/tables/t").text(), r#"[{"a":1},{"b":2}]"#);
    assert_eq!(server.get("/api/tables/nope").status, 400);
    let server = Server::of(&[("t.csv", b"a,b\n1,\n,2\n")]);
    assert_eq!(server.get("/api/tables/t").text(), r#"[{"a":1,"b":null},{"a":null,"b":2}]"#);
    assert_eq!(server.get("/api/tables/nope").status, 404);
}
