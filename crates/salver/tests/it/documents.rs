//! What the OpenAPI documents tell of tables, where rules are about documents alone.

use crate::process::Process;

const SHOP: &str = "create table items (id integer primary key, name text, cost int);\n\
    create table plans (id integer primary key, item_id int references items(id));\n";

#[test]
fn what_rules_keep_from_documents() {
    let settings = "[[database]]\nname = \"shop\"\nurl = \"sqlite:shop.db\"\ninit = \"shop.sql\"\nwritable = true\n\
        [[database.rule]]\ntables = [\"plans\"]\noperations = [\"document\"]\ndeny = true\n\
        [[database.rule]]\ntables = [\"items\"]\noperations = [\"document\"]\ncolumns_hidden = [\"cost\"]\n";
    let process = Process::with(settings, &[("shop.sql", SHOP)]);
    let document = process.get("/api/openapi").replace("\\/", "/");
    assert!(document.contains("\"name\"") && document.contains("/records/items"), "{document}");
    assert!(!document.contains("cost") && !document.contains("plans"), "{document}");
    let document = process.get("/openapi.json");
    assert!(document.contains("/api/tables/items") && document.contains("/api/records/items"), "{document}");
    assert!(!document.contains("cost") && !document.contains("plans"), "{document}");
    // What is not documented is there all the same.
    assert_eq!(process.send("POST", "/api/records/items", Some("{\"name\":\"a\",\"cost\":7}")).status, 200);
    assert!(process.get("/api/records/items/1").contains("\"cost\":7"));
    assert_eq!(process.get("/api/records/plans"), "{\"records\":[]}");
}
