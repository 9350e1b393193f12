//! A catalog in memory, and a way to query it.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array, ListArray, StringArray,
    StructArray, UInt64Array,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{DataType, Field, Fields};
use arrow::record_batch::RecordBatch;
use futures::TryStreamExt;
use salver_formats::{Format, Nulls, Style, encode};
use salver_model::observation::Silent;
use salver_model::ports::Table;
use salver_model::{Batches, Code, Error, Limits, Name, Result};
use salver_service::{Catalog, Service};
use salver_testkit::{MemoryTable, NoSql};
use serde_json::{Value as Json, json};

use crate::graphql::{Answer, Graphql, answer, parse_post};

pub(crate) struct World {
    pub(crate) door: Graphql,
    pub(crate) service: Service,
    pub(crate) tables: Vec<Arc<MemoryTable>>,
}

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn text(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn uk_cities() -> MemoryTable {
    let city = [
        "Elgin, Scotland, the UK",
        "Stoke-on-Trent, Staffordshire, the UK",
        "Solihull, Birmingham, UK",
        "Cardiff, Cardiff county, UK",
        "Inverness, the UK",
        "Aberdeen, Aberdeen City, UK",
    ];
    let lat = vec![57.653484, 53.002666, 52.412811, 51.481583, 57.477772, 57.149651];
    let lng = vec![-3.335724, -2.179404, -1.778197, -3.179090, -4.224721, -2.099075];
    MemoryTable::new(
        "uk_cities",
        batch(vec![
            ("city", Arc::new(StringArray::from(city.to_vec()))),
            ("lat", Arc::new(Float64Array::from(lat))),
            ("lng", Arc::new(Float64Array::from(lng))),
        ]),
    )
}

fn countries() -> MemoryTable {
    let columns = vec![
        ("code", text(&[Some("gb"), Some("fr"), Some("de")])),
        ("name", text(&[Some("Britain"), Some("France"), Some("Germany")])),
    ];
    MemoryTable::new("countries", batch(columns)).with_key(&["code"])
}

fn customers() -> MemoryTable {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3, 4]))),
        ("name", text(&[Some("Ada"), Some("Bob"), Some("Cleo"), None])),
        ("country", text(&[Some("gb"), Some("fr"), Some("gb"), None])),
        ("Mixed Col", text(&[Some("a\"b"), Some("ü"), None, Some("")])),
        ("active", Arc::new(BooleanArray::from(vec![Some(true), Some(false), None, Some(true)]))),
    ];
    MemoryTable::new("customers", batch(columns)).with_key(&["id"]).with_relation(
        "home",
        &["country"],
        "countries",
        &["code"],
    )
}

fn orders() -> MemoryTable {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![10, 11, 12, 13, 14, 15]))),
        // A type other than that of the key it refers to, as happens with files.
        ("customer_id", Arc::new(Int64Array::from(vec![Some(1), Some(1), Some(2), Some(1), None, Some(9)]))),
        ("amount", Arc::new(Float64Array::from(vec![Some(5.5), Some(2.0), Some(7.25), None, Some(1.0), Some(3.0)]))),
        ("color", text(&[Some("red"), Some("blue"), Some("red"), Some("red"), Some("blue"), None])),
        ("day", Arc::new(Date32Array::from(vec![18_000, 18_001, 18_002, 18_003, 18_004, 18_005]))),
        ("big", Arc::new(UInt64Array::from(vec![u64::MAX, 9_007_199_254_740_993, 1, 2, 3, 4]))),
    ];
    MemoryTable::new("orders", batch(columns)).with_key(&["id"]).with_relation(
        "customer",
        &["customer_id"],
        "customers",
        &["id"],
    )
}

