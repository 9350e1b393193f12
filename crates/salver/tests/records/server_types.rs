//! Every type that a server of PostgreSQL has, and a domain over each: no way to filter, sort, page or sum up a column
//! is an error of the server's making. What a type has no operator for is refused with a reason.

mod added;

use std::fmt::Write as _;

use salver_testkit::servers::{Kind, database};
use serde_json::Value as Json;

use super::client::value as encoded;
use super::program::Program;

/// A table for each type of the catalog, and for a domain over it, with two values that the type reads, both twice, and
/// a null. What no literal here is a value of has one row of null.
const TABLES: &str = r#"
do $$ declare name text; begin
    foreach name in array array['citext', 'hstore', 'ltree', 'cube', 'seg', 'isn', 'intarray', 'postgis'] loop
        begin execute format('create extension if not exists %I', name); exception when others then null; end;
    end loop;
end $$;
create type mood as enum ('sad', 'ok', 'happy');
create type pair as (a int, b text);
create type nested as (p pair, m mood);
create type loose as (a int, j json);
create type spread as range (subtype = float8);
create domain small as numeric(3, 1);
create table made (name text, native text, literals int);
do $$
declare
    own record; literal text; n int := 0; at int; tables text[]; native text; one text;
    literals text[] := array[
        '1', '9', 'a', 'b', 't', 'f', '1.5', '2024-01-01', '2023-01-01 10:00', '10:00', '11:00', '10:00+02',
        '11:00-03:30:15', '1 day', '2 mons', 'sad', 'happy', '{}', '{1}', '{9}', '{10}', '{a}', '{t}', '{f}',
        '{sad}', '{happy}', '{2024-01-01}', '{10:00}', '{10:00+02}', '{1 day}', '(1,2)', '(3,4)', '[1,5)',
        '[9,10)', '[2024-01-01,2024-02-01)', '{[1,5)}', '{[9,10)}', '{[2024-01-01,2024-02-01)}', '{"[1,5)"}',
        '{"{[1,5)}"}', '127.0.0.1', '10.0.0.0/8', '{127.0.0.1}', '08:00:2b:01:02:03',
        '08:00:2b:01:02:03:04:05', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11',
        '00000000-0000-0000-0000-000000000000', '<a/>', '<b/>', '{"a": 1}', '[1]', '{"{\"a\": 1}"}', '$.a',
        '16/B374D848', '0/1', '(0,1)', '(0,2)', '10:20:10', '12:20:12', '1 2 3', '2 3', '1 2 10', 'integer',
        'text', 'pg_class', 'pg_type', 'now', 'abs(integer)', 'lower(text)', '+(integer,integer)',
        '-(integer,integer)', 'english', 'simple', 'pg_catalog', 'public', 'postgres', '"C"', '"POSIX"',
        '{integer}', '{text}', '[(0,0),(1,1)]', '[(0,0),(2,2)]', '((0,0),(1,1),(2,0))', '<(0,0),1>',
        '<(0,0),2>', '{1,2,3}', 'B1', '101', 'a=>1', 'b=>2', '{"(1,2)"}', '{"(3,4)"}', '("(1,a)",sad)',
        '("(9,b)",happy)', '("(10,b)",happy)', '(1,"{}")', '(10,x)', '(9,x)', '{"(10,x)"}', '{"(9,x)"}',
        '9780393040029', '0000000000000', 'POINT(1 2)', 'POINT(3 4)'];
begin
    for own in
        select bounded.type as native
        from unnest(array['varchar(3)', 'varchar(3)[]', 'char(3)', 'char(3)[]', 'numeric(5,2)', 'numeric(5,2)[]',
                          'numeric(5,-2)', 'numeric(2,4)', 'timestamp(3)', 'timestamp(3)[]', 'timestamptz(0)',
                          'time(2)', 'timetz(2)', 'interval second(2)', 'bit(3)', 'bit(3)[]', 'varbit(5)'])
             as bounded (type)
        union all
        select pg_catalog.format_type(t.oid, null)
        from pg_catalog.pg_type t left join pg_catalog.pg_class c on c.oid = t.typrelid
        where t.typtype <> 'p' and (t.typrelid = 0 or c.relkind = 'c')
          and not exists (select from pg_catalog.pg_type e join pg_catalog.pg_class r on r.oid = e.typrelid
                          where e.typarray = t.oid and r.relkind <> 'c')
          and not exists (select from pg_catalog.pg_type e where e.typarray = t.oid and e.typtype = 'p')
          and t.typname not like 'pg\_%statistic%'
          and t.typname not in ('pg_node_tree', 'pg_ndistinct', 'pg_dependencies', 'pg_mcv_list',
                                'pg_brin_bloom_summary', 'pg_brin_minmax_multi_summary')
          and t.typname not in ('made', '_made')
    loop
        n := n + 1;
        begin
            execute format('create domain d%s as %s', n, own.native);
            foreach native in array array[own.native, 'd' || n] loop
                one := case when native = own.native then 't' else 'o' end || n;
                execute format('create table %I (id serial primary key, v %s)', one, native);
                execute format('alter table %I owner to salver', one);
                at := 0;
                foreach literal in array literals loop
                    exit when at = 3;
                    begin
                        execute format('insert into %I (v) values (%L), (%L)', one, literal, literal);
                        at := at + 1;
                    exception when others then null;
                    end;
                end loop;
                execute format('insert into %I (v) values (null)', one);
                insert into made values (one, native || ' (' || own.native || ')', at);
            end loop;
        exception when others then
            raise notice '%: %', own.native, sqlerrm;
        end;
    end loop;
