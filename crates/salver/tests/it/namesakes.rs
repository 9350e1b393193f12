//! Two databases with tables of the same names: each door reads and writes the one that was named.

use super::server::Server;

const TOML: &str = "
[[database]]
name = \"one\"
url = \"sqlite:one.db\"
init = \"one.sql\"
writable = true

[[database]]
name = \"two\"
url = \"sqlite:two.db\"
init = \"two.sql\"
writable = true
";

fn schema(name: &str) -> Vec<u8> {
    format!(
        "create table tag (id integer primary key, name text); insert into tag values (1, '{name}');
         create table post (id integer primary key, tag_id integer references tag(id)); insert into post values (1, 1);"
    )
    .into_bytes()
}

#[test]
fn each_door_means_one_table() {
    let server = Server::with(TOML, &[("one.sql", &schema("one")), ("two.sql", &schema("two"))]);
    let get = |target: &str| server.get(target).text().to_owned();
    let graphql = |query: &str| {
        let body = format!("{{\"query\":\"{query}\"}}");
        let json = ("content-type", "application/json");
        server.ask("POST", "/api/graphql", &[json], body.as_bytes()).text().to_owned()
    };
    for (entry, type_name, post, name) in [("tag", "tag", "post", "one"), ("two.tag", "two_tag", "two_post", "two")] {
        assert_eq!(get(&format!("/api/tables/{entry}")), format!(r#"[{{"id":1,"name":"{name}"}}]"#));
        assert_eq!(get(&format!("/api/export/{entry}.csv")).trim_end(), format!("id,name\n1,{name}"));
        let sql = format!("/api/sql?q=select%20name%20from%20%22{entry}%22");
        assert_eq!(get(&sql), format!(r#"[{{"name":"{name}"}}]"#));
        let rows = graphql(&format!("{{ {type_name} {{ name }} {post} {{ tag {{ name }} }} }}"));
        let related = format!(r#"{{"{type_name}":[{{"name":"{name}"}}],"{post}":[{{"tag":{{"name":"{name}"}}}}]}}"#);
        assert_eq!(rows, format!(r#"{{"data":{related}}}"#));
        let created = graphql(&format!(
            "mutation {{ create_{type_name}(records: [{{id: 2, name: \\\"{name} new\\\"}}]) {{ id }} }}"
        ));
        assert!(created.contains(r#"[{"id":2}]"#), "{created}");
        let rows = format!(r#"[{{"id":1,"name":"{name}"}},{{"id":2,"name":"{name} new"}}]"#);
        assert_eq!(get(&format!("/api/tables/{entry}")), rows);
        assert_eq!(get(&format!("/api/records/{entry}")), format!(r#"{{"records":{rows}}}"#));
        let export = server.ask("POST", "/api/export", &[], format!("{{\"entry\":\"{entry}\"}}").as_bytes()).json();
        assert_eq!(export["entry"], entry, "{export}");
    }
}

/// What is missing is not said to be a table of another database.
#[test]
fn hints_name_the_same_database() {
    let server = Server::with(TOML, &[("one.sql", &schema("one")), ("two.sql", &schema("two"))]);
    for (table, expected) in [("two.tag", "write it in double quotes, as `\"two.tag\"`"), ("two.tags", "`two.tag`")] {
        let refused = server.post("/api/sql", &format!("select * from {table}"));
        assert_eq!(refused.status, 400, "{table}: {}", refused.text());
        let hint = refused.json()["hint"].as_str().unwrap_or_default().to_owned();
        assert!(hint.contains(expected), "{table}: {hint}");
    }
}
