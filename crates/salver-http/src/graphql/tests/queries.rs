//! Named queries as fields of the schema, over an engine that tells what it was asked.

use std::sync::{Arc, Mutex};

use arrow::array::{ArrayRef, Float64Array, Int64Array, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use salver_model::access::Restriction;
use salver_model::observation::{Observer, Silent};
use salver_model::ports::{
    MaybeReady, QueryDescription, SqlEngine, StatementDescription, StatementQuestion, Table, Tables,
};
use salver_model::spec::{Parameter, ParameterSpec, QuerySpec, RunsAs, ViewSpec};
use salver_model::{
    Code, Error, Limits, Name, ParameterType, Result, Rows, SqlParameters, SqlQuery, TypedValue, Value,
};
use salver_service::{Catalog, NamedQuery, Service, named_query};
use salver_testkit::MemoryTable;
use serde_json::{Value as Json, json};
use tokio::task::JoinSet;

use crate::graphql::tests::fixture::World;
use crate::graphql::{Answer, Graphql};

/// An engine that gives the same three rows for every statement, and refuses those that say so.
#[derive(Debug, Default)]
struct ThreeRows {
    asked: Mutex<Vec<SqlQuery>>,
}

fn three_rows() -> RecordBatch {
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2, 3])), false),
        ("Full Name", Arc::new(StringArray::from(vec![Some("Ann"), None, Some("Cy")])), true),
        ("height", Arc::new(Float64Array::from(vec![1.5, 1.75, 2.0])), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn refused(sql: &str) -> Option<Error> {
    sql.contains("wrong").then(|| Error::new(Code::InvalidSql, "no column `wrong` at line 1, column 8"))
}

impl SqlEngine for ThreeRows {
    fn run<'a>(&'a self, _: Arc<dyn Tables>, query: &'a SqlQuery) -> MaybeReady<'a, Result<Rows>> {
        self.asked.lock().unwrap().push(query.clone());
        let batch = three_rows();
        MaybeReady::Ready(match query.text.contains("fails") {
            true => Err(Error::new(Code::Execution, "divided by zero")),
            false => Ok(Rows::ready(batch.schema(), vec![batch])),
        })
    }

    fn restrict(self: Arc<Self>, _: &Arc<dyn Table>, _: &Restriction) -> Result<Arc<dyn Table>> {
        Err(Error::new(Code::Config, "nothing is restricted here"))
    }

    fn describe_statement<'a>(
        &'a self,
        _: Arc<dyn Tables>,
        question: StatementQuestion<'a>,
    ) -> BoxFuture<'a, Result<StatementDescription>> {
        let text = question.text;
        Box::pin(async move { Err(Error::new(Code::InvalidSql, format!("no SQL is planned here: {text}"))) })
    }

    fn view(self: Arc<Self>, view: &ViewSpec, _: Arc<dyn Tables>) -> Result<Arc<dyn Table>> {
        Err(Error::new(Code::InvalidSql, format!("no SQL is run here: {}", view.sql)))
    }

    fn describe<'a>(&'a self, _: Arc<dyn Tables>, query: &'a QuerySpec) -> BoxFuture<'a, Result<QueryDescription>> {
        let parameter = |own: &ParameterSpec| {
            let kind = own.kind.unwrap_or_default();
            Parameter {
                name: own.name.clone(),
                kind,
                default: own.default.as_deref().and_then(|text| kind.parse(text)),
                default_text: own.default.clone(),
                required: own.required && own.default.is_none(),
                description: own.description.clone(),
            }
        };
        Box::pin(async move {
            let parameters = query.parameters.iter().map(parameter).collect();
            match refused(&query.sql) {
                None => Ok(QueryDescription::new(query, parameters, three_rows().schema())),
                Some(error) => Err(error),
            }
        })
    }
}

fn parameter(name: &str, kind: ParameterType, default: Option<&str>, required: bool) -> ParameterSpec {
    let default = default.map(str::to_owned);
    ParameterSpec { name: name.to_owned(), kind: Some(kind), default, required, description: format!("the {name}") }
}

fn query(name: &str, sql: &str, parameters: Vec<ParameterSpec>) -> Arc<NamedQuery> {
    let (name, sql, description) = (Name::new(name).unwrap(), sql.to_owned(), String::new());
    let spec = QuerySpec { name, sql, description, parameters, runs_as: RunsAs::Caller, file: None };
    Arc::new(NamedQuery::new(spec))
}

fn of_every_type() -> Vec<ParameterSpec> {
    vec![
        parameter("city", ParameterType::Text, None, true),
        parameter("most", ParameterType::Integer, Some("10"), true),
        parameter("below", ParameterType::Number, Some("1.50"), true),
        parameter("tall", ParameterType::Boolean, None, false),
        parameter("born", ParameterType::Date, Some("1900-01-01"), true),
        parameter("seen", ParameterType::Timestamp, None, false),
    ]
}

struct Queried {
    world: World,
    engine: Arc<ThreeRows>,
}

