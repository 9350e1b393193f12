//! Writes the graph in the schema definition language. Introspection shows this schema.

mod named;

use std::fmt::Write;

use crate::graphql::graph::{ColumnField, ColumnShape, Graph, MutationKind, ObjectType, TableType};
use crate::graphql::scalar::Scalar;

/// The comparison operators of a filter.
const ORDERED: [&str; 8] = ["eq", "ne", "neq", "lt", "lte", "lteq", "gt", "gte"];
const EQUALITY: [&str; 3] = ["eq", "ne", "neq"];
const PATTERNS: [&str; 4] = ["like", "not_like", "ilike", "not_ilike"];

/// Writes the type definitions of `graph`.
pub(crate) fn write(graph: &Graph) -> String {
    let mut out = String::with_capacity(8_192 + graph.tables.len() * 4_096);
    shared(&mut out);
    out.push_str("type Query {\n");
    for table in &graph.tables {
        roots(table, &mut out);
    }
    for query in &graph.queries.all {
        named::root(query, &mut out);
    }
    if graph.tables.is_empty() && graph.queries.all.is_empty() {
        out.push_str("\"The catalog has no loaded tables.\"\n_empty: String\n");
    }
    out.push_str("}\n");
    mutations(graph, &mut out);
    for table in &graph.tables {
        row_type(graph, table, &mut out);
        inputs(table, &mut out);
        aggregates(table, &mut out);
    }
    for query in &graph.queries.all {
        named::row_type(query, &mut out);
    }
    out
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = out.write_fmt(text);
}

fn describe(text: &str, out: &mut String) {
    out.push_str(&serde_json::Value::from(text).to_string());
    out.push('\n');
}

fn shared(out: &mut String) {
    for scalar in Scalar::ALL {
        if let Some(description) = scalar.description() {
            describe(description, out);
            push(out, format_args!("scalar {}\n", scalar.name()));
        }
        push(out, format_args!("input {}_filter {{\n", scalar.name()));
        let name = scalar.name();
        if scalar.is_comparable() {
            let operators: &[&str] = if scalar.is_ordered() { &ORDERED } else { &EQUALITY };
            for operator in operators {
                push(out, format_args!("{operator}: {name}\n"));
            }
            if scalar.is_ordered() {
                push(out, format_args!("gteq: {name}\n"));
            }
            push(out, format_args!("in: [{name}!]\nnot_in: [{name}!]\n"));
        }
        if scalar == Scalar::String {
            for operator in PATTERNS {
                push(
                    out,
                    format_args!("\"SQL LIKE: % any run of characters, _ one character.\"\n{operator}: String\n"),
                );
            }
        }
        out.push_str("is_null: Boolean\n}\n");
    }
    out.push_str(
        "\"A literal of the type it is compared with.\"\nscalar Value\n\
         enum Order { asc desc }\n\
         \"Where nulls stand in an order; first when not said.\"\nenum Nulls { first last }\n\
         \"Functions over the rows of a group; nulls are skipped, count without a column counts rows.\"\n\
         enum Function { count count_distinct sum avg min max }\n",
    );
}

fn roots(table: &TableType, out: &mut String) {
    let (name, prefix) = (&table.type_name, &table.prefix);
    let select = format!("filter: {prefix}_filter, sort: [{prefix}_sort!], limit: Int, offset: Int");
    let page = "\"1 for the first page of `limit` rows.\" page: Int, \"`next` of an earlier page.\" after: String";
    describe(&format!("Rows of {}", table.description), out);
    push(out, format_args!("{name}({select}, {page}, distinct: Boolean): [{name}!]\n"));
    describe(&format!("Rows of `{}` with their total and the way to the next page", table.entry), out);
    push(out, format_args!("{}({select}, {page}): {}\n", table.page, table.page));
    if !table.key.is_empty() {
        describe(&format!("The row of `{}` with this key", table.entry), out);
        push(out, format_args!("{}(", table.by_key));
        for column in table.key.iter().map(|index| &table.columns[*index]) {
            push(out, format_args!("{}: {}! ", column.name, type_name(&column.shape)));
        }
        push(out, format_args!("): {name}\n"));
    }
    describe(&format!("Groups of rows of `{}`; one group of all rows when nothing is grouped by", table.entry), out);
    push(
        out,
        format_args!(
            "{}(filter: {prefix}_filter, \"The columns selected in `group` when not given.\" \
             group_by: [{prefix}_column!], \
             having: [{prefix}_having!], sort: [{prefix}_group_sort!], limit: Int, offset: Int): [{}!]\n",
            table.aggregate, table.aggregate
        ),
    );
}

