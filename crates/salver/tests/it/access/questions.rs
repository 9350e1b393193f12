//! Questions about tables, at every API that can ask them.

use super::world::{Dice, Table};
use crate::it::server::{Answer, Server};

/// A request.
#[derive(Debug)]
pub(super) struct Question {
    method: &'static str,
    target: String,
    media_type: Option<&'static str>,
    body: String,
    /// Whether the answer has members that belong to one server, such as the versions of entries.
    pub(super) has_own_members: bool,
}

impl Question {
    fn get(target: String) -> Self {
        Self { method: "GET", target, media_type: None, body: String::new(), has_own_members: false }
    }

    fn post(target: &str, media_type: &'static str, body: String) -> Self {
        let target = target.to_owned();
        Self { method: "POST", target, media_type: Some(media_type), body, has_own_members: false }
    }

    fn sql(text: String) -> Self {
        Self::post("/api/sql", "text/plain", text)
    }

    fn graphql(document: &str) -> Self {
        let body = serde_json::json!({ "query": document }).to_string();
        Self::post("/api/graphql", "application/json", body)
    }

    fn own(self) -> Self {
        Self { has_own_members: true, ..self }
    }

    /// Asks it.
    pub(super) fn ask(&self, server: &Server, headers: &[(&str, &str)]) -> Answer {
        let media_type = self.media_type.map(|media_type| ("Content-Type", media_type));
        let headers: Vec<(&str, &str)> = headers.iter().copied().chain(media_type).collect();
        server.ask(self.method, &self.target, &headers, self.body.as_bytes())
    }
}

/// Returns questions about each table: its columns, hidden or not, in every place of a question that takes one.
pub(super) fn generated(dice: &mut Dice, tables: &[Table]) -> Vec<Question> {
    let mut all = of_the_whole();
    for table in tables {
        all.extend(about(table.name));
        for _ in 0..6 {
            let (one, other) = (dice.pick(&table.columns), dice.pick(&table.columns));
            let (number, second) = (dice.below(9), &tables[dice.below(tables.len())]);
            all.extend(rest(table.name, one, other, number));
            all.extend(sql(table.name, second.name, one, other, number));
            all.extend(graphql(table.name, one, other, number));
            all.extend(cursors(table.name, one, other, number));
            all.extend(records(table.name, one, other, number));
        }
    }
    all
}

/// About everything that is served.
fn of_the_whole() -> Vec<Question> {
    let mut all: Vec<Question> = ["/", "/api/schema", "/api/columns", "/api/openapi", "/_api/collection"]
        .map(|t| Question::get(t.to_owned()).own())
        .into();
    all.push(Question::graphql("{ __schema { types { name fields { name } inputFields { name } } } }"));
    for text in [
        "show tables",
        "select table_name, column_name, data_type from information_schema.columns order by 1, 2",
        "select table_name from information_schema.tables where table_schema = 'public' order by 1",
        "select * from nowhere",
    ] {
        all.push(Question::sql(text.to_owned()));
    }
    all
}

fn about(table: &str) -> Vec<Question> {
    let mut all = vec![
        Question::get(format!("/api/tables/{table}")),
        Question::get(format!("/api/tables/{table}.csv?limit=7&offset=3")),
        Question::get(format!("/api/tables/{table}x")),
        Question::get(format!("/api/schema/{table}")),
        Question::get(format!("/api/export/{table}.csv")),
        Question::get(format!("/api/export/{table}.ndjson")),
        Question::get(format!("/_api/collection/{table}/count")).own(),
        Question::post(&format!("/_api/export?collection={table}"), "application/json", "{\"count\":true}".to_owned())
            .own(),
        Question::get(format!("/api/records/{table}")),
        Question::get(format!("/api/records/{table}?page=2,10")),
        Question::get(format!("/api/columns/{table}")),
        Question::graphql(&format!("{{ {table}_aggregate {{ count }} }}")),
        Question::graphql(&format!("{{ {table}_page(limit: 3) {{ total rows {{ id }} }} }}")),
        Question::graphql(&format!("{{ __type(name: \"{table}\") {{ fields {{ name }} }} }}")),
        Question::sql(format!("describe {table}")),
        Question::sql(format!("select * from {table} order by id")),
        Question::sql(format!("select count(*) from {table}")),
        Question::sql(format!("table {table} order by id limit 3")),
    ];
    for id in [1, 9, 27, 99] {
        all.push(Question::get(format!("/api/records/{table}/{id}")));
        all.push(Question::graphql(&format!("{{ {table}_by_key(id: {id}) {{ id }} }}")));
    }
    all
}

