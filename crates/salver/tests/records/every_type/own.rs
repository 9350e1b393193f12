//! What the database's own client says of the tables: every value, which of them are equal, less, and their order.

use std::collections::BTreeMap;

use salver_testkit::servers::{Database, Kind};

use super::catalogue::{Class, Compares, Type};
use super::value::{Value, canonical, number};

/// What the client says of one table.
#[derive(Clone, Debug, Default)]
pub(super) struct Own {
    /// The value of each row.
    pub(super) values: BTreeMap<i64, Value>,
    /// SQLite: the type of each value, and its text.
    pub(super) stored: BTreeMap<i64, String>,
    pub(super) texts: BTreeMap<i64, Value>,
    /// To each row those that are equal, and those that are less.
    pub(super) equal: BTreeMap<i64, Vec<i64>>,
    pub(super) less: BTreeMap<i64, Vec<i64>>,
    /// The sum of numbers, where they are exact.
    pub(super) sum: Option<String>,
    /// The rows in order, nulls first, and then by their number; with the largest first, nulls last.
    pub(super) rising: Vec<i64>,
    pub(super) falling: Vec<i64>,
}

/// Asks the client about `tables`, each named with its type.
pub(super) fn ask(database: &Database, tables: &[(String, &Type)]) -> BTreeMap<String, Own> {
    let kind = database.kind();
    let mut sql = match kind {
        Kind::Mariadb => "set group_concat_max_len = 1000000;\n".to_owned(),
        Kind::Postgres => "set timezone = 'UTC'; set extra_float_digits = 1;\n".to_owned(),
        Kind::Sqlite => String::new(),
    };
    for (name, own) in tables {
        sql.push_str(&values(kind, name, own));
        if own.compared {
            sql.push_str(&relations(kind, name, own));
        }
    }
    let mut told: BTreeMap<String, Own> = BTreeMap::new();
    let mut classes = tables.iter().map(|(name, own)| (name.as_str(), own.class)).collect::<BTreeMap<_, _>>();
    for line in database.run(&sql).lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, what, id, rest @ ..] = fields.as_slice() else { panic!("{line}") };
        let own = told.entry((*name).to_owned()).or_default();
        let number: i64 = id.parse().expect("a row's number");
        let numbers = |list: &str| list.split(',').filter_map(|id| id.parse().ok()).collect::<Vec<i64>>();
        match *what {
            "value" => {
                let class = *classes.entry(name).or_insert(Class::Text);
                let (stored, value) = stored(class, rest);
                own.texts.insert(number, rest.get(2).map(|text| from_hex(text)).filter(|_| value.is_some()));
                own.values.insert(number, value);
                own.stored.insert(number, stored);
            }
            "equal" => drop(own.equal.insert(number, numbers(rest[0]))),
            "less" => drop(own.less.insert(number, numbers(rest[0]))),
            "sum" => own.sum = Some(canonical(Class::Decimal, rest[0])),
            "rising" => own.rising.push(number),
            _ => own.falling.push(number),
        }
    }
    told
}

/// A value as the client tells it: its text in hexadecimal digits, and for SQLite its type.
fn stored(class: Class, fields: &[&str]) -> (String, Value) {
    let (stored, text) = match fields {
        [stored, text, _] => (*stored, *text),
        _ => ("", fields[0]),
    };
    let value = match stored {
        _ if text == "~" => None,
        "integer" => Some(number(class, text)),
        "real" => {
            let real = text.trim_start_matches("-").to_ascii_lowercase();
            let real: f64 = if real == "inf" { f64::INFINITY } else { real.parse().expect("a number") };
            let real = if text.starts_with('-') { -real } else { real };
            // Without the digits that only the client writes.
            Some(number(class, &format!("{real:?}")))
        }
        "blob" => Some(text.to_ascii_lowercase()),
        "" if class == Class::Bytes => Some(text.to_ascii_lowercase()),
        _ => Some(canonical(class, &from_hex(text))),
    };
    (stored.to_owned(), value)
}

