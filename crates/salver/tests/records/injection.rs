//! SQL in every place where a client may write a name or a value: nothing changes, nothing shows, nothing fails inside.

use salver_testkit::servers::{Database, Kind};

use super::client::{Client, value};
use super::fixture::MAPPING;
use super::program::Program;

/// What no answer may have in it: values of what is hidden, and what a database says of broken SQL.
const LEAKS: [&str; 13] = [
    "pass1",
    "123456789abc",
    "$2y$10$",
    "syntax",
    "SQLSTATE",
    "near \"",
    "unterminated",
    "sqlite_master\":",
    "MariaDB server version",
    "PostgreSQL 1",
    "parse error",
    "unrecognized token",
    "panicked",
];

const QUOTES: [&str; 12] = ["'", "\"", "`", "')", "\")", "`)", "'))", "\\'", "\\", "]", "$$", "\u{2019}"];
const TAILS: [&str; 20] = [
    "",
    " or 1=1",
    " or '1'='1",
    " or 1=1 -- ",
    " or 1=1 #",
    " or 1=1/*",
    "; drop table people; -- ",
    "; delete from people; -- ",
    "; update users set password = 'x'; -- ",
    " union select password from users -- ",
    " union all select id, password, username, api_key, null from users -- ",
    " union select 1,2,3,4,5 -- ",
    " and (select count(*) from users where password like 'p%') > 0 -- ",
    " and 1=(select 1/0) -- ",
    " order by (select password from users limit 1) -- ",
    " into outfile '/tmp/x' -- ",
    "; attach database '/tmp/x' as x; -- ",
    "; copy people to '/tmp/x'; -- ",
    " returning (select password from users) -- ",
    "||(select password from users limit 1)||",
];
const ODD: [&str; 12] = [
    "\u{0}",
    "a\u{0}b",
    "%00",
    "1;1",
    "?",
    "?1",
    ":id",
    "@id",
    "$1",
    "null",
    "people; drop table people",
    "password\" from \"users",
];

/// Where a payload `X` (as it is) or `V` (encoded as one value) goes, on the way of a read.
const READS: [&str; 45] = [
    "/records/V",
    "/records/V/1",
    "/records/people/V",
    "/records/people/1,V",
    "/records/people?filter=V",
    "/records/people?filter=V,eq,1",
    "/records/people?filter=name,V,1",
    "/records/people?filter=name,eq,V",
    "/records/people?filter=name,cs,V",
    "/records/people?filter=name,sw,V",
    "/records/people?filter=name,ew,V",
    "/records/people?filter=name,in,V,V",
    "/records/people?filter=name,bt,V,V",
    "/records/people?filter=score,eq,V",
    "/records/people?filter=score,in,1,V",
    "/records/people?filter=joined,ge,V",
    "/records/people?filter=messages.V,eq,1",
    "/records/people?filter=V.body,eq,1",
    "/records/people?filter=messages.body,eq,V",
    "/records/people?filter1=name,eq,V&filter2=id,eq,0",
    "/records/people?order=V",
    "/records/people?order=id,V",
    "/records/people?include=V",
    "/records/people?exclude=V",
    "/records/people?join=V",
    "/records/people?join=messages,V&size=1",
    "/records/people?size=V",
    "/records/people?page=V",
    "/records/people?search=V",
    "/columns/V/V",
    "/records/people?group=V&aggregate=count,*,n",
    "/records/people?aggregate=V,score",
    "/records/people?aggregate=sum,V,n",
    "/records/people?aggregate=count,*,V",
    "/records/people?group=score&aggregate=count,*,n&having=V,gt,1",
    "/records/people?group=score&aggregate=count,*,n&having=n,gt,V",
    "/records/people?include=V&distinct=1",
    "/records/people?after=V",
    "/records/people?join=messages&messages.order=V",
    "/records/people?join=messages&messages.filter=V,eq,1",
    "/records/people?join=messages&messages.filter=body,eq,V",
    "/tables/people?columns=V",
    "/tables/people?sort=V",
    "/tables/people?filter[V]eq=1",
    "/tables/people?filter[name]eq=V",
];
/// The same for spatial places, which only two databases have.
const SPATIAL: [&str; 5] = [
    "/records/countries?filter=shape,sco,V",
    "/geojson/countries?geometry=V",
    "/geojson/countries?bbox=V,1,2,3",
    "/geojson/countries?tile=V,1,2",
    "/geojson/V/V",
];

fn payloads() -> Vec<String> {
    let mut all: Vec<String> = ODD.iter().map(|&text| text.to_owned()).collect();
    for quote in QUOTES {
        all.extend(TAILS.iter().map(|tail| format!("x{quote}{tail}")));
    }
    // Without a quote, where a number is expected.
    all.extend(TAILS.iter().map(|tail| format!("1{tail}")));
    all
}