fn rest(table: &str, one: &str, other: &str, number: usize) -> Vec<Question> {
    [
        format!("columns=id,{one}&sort=-{other},id&limit=9"),
        format!("filter[{one}]={number}"),
        format!("filter[{one}]gt={number}&columns=id"),
        format!("filter[{one}]null=true&columns=id"),
        format!("columns={one},count(),max({other})&group={one}&sort={one}"),
        format!("select={one}"),
        format!("distinct=true&columns={one}&sort={one}"),
    ]
    .map(|query| Question::get(format!("/api/tables/{table}?{query}").replace('[', "%5B").replace(']', "%5D")))
    .into_iter()
    .chain([Question::get(format!("/api/export/{table}.csv?columns=id,{one}"))])
    .collect()
}

fn sql(table: &str, second: &str, one: &str, other: &str, number: usize) -> Vec<Question> {
    [
        format!("select {one}, count(*) n from {table} group by {one} order by {one} nulls last, n"),
        format!("select max({one}), min({other}), count({one}) from {table}"),
        format!("select id from {table} where {one} is not null and id > {number} order by id"),
        format!("select a.id, b.id i from {table} a join {second} b on a.{one} = b.{one} order by 1, 2 limit 50"),
        format!("select id, 10 / (id - {number}) q from {table} order by id"),
        format!("select id from {table} where 10 / (id - {number}) > 0 order by id"),
        format!("select id from {table} where id in (select id from {second} where {other} is not null) order by id"),
        format!("with t as (select * from {table}) select count(*) from t where exists (select 1 from {second} s where s.id = t.id)"),
        format!("select id, sum(id) over (order by id) s, row_number() over (order by {one}, id) r from {table} order by id"),
        format!("select id from {table} union all select id from {second} order by 1"),
        format!("select cast({one} as int) c from {table} order by id"),
    ]
    .map(Question::sql)
    .into()
}

fn graphql(table: &str, one: &str, other: &str, number: usize) -> Vec<Question> {
    [
        format!("{{ {table}(sort: [{{field: {other}}}, {{field: id}}], limit: 8) {{ id {one} }} }}"),
        format!("{{ {table}(filter: {{{one}: {{is_null: false}}}}) {{ id }} }}"),
        format!("{{ {table}(filter: {{id: {{gt: {number}}}}}) {{ {one} {other} }} }}"),
        format!("{{ {table}_aggregate(group_by: [{one}], sort: [{{field: {one}}}]) {{ group {{ {one} }} count }} }}"),
    ]
    .map(|document| Question::graphql(&document))
    .into()
}

fn cursors(table: &str, one: &str, other: &str, number: usize) -> Vec<Question> {
    [
        format!("FOR d IN {table} FILTER d.{one} == {number} SORT d.id RETURN d.id"),
        format!("FOR d IN {table} SORT d.{other}, d.id LIMIT 5 RETURN d"),
        format!("SELECT {one} FROM {table} WHERE id < {number} ORDER BY id"),
    ]
    .map(|query| {
        let body = serde_json::json!({ "query": query, "count": true, "batchSize": 1000 }).to_string();
        Question::post("/_api/cursor", "application/json", body).own()
    })
    .into()
}

fn records(table: &str, one: &str, other: &str, number: usize) -> Vec<Question> {
    [
        format!("filter={one},eq,{number}"),
        format!("filter={one},is&include=id,{other}"),
        format!("order={one}&order=id&page=1,6"),
        format!("exclude={other}&size=3"),
        format!("search=a{number}"),
        format!("include={one},{other}&filter=id,lt,{number}"),
    ]
    .map(|query| Question::get(format!("/api/records/{table}?{query}")))
    .into()
}