end $$;
"#;

/// What is asked of each table at `/api/records` and at `/api/tables`, with one of its values in the place of `{v}`.
const ASKED: &[&str] = &[
    "/records/{t}?order=v&after=&size=2",
    "/records/{t}?order=v,desc&after=&size=2",
    "/records/{t}?order=v&page=1,3",
    "/records/{t}?aggregate=min,v,m",
    "/records/{t}?aggregate=max,v,m",
    "/records/{t}?aggregate=sum,v,m",
    "/records/{t}?aggregate=avg,v,m",
    "/records/{t}?aggregate=count,v,m",
    "/records/{t}?aggregate=count_distinct,v,m",
    "/records/{t}?group=v&aggregate=count,*,n",
    "/records/{t}?distinct=1&include=v",
    "/records/{t}?filter=v,eq,{v}",
    "/records/{t}?filter=v,neq,{v}",
    "/records/{t}?filter=v,lt,{v}",
    "/records/{t}?filter=v,ge,{v}",
    "/records/{t}?filter=v,in,{v}",
    "/records/{t}?filter=v,bt,{v},{v}",
    "/records/{t}?filter=v,cs,{v}",
    "/records/{t}?filter=v,sw,{v}",
    "/records/{t}?filter=v,is",
    "/records/{t}?filter=v,eq,nothing",
    "/records/{t}?filter=v,gt,12",
    "/records/{t}?filter=v,eq,",
    "/records/{t}?filter=v,eq,(1,2)",
    "/tables/{t}?sort=v&limit=2",
    "/tables/{t}?sort=-v&limit=2",
    "/tables/{t}?columns=m:min(v)",
    "/tables/{t}?columns=m:max(v)",
    "/tables/{t}?columns=m:sum(v)",
    "/tables/{t}?columns=m:avg(v)",
    "/tables/{t}?columns=m:count_distinct(v)",
    "/tables/{t}?group=v&columns=v,n:count()",
    "/tables/{t}?columns=v&distinct=true",
    "/tables/{t}?filter[v]='{v}'",
    "/tables/{t}?filter[v]ne='{v}'",
    "/tables/{t}?filter[v]lt='{v}'",
    "/tables/{t}?filter[v]gte='{v}'",
    "/tables/{t}?filter[v]in='{v}'",
    "/tables/{t}?filter[v]='nothing'",
    "/tables/{t}?filter[v]gt=12",
];

/// A column's way through the doors.
struct Ground<'a> {
    program: &'a Program,
    table: &'a str,
    native: &'a str,
    wrong: String,
}

