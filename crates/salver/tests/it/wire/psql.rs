//! psql, with the statements behind its commands.

use std::process::Command;

use super::server;

/// Runs psql with these commands; what it prints, and whether it was satisfied.
fn psql(address: &str, commands: &[&str]) -> Option<(String, bool)> {
    let (host, port) = address.rsplit_once(':').expect("a port");
    let mut program = Command::new("psql");
    program.args([
        "-X",
        "-q",
        "-A",
        "-t",
        "-v",
        "ON_ERROR_STOP=1",
        "-h",
        host,
        "-p",
        port,
        "-U",
        "ann",
        "-d",
        "salver",
    ]);
    commands.iter().for_each(|command| {
        program.args(["-c", command]);
    });
    let done = program.output().ok()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some((text(&done.stdout) + &text(&done.stderr), done.status.success()))
}

#[test]
fn lists_tables_and_columns() {
    let server = server("");
    let Some((said, is_well)) = psql(server.postgres(), &["\\d", "\\dt", "\\l", "\\dn", "\\du"]) else { return };
    assert!(is_well, "{said}");
    for line in ["public|people|table|salver", "public|types|table|salver", "public|salver"] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let (said, is_well) = psql(server.postgres(), &["\\d types", "\\d+ people", "\\df", "\\dv", "\\di"]).unwrap();
    assert!(is_well, "{said}");
    for line in ["id|integer", "truth|boolean", "huge|numeric", "exact|numeric(12,2)", "words|text[]", "born|date"] {
        assert!(said.contains(line), "{line}: {said}");
    }
}

#[test]
fn reads_rows_and_says_what_is_wrong() {
    let server = server("");
    let rows = "select id, name, born from people order by id";
    let Some((said, is_well)) = psql(server.postgres(), &[rows, "begin; select 1; commit", "show server_version"])
    else {
        return;
    };
    assert!(is_well, "{said}");
    assert_eq!(said, "1|Ann|1980-02-03\n2|Ben|1995-12-31\n3||\n1\n15.18\n");
    for (statement, wanted) in [
        ("select nope from people", "ERROR:"),
        ("insert into people values (4)", "only reads"),
        ("select * from nope", "no table `nope`"),
        ("select 1 / 0", "ERROR:"),
    ] {
        let (said, is_well) = psql(server.postgres(), &[statement]).unwrap();
        assert!(!is_well && said.contains(wanted), "{statement}: {said}");
    }
    let (said, _) = psql(server.postgres(), &[r"\set VERBOSITY sqlstate", "select $1"]).unwrap();
    assert_eq!(said.trim(), "ERROR:  42P02");
    // The place of an error is that in the statement.
    let (said, _) = psql(server.postgres(), &["select id, nope from people"]).unwrap();
    assert!(said.contains("LINE 1: select id, nope from people") && said.contains('^'), "{said}");
}

/// psql's commands that describe something.
const DESCRIBE: &str = r"
    \d, \d+, \dS, \dt, \dt+, \dt *.*, \dT, \dT+, \dp, \z, \dO, \df, \df+, \dn, \dn+, \l, \l+, \du, \du+, \dv, \dv+,
    \di, \di+, \dm, \dm+, \ds, \dE, \da, \db, \dc, \dC, \dd, \dD, \ddp, \des, \det, \deu, \dew, \dF, \dFd, \dFp,
    \dFt, \dg, \dL, \do, \dP, \drds, \dRp, \dRs, \dx, \dX, \dy, \dA, \dAc, \dAf, \dAo, \dAp, \dconfig, \d people,
    \d+ types, \dp people, \df upper, \x on
";

/// None of psql's commands fails, and those that are about what is there tell of it.
#[test]
fn describes_everything() {
    let server = server("");
    if psql(server.postgres(), &["select 1"]).is_none() {
        return;
    }
    let failed: Vec<String> = DESCRIBE
        .split(',')
        .filter_map(|command| psql(server.postgres(), &[command.trim()]).filter(|(_, is_well)| !is_well))
        .map(|(said, _)| said)
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    for (command, line) in [
        ("\\dt", "public|people|table|salver"),
        ("\\dTS", "pg_catalog|boolean|"),
        ("\\dn", "public|salver"),
        ("\\l", "salver|salver|UTF8"),
        ("\\du", "salver|"),
        ("\\dp", "public|people|table|"),
        ("\\d types", "exact|numeric(12,2)"),
    ] {
        let (said, _) = psql(server.postgres(), &[command]).unwrap();
        assert!(said.contains(line), "{command}: {said}");
    }
    // There is no such function, and no view.
    for (command, wanted) in [("\\sf nope", "does not exist"), ("\\sv nope", "does not exist")] {
        let (said, is_well) = psql(server.postgres(), &[command]).unwrap();
        assert!(!is_well && said.contains(wanted), "{command}: {said}");
    }
}

/// `information_schema` has PostgreSQL's words.
#[test]
fn information_schema_has_the_words_of_postgresql() {
    let server = server("");
    let columns = "select column_name, ordinal_position, is_nullable, data_type, udt_name, numeric_precision, \
                   numeric_precision_radix, numeric_scale, datetime_precision from information_schema.columns \
                   where table_name = 'types' order by ordinal_position";
    let Some((said, is_well)) = psql(server.postgres(), &[columns]) else { return };
    assert!(is_well, "{said}");
    let wanted = "id|1|YES|integer|int4|32|2|0|\n\
                  truth|2|YES|boolean|bool||||\n\
                  big|3|YES|bigint|int8|64|2|0|\n\
                  huge|4|YES|numeric|numeric||10||\n\
                  short|5|YES|real|float4|24|2||\n\
                  long|6|YES|double precision|float8|53|2||\n\
                  exact|7|YES|numeric|numeric|12|10|2|\n\
                  word|8|YES|text|text||||\n\
                  bytes|9|YES|bytea|bytea||||\n\
                  day|10|YES|date|date||||0\n\
                  clock|11|YES|time without time zone|time||||6\n\
                  moment|12|YES|timestamp without time zone|timestamp||||6\n\
                  words|13|YES|ARRAY|_text||||\n";
    assert_eq!(said, wanted);
    let tables = "select table_schema, tables.table_name, information_schema.tables.table_type \
                  from information_schema.tables where table_schema = 'public' order by 2";
    let (said, is_well) = psql(server.postgres(), &[tables]).unwrap();
    assert!(is_well, "{said}");
    assert_eq!(said, "public|people|BASE TABLE\npublic|types|BASE TABLE\n");
    let empty = "select count(*) from information_schema.key_column_usage k \
                 join information_schema.table_constraints t using (constraint_name)";
    assert_eq!(psql(server.postgres(), &[empty]).unwrap(), ("0\n".to_owned(), true));
}