/// Everything there is, in the words of the database's own client.
fn everything(database: &Database) -> String {
    let tables = [
        "people",
        "messages",
        "stock",
        "moves",
        "articles",
        "samples",
        "users",
        "abc_posts",
        "comments",
        "tags",
        "post_tags",
        "categories",
        "countries",
        "events",
        "products",
        "barcodes",
        "invisibles",
        "nopk",
    ];
    let counted = tables.map(|table| match table {
        "samples" => "select count(*), max(words) from samples;".to_owned(),
        "categories" | "countries" | "barcodes" => format!("select count(*), min(id), max(id) from {table};"),
        "users" => "select id, username, password, api_key from users order by 1;".to_owned(),
        table => format!("select * from {table} order by 1;"),
    });
    let catalog = match database.kind() {
        Kind::Sqlite => "select name, sql from sqlite_master order by 1, 2;",
        Kind::Mariadb => {
            "select table_name, column_name, column_type from information_schema.columns where table_schema = database() order by 1, 2;"
        }
        Kind::Postgres => {
            "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public' order by 1, 2;"
        }
    };
    database.run(&format!("{}\n{catalog}", counted.join("\n")))
}

fn program(kind: Kind) -> Program {
    let settings = format!(
        "{MAPPING}writable = true\ncolumns = true\nsearch = \"search\"\n\
         [[database.rule]]\ntables = [\"users\"]\ncolumns_hidden = [\"password\", \"api_key\"]\n"
    );
    Program::new(kind, &settings)
}

#[derive(Debug)]
struct Attack {
    client: Client,
    kind: Kind,
    count: usize,
}

impl Attack {
    fn send(&mut self, method: &str, target: &str, body: Option<&str>) -> (u16, String) {
        self.count += 1;
        let answer = self
            .client
            .send(method, &format!("/api{target}"), &[], body.map(str::as_bytes))
            .unwrap_or_else(|error| panic!("{:?} {method} {target} {body:?}: {error}", self.kind));
        let what = format!("{:?} {method} {target} {body:?}: {:?}", self.kind, answer.said());
        assert!(answer.status < 500, "{what}");
        // What the caller sent may come back in what is said of it, but in nothing else.
        let mine = answer.status >= 400 || body.is_some() || target.contains("select") || target.contains("password");
        for leak in LEAKS {
            assert!(!answer.body.contains(leak) || mine && leak == "syntax", "{what} has {leak}");
        }
        (answer.status, answer.body)
    }
}