impl Ground<'_> {
    fn tell(&mut self, what: &str) {
        let _ = writeln!(self.wrong, "{}: {what}", self.native);
    }

    /// That the target answers, or says what is wrong with it.
    fn ask(&mut self, target: &str) {
        let answer = self.program.get(target);
        let is_told = answer.status == 200 || (400..500).contains(&answer.status) && answer.body.contains("message");
        if !is_told {
            self.tell(&format!("{target}: {} {}", answer.status, answer.body));
        }
    }

    /// The rows of all pages at `/api/records`, in order.
    fn pages(&mut self, direction: &str) -> Vec<i64> {
        let (mut rows, mut after) = (Vec::new(), String::new());
        for _ in 0..20 {
            let target = format!("/records/{}?order=v{direction}&after={after}&size=2", self.table);
            let answer = self.program.get(&target);
            if answer.status != 200 {
                self.tell(&format!("{target}: {} {}", answer.status, answer.body));
                return rows;
            }
            let json = answer.json();
            rows.extend(ids(&json["records"]));
            let Some(next) = json["next"].as_str() else { return rows };
            after = encoded(next);
        }
        self.tell("the pages have no end");
        rows
    }

    /// The rows of all pages at `/api/tables`, in order.
    fn linked(&mut self, sort: &str) -> Vec<i64> {
        let (mut rows, mut target) = (Vec::new(), format!("/tables/{}?sort={sort}&limit=2", self.table));
        for _ in 0..20 {
            let answer = self.program.get(&target);
            if answer.status != 200 {
                self.tell(&format!("{target}: {} {}", answer.status, answer.body));
                return rows;
            }
            rows.extend(ids(&answer.json()));
            let Some(link) = answer.header("link").filter(|link| link.contains("rel=\"next\"")) else { return rows };
            let address = link.split(['<', '>']).nth(1).expect("an address");
            target = address.split_once("/api").expect("a path").1.to_owned();
        }
        self.tell("the linked pages have no end");
        rows
    }

    /// The least and the greatest, where there are such, are those of the order.
    fn extremes(&mut self) {
        let table = self.table;
        for (word, direction) in [("min", ""), ("max", ",desc")] {
            let found = self.program.get(&format!("/records/{table}?aggregate={word},v,m"));
            if found.status != 200 {
                continue;
            }
            let order = format!("/records/{table}?order=v{direction}&filter=v,nis,&include=v");
            let (found, order) = (found.json(), self.program.get(&order).json());
            if order["records"][0]["v"] != found["records"][0]["m"] {
                self.tell(&format!("{word} is {found}, and the order {order}"));
            }
        }
    }

    fn check(&mut self) {
        let table = self.table;
        let shown = self.program.get(&format!("/records/{table}?order=id"));
        assert_eq!(shown.status, 200, "{}: {}", self.native, shown.body);
        let json = shown.json();
        let values: Vec<&Json> = json["records"].as_array().expect("rows").iter().map(|row| &row["v"]).collect();
        let text = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = encoded(&text(values[0]));
        for target in ASKED {
            self.ask(&target.replace("{t}", table).replace("{v}", &value));
        }
        self.extremes();
        for direction in ["", ",desc"] {
            let whole = self.program.get(&format!("/records/{table}?order=v{direction}&order=id{direction}"));
            assert_eq!(whole.status, 200, "{}: {}", self.native, whole.body);
            let (whole, paged) = (ids(&whole.json()["records"]), self.pages(direction));
            if whole != paged {
                self.tell(&format!("the pages are {paged:?}, not {whole:?}"));
            }
        }
        // What has no order has said so.
        for sort in ["v", "-v"]
            .iter()
            .filter(|sort| self.program.get(&format!("/tables/{table}?sort={sort}")).status == 200)
            .collect::<Vec<_>>()
        {
            let (whole, paged) =
                (ids(&self.program.get(&format!("/tables/{table}?sort={sort}")).json()), self.linked(sort));
            if whole != paged {
                self.tell(&format!("the linked pages are {paged:?}, not {whole:?}"));
            }
        }
        // Exports, which get their values in a binary form, have the same.
        let rows = |target: &str| {
            let answer = self.program.get(target);
            let mut lines: Vec<String> = answer.body.lines().map(str::to_owned).collect();
            lines.sort_unstable();
            (answer.status, lines)
        };
        let (tables, export) =
            (rows(&format!("/tables/{table}.csv?columns=id,v")), rows(&format!("/export/{table}.csv?columns=id,v")));
        if tables.0 == 200 && tables != export {
            self.tell(&format!("the export is {export:?}, not {tables:?}"));
        }
        // What is shown is found.
        for (at, value) in values.iter().enumerate().filter(|(_, value)| !value.is_null()) {
            let own = format!("/records/{table}?order=id&filter=v,eq,{}", encoded(&text(value)));
            let found = self.program.get(&own);
            let id = json["records"][at]["id"].as_i64().expect("a number");
            if found.status != 200 || !ids(&found.json()["records"]).contains(&id) {
                self.tell(&format!("{own}: {} {}", found.status, found.body));
            }
        }
    }
}

fn ids(rows: &Json) -> Vec<i64> {
    rows.as_array().map(Vec::as_slice).unwrap_or_default().iter().filter_map(|row| row["id"].as_i64()).collect()
}

#[test]
fn no_type_of_the_server_is_an_error_of_ours() {
    let program = Program::over(database(Kind::Postgres, TABLES), "", "");
    let made = program.database().run("select name, native, literals from made order by name");
    let (mut wrong, mut with_values, mut count) = (String::new(), 0, 0);
    for line in made.lines() {
        let [table, native, literals] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        count += 1;
        with_values += usize::from(literals != "0");
        let mut ground = Ground { program: &program, table, native, wrong: String::new() };
        ground.check();
        wrong.push_str(&ground.wrong);
    }
    assert!(wrong.is_empty(), "{} lines\n{wrong}", wrong.lines().count());
    assert!(count > 250 && with_values > 200, "{count} tables, {with_values} of them with values");
}
