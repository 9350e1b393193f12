//! The contract of the `Database` port, clause by clause.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use salver_model::ports::{Database, MaybeReady};
use salver_model::records::{
    BytesText, Change, ChangeKind, Changed, Document, DocumentBody, Field, Load, Operation, Record, RecordQuery,
    RecordRead,
};
use salver_model::{Caller, Code, Error, Name, Result};

/// The statements that make the table of the suite, in every system's SQL.
pub const SCHEMA: &str = "create table things (id integer not null primary key, name varchar(20));";

/// Runs the suite on a writable database with the empty table of [`SCHEMA`]. `add_column` adds the column
/// `later integer` to it, as another client of the database.
///
/// # Panics
/// When the contract is broken.
pub async fn run(database: &dyn Database, add_column: impl FnOnce()) {
    let caller = Caller::default();
    database.refresh().await.expect("a schema");
    assert!(database.schema().table("things").is_some_and(|table| table.key == [0]));
    database.ping().await.expect("a round trip");
    changes(database, &caller).await;
    atomic(database, &caller).await;
    loads(database, &caller).await;
    alone(database, &caller).await;
    entries(database);
    let stamp = database.schema().stamp();
    add_column();
    // A request that names something new sees it at once.
    let created = record(&[("id", "70"), ("later", "7")]);
    change(database, &caller, ChangeKind::Create, &[], vec![created]).await.expect("a column that was just added");
    assert_eq!(row(database, &caller, "70").await, r#"{"id":70,"name":null,"later":7}"#);
    let changed = tokio::time::timeout(Duration::from_secs(60), database.changed(stamp)).await;
    changed.expect("a change of the schema is never told").expect("a schema");
    assert_ne!(database.schema().stamp(), stamp);
}

/// A change is there when its method returns; a mistake is refused with its code and changes nothing.
async fn changes(database: &dyn Database, caller: &Caller) {
    let two = vec![record(&[("id", "1"), ("name", "'a'")]), record(&[("id", "2"), ("name", "'ü\"'")])];
    let created = change(database, caller, ChangeKind::Create, &[], two).await.expect("new rows");
    assert_eq!(created, "[1,2]");
    assert_eq!(row(database, caller, "2").await, r#"{"id":2,"name":"ü\""}"#);
    let rows = r#"{"records":[{"id":1,"name":"a"},{"id":2,"name":"ü\""}]}"#;
    let list = RecordRead::List(Box::new(query("things")));
    assert_eq!(text(database.read(caller, &list).await.expect("rows")).await.expect("text"), rows);
    at_once(database, caller).await;
    let update = change(database, caller, ChangeKind::Update, &["1"], vec![record(&[("name", "'b'")])]).await;
    assert_eq!(update.expect("an update"), "1");
    assert_eq!(change(database, caller, ChangeKind::Delete, &["2"], vec![]).await.expect("a deletion"), "1");
    let both = database.read(caller, &keys("things", &["1", "2"], true)).await.expect("rows");
    assert_eq!(text(both).await.expect("text"), r#"[{"id":1,"name":"b"},null]"#, "null where there is no row");
    let duplicate = change(database, caller, ChangeKind::Create, &[], vec![record(&[("id", "1")])]).await;
    assert_eq!(duplicate.expect_err("a second row of one key").code, Code::DuplicateKey);
    let long = record(&[("id", "3"), ("name", "'a name of more than twenty characters'")]);
    change(database, caller, ChangeKind::Create, &[], vec![long]).await.expect_err("a name that is too long");
    let none = database.read(caller, &keys("nothing", &["1"], false)).await.expect_err("no such table");
    assert_eq!(none.code, Code::UnknownTable);
    let none = database.read(caller, &keys("things", &["2"], false)).await.expect_err("no such row");
    assert_eq!(none.code, Code::RecordNotFound);
    assert_eq!(row(database, caller, "1").await, r#"{"id":1,"name":"b"}"#);
}

/// Several changes happen together or not at all.
async fn atomic(database: &dyn Database, caller: &Caller) {
    let create = |id: &str| one(ChangeKind::Create, &[], vec![record(&[("id", id)])]);
    let done = database.transact(caller, vec![create("10"), create("11")]).await.expect("two changes");
    assert_eq!(made(done), "[10,11]");
    let failed = database.transact(caller, vec![create("12"), create("1")]).await;
    assert!(
        failed.is_err() || matches!(&failed, Ok(Changed::Undone(parts)) if parts[0].is_none() && parts[1].is_some())
    );
    let gone = database.read(caller, &keys("things", &["12"], false)).await.expect_err("it was undone");
    assert_eq!(gone.code, Code::RecordNotFound);
}

/// A load takes good rows and reports bad ones.
async fn loads(database: &dyn Database, caller: &Caller) {
    let unread = Err(Error::new(Code::InvalidRequest, "line 2 is not a row"));
    let rows = vec![Ok(record(&[("id", "20")])), unread, Ok(record(&[("id", "1")])), Ok(record(&[("id", "21")]))];
    let load = Load {
        table: "things".to_owned(),
        dry_run: false,
        keep_good: true,
        upsert: false,
        bytes: BytesText::default(),
    };
    let report = database.load(caller, &load, stream::iter([Ok(rows)]).boxed()).await.expect("a report");
    assert_eq!((report.read, report.loaded, report.refused), (4, 2, 2), "{report:?}");
    assert_eq!(row(database, caller, "21").await, r#"{"id":21,"name":null}"#);
}

/// A row is the same alone and among others, whichever of the two is answered at once.
async fn alone(database: &dyn Database, caller: &Caller) {
    for key in ["1", "20", "99"] {
        let alone = match database.read(caller, &keys("things", &[key], false)).await {
            Ok(document) => text(document).await.expect("text"),
            Err(error) => {
                assert_eq!(error.code, Code::RecordNotFound, "{key}");
                "null".to_owned()
            }
        };
        let among = database.read(caller, &keys("things", &[key], true)).await.expect("rows");
        assert_eq!(text(among).await.expect("text"), format!("[{alone}]"), "{key}");
    }
}

/// Its tables are entries under the names that they are given, and nothing else is.
fn entries(database: &dyn Database) {
    let other = Name::new("db.things").expect("a name");
    let tables = database.tables(&mut |name| (name == "things").then(|| other.clone()));
    let names: Vec<_> = tables.iter().map(|table| table.describe().name.clone()).collect();
    assert_eq!(names, [other]);
    assert!(database.tables(&mut |_| None).is_empty());
    assert!(database.visible(&Caller::default(), Operation::List).table("things").is_some());
}

/// Makes a record of names and values; a value in single quotes is text.
fn record(fields: &[(&str, &str)]) -> Record {
    let field = |text: &str| match text.strip_prefix('\'').and_then(|text| text.strip_suffix('\'')) {
        Some(text) => Field::Text(text.to_owned()),
        None => Field::Number(text.to_owned()),
    };
    fields.iter().map(|(name, value)| ((*name).to_owned(), field(value))).collect()
}

fn one(kind: ChangeKind, keys: &[&str], records: Vec<Record>) -> Change {
    let mut change = Change::new(kind, "things");
    change.keys_text = keys.join(",");
    change.keys = keys.iter().map(|key| vec![(*key).to_owned()]).collect();
    change.batch = records.len() > 1;
    change.records = records;
    change
}

async fn change(
    database: &dyn Database,
    caller: &Caller,
    kind: ChangeKind,
    keys: &[&str],
    records: Vec<Record>,
) -> Result<String> {
    database.change(caller, one(kind, keys, records)).await.map(made)
}

/// Returns the results of changes, which must have been made.
fn made(changed: Changed) -> String {
    match changed {
        Changed::Done(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Changed::Undone(parts) => panic!("undone: {parts:?}"),
    }
}

async fn row(database: &dyn Database, caller: &Caller, key: &str) -> String {
    let document = database.read(caller, &keys("things", &[key], false)).await.expect("a row");
    text(document).await.expect("text")
}

fn query(table: &str) -> RecordQuery {
    RecordQuery { table: table.to_owned(), ..RecordQuery::default() }
}

/// Only a database that says so has rows at once: of the others nobody would ask them.
async fn at_once(database: &dyn Database, caller: &Caller) {
    for read in [keys("things", &["1"], false), RecordRead::List(Box::new(query("things")))] {
        match database.read(caller, &read) {
            MaybeReady::Ready(document) => {
                document.expect("rows");
                assert!(database.reads_at_once(), "it has rows at once, and says that it never has");
            }
            MaybeReady::Pending(document) => drop(document.await.expect("rows")),
        }
    }
}

/// A read of rows with keys of one part.
fn keys(table: &str, keys: &[&str], many: bool) -> RecordRead {
    RecordRead::Keys {
        query: Box::new(query(table)),
        keys: keys.iter().map(|key| vec![(*key).to_owned()]).collect(),
        many,
    }
}

/// Returns the text of a document.
async fn text(document: Document) -> Result<String> {
    let mut bytes = match document.body {
        DocumentBody::Whole(bytes) => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
        DocumentBody::Stream(pieces) => pieces,
    };
    let mut text = Vec::new();
    while let Some(piece) = bytes.next().await {
        text.extend_from_slice(&piece?);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}
