//! A small shop in each database, and short words for asking about it.

use futures::StreamExt;
use salver_model::ports::Database as _;
use salver_model::records::{
    Child, Condition, Document, DocumentBody, ListPage, Operator, Order, RecordQuery, RecordRead,
};
use salver_model::spec::{DatabaseKind, DatabaseSpec};
use salver_model::{Caller, Error, Name, Result};
use salver_records::RecordsDatabase;
use salver_testkit::servers::{Database, Kind, database};

/// The statements are the same everywhere but for the words in capitals.
const SHOP: &str = "
create table users (id integer not null primary key, name varchar(20) not null, boss_id integer references users (id));
insert into users values (1, 'ann', null), (2, 'bob', 1), (3, 'cid', 1), (4, 'dan', 2);
create table posts (
  id integer not null primary key, user_id integer not null, editor_id integer, title varchar(20),
  price decimal(10,2), score DOUBLE, done boolean, made date,
  foreign key (user_id) references users (id), foreign key (editor_id) references users (id)
);
insert into posts values
  (1, 1, 2, 'a/b', 1.50, 0.5, true, '2024-01-01'), (2, 2, null, 'c', 2.00, 1.5, false, '2024-02-01'),
  (3, 1, 1, null, 2.00, null, null, null), (4, 3, 4, 'd%_', null, 2.0, true, '2023-12-31');
create table comments (
  id integer not null primary key, post_id integer not null, text varchar(20) not null,
  foreign key (post_id) references posts (id)
);
insert into comments values (1, 1, 'one'), (2, 2, 'two'), (3, 1, 'three'), (4, 1, 'four'), (5, 4, 'five');
create table tags (name varchar(10) not null primary key, hot boolean not null);
insert into tags values ('red', true), ('green', false), ('blue', true);
create table post_tags (
  post_id integer not null, tag varchar(10) not null, primary key (post_id, tag),
  foreign key (post_id) references posts (id), foreign key (tag) references tags (name)
);
insert into post_tags values (1, 'red'), (1, 'blue'), (2, 'red'), (4, 'green');
create table friends (
  id integer not null primary key, a integer not null, b integer not null,
  foreign key (a) references users (id), foreign key (b) references users (id)
);
insert into friends values (1, 1, 2), (2, 1, 3), (3, 2, 1);
create table stock (place varchar(10) not null,
    item integer not null, amount integer not null, primary key (place, item));
insert into stock values ('north', 1, 5), ('north', 2, 0), ('south', 1, 7);
create table moves (
  id integer not null primary key, place varchar(10) not null, item integer not null,
  foreign key (place, item) references stock (place, item)
);
insert into moves values (1, 'north', 1), (2, 'south', 1), (3, 'north', 1);
create table bare (word varchar(10), n integer);
insert into bare values ('b', 2), ('a', null), ('a', 1);
create table spots (id integer not null primary key, name varchar(10) not null, place GEOMETRY);
insert into spots values (1, 'here', WKT('POINT(30 10)')), (2, 'nowhere', null),
    (3, 'line', WKT('LINESTRING(0 0,10 10)'));
create view busy as select post_id as id, post_id as posts_id, count(*) as n from comments group by post_id;
";

/// The shop in one of the databases.
pub(crate) struct World {
    pub(crate) kind: Kind,
    pub(crate) source: Database,
    pub(crate) database: RecordsDatabase,
    pub(crate) caller: Caller,
}

impl World {
    /// The shop, with what `settle` says of its entry.
    pub(crate) fn new(kind: Kind, settle: impl FnOnce(&mut DatabaseSpec)) -> Self {
        Self::with(kind, "", settle)
    }

    /// The same, and what the statements of `more` make.
    pub(crate) fn with(kind: Kind, more: &str, settle: impl FnOnce(&mut DatabaseSpec)) -> Self {
        let (double, wkt) = match kind {
            Kind::Sqlite => ("double", "("),
            Kind::Mariadb => ("double", "ST_GeomFromText("),
            Kind::Postgres => ("double precision", "ST_GeomFromText("),
        };
        let sql = SHOP.replace("DOUBLE", double).replace("GEOMETRY", "geometry").replace("WKT(", wkt);
        let source = database(kind, &(sql + more));
        let system = match kind {
            Kind::Sqlite => DatabaseKind::Sqlite,
            Kind::Mariadb => DatabaseKind::Mysql,
            Kind::Postgres => DatabaseKind::Postgres,
        };
        let mut spec = DatabaseSpec::new(Name::new("shop").expect("a name"), system, source.url());
        spec.geometry_srid = 0;
        settle(&mut spec);
        let database = RecordsDatabase::open(spec).expect("a database");
        Self { kind, source, database, caller: Caller::default() }
    }

    /// The shop in each database.
    pub(crate) fn all() -> Vec<Self> {
        Kind::ALL.into_iter().map(|kind| Self::new(kind, |_| {})).collect()
    }

    /// The same for a caller who is `user`.
    pub(crate) fn seen_by(mut self, user: &str) -> Self {
        self.caller.principal.attributes = vec![("user".to_owned(), user.to_owned())];
        self
    }

    /// A read, whose result must be that of the way that may wait.
    async fn try_read(&self, read: &RecordRead) -> Result<String> {
        let (own, waiting) =
            (self.database.read(&self.caller, read).await, self.database.read_later(&self.caller, read));
        match (own, waiting.await) {
            (Ok(own), Ok(waiting)) => {
                assert_eq!(own.tag, waiting.tag, "{:?} {read:?}", self.kind);
                let own = text(own).await?;
                assert_eq!(own, text(waiting).await?, "{:?} {read:?}", self.kind);
                Ok(own)
            }
            (Err(own), Err(waiting)) => {
                assert_eq!((own.code, &own.message), (waiting.code, &waiting.message), "{:?} {read:?}", self.kind);
                Err(own)
            }
            differ => panic!("{:?} {read:?}: {differ:?}", self.kind),
        }
    }