fn from_hex(text: &str) -> String {
    let digit = |digit: u8| char::from(digit).to_digit(16).expect("a digit") as u8;
    let bytes = text.as_bytes().chunks(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect();
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

fn values(kind: Kind, name: &str, own: &Type) -> String {
    match kind {
        Kind::Sqlite => format!(
            "select '{name}', 'value', id, typeof(v), case typeof(v) when 'null' then '~' when 'integer' then v \
             when 'real' then quote(v) else hex(v) end, hex(cast(v as text)) from {name};\n"
        ),
        Kind::Mariadb => {
            let value = match own.class {
                Class::Bytes => "v".to_owned(),
                Class::Truth => "if(v, 'true', 'false')".to_owned(),
                Class::Whole => "cast(v + 0 as char)".to_owned(),
                Class::Single | Class::Double => "cast(cast(v as double) as char)".to_owned(),
                _ if own.compares == Compares::Text => "ST_AsText(v)".to_owned(),
                _ => "convert(cast(v as char) using utf8mb4)".to_owned(),
            };
            format!("select '{name}', 'value', id, if(v is null, '~', hex({value})) from {name};\n")
        }
        Kind::Postgres => {
            let value = match (own.class, own.native.as_str()) {
                (Class::Bytes, _) => "encode(v, 'hex')".to_owned(),
                (_, "money") => as_hex("v::numeric::text"),
                (_, native) if native.starts_with("geometry") => as_hex("ST_AsText(v)"),
                _ => as_hex("v::text"),
            };
            format!("select '{name}', 'value', id, coalesce({value}, '~') from {name};\n")
        }
    }
}

fn as_hex(text: &str) -> String {
    format!("encode(convert_to({text}, 'UTF8'), 'hex')")
}

/// Which rows are equal and less, and the order.
fn relations(kind: Kind, name: &str, own: &Type) -> String {
    let by_text = own.compares == Compares::Text;
    let side = |alias: &str| match kind {
        Kind::Postgres if by_text && own.native.starts_with("geometry") => format!("ST_AsText({alias}v)"),
        Kind::Postgres if by_text => format!("{alias}v::text"),
        Kind::Mariadb if by_text => format!("ST_AsText({alias}v)"),
        _ => format!("{alias}v"),
    };
    let list = match kind {
        Kind::Postgres => "coalesce(string_agg(b.id::text, ',' order by b.id), '')",
        Kind::Mariadb => "ifnull(group_concat(b.id order by b.id), '')",
        Kind::Sqlite => "ifnull(group_concat(b.id), '')",
    };
    let (a, b, v) = (side("a."), side("b."), side(""));
    let mut sql = String::new();
    // A number is found by its text too, where no type is declared.
    let same = if own.class == Class::Any {
        "(b.v = a.v or cast(b.v as text) = cast(a.v as text) and typeof(b.v) <> 'blob' and typeof(a.v) <> 'blob')"
            .to_owned()
    } else {
        format!("{b} = {a}")
    };
    for (what, condition) in [("equal", same), ("less", format!("{b} < {a}"))] {
        sql.push_str(&format!(
            "select '{name}', '{what}', a.id, {list} from {name} a left join {name} b on {condition} \
             where a.v is not null group by a.id;\n"
        ));
    }
    let is_exact = matches!(own.class, Class::Whole | Class::Decimal);
    match kind {
        Kind::Postgres if own.native == "money" => {
            sql.push_str(&format!("select '{name}', 'sum', 0, sum(v::numeric) from {name};\n"));
        }
        Kind::Postgres if is_exact && own.native != "oid" && !own.values.is_empty() => {
            sql.push_str(&format!("select '{name}', 'sum', 0, sum(v) from {name};\n"));
        }
        Kind::Mariadb if is_exact => sql.push_str(&format!("select '{name}', 'sum', 0, sum(v) from {name};\n")),
        _ => {}
    }
    let nulls = |word: &str| if kind == Kind::Postgres { format!(" nulls {word}") } else { String::new() };
    for (what, order) in [("rising", nulls("first")), ("falling", format!(" desc{}", nulls("last")))] {
        sql.push_str(&format!("select '{name}', '{what}', id from {name} order by {v}{order}, id;\n"));
    }
    sql
}