/// Writes the root fields of mutations, and their input types.
fn mutations(graph: &Graph, out: &mut String) {
    let writable = || graph.tables.iter().filter_map(|table| Some((table, table.writing.as_ref()?)));
    if writable().next().is_none() {
        return;
    }
    describe("The fields of one mutation are one transaction: all of it stays or nothing", out);
    out.push_str("type Mutation {\n");
    for (table, writing) in writable() {
        let (entry, name) = (&table.entry, &table.type_name);
        let mut key = String::new();
        for column in table.key.iter().map(|place| &table.columns[*place]) {
            push(&mut key, format_args!("{}: {}! ", column.name, type_name(&column.shape)));
        }
        for kind in &writing.kinds {
            let (what, shape) = match kind {
                MutationKind::Create => {
                    (format!("Makes rows of `{entry}`"), format!("(records: [{}!]!): [{name}!]", writing.new_type))
                }
                MutationKind::Update => (
                    format!("Changes the row of `{entry}` with this key; an error when there is none"),
                    format!("({key} set: {}!): {name}", writing.set_type),
                ),
                MutationKind::Delete => (
                    format!("Takes the row of `{entry}` with this key away; an error when there is none"),
                    format!("({key}): Boolean"),
                ),
            };
            describe(&what, out);
            push(out, format_args!("{}{shape}\n", writing.name_of(*kind)));
        }
    }
    out.push_str("}\n");
    for (table, writing) in writable() {
        let set_columns = writing.set_columns.iter().map(|place| (*place, false)).collect();
        let inputs = [
            (MutationKind::Create, &writing.new_type, &writing.new_columns),
            (MutationKind::Update, &writing.set_type, &set_columns),
        ];
        for (_, input, columns) in inputs.into_iter().filter(|(kind, ..)| writing.kinds.contains(kind)) {
            push(out, format_args!("input {input} {{\n"));
            for (place, needed) in columns {
                let column = &table.columns[*place];
                let required = if *needed { "!" } else { "" };
                push(out, format_args!("{}: {}{required}\n", column.name, type_name(&column.shape)));
            }
            out.push_str("}\n");
        }
    }
}

fn type_name(shape: &ColumnShape) -> String {
    match shape {
        ColumnShape::Scalar(scalar) => scalar.name().to_owned(),
        ColumnShape::Object(object) => object.type_name.clone(),
        ColumnShape::List(item, nullable) => format!("[{}{}]", type_name(item), if *nullable { "" } else { "!" }),
    }
}

fn column(column: &ColumnField, out: &mut String) {
    if column.name != column.column {
        describe(&format!("Column `{}`", column.column), out);
    }
    let required = if column.nullable { "" } else { "!" };
    push(out, format_args!("{}: {}{required}\n", column.name, type_name(&column.shape)));
}

fn row_type(graph: &Graph, table: &TableType, out: &mut String) {
    describe(&format!("A row of `{}`", table.entry), out);
    push(out, format_args!("type {} {{\n", table.type_name));
    for field in &table.columns {
        column(field, out);
    }
    for relation in &table.relations {
        let target = &graph.tables[relation.target];
        let (there, prefix) = (&target.type_name, &target.prefix);
        if relation.one {
            describe(&format!("The row of `{}` this row belongs with", target.entry), out);
            push(out, format_args!("{}: {there}\n", relation.name));
        } else {
            describe(
                &format!("The rows of `{}` that belong with this row; `limit` is for each row", target.entry),
                out,
            );
            push(
                out,
                format_args!(
                    "{}(filter: {prefix}_filter, sort: [{prefix}_sort!], limit: Int): [{there}!]\n",
                    relation.name
                ),
            );
        }
    }
    out.push_str("}\n");
    for object in table.columns.iter().filter_map(|c| c.shape.object()) {
        object_type(object, out);
    }
    push(out, format_args!("type {} {{ rows: [{}!]! ", table.page, table.type_name));
    out.push_str("\"How many rows match, on all pages.\" total: Int64! ");
    out.push_str("\"The `after` of the next page; null on the last.\" next: String }\n");
}