    pub(crate) async fn try_list(&self, query: &RecordQuery) -> Result<String> {
        self.try_read(&RecordRead::List(Box::new(query.clone()))).await
    }

    pub(crate) async fn list(&self, query: &RecordQuery) -> String {
        let answer = self.try_list(query).await;
        answer.unwrap_or_else(|error| panic!("{:?} {query:?}: {error:?}", self.kind))
    }

    /// The records of a list, without what stands around them.
    pub(crate) async fn records(&self, query: &RecordQuery) -> String {
        let list = self.list(query).await;
        list.strip_prefix("{\"records\":").and_then(|rest| rest.strip_suffix('}')).unwrap_or(&list).to_owned()
    }

    /// The values of the column `id`, in order.
    pub(crate) async fn ids(&self, query: &RecordQuery) -> Vec<i64> {
        let list: serde_json::Value = serde_json::from_str(&self.list(query).await).expect("JSON");
        list["records"].as_array().expect("records").iter().map(|row| row["id"].as_i64().expect("a number")).collect()
    }

    pub(crate) async fn fails(&self, query: &RecordQuery) -> Error {
        match self.try_list(query).await {
            Ok(answer) => panic!("{:?} {query:?} answered {answer}", self.kind),
            Err(error) => error,
        }
    }

    /// Rows by key; parts of a key have `~` between them.
    pub(crate) async fn read(&self, query: &RecordQuery, keys: &[&str]) -> Result<String> {
        let keys: Vec<Vec<String>> = keys.iter().map(|key| key.split('~').map(str::to_owned).collect()).collect();
        let many = keys.len() > 1;
        let read = RecordRead::Keys { query: Box::new(query.clone()), keys: keys.clone(), many };
        let rows = self.try_read(&read).await;
        if let ([key], true) = (keys.as_slice(), query.is_plain()) {
            let row = self.try_read(&RecordRead::Row { table: query.table.clone(), key: key.clone() }).await;
            let known = |read: &Result<String>| match read {
                Ok(row) => (None, row.clone()),
                Err(error) => (Some(error.code), error.message.clone()),
            };
            assert_eq!(known(&row), known(&rows), "{:?} {query:?} {key:?}", self.kind);
        }
        rows
    }
}

/// The whole of a document.
pub(crate) async fn text(document: Document) -> Result<String> {
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
    Ok(String::from_utf8(bytes).expect("text"))
}

pub(crate) fn table(name: &str) -> RecordQuery {
    RecordQuery { table: name.to_owned(), ..RecordQuery::default() }
}

fn words(list: &str) -> Vec<String> {
    list.split(',').map(str::to_owned).collect()
}

/// Parts of a query, in the order they are said.
pub(crate) trait Ask {
    fn include(self, columns: &str) -> Self;
    fn exclude(self, columns: &str) -> Self;
    fn filter(self, text: &str) -> Self;
    fn order(self, keys: &str) -> Self;
    fn page(self, number: u64, size: u64) -> Self;
    fn size(self, size: u64) -> Self;
    fn join(self, path: &str) -> Self;
    fn child(self, path: &str, change: impl FnOnce(&mut Child)) -> Self;
    fn strict(self) -> Self;
}

impl Ask for RecordQuery {
    fn include(mut self, columns: &str) -> Self {
        self.include = Some(words(columns));
        self
    }

    fn exclude(mut self, columns: &str) -> Self {
        self.exclude = Some(words(columns));
        self
    }

    /// `column,operator,value`; several hold together.
    fn filter(mut self, text: &str) -> Self {
        let mut parts = self.filter.take().map(|old| vec![old]).unwrap_or_default();
        parts.push(condition(text));
        self.filter = Some(Condition::All(parts));
        self
    }

    /// `column` or `column desc`, with commas between.
    fn order(mut self, keys: &str) -> Self {
        self.order = orders(keys);
        self
    }

    fn page(mut self, number: u64, size: u64) -> Self {
        self.page = Some(ListPage { number, size: Some(size) });
        self
    }

    fn size(mut self, size: u64) -> Self {
        self.size = Some(size);
        self
    }

    fn join(mut self, path: &str) -> Self {
        self.joins.push(words(path));
        self
    }

    fn child(mut self, path: &str, change: impl FnOnce(&mut Child)) -> Self {
        let mut child = Child { path: words(path), ..Child::default() };
        change(&mut child);
        self.children.push(child);
        self
    }

    fn strict(mut self) -> Self {
        self.strict = true;
        self
    }
}

pub(crate) fn orders(keys: &str) -> Vec<Order> {
    let key = |key: &str| {
        let (path, descending) = key.strip_suffix(" desc").map_or((key, false), |path| (path, true));
        Order { path: path.split('.').map(str::to_owned).collect(), descending }
    };
    keys.split(',').filter(|key| !key.is_empty()).map(key).collect()
}

pub(crate) fn condition(text: &str) -> Condition {
    let mut parts = text.splitn(3, ',');
    let path = parts.next().unwrap_or_default().split('.').map(str::to_owned).collect();
    let word = parts.next().expect("an operator");
    let named = |word: &str| Operator::ALL.iter().find(|(own, _)| *own == word).map(|(_, operator)| *operator);
    let (operator, negated) = match named(word) {
        Some(operator) => (operator, false),
        None => (word.strip_prefix('n').and_then(named).expect("an operator"), true),
    };
    Condition::Test { path, operator, negated, value: parts.next().unwrap_or("").to_owned() }
}