fn queried(queries: Vec<Arc<NamedQuery>>, limits: Limits) -> Queried {
    let id: ArrayRef = Arc::new(Int64Array::from(vec![7]));
    let table = MemoryTable::new("people", RecordBatch::try_from_iter([("id", id)]).unwrap());
    let catalog = Arc::new(Catalog::new([Name::new("people").unwrap()], [], Vec::new()));
    catalog.publish(Arc::new(table));
    let engine = Arc::new(ThreeRows::default());
    let (sql, observer): (Arc<dyn SqlEngine>, Arc<dyn Observer>) = (Arc::<ThreeRows>::clone(&engine), Arc::new(Silent));
    let mut planning = JoinSet::new();
    named_query::start(&catalog, &queries, &sql, &observer, &mut planning);
    let service = Service::new(catalog, sql, observer, limits).with_queries(queries);
    let world = World { door: Graphql::default(), service, tables: Vec::new() };
    planning.detach_all();
    Queried { world, engine }
}

#[tokio::test]
async fn rows_are_selected_under_their_names() {
    let Queried { world, engine } = queried(vec![query("all", "select 1", Vec::new())], Limits::default());
    let data = world
        .data("{ all { id Full_Name } few: all { ...F __typename } people { id } } fragment F on all { cm: height }")
        .await;
    let expected = json!({
        "all": [{ "id": 1, "Full_Name": "Ann" }, { "id": 2, "Full_Name": null }, { "id": 3, "Full_Name": "Cy" }],
        "few": [
            { "cm": 1.5, "__typename": "all" },
            { "cm": 1.75, "__typename": "all" },
            { "cm": 2.0, "__typename": "all" },
        ],
        "people": [{ "id": 7 }],
    });
    assert_eq!(data, expected);
    let asked = engine.asked.lock().unwrap();
    let is_bare = |query: &SqlQuery| query.is_safe && query.parameters == SqlParameters::Typed(Vec::new());
    assert!(asked.len() == 2 && asked.iter().all(is_bare), "{asked:?}");
}

