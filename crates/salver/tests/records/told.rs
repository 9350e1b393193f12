//! What is told of what was refused: rows of a load one by one, answers of too many rows, what the database itself
//! says of a change.

use salver_testkit::servers::{Kind, database};

use super::fixture::everything;
use super::program::Program;

const TAGS: &str = "create table tags (id integer primary key, name varchar(10) not null unique, uses integer);";

/// A load goes on behind lines that are none, and says of every bad row what is wrong with it.
#[test]
fn every_bad_row_of_a_load() {
    let lines = "{\"id\":1,\"name\":\"a\",\"uses\":1}\nnot json\n{\"id\":2,\"name\":\"b\"}\n[1,2]\n\n\
                 {\"id\":3,\"name\":\"a\"}\n{\"id\":4,\"name\":\"c\",\"uses\":\"many\"}\n{\"id\":5,\"name\":\"d\"\n\
                 {\"id\":6,\"nam\":\"e\"}\n{\"id\":7,\"name\":\"f\",\"uses\":7}";
    let csv = "id,name,uses\n1,a,1\n1\n2,b,\n3,x,3,4\n3,a,\n4,c,many\n\"5\"d,d,5\n6,,6\n7,f,7";
    for kind in Kind::ALL {
        for (media, body) in [("application/x-ndjson", lines), ("text/csv", csv)] {
            let program = Program::over(database(kind, TAGS), "", "writable = true");
            let what = format!("{kind:?} {media}");
            let load = |query: &str| {
                program.ask("POST", &format!("/records/tags{query}"), &[("content-type", media)], Some(body))
            };
            let rows: Vec<serde_json::Value> = [2, 4, 5, 6, 7, 8].into_iter().map(Into::into).collect();
            let told = |answer: &super::client::Answer| -> Vec<serde_json::Value> {
                let problems = answer.json()["problems"].clone();
                problems.as_array().expect("problems").iter().map(|problem| problem["row"].clone()).collect()
            };
            for query in ["?dry_run=1&keep_good=1", "?keep_good=1"] {
                let answer = load(query);
                assert_eq!(answer.status, 200, "{what}: {}", answer.body);
                assert_eq!(told(&answer), rows, "{what}: {}", answer.body);
                let (json, loaded) = (answer.json(), if query.contains("dry") { 0 } else { 3 });
                assert_eq!((&json["read"], &json["refused"]), (&9.into(), &6.into()), "{what}: {}", answer.body);
                assert_eq!(json["loaded"], loaded, "{what}: {}", answer.body);
            }
            assert_eq!(program.ids("/records/tags"), [1, 2, 7], "{what}");
            // Without it one of them undoes all, and the others that were read are told of too.
            let _ = program.database().run("delete from tags");
            let answer = load("");
            assert_eq!((answer.status, answer.json()["loaded"].as_u64()), (422, Some(0)), "{what}: {}", answer.body);
            assert!(told(&answer).contains(&2.into()) && told(&answer).contains(&7.into()), "{what}: {}", answer.body);
            assert_eq!(program.ids("/records/tags"), [0_i64; 0], "{what}");
        }
    }
}

/// More of them than used to be told; and a body of which nothing can be read.
#[test]
fn many_bad_rows_of_a_load() {
    let program = Program::over(database(Kind::Sqlite, TAGS), "", "writable = true");
    let ndjson = [("content-type", "application/x-ndjson")];
    let mut body = String::new();
    for number in 0..3_000 {
        let line =
            if number % 2 == 0 { "bad".to_owned() } else { format!("{{\"id\":{number},\"name\":\"n{number}\"}}") };
        body.push_str(&line);
        body.push('\n');
    }
    let answer = program.ask("POST", "/records/tags?keep_good=1", &ndjson, Some(&body)).json();
    assert_eq!((&answer["loaded"], &answer["refused"]), (&1_500.into(), &1_500.into()));
    assert_eq!(answer["problems"].as_array().map(Vec::len), Some(1_500));
    let answer = program.ask("POST", "/records/tags?keep_good=1", &ndjson, Some("bad\nbad\n")).json();
    assert_eq!((&answer["read"], &answer["loaded"], &answer["refused"]), (&2.into(), &0.into(), &2.into()));
}

/// `limits.rows_max` holds at these doors as at the others: too many rows are an error, and never fewer rows.
#[test]
fn answers_of_too_many_rows() {
    for kind in Kind::ALL {
        let program = Program::over(everything(kind), "[limits]\nrows_max = 4", "");
        for target in [
            "/records/people",
            "/records/people?size=5",
            "/records/people?size=1000000",
            "/records/people?page=1,5",
            "/records/people?after=&size=6",
            "/records/people?distinct=1&include=name",
            "/records/people?group=name&aggregate=count,*,n",
            "/records/people/1,2,3,4,5",
            "/records/people/1,1,1,1,1",
            "/records/people/1,2,1,3,2,9",
            "/records/people?join=messages&size=2",
        ] {
            let answer = program.get(target);
            assert_eq!(answer.status, 413, "{kind:?} {target}: {:?}", answer.said());
            assert!(answer.body.contains("limits.rows_max"), "{kind:?} {target}: {}", answer.body);
        }
        for target in ["/records/people?size=4", "/records/people?page=2,4", "/records/people?after=&size=4"] {
            assert!(!program.ids(target).is_empty(), "{kind:?} {target}");
        }
        assert_eq!(program.get("/records/people/1,1,2,9,2").json().as_array().map(Vec::len), Some(5), "{kind:?}");
        assert_eq!(program.ids("/records/people?filter=id,le,4"), [1, 2, 3, 4], "{kind:?}");
        assert_eq!(program.get("/records/people/4?join=messages").status, 200, "{kind:?}");
        assert_eq!(program.get("/records/people?page=1,4").json()["results"], 6, "{kind:?}");
    }
}