#[test]
fn reading() {
    for kind in Kind::ALL {
        let program = program(kind);
        let before = everything(program.database());
        let mut attack = Attack { client: Client::new(program.address()), kind, count: 0 };
        let spatial: &[&str] = if kind == Kind::Sqlite { &[] } else { &SPATIAL };
        for payload in payloads() {
            for place in READS.iter().chain(spatial) {
                attack.send("GET", &place.replace('V', &value(&payload)), None);
            }
            // As a value it is a text that nobody has; what is not it, is everything.
            let text = value(&payload);
            if !payload.contains('\u{0}') {
                let (status, body) =
                    attack.send("GET", &format!("/records/messages?include=id&filter=body,eq,{text}"), None);
                assert_eq!((status, body.as_str()), (200, r#"{"records":[]}"#), "{kind:?} {payload}");
                let (_, body) =
                    attack.send("GET", &format!("/records/messages?include=id&filter=body,neq,{text}"), None);
                assert_eq!(body, r#"{"records":[{"id":1},{"id":2},{"id":3},{"id":4}]}"#, "{kind:?} {payload}");
            }
        }
        assert!(attack.count > 5000, "{}", attack.count);
        assert_eq!(everything(program.database()), before, "{kind:?}");
    }
}

#[test]
fn writing() {
    for kind in Kind::ALL {
        let program = program(kind);
        let before = everything(program.database());
        let mut attack = Attack { client: Client::new(program.address()), kind, count: 0 };
        for payload in payloads() {
            let (text, json) = (value(&payload), serde_json::Value::from(payload.as_str()).to_string());
            // Names: of tables, keys and columns; in JSON, forms and XML.
            for (method, target, body) in [
                ("POST", format!("/records/{text}"), r#"{"name":"x"}"#.to_owned()),
                ("PUT", format!("/records/people/{text}"), format!("{{{json}:1}}")),
                ("PUT", "/records/people/1".to_owned(), format!("{{{json}:1}}")),
                ("PUT", "/records/people/1".to_owned(), format!("{text}=1")),
                ("PUT", "/records/people/1".to_owned(), format!("{text}__is_null")),
                ("PATCH", "/records/people/1".to_owned(), format!("{{{json}:1}}")),
                ("PATCH", "/records/people/1".to_owned(), format!("{{\"name\":{json}}}")),
                ("PATCH", "/records/people/99".to_owned(), format!("{{\"score\":{json}}}")),
                ("PUT", format!("/records/people/1?include={text}"), r#"{"score":99}"#.to_owned()),
                ("DELETE", format!("/records/{text}/1"), String::new()),
                ("PUT", format!("/columns/{text}"), r#"{"name":"y"}"#.to_owned()),
                ("PUT", format!("/columns/people/{text}"), r#"{"name":"y"}"#.to_owned()),
                ("DELETE", format!("/columns/people/{text}"), String::new()),
                ("POST", format!("/records/people?returning={text}"), r#"{"name":null}"#.to_owned()),
                ("POST", format!("/records/people?on_conflict={text}"), r#"{"name":null}"#.to_owned()),
                ("DELETE", format!("/records/people?filter={text}&max_affected=9"), String::new()),
                ("DELETE", format!("/records/people?filter=name,eq,{text}&max_affected=9"), String::new()),
                (
                    "PUT",
                    format!("/records/people?filter=name,eq,{text}&max_affected={text}"),
                    r#"{"score":1}"#.to_owned(),
                ),
                ("POST", "/records".to_owned(), format!("{{\"operations\":[{{\"create\":{json},\"record\":{{}}}}]}}")),
                (
                    "POST",
                    "/records".to_owned(),
                    format!("{{\"operations\":[{{\"create\":\"people\",\"record\":{{{json}:1}}}}]}}"),
                ),
                (
                    "POST",
                    "/records".to_owned(),
                    format!("{{\"operations\":[{{\"delete\":\"people\",\"id\":{json}}}]}}"),
                ),
                ("POST", "/columns/people".to_owned(), format!("{{\"name\":\"y\",\"type\":{json}}}")),
                (
                    "POST",
                    "/columns".to_owned(),
                    format!("{{\"name\":\"y\",\"columns\":[{{\"name\":\"id\",\"type\":{json}}}]}}"),
                ),
                (
                    "POST",
                    "/columns".to_owned(),
                    format!("{{\"name\":\"y\",\"columns\":[{{\"name\":\"id\",\"type\":\"integer\",\"fk\":{json}}}]}}"),
                ),
            ] {
                attack.send(method, &target, (method != "DELETE").then_some(body.as_str()));
            }
        }
        assert!(attack.count > 2000, "{}", attack.count);
        assert_eq!(everything(program.database()), before, "{kind:?}");
    }
}

/// As a value, a payload is what is stored, to the letter.
#[test]
fn values_stay_what_they_are() {
    for kind in Kind::ALL {
        let program = program(kind);
        let mut client = Client::new(program.address());
        for payload in payloads().iter().filter(|payload| !payload.contains('\u{0}')) {
            let json = serde_json::Value::from(payload.as_str()).to_string();
            let forms = [format!("{{\"words\":{json}}}"), format!("words={}", value(payload))];
            for body in &forms {
                let answer =
                    client.send("PUT", "/api/records/samples/3", &[], Some(body.as_bytes())).expect("an answer");
                assert_eq!(answer.said(), (200, "1"), "{kind:?} {body}");
                let answer = client.send("GET", "/api/records/samples/3?include=words", &[], None).expect("an answer");
                assert_eq!(answer.json()["words"], payload.as_str(), "{kind:?} {body}");
            }
        }
        // Through SQL and GraphQL, where the database is asked for what the statement says.
        for payload in payloads().iter().filter(|payload| !payload.contains('\u{0}')) {
            let sql = format!("select id from messages where body = '{}'", payload.replace('\'', "''"));
            let answer = client.send("POST", "/api/sql", &[], Some(sql.as_bytes())).expect("an answer");
            assert_eq!(answer.said(), (200, "[]"), "{kind:?} {sql}");
            let query = "query($x: String) { messages(filter: {body: {eq: $x}}) { id } }";
            let body = serde_json::json!({ "query": query, "variables": { "x": payload } }).to_string();
            let json = [("content-type", "application/json")];
            let answer = client.send("POST", "/api/graphql", &json, Some(body.as_bytes())).expect("an answer");
            assert_eq!(answer.said(), (200, r#"{"data":{"messages":[]}}"#), "{kind:?} {payload}");
        }
        // As a key too.
        for payload in payloads().iter().filter(|payload| payload.len() < 36 && !payload.contains('\u{0}')) {
            let target = format!("/api/records/kunsthåndværk/{}", value(payload));
            let answer = client.send("GET", &target, &[], None).expect("an answer");
            // A comma stands between two keys, of which neither is there.
            let nothing =
                answer.status == 404 || answer.body.replace("null", "").trim_matches(['[', ']', ',']).is_empty();
            assert!(nothing, "{kind:?} {payload}: {:?}", answer.said());
        }
    }
}