#[tokio::test]
async fn arguments_become_values_of_their_types() {
    let Queried { world, engine } = queried(vec![query("of", "select 1", of_every_type())], Limits::default());
    let document = "query Q($n: Int64, $t: Timestamp) {
        a: of(city: \"Leeds\") { id }
        b: of(city: \"' --\", most: $n, below: 99999999999999.99, tall: true, born: \"2024-02-29\", seen: $t) { id }
    }";
    let (answer, ok) = world.run(document, json!({ "n": "-9007199254740993", "t": null })).await;
    assert!(ok && answer.get("errors").is_none(), "{answer}");
    let text = |text: &str| Some(Value::Text(text.to_owned()));
    let kinds = of_every_type();
    let typed = |values: [Option<Value>; 6]| {
        let pairs = kinds.iter().zip(values);
        let typed = |(own, value): (&ParameterSpec, Option<Value>)| {
            let kind = own.kind.unwrap_or_default();
            TypedValue { name: own.name.clone(), kind, value }
        };
        SqlParameters::Typed(pairs.map(typed).collect())
    };
    let number = |text: &str| ParameterType::Number.parse(text);
    let expected = [
        typed([text("Leeds"), Some(Value::Int(10)), number("1.50"), None, text("1900-01-01"), None]),
        typed([
            text("' --"),
            Some(Value::Int(-9_007_199_254_740_993)),
            number("99999999999999.99"),
            Some(Value::Bool(true)),
            text("2024-02-29"),
            None,
        ]),
    ];
    let asked = engine.asked.lock().unwrap();
    assert_eq!(asked.iter().map(|query| query.parameters.clone()).collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn introspection_shows_arguments_and_columns() {
    let world = queried(vec![query("of", "select 1", of_every_type())], Limits::default()).world;
    let document = "{
        t: __type(name: \"of\") { kind description fields { name description type { kind name ofType { name } } } }
        q: __type(name: \"Query\") { fields { name args { name description defaultValue type { kind name ofType { name } } } } }
    }";
    let data = world.data(document).await;
    let field = |name: &str, kind: &str, of: Option<&str>, description: Json| {
        let (name_of, of) = if kind == "NON_NULL" { (None, of) } else { (of, None) };
        let of = of.map(|of| json!({ "name": of }));
        json!({ "name": name, "description": description, "type": { "kind": kind, "name": name_of, "ofType": of } })
    };
    let fields = json!([
        field("id", "NON_NULL", Some("Int64"), Json::Null),
        field("Full_Name", "SCALAR", Some("String"), json!("Column `Full Name`")),
        field("height", "SCALAR", Some("Float"), Json::Null),
    ]);
    let expected = json!({ "kind": "OBJECT", "description": "A row of the named query `of`", "fields": fields });
    assert_eq!(data["t"], expected);
    let roots = data["q"]["fields"].as_array().unwrap();
    let root = roots.iter().find(|field| field["name"] == "of").unwrap();
    let argument = |name: &str, kind: &str, of: &str, default: Json| {
        let mut argument = field(name, kind, Some(of), json!(format!("the {name}")));
        argument["defaultValue"] = default;
        argument
    };
    let expected = json!([
        argument("city", "NON_NULL", "String", Json::Null),
        argument("most", "NON_NULL", "Int64", json!("10")),
        argument("below", "NON_NULL", "Float", json!("1.50")),
        argument("tall", "SCALAR", "Boolean", Json::Null),
        argument("born", "NON_NULL", "Date", json!("\"1900-01-01\"")),
        argument("seen", "SCALAR", "Timestamp", Json::Null),
    ]);
    assert_eq!(root["args"], expected);
}

#[tokio::test]
async fn what_is_wrong_with_an_argument_is_told_at_its_field() {
    let world = queried(
        vec![query("of", "select 1", of_every_type()), query("breaks", "select fails", Vec::new())],
        Limits::default(),
    )
    .world;
    let document = "query Q($n: Int64) { a: of(city: \"x\") { id } b: of(city: \"x\", born: \"noon\") { id }
        c: of(city: \"x\", most: $n) { id } d: of(city: \"x\", most: 1.5) { id } breaks { id } }";
    let (answer, ok) = world.run(document, json!({ "n": null })).await;
    assert!(ok && answer["data"]["a"].is_array(), "{answer}");
    let told = |error: &Json| format!("{} {} {}", error["path"][0], error["extensions"]["code"], error["message"]);
    let told: Vec<String> = answer["errors"].as_array().unwrap().iter().map(told).collect();
    let expected = [
        r#""b" "rest_query_value" "the parameter `born` can't be `noon`: it is of type date""#,
        r#""c" "rest_query_value" "the parameter `most` can't be null""#,
        r#""d" "rest_query_value" "the parameter `most` can't be `1.5`: it is of type integer""#,
    ];
    assert_eq!(told[..3], expected);
    assert!(told.len() == 4 && told[3].starts_with("\"breaks\"") && told[3].contains("divided by zero"), "{told:?}");
    for document in ["{ of { id } }", "{ of(city: 3) { id } }", "{ of(city: \"x\", cty: \"y\") { id } }", "{ of }"] {
        world.refusal(document).await;
    }
}

#[tokio::test]
async fn rows_count_for_the_document() {
    let limits = Limits { rows_max: 5, ..Limits::default() };
    let world = queried(vec![query("all", "select 1", Vec::new())], limits).world;
    assert_eq!(world.data("{ all { id } }").await["all"].as_array().unwrap().len(), 3);
    let (answer, _) = world.run("{ all { id } again: all { id } }", Json::Null).await;
    assert_eq!(answer["data"], Json::Null);
    assert!(answer["errors"][0]["message"].as_str().unwrap().contains("rows_max"), "{answer}");
}

#[tokio::test]
async fn names_of_entries_come_first() {
    let queries = ["people_page", "Query", "1st", "größe"].map(|name| query(name, "select 1", Vec::new()));
    let world = queried(queries.to_vec(), Limits::default()).world;
    let data =
        world.data("{ people_page { rows { id } } people_page_2 { id } Query_2 { id } _1st { id } gr__e { id } }");
    assert_eq!(data.await.as_object().unwrap().len(), 5);
}

#[tokio::test]
async fn a_query_that_cannot_be_run_says_why() {
    let world = queried(vec![query("of", "select wrong", Vec::new())], Limits::default()).world;
    let error = world.refusal("{ of { id } }").await;
    let message = "the query `of` can't be run: no column `wrong` at line 1, column 8";
    assert_eq!((&error["message"], &error["extensions"]["code"]), (&json!(message), &json!("entry_unavailable")));
    let error = world.raw("{ of { id } }").await.unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (Code::EntryUnavailable, message));
}

#[tokio::test]
async fn a_bare_document_gets_the_standard_form() {
    let world = queried(vec![query("of", "select 1", of_every_type())], Limits::default()).world;
    let answer = world.raw("{ of(city: \"x\") { id } }").await.unwrap();
    assert_eq!(answer, r#"{"data":{"of":[{"id":1},{"id":2},{"id":3}]}}"#);
    let body = br#"{"query":"{ of(city: \"x\") { id } }"}"#;
    let Answer::Document { repeatable, .. } = world.post(None, body).await.unwrap() else { panic!("bare rows") };
    assert!(repeatable);
}

#[tokio::test]
async fn the_schema_follows_the_queries() {
    let Queried { mut world, engine } = queried(vec![query("of", "select 1", Vec::new())], Limits::default());
    assert!(world.data("{ of { id } }").await["of"].is_array());
    // As at a reload, with the same door over the same catalog.
    let others = vec![query("other", "select 1", Vec::new())];
    let (sql, observer): (Arc<dyn SqlEngine>, Arc<dyn Observer>) = (engine, Arc::new(Silent));
    let mut planning = JoinSet::new();
    named_query::start(world.service.catalog(), &others, &sql, &observer, &mut planning);
    planning.detach_all();
    world.service = world.service.successor(Limits::default()).with_queries(others);
    assert!(world.data("{ other { id } }").await["other"].is_array());
    let error = world.refusal("{ of { id } }").await;
    assert_eq!(error["message"], "type `Query` does not have a field `of`");
}