/// A table with constraints that have names, one with a column nobody may know of, and a trigger that says no.
fn guarded(kind: Kind) -> salver_testkit::servers::Database {
    let says_no = match kind {
        Kind::Sqlite => {
            "create trigger no_bad before insert on tags when new.name = 'bad'
             begin select raise(abort, 'no bad names, please'); end;"
        }
        Kind::Mariadb => {
            "delimiter //
create trigger no_bad before insert on tags for each row
begin if new.name = 'bad' then signal sqlstate '45000' set message_text = 'no bad names, please'; end if; end//
delimiter ;"
        }
        Kind::Postgres => {
            "create function no_bad() returns trigger language plpgsql as $$
             begin if new.name = 'bad' then raise exception 'no % names, please', new.name; end if; return new; end $$;
             create trigger no_bad before insert on tags for each row execute function no_bad();"
        }
    };
    let sql = format!(
        "create table tags (id integer primary key, name varchar(10) not null, uses integer,
           constraint names_once unique (name), constraint uses_positive check (uses > 0));
         create table hush (id integer primary key, name varchar(10), secret integer not null);
         insert into tags values (1, 'a', 1);\n{says_no}\n"
    );
    database(kind, &sql)
}

#[test]
fn what_the_database_says() {
    const NO: &str = "no bad names, please";
    for kind in Kind::ALL {
        let rule = "[[database.rule]]\ntables = [\"hush\"]\ncolumns_hidden = [\"secret\"]\n";
        let program = Program::over(guarded(kind), "", &format!("writable = true\n{rule}"));
        let post = |table: &str, body: &str| program.send("POST", &format!("/records/{table}"), body);
        let told = |answer: &super::client::Answer| answer.header("x-exception-message").unwrap_or("").to_owned();
        let no = post("tags", r#"{"id":2,"name":"bad"}"#);
        let expected = format!(r#"{{"code":9999,"message":"{NO}"}}"#);
        assert_eq!((no.said(), told(&no).as_str()), ((409, expected.as_str()), NO), "{kind:?}");
        let batch = post("tags", r#"[{"id":2,"name":"b"},{"id":3,"name":"bad"}]"#);
        let expected = format!(r#"[{{"code":0,"message":"Success"}},{expected}]"#);
        assert_eq!((batch.said(), told(&batch).as_str()), ((424, expected.as_str()), NO), "{kind:?}");
        // The bytes are PHP-CRUD-API's, and the name stands where it has it.
        let name = if kind == Kind::Sqlite { "tags.name" } else { "names_once" };
        for (body, said, name) in [
            (r#"{"id":2,"name":"a"}"#, r#"{"code":1009,"message":"Duplicate key exception"}"#, name),
            (r#"{"id":2,"name":null}"#, r#"{"code":1010,"message":"Data integrity violation"}"#, "name"),
            (
                r#"{"id":2,"name":"b","uses":-1}"#,
                r#"{"code":1010,"message":"Data integrity violation"}"#,
                "uses_positive",
            ),
        ] {
            let answer = post("tags", body);
            assert_eq!(answer.said(), (409, said), "{kind:?} {body}");
            assert!(told(&answer).contains(name), "{kind:?} {body}: {:?}", answer.headers);
            let operation = format!(r#"{{"operations":[{{"create":"tags","record":{body}}}]}}"#);
            let answer = program.send("POST", "/records", &operation);
            assert!(answer.status == 424 && answer.body.contains(name), "{kind:?} {body}: {:?}", answer.said());
        }
        for (name_of, word) in [("bad", NO), ("a", name)] {
            let query = format!("mutation {{ create_tags(records: [{{id: 2, name: \"{name_of}\"}}]) {{ id }} }}");
            let body = serde_json::json!({ "query": query }).to_string();
            let answer = program.ask("POST", "/graphql", &[("content-type", "application/json")], Some(&body));
            assert!(answer.body.contains(word), "{kind:?} {name_of}: {}", answer.body);
        }
        let csv = "id,name,uses\n2,bad,1\n3,a,1\n4,ok,1\n";
        let load = program.ask("POST", "/records/tags?keep_good=1", &[("content-type", "text/csv")], Some(csv));
        let problems = &load.json()["problems"];
        assert_eq!(
            (&load.json()["loaded"], &problems[0]["message"]),
            (&1.into(), &NO.into()),
            "{kind:?}: {}",
            load.body
        );
        assert!(problems[1]["hint"].as_str().is_some_and(|hint| hint.contains(name)), "{kind:?}: {}", load.body);
        // What nobody may know of is not named.
        let hush = post("hush", r#"{"id":1,"name":"x"}"#);
        assert_eq!((hush.status, told(&hush).as_str()), (409, ""), "{kind:?}: {:?}", hush.said());
    }
}
