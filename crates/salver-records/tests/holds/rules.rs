//! What rules leave to a caller of whom nothing is known is what can be held.

use salver_model::Value;
use salver_model::rule::{Rule, Term};
use salver_model::spec::{RecordRule, Tenancy};
use salver_testkit::servers::Kind;

use super::fixture::{World, all, counted, numbers, sorted};

fn table(kind: Kind) -> String {
    let rows = numbers(kind, 5_000, "t", "select i, 'it''s \\\\ ' || (i % 3), i % 2, 'secret' from n");
    let rows = if kind == Kind::Mariadb { rows } else { rows.replace("\\\\", "\\") };
    format!("create table t (id int not null primary key, name varchar(40), tenant int, secret varchar(10));\n{rows}")
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_columns_and_tenants() {
    for kind in Kind::ALL {
        let world = World::with(kind, &table(kind), |spec| {
            let rows = Some(Rule::parse("name != 'it''s \\ 1' and id > 10").expect("a rule"));
            let columns_hidden = vec!["secret".to_owned()];
            spec.rules.push(RecordRule { rows, columns_hidden, ..RecordRule::default() });
            let value = Term::Literal(Value::Int(1));
            spec.tenancy.push(Tenancy { table: "t".to_owned(), column: "tenant".to_owned(), value });
        })
        .await;
        let held = world.hold(3).await;
        let names: Vec<_> = held.describe().schema.fields().iter().map(|field| field.name().clone()).collect();
        assert_eq!(names, ["id", "name", "tenant"], "{kind:?}");
        let rows = all(&*held).await.expect("rows");
        let wanted = (11..=5_000).filter(|id| id % 3 != 1 && id % 2 == 1);
        let wanted: Vec<_> = wanted.map(|id| format!("{id}|it's \\ {}|1|", id % 3)).collect();
        assert_eq!(rows, wanted, "{kind:?}");
        assert_eq!(counted(&*held).await, wanted.len(), "{kind:?}");
        assert_eq!(sorted(world.rows().await), sorted(wanted), "{kind:?}");
    }
}

/// A column that nobody sees still chooses the rows that they see.
#[tokio::test(flavor = "multi_thread")]
async fn hidden_columns_choose_rows() {
    for kind in Kind::ALL {
        let world = World::with(kind, &table(kind), |spec| {
            let rows = Some(Rule::parse("secret = 'secret' and id > 10").expect("a rule"));
            let columns_hidden = vec!["secret".to_owned(), "tenant".to_owned()];
            spec.rules.push(RecordRule { rows, columns_hidden, ..RecordRule::default() });
            let value = Term::Literal(Value::Int(1));
            spec.tenancy.push(Tenancy { table: "t".to_owned(), column: "tenant".to_owned(), value });
        })
        .await;
        let held = world.hold(1).await;
        let wanted: Vec<_> = (11..=5_000).filter(|id| id % 2 == 1).collect();
        let name = |id: &i32| format!("{id}|it's \\ {}|", id % 3);
        let wanted: Vec<_> = wanted.iter().map(name).collect();
        assert_eq!(all(&*held).await.expect("rows"), wanted, "{kind:?}");
        assert_eq!(sorted(world.rows().await), sorted(wanted), "{kind:?}");
    }
}
