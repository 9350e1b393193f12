//! A small blog in a database of its own, and short words for asking it.

use futures::StreamExt;
use salver_model::ports::Database;
use salver_model::records::{
    Change, ChangeKind, Changed, Document, DocumentBody, Field, Record, RecordQuery, RecordRead,
};
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Caller, Code, Error, Name, Result};
use salver_records::RecordsDatabase;
use salver_testkit::servers::{self, Kind};

const SCHEMA: &str = "
create table users (id SERIAL, name varchar(20) not null);
create table posts (
    id SERIAL, user_id integer not null, title varchar(20) not null, body CLOB, price decimal(10,2), done boolean,
    icon BLOB, made MOMENT, visitors bigint default 0, score DOUBLE, place geometry,
    twice bigint generated always as (visitors * 2) stored, foreign key (user_id) references users(id)
);
create table tags (name varchar(10) primary key not null, uses integer not null default 0);
create table members (team integer not null, name varchar(10) not null, role varchar(10), primary key (team, name));
create table emails (id SERIAL, address varchar(30) unique, nick varchar(10) unique, n integer);
create table logs (line varchar(20));
create view titles as select id, title from posts;
insert into users (name) values ('ann'), ('bob');
insert into posts (user_id, title) values (1, 'first'), (1, 'second'), (2, 'third');
";

/// The schema in the words of one system.
fn schema(kind: Kind) -> String {
    let words = match kind {
        Kind::Sqlite => ["integer primary key autoincrement", "clob", "blob", "timestamp", "double"],
        Kind::Mariadb => ["integer auto_increment primary key", "longtext", "longblob", "datetime", "double"],
        Kind::Postgres => ["serial primary key", "text", "bytea", "timestamp", "double precision"],
    };
    let placeholders = ["SERIAL", "CLOB", "BLOB", "MOMENT", "DOUBLE"];
    placeholders.iter().zip(words).fold(SCHEMA.to_owned(), |sql, (from, to)| sql.replace(from, to))
}

/// One database with the blog.
pub(crate) struct World {
    pub(crate) made: servers::Database,
    pub(crate) database: RecordsDatabase,
    pub(crate) caller: Caller,
}

impl Drop for World {
    /// Tells where a test failed.
    #[allow(clippy::print_stderr, reason = "it is the test's own output")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("on {:?}", self.made.kind());
        }
    }
}

impl World {
    /// The blog, writable, with what `settle` says of its entry.
    pub(crate) fn new(kind: Kind, settle: impl FnOnce(&mut DatabaseSpec)) -> Self {
        let made = servers::database(kind, &schema(kind));
        let own = match kind {
            Kind::Sqlite => DatabaseKind::Sqlite,
            Kind::Mariadb => DatabaseKind::Mysql,
            Kind::Postgres => DatabaseKind::Postgres,
        };
        let mut spec = DatabaseSpec::new(Name::new("blog").unwrap(), own, made.url());
        spec.writable = true;
        spec.definable = true;
        settle(&mut spec);
        let database = RecordsDatabase::open(spec).unwrap();
        Self { made, database, caller: Caller::default() }
    }

    /// The blog with nothing said.
    pub(crate) fn plain(kind: Kind) -> Self {
        Self::new(kind, |_| {})
    }

    /// The same for a caller who is `user`.
    pub(crate) fn of_user(mut self, user: &str) -> Self {
        self.caller.principal.attributes = vec![("user".to_owned(), user.to_owned())];
        self
    }

    pub(crate) async fn change(&self, change: Change) -> Result<String> {
        done(self.database.change(&self.caller, change).await?)
    }

    pub(crate) async fn fails(&self, change: Change) -> Error {
        match self.change(change).await {
            Ok(answer) => panic!("answered {answer}"),
            Err(error) => error,
        }
    }

    /// What went wrong with the parts of a batch that must have been undone.
    pub(crate) async fn undone(&self, change: Change) -> Vec<Option<Error>> {
        undone(self.database.change(&self.caller, change).await.unwrap())
    }

    pub(crate) async fn transact(&self, changes: Vec<Change>) -> Result<Changed> {
        self.database.transact(&self.caller, changes).await
    }