fn launches() -> MemoryTable {
    let fields =
        Fields::from(vec![Field::new("webcast", DataType::Utf8, true), Field::new("wikipedia", DataType::Utf8, true)]);
    let links = StructArray::new(
        fields,
        vec![text(&[Some("w1"), None, Some("w3")]), text(&[Some("p1"), Some("p2"), None])],
        Some(NullBuffer::from(vec![true, true, false])),
    );
    let core =
        Fields::from(vec![Field::new("serial", DataType::Utf8, true), Field::new("flight", DataType::Int32, true)]);
    let cores = StructArray::new(
        core.clone(),
        vec![text(&[Some("B1"), Some("B2"), Some("B3")]), Arc::new(Int32Array::from(vec![Some(1), None, Some(3)]))],
        None,
    );
    let item = Arc::new(Field::new_list_field(DataType::Struct(core), true));
    let cores = ListArray::new(
        item,
        OffsetBuffer::from_lengths([2, 0, 1]),
        Arc::new(cores),
        Some(vec![true, true, true].into()),
    );
    let price = Decimal128Array::from(vec![Some(150), None, Some(-1)]).with_precision_and_scale(10, 2).unwrap();
    MemoryTable::new(
        "launches",
        batch(vec![
            ("name", text(&[Some("A"), Some("B"), Some("C")])),
            ("links", Arc::new(links)),
            ("cores", Arc::new(cores)),
            ("price", Arc::new(price)),
        ]),
    )
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(vec![uk_cities(), countries(), customers(), orders(), launches()])
    }

    pub(crate) fn of(tables: Vec<MemoryTable>) -> Self {
        let tables: Vec<Arc<MemoryTable>> = tables.into_iter().map(Arc::new).collect();
        Self { tables: tables.clone(), ..Self::with(tables, Limits::default()) }
    }

    /// Creates a world of any tables, under `limits`; counting reads is left to the tables.
    pub(crate) fn with<T: Table + 'static>(tables: Vec<Arc<T>>, limits: Limits) -> Self {
        let mut names: Vec<Name> = tables.iter().map(|table| table.describe().name.clone()).collect();
        let broken = Name::new("broken").unwrap();
        names.push(broken.clone());
        let catalog = Arc::new(Catalog::new(names, [], Vec::new()));
        for table in tables {
            catalog.publish(table);
        }
        catalog.report(&broken, &Error::new(Code::Source, "line 3 of broken.csv has 2 fields, not 3"));
        let service = Service::new(catalog, Arc::new(NoSql), Arc::new(Silent), limits);
        Self { door: Graphql::default(), service, tables: Vec::new() }
    }

    pub(crate) async fn post(&self, content_type: Option<&str>, body: &[u8]) -> Result<Answer> {
        let request = parse_post(content_type, body)?;
        let snapshot = self.service.catalog().snapshot();
        let queries = self.service.queries_settled(&request.caller, &snapshot).await;
        answer(&self.door, &self.service, (&snapshot, &queries), &request, Nulls::Write).await
    }

    /// Runs a document in ROAPI's form, and returns the rows as JSON.
    pub(crate) async fn raw(&self, document: &str) -> Result<String> {
        match self.post(None, document.as_bytes()).await? {
            Answer::Rows(rows) => {
                let batches = match rows.batches {
                    Batches::Ready(batches) => batches,
                    Batches::Stream(stream) => stream.try_collect().await?,
                };
                Ok(String::from_utf8(encode(Format::Json, &rows.schema, &batches, &Style::default())?).unwrap())
            }
            Answer::Document { body, .. } => Ok(String::from_utf8(body).unwrap()),
        }
    }

    /// Runs a document in the standard form, and returns the result and whether it was run.
    pub(crate) async fn run(&self, document: &str, variables: Json) -> (Json, bool) {
        let body = json!({ "query": document, "variables": variables }).to_string();
        match self.post(Some("application/json"), body.as_bytes()).await.unwrap() {
            Answer::Document { body, refused, .. } => (serde_json::from_slice(&body).unwrap(), refused.is_none()),
            Answer::Rows(_) => panic!("bare rows for {document}"),
        }
    }

    /// Returns the data of a document, which must have no errors.
    pub(crate) async fn data(&self, document: &str) -> Json {
        let (answer, ok) = self.run(document, Json::Null).await;
        assert!(ok && answer.get("errors").is_none(), "{document}: {answer:#}");
        answer["data"].clone()
    }

    /// Returns the first error of a document, which must be refused.
    pub(crate) async fn refusal(&self, document: &str) -> Json {
        let (answer, ok) = self.run(document, Json::Null).await;
        assert!(!ok && answer.get("data").is_none(), "{document}: {answer:#}");
        answer["errors"][0].clone()
    }

    pub(crate) fn reads(&self, table: &str) -> usize {
        let found = self.tables.iter().find(|t| t.describe().name.as_str() == table);
        found.map_or(0, |table| table.reads())
    }

    pub(crate) fn all_reads(&self) -> usize {
        self.tables.iter().map(|table| table.reads()).sum()
    }
}