fn object_type(object: &ObjectType, out: &mut String) {
    push(out, format_args!("type {} {{\n", object.type_name));
    for field in &object.fields {
        column(field, out);
    }
    push(out, format_args!("}}\ninput {} {{\nis_null: Boolean\n", object.filter_name));
    for field in &object.fields {
        push(out, format_args!("{}: {}\n", field.name, filter_name(&field.shape)));
    }
    out.push_str("}\n");
    for inner in object.fields.iter().filter_map(|c| c.shape.object()) {
        object_type(inner, out);
    }
}

fn filter_name(shape: &ColumnShape) -> String {
    match shape {
        ColumnShape::Scalar(scalar) => format!("{}_filter", scalar.name()),
        ColumnShape::Object(object) => object.filter_name.clone(),
        ColumnShape::List(..) => "JSON_filter".to_owned(),
    }
}

fn inputs(table: &TableType, out: &mut String) {
    let prefix = &table.prefix;
    describe(&format!("Which rows of `{}`: all of the conditions", table.entry), out);
    push(out, format_args!("input {prefix}_filter {{\n"));
    push(out, format_args!("and: [{prefix}_filter!]\nor: [{prefix}_filter!]\nnot: {prefix}_filter\n"));
    for field in &table.columns {
        push(out, format_args!("{}: {}\n", field.name, filter_name(&field.shape)));
    }
    push(out, format_args!("}}\nenum {prefix}_column {{\n"));
    for field in &table.columns {
        push(out, format_args!("{}\n", field.name));
    }
    push(out, format_args!("}}\ninput {prefix}_sort {{ field: {prefix}_column! order: Order nulls: Nulls }}\n"));
    push(
        out,
        format_args!(
            "\"One condition on a group; of its operators all must hold.\"\n\
             input {prefix}_having {{ function: Function \
             column: {prefix}_column eq: Value ne: Value neq: Value lt: Value lte: Value lteq: Value gt: Value \
             gte: Value gteq: Value in: [Value!] not_in: [Value!] is_null: Boolean }}\n\
             \"An order of groups: by a column they are grouped by, or by a function.\"\ninput {prefix}_group_sort {{ \
             function: Function field: {prefix}_column order: Order nulls: Nulls }}\n"
        ),
    );
}

fn aggregates(table: &TableType, out: &mut String) {
    let prefix = &table.prefix;
    let mut functions = String::new();
    let mut function = |name: &str, of: &dyn Fn(Scalar) -> Option<&'static str>, out: &mut String| {
        let typed = |c: &ColumnField| Some((c.name.clone(), of(c.shape.scalar()?)?));
        let fields: Vec<(String, &str)> = table.columns.iter().filter_map(typed).collect();
        if !fields.is_empty() {
            push(out, format_args!("type {prefix}_{name} {{\n"));
            for (field, type_name) in fields {
                push(out, format_args!("{field}: {type_name}\n"));
            }
            out.push_str("}\n");
            functions.push_str(&format!("{name}: {prefix}_{name}!\n"));
        }
    };
    function("group", &|scalar| scalar.is_comparable().then_some(scalar.name()), out);
    function("count_distinct", &|scalar| scalar.is_comparable().then_some("Int64!"), out);
    function("sum", &|scalar| scalar.is_numeric().then_some(sum_type(scalar)), out);
    function("avg", &|scalar| scalar.is_numeric().then_some(mean_type(scalar)), out);
    function("min", &|scalar| scalar.is_ordered().then_some(scalar.name()), out);
    function("max", &|scalar| scalar.is_ordered().then_some(scalar.name()), out);
    describe(&format!("A group of rows of `{}`", table.entry), out);
    push(out, format_args!("type {} {{\n", table.aggregate));
    push(
        out,
        format_args!("\"Rows; with a column, values that are not null.\"\ncount(column: {prefix}_column): Int64!\n"),
    );
    out.push_str(&functions);
    out.push_str("}\n");
}

fn sum_type(scalar: Scalar) -> &'static str {
    if scalar == Scalar::Int { Scalar::Int64.name() } else { scalar.name() }
}

fn mean_type(scalar: Scalar) -> &'static str {
    if scalar == Scalar::Decimal { scalar.name() } else { Scalar::Float.name() }
}