    /// One row, as a caller who may read everything sees it in this database; read in the way that may wait, in which
    /// concurrent reads meet.
    pub(crate) async fn row(&self, table: &str, key: &str) -> String {
        let key: Vec<String> = key.split(',').map(str::to_owned).collect();
        let read = RecordRead::Row { table: table.to_owned(), key };
        match self.database.read_later(&self.caller, &read).await {
            Ok(document) => text(document).await.unwrap(),
            Err(error) => error.message,
        }
    }

    /// Columns of every row.
    pub(crate) async fn list(&self, table: &str, columns: &[&str]) -> String {
        let include = Some(columns.iter().map(|column| (*column).to_owned()).collect());
        let query = RecordQuery { table: table.to_owned(), include, ..RecordQuery::default() };
        text(self.database.read(&self.caller, &RecordRead::List(Box::new(query))).await.unwrap()).await.unwrap()
    }
}

/// The results of changes that must have been made.
pub(crate) fn done(changed: Changed) -> Result<String> {
    match changed {
        Changed::Done(bytes) => Ok(String::from_utf8(bytes).unwrap()),
        Changed::Undone(parts) => panic!("undone: {parts:?}"),
    }
}

/// The parts of changes that must have been undone.
pub(crate) fn undone(changed: Changed) -> Vec<Option<Error>> {
    match changed {
        Changed::Undone(parts) => parts,
        Changed::Done(bytes) => panic!("done: {}", String::from_utf8_lossy(&bytes)),
    }
}

/// The codes of what went wrong.
pub(crate) fn codes(parts: &[Option<Error>]) -> Vec<Option<Code>> {
    parts.iter().map(|part| part.as_ref().map(|error| error.code)).collect()
}

/// The bytes of a document.
async fn text(document: Document) -> Result<String> {
    let bytes = match document.body {
        DocumentBody::Whole(bytes) => bytes,
        DocumentBody::Stream(mut pieces) => {
            let mut bytes = Vec::new();
            while let Some(piece) = pieces.next().await {
                bytes.extend(piece?);
            }
            bytes
        }
    };
    Ok(String::from_utf8(bytes).unwrap())
}

/// Records out of JSON, as a door reads them.
pub(crate) fn records(json: &str) -> Vec<Record> {
    let value: serde_json::Value = serde_json::from_str(json).unwrap();
    match value {
        serde_json::Value::Array(items) => items.iter().map(record).collect(),
        other => vec![record(&other)],
    }
}

fn record(value: &serde_json::Value) -> Record {
    value.as_object().unwrap().iter().map(|(name, value)| (name.clone(), field(value))).collect()
}

fn field(value: &serde_json::Value) -> Field {
    match value {
        serde_json::Value::Null => Field::Null,
        serde_json::Value::Bool(value) => Field::Bool(*value),
        serde_json::Value::Number(number) => Field::Number(number.to_string()),
        serde_json::Value::String(text) => Field::Text(text.clone()),
        other => match other.get("$back") {
            Some(back) => Field::Back {
                change: usize::try_from(back[0].as_u64().unwrap()).unwrap(),
                column: back[1].as_str().unwrap().to_owned(),
            },
            None => Field::Json(other.to_string()),
        },
    }
}

/// A change of rows by key, as `METHOD /records/table/keys` with this body.
pub(crate) fn change(kind: ChangeKind, table: &str, keys: &str, body: &str) -> Change {
    let mut change = Change::new(kind, table);
    change.keys_text = keys.to_owned();
    change.keys =
        keys.split(',').filter(|key| !key.is_empty()).map(|key| key.split('~').map(str::to_owned).collect()).collect();
    change.batch = body.starts_with('[') || change.keys.len() > 1 && change.kind == ChangeKind::Delete;
    if !body.is_empty() {
        change.records = records(body);
    }
    change
}

pub(crate) fn create(table: &str, body: &str) -> Change {
    change(ChangeKind::Create, table, "", body)
}

pub(crate) fn update(table: &str, keys: &str, body: &str) -> Change {
    change(ChangeKind::Update, table, keys, body)
}

pub(crate) fn increment(table: &str, keys: &str, body: &str) -> Change {
    change(ChangeKind::Increment, table, keys, body)
}

pub(crate) fn delete(table: &str, keys: &str) -> Change {
    change(ChangeKind::Delete, table, keys, "")
}

pub(crate) fn upsert(table: &str, on: &[&str], ignore: bool, body: &str) -> Change {
    let on = on.iter().map(|name| (*name).to_owned()).collect();
    change(ChangeKind::Upsert { on, ignore }, table, "", body)
}
