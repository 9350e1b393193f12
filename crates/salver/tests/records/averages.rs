//! Averages of exact numbers: computed exactly, so that large values take no digits of small ones.

use salver_testkit::servers::{Kind, database};

use super::program::Program;

#[test]
fn averages_of_exact_numbers_are_exact() {
    for kind in [Kind::Mariadb, Kind::Postgres] {
        let money = if kind == Kind::Postgres { "money" } else { "decimal(14,2)" };
        let sql = format!(
            "create table sums (id int primary key, d numeric(12,2), b bigint, m {money}, w numeric(40,20));
             insert into sums values (1, 0, 9007199254740993, 0, 0), (2, 0.10, -9007199254740992, 0.10, 0.1),
             (3, -0.01, 0, -0.01, -0.01), (4, 9999999999.99, 0, 9999999999.99, 9999999999.99),
             (5, -9999999999.99, 0, -9999999999.99, -9999999999.99), (6, 1.5, 0, 1.5, 1.5), (7, 10, 0, 10, 10),
             (8, null, null, null, null);"
        );
        let program = Program::over(database(kind, &sql), "", "");
        for (column, expected) in
            [("d", 1.655_714_285_7), ("m", 1.655_714_285_7), ("w", 1.655_714_285_7), ("b", 1.0 / 7.0)]
        {
            let records = program.get(&format!("/records/sums?aggregate=avg,{column},x")).json();
            let tables = program.get(&format!("/tables/sums?columns=x:avg({column})")).json();
            let body = format!(r#"{{"query":"{{ sums_aggregate {{ avg {{ {column} }} }} }}"}}"#);
            let graph = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(&body)).json();
            for found in [
                &records["records"][0]["x"],
                &tables[0]["x"],
                graph.pointer(&format!("/data/sums_aggregate/0/avg/{column}")).unwrap_or(&graph),
            ] {
                let number = found.as_f64().unwrap_or_else(|| panic!("{kind:?} {column}: {found}"));
                assert!((number - expected).abs() < 1e-9, "{kind:?} {column}: {number}");
            }
        }
        // Groups are chosen and ordered by them, and none has an average of nothing.
        let groups = "/records/sums?group=id&aggregate=avg,d,x&having=x,gt,1&order=x,desc";
        assert_eq!(
            program.ok(groups),
            r#"{"records":[{"id":4,"x":9999999999.99},{"id":7,"x":10},{"id":6,"x":1.5}]}"#,
            "{kind:?}"
        );
        assert_eq!(
            program.ok("/records/sums?aggregate=avg,d,x&filter=id,eq,8"),
            r#"{"records":[{"x":null}]}"#,
            "{kind:?}"
        );
    }
}
