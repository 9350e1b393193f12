//! The rows of the table of settings.

mod access;
mod cluster;
mod database;
mod function;
mod limit;
mod object_store;
mod query;
mod server;
mod stream;
mod wire;

use super::{Effect, Section, Setting, SettingKind};

/// Values of a source's `format`: its suffixes, and what directories can be.
const FORMATS: SettingKind = SettingKind::Choice(&[
    "csv", "tsv", "tab", "json", "ndjson", "jsonl", "geojson", "geojsonl", "geojsons", "parquet", "pq", "arrow",
    "feather", "ipc", "arrows", "avro", "xlsx", "xls", "xlsb", "ods", "delta",
]);

/// Creates a row of the first release.
const fn row(
    section: Section,
    key: &'static str,
    kind: SettingKind,
    [default, example]: [&'static str; 2],
    help: &'static str,
    old: &'static [&'static str],
) -> Setting {
    // Streams stay as they were opened.
    let effect = if matches!(section, Section::Stream) { Effect::ReloadOfNew } else { Effect::Reload };
    Setting { section, key, kind, default, example, help, effect, since: "0.1.0", old }
}

/// Creates a row of this release.
const fn new_row(
    section: Section,
    key: &'static str,
    kind: SettingKind,
    texts: [&'static str; 2],
    help: &'static str,
    old: &'static [&'static str],
) -> Setting {
    Setting { since: "0.2.0", ..row(section, key, kind, texts, help, old) }
}

/// Marks a row as one that counts from the next start on.
const fn at_start(row: Setting) -> Setting {
    Setting { effect: Effect::Restart, ..row }
}

/// Every setting, by section.
pub const SETTINGS: &[Setting] = &joined::<
    {
        server::ROWS.len()
            + wire::ROWS.len()
            + cluster::ROWS.len()
            + access::ROWS.len()
            + limit::ROWS.len()
            + ROWS.len()
            + object_store::ROWS.len()
            + database::ROWS.len()
            + stream::ROWS.len()
            + function::ROWS.len()
            + query::ROWS.len()
    },
>([
    server::ROWS,
    wire::ROWS,
    cluster::ROWS,
    access::ROWS,
    limit::ROWS,
    ROWS,
    object_store::ROWS,
    database::ROWS,
    stream::ROWS,
    function::ROWS,
    query::ROWS,
]);

/// Concatenates the rows of these tables.
const fn joined<const N: usize>(tables: [&[Setting]; 11]) -> [Setting; N] {
    let (mut all, mut at, mut table) = ([ROWS[0]; N], 0, 0);
    while table < tables.len() {
        let mut row = 0;
        while row < tables[table].len() {
            all[at] = tables[table][row];
            (at, row) = (at + 1, row + 1);
        }
        table += 1;
    }
    all
}

/// Settings of callers, limits, and of what has rows.
#[rustfmt::skip]
const ROWS: &[Setting] = &[
    // Auth
    row(Section::Auth, "mode", SettingKind::Choice(&["required", "optional"]), [r#""required""#, r#""optional""#],
        "Whether every request must prove who sends it, in one of the ways below. Where it is optional, who proves \
            nothing is a caller of whom nothing is known. What is given must be right in any case.",
        &[]),
    row(Section::Auth, "api_keys", SettingKind::Texts, ["[]", r#"["reporting:use-a-long-random-text"]"#],
        "Keys that programs send in a header, as `NAME:KEY`; rules see the name as `caller.user`. A key may also stand \
            alone. `salver key new NAME` makes one, and its hash to be written here in its place, with an expiry if \
            wanted: `NAME:sha256:HASH@2027-01-31`.",
        &["keys"]),
    new_row(Section::Auth, "api_keys_file", SettingKind::Location, ["", r#""keys.txt""#],
        "A file of more such keys, each as its hash, one a line. Changes of it count without restart.",
        &["keys_file"]),
    row(Section::Auth, "api_key_header", SettingKind::Text, [r#""X-API-Key""#, r#""X-Key""#],
        "The header a key comes in, one of `api_keys` or of a table of users. It may also come as \
            `Authorization: Bearer KEY`.", &[]),
    row(Section::Auth, "basic_users", SettingKind::Texts, ["[]",
        r#"["ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe."]"#],
        "Users who send name and password with each request, as `NAME:HASH` with a bcrypt hash, which `htpasswd -nB \
            ann` makes, or with a verifier as PostgreSQL keeps it (`SCRAM-SHA-256$...`), which `salver key password \
            ann` makes: with it, PostgreSQL's clients prove the password without sending it.",
        &[]),
    row(Section::Auth, "basic_file", SettingKind::Location, ["", r#""users.htpasswd""#],
        "A file of more such users, one a line, as `htpasswd -B` and `salver key password` write them. Changes of it \
            count without restart.",
        &["password_file"]),
    row(Section::Auth, "realm", SettingKind::Text, [r#""Username and password required""#, r#""The shop""#],
        "What a browser shows when it asks for name and password.", &[]),
    row(Section::Auth, "jwt_secrets", SettingKind::Texts,
        ["[]", r#"["k1:a-long-random-text-of-32-characters-or-more"]"#],
        "Keys of JSON Web Tokens, as `KID:KEY`, or without `KID:` for tokens that name none. A public key in PEM is \
            for RS256, PS256 and the like (RSA), ES256 (P-256), ES384 (P-384) or EdDSA (Ed25519); any other text is a \
            secret for HS256, HS384 and HS512. Rules see each claim as `caller.NAME`, and `sub` also as \
            `caller.user`.", &["secrets"]),
    new_row(Section::Auth, "jwt_key_set", SettingKind::Location,
        ["", r#""https://id.example.com/.well-known/jwks.json""#],
        "The key set that the issuer of tokens publishes (JWKS, RFC 7517): a URL or a file. Set `jwt_issuers` and \
            `jwt_audiences` with it.", &["jwks", "jwks_url", "jwks_uri"]),
    new_row(Section::Auth, "jwt_key_set_interval", SettingKind::Milliseconds, ["300000", r#""1h""#],
        "How often the key set is fetched again. It is also fetched when a token names a key that is not in it, at \
            most every ten seconds.", &[]),
    row(Section::Auth, "jwt_header", SettingKind::Text, ["", r#""X-Token""#],
        "The header with `Bearer TOKEN`; without this setting `X-Authorization`, then `Authorization`.", &[]),
    row(Section::Auth, "jwt_algorithms", SettingKind::Texts, ["[]", r#"["HS256"]"#],
        "The only algorithms that are believed; empty for all that fit the key.", &["algorithms"]),
    row(Section::Auth, "jwt_audiences", SettingKind::Texts, ["[]", r#"["shop"]"#],
        "The claim `aud` must have one of these; empty for any.", &["audiences"]),
    row(Section::Auth, "jwt_issuers", SettingKind::Texts, ["[]", r#"["https://id.example.com/"]"#],
        "The claim `iss` must be one of these; empty for any.", &["issuers"]),
    row(Section::Auth, "jwt_leeway", SettingKind::Milliseconds, ["5000", r#""1m""#],
        "How far clocks may differ.", &["leeway"]),
    row(Section::Auth, "jwt_ttl", SettingKind::Milliseconds, ["30000", r#""1h""#],
        "How long a token holds that has the claim `iat` but not `exp`.", &["ttl"]),
    row(Section::Auth, "jwt_exp_required", SettingKind::Bool, ["true", "false"],
        "Whether a token must tell when it ends, by the claim `exp`, or by `iat` and `jwt_ttl`. Without that, one that \
            tells neither holds for ever.",
        &[]),
    new_row(Section::Auth, "oidc_issuer", SettingKind::Location, ["", r#""https://id.example.com/""#],
        "The identity provider that users log in at (OpenID Connect), as it calls itself. They begin at \
            `/auth/login?to=PATH`, stay known by a cookie, and leave with `POST /auth/logout`. Register \
            `https://HOST/auth/callback` there as the address to return to, after `server.base_path` if there is one.",
        &["oidc_provider", "oidc_url"]),
    new_row(Section::Auth, "oidc_client_id", SettingKind::Text, ["", r#""my-api""#],
        "What this server is called at the provider.", &["client_id"]),
    new_row(Section::Auth, "oidc_client_secret", SettingKind::Text, ["", r#""the-secret-that-the-provider-gave""#],
        "The secret that the provider gave it; without one it is a public client there.", &["client_secret"]),
    new_row(Section::Auth, "oidc_client_secret_file", SettingKind::Location, ["", r#""client.secret""#],
        "A file with that secret in place of `oidc_client_secret`. It is read whenever the secret is needed.",
        &["client_secret_file"]),
    new_row(Section::Auth, "oidc_scopes", SettingKind::Text, [r#""openid profile email""#, r#""openid groups""#],
        "What is asked of the provider, separated by spaces. Rules see the claims of the ID token as `caller.NAME`.",
        &[]),
    new_row(Section::Auth, "oidc_claim", SettingKind::Text, [r#""sub""#, r#""preferred_username""#],
        "The claim that names the user, who is `oidc:NAME` in roles, and `caller.user`. It must be one that no user of \
            the provider can choose as he likes. `email` is believed only with `email_verified`.",
        &[]),
    new_row(Section::Auth, "oidc_logout", SettingKind::Bool, ["false", "true"],
        "Whether `POST /auth/logout` sends the browser on to the provider when the session here has ended, so that its \
            session there ends too, and the user does not come back without a password. Register \
            `https://HOST/` there as the address to return to after that, and the paths that `to` names.",
        &["oidc_rp_initiated_logout"]),
    row(Section::Auth, "database", SettingKind::Text, ["", r#""blog""#],
        "The `[[database]]` with the table of users, who log in with `POST /api/login`, stay known by a cookie, and \
            leave with `POST /api/logout`; `POST /api/password` changes a password, `GET /api/me` tells who one is.",
        &[]),
    row(Section::Auth, "wordpress", SettingKind::Text, ["", r#""wp_""#],
        "What the names of the tables begin with when `database` is that of a WordPress, whose users log in by name or \
            email with their passwords there. `users_table`, `username_column` and `password_column` are then \
            WordPress's own, and `users_table` and `usermeta` are shut.",
        &["wp_directory"]),
    row(Section::Auth, "users_table", SettingKind::Text, [r#""users""#, r#""accounts""#],
        "The table of users. Beside what is told here, no request gets to it, unless `users_shown`.", &[]),
    row(Section::Auth, "login_table", SettingKind::Text, ["", r#""users_with_roles""#],
        "A view of that table, with more columns, which logging in reads in its place.", &[]),
    row(Section::Auth, "login", SettingKind::Bool, ["true", "false"],
        "Whether users of the table log in; without that it is for keys only.", &[]),
    row(Section::Auth, "username_column", SettingKind::Text, [r#""username""#, r#""email""#],
        "The column of names. It should be unique in the database.", &[]),
    row(Section::Auth, "password_column", SettingKind::Text, [r#""password""#, r#""hash""#],
        "The column of hashes of passwords: bcrypt, 60 characters each, or WordPress's. New ones are bcrypt.", &[]),
    row(Section::Auth, "api_key_column", SettingKind::Text, ["", r#""api_key""#],
        "The column of keys, one for each user; without this setting only `api_keys` count.", &[]),
    row(Section::Auth, "returned_columns", SettingKind::Texts, ["[]", r#"["id", "username", "role"]"#],
        "The columns that are told of a user, and that rules see as `caller.NAME`; empty for all but passwords and \
            keys. What `username_column` holds is `caller.user`.",
        &[]),
    row(Section::Auth, "username_field", SettingKind::Text, [r#""username""#, r#""email""#],
        "What the name is called in the body of a request.", &["username_form_field"]),
    row(Section::Auth, "password_field", SettingKind::Text, [r#""password""#, r#""pass""#],
        "What the password is called in the body of a request.", &["password_form_field"]),
    row(Section::Auth, "new_password_field", SettingKind::Text, [r#""newPassword""#, r#""new_password""#],
        "What the new password is called in the body of a request.", &["new_password_form_field"]),
    row(Section::Auth, "register", SettingKind::Bool, ["false", "true"],
        "Whether `POST /api/register` makes a new user. Needs a `writable` database.", &["register_user"]),
    row(Section::Auth, "users_prefix", SettingKind::Text, ["", r#""user:""#],
        "What `caller.user` begins with for users of the table, so that no name in it is that of a key, a token or \
            anybody else. Needed where users may `register` beside tokens or a proxy that names the user; without it \
            nobody registers or logs in there under the name of one of `api_keys`, `api_keys_file`, `basic_users` or \
            `basic_file`.",
        &[]),
    row(Section::Auth, "register_columns", SettingKind::Pairs, ["", r#"{ role = "guest" }"#],
        "What is written to further columns of a new user. The request fills none of them.", &[]),
    row(Section::Auth, "login_after_registration", SettingKind::Bool, ["false", "true"],
        "Whether a new user is logged in at once.", &[]),
    row(Section::Auth, "password_length_min", SettingKind::Count(1), ["12", "16"],
        "Fewest characters of a new password.", &["password_length"]),
    row(Section::Auth, "session_cookie", SettingKind::Text, [r#""salver_session""#, r#""sid""#],
        "The cookie that names a session.", &["session_name"]),
    row(Section::Auth, "session_idle", SettingKind::Milliseconds, ["3600000", r#""15m""#],
        "How long a session lasts that is not used. Sessions outlive a restart where there is a data directory. \
            Another value ends those that there are.", &[]),
    row(Section::Auth, "users_shown", SettingKind::Bool, ["false", "true"],
        "Whether the table of users is served like others, without its columns of passwords and keys.", &[]),
    row(Section::Auth, "attempts_max", SettingKind::Count(1), ["10", "5"],
        "How many wrong passwords may come from an address in a minute, and ten times as many for one user from all \
            addresses; more are answered with 429.", &[]),
    // Limits
    row(Section::Limits, "query_ms_max", SettingKind::Milliseconds, ["60000", r#""5s""#],
        "Longest work on one query: waiting for its data, and making its rows; writing them may take as long again. \
            What a slow client takes to read them does not count.",
        &["timeout", "query_timeout"]),
    row(Section::Limits, "rows_max", SettingKind::Count(0), ["0", "100000"],
        "Most rows one answer may have; 0 is no bound.",
        &[]),
    row(Section::Limits, "body_bytes_max", SettingKind::Bytes, ["2097152", r#""8MiB""#],
        "Largest body of a request.",
        &[]),
    at_start(row(Section::Limits, "queries_max", SettingKind::Count(1), ["64", "16"],
        "Most queries that run at once; more wait for a short time and then get 503.",
        &[])),
    row(Section::Limits, "queue_ms_max", SettingKind::Milliseconds, ["5000", r#""1s""#],
        "Longest wait for a free place among `queries_max`.",
        &[]),
    at_start(row(Section::Limits, "memory_bytes_max", SettingKind::Bytes, ["0", r#""4GiB""#],
        "Memory for resident datasets and running queries together; 0 takes half of the machine's memory.",
        &["memory_limit"])),
    at_start(row(Section::Limits, "spill_bytes_max", SettingKind::Bytes, ["0", r#""20GiB""#],
        "Disk for what running queries spill, all together; 0 takes half of what is free at the start where the data \
            directory is.",
        &[])),
    at_start(new_row(Section::Limits, "object_cache_bytes_max", SettingKind::Bytes, ["0", r#""50GiB""#],
        "Disk for the parts of objects of `s3://`, `gs://` and `az://` sources that were fetched; 0 takes a quarter of \
            what is free at the start where the data directory is. The least recently used go first.",
        &[])),
    row(Section::Limits, "cache_bytes_max", SettingKind::Bytes, ["134217728", r#""512MiB""#],
        "Memory for finished answers; 0 keeps none. Those made within a millisecond are kept from the second time on.",
        &[]),
    row(Section::Limits, "connections_max", SettingKind::Count(1), ["10000", "1000"],
        "Most connections open at once, as far as the system has descriptors for them. When all are taken, the next \
            takes the place of one that waits for its client; when all work, it gets 503.",
        &[]),
    new_row(Section::Limits, "connections_per_address_max", SettingKind::Count(0), ["0", "100"],
        "Most connections open at once from one address (of IPv6, one network of 64 bits), other than loopback and \
            proxies of `reverse_proxy` and `proxy_protocol`; 0 is no bound of its own, and then one address has three \
            quarters of `connections_max` at most. When all are taken, the next takes the place of one of them that \
            waits for its client; when all work, it gets 503.",
        &["limit_conn", "max_connections_per_ip"]),
    row(Section::Limits, "head_ms_max", SettingKind::Milliseconds, ["30000", r#""5s""#],
        "How long a client may take to send the head of a request, and then its body; also how long a connection may \
            stay idle between requests.",
        &[]),
    row(Section::Limits, "drain_ms_max", SettingKind::Milliseconds, ["10000", r#""30s""#],
        "How long open requests may take to end after SIGTERM.",
        &[]),
    at_start(row(Section::Limits, "jobs_max", SettingKind::Count(1), ["10000", "1000"],
        "Most jobs that wait, run, or are kept with what they answered. When there are more, those that are done \
            longest are forgotten; without any, new ones are told to come again (503).",
        &[])),
    at_start(row(Section::Limits, "job_bytes_max", SettingKind::Bytes, ["268435456", r#""1GiB""#],
        "Memory for what jobs are asked with and what they answered; bounded as `jobs_max`.",
        &[])),
    at_start(row(Section::Limits, "job_ttl", SettingKind::Milliseconds, [r#""1h""#, r#""1d""#],
        "How long a job is kept when it is done.",
        &[])),
    // Compat
    row(Section::Compat, "roapi", SettingKind::Bool, ["false", "true"],
        "Answer as ROAPI does where its clients depend on it: nulls are left out of JSON, and an unknown \
            table is 400 instead of 404.",
        &[]),
    // Dataset
    row(Section::Dataset, "name", SettingKind::Text, ["", r#""uk_cities""#],
        "The name of the entry. Required.",
        &["table", "id"]),
    row(Section::Dataset, "source", SettingKind::Texts, ["", r#""data/uk_cities.csv""#],
        "File, directory, glob, `http(s)://` URL, objects (`s3://`, `gs://`, `az://`), a spreadsheet of Google \
            (`gsheets://`), or `-` for standard input; or a list of them, read in order as one; or a table of Delta Lake. \
            Relative paths start at this file's directory. Required.",
        &["uri", "path", "file", "url", "sources"]),
    row(Section::Dataset, "headers", SettingKind::Pairs, ["", r#"{ Authorization = "Bearer abc" }"#],
        "Headers sent with requests to `http(s)://` and `gsheets://` sources.",
        &["io_option"]),
    row(Section::Dataset, "format", FORMATS, ["", r#""csv""#],
        "Format of the source; told from the suffix when not given.",
        &["type", "option"]),
    row(Section::Dataset, "delimiter", SettingKind::Text, ["", r#"";""#],
        "CSV: the character between fields, or `\"tab\"`; told from the first lines when not given.",
        &["separator", "sep"]),
    row(Section::Dataset, "header", SettingKind::Bool, ["", "false"],
        "CSV, TSV and spreadsheets: whether the first row holds the names of the columns. When not given: in \
            spreadsheets yes; in CSV and TSV it is guessed, and told.",
        &["has_header"]),
    row(Section::Dataset, "quote", SettingKind::Text, ["", r#""'""#],
        "CSV: the character around fields; `\"\"` where there is none, and every character is part of its field. When \
            not given, it is `\"`, unless the first lines are split better by `'` or without any.",
        &[]),
    row(Section::Dataset, "escape", SettingKind::Text, ["", r#""\\""#],
        "CSV: the character that escapes the next one inside quotes, beside the doubled quote.",
        &[]),
    row(Section::Dataset, "comment", SettingKind::Text, ["", r##""#""##],
        "CSV: lines that begin with this character are skipped.",
        &[]),
    row(Section::Dataset, "skip_rows", SettingKind::Count(0), ["", "2"],
        "CSV: lines to skip before the header. When not given, what stands before the table is skipped, such as its \
            title, and told.",
        &["skip"]),
    row(Section::Dataset, "null_tokens", SettingKind::Texts, ["[]", r#"["NA", "-"]"#],
        "CSV: fields that mean null, beside the empty field.",
        &["null_values", "nulls"]),
    row(Section::Dataset, "encoding", SettingKind::Text, ["", r#""windows-1252""#],
        "CSV: character encoding; told from the bytes when not given.",
        &["charset"]),
    new_row(Section::Dataset, "decimal", SettingKind::Choice(&[".", ","]), ["", r#"",""#],
        "CSV: the decimal mark, in `1,5`. When not given, it is `.`, or `,` if `thousands` is `.` or all values of a \
            column say so, which is told.",
        &["decimal_separator", "decimal_mark"]),
    new_row(Section::Dataset, "thousands", SettingKind::Text, ["", r#"".""#],
        "CSV: the character between groups of three digits, in `1.234`. When not given, there is none, unless all \
            values of a column say so, which is told.",
        &["thousands_separator"]),
    new_row(Section::Dataset, "dates", SettingKind::Choice(&["dmy", "mdy", "ymd"]), ["", r#""dmy""#],
        "CSV: the order of day, month and year in dates such as `31.01.2026`. When not given, it is told from a column \
            of which only one order makes dates. Dates of ISO 8601 (`2026-01-31`) are always read.",
        &["date_format", "dateformat", "dayfirst"]),
    row(Section::Dataset, "pointer", SettingKind::Text, ["", r#""/data/rows""#],
        "JSON: where the array of rows is, as a JSON pointer (RFC 6901).",
        &[]),
    row(Section::Dataset, "array_encoded", SettingKind::Bool, ["false", "true"],
        "JSON: rows are arrays of values and not objects; needs `schema`.",
        &[]),
    row(Section::Dataset, "sheet", SettingKind::Text, ["", r#""Sheet2""#],
        "Spreadsheets: the sheet; the first that is not empty when not given.",
        &["sheet_name"]),
    row(Section::Dataset, "range", SettingKind::Text, ["", r#""B3:F100""#],
        "Spreadsheets: the cells, as `B3:F100`, `B:F` or `B3` for all from there on.",
        &["rows_range_start", "columns_range_start"]),
    row(Section::Dataset, "schema", SettingKind::Tables(Section::Column),
        ["[]", r#"[{ name = "id", type = "int" }, { name = "city", type = "text", nullable = false }]"#],
        "The columns; inferred when not given.",
        &["columns"]),
    row(Section::Dataset, "partitions", SettingKind::Bool, ["true", "false"],
        "Whether directory names like `year=2026` become columns.",
        &["partition_columns"]),
    row(Section::Dataset, "key", SettingKind::Texts, ["[]", r#"["id"]"#],
        "Columns that identify a row; look-ups by them are indexed.",
        &["primary_key", "keys"]),
    row(Section::Dataset, "refresh", SettingKind::Text, [r#""never""#, r#""30s""#],
        "How often to look for changes, as `\"30s\"`, `\"5m\"`, `\"1h\"`, or `\"never\"`.",
        &["reload_interval", "interval"]),
    row(Section::Dataset, "memory", SettingKind::Choice(&["auto", "always", "never"]), [r#""auto""#, r#""always""#],
        "Whether rows are held in memory: while there is room, always, or never.",
        &["use_memory_table"]),
    row(Section::Dataset, "relation", SettingKind::Tables(Section::Relation),
        ["[]", r#"[{ name = "country", columns = ["country_id"], target = "countries" }]"#],
        "Links to other datasets.",
        &["relations"]),
    // Column
    row(Section::Column, "name", SettingKind::Text, ["", r#""id""#],
        "The column's name. Required.",
        &[]),
    row(Section::Column, "type", SettingKind::Text, ["", r#""int""#],
        "The column's type, as in the list below. Required.",
        &["data_type", "datatype"]),
    row(Section::Column, "nullable", SettingKind::Bool, ["true", "false"],
        "Whether it may be null.",
        &[]),
    // Relation
    row(Section::Relation, "name", SettingKind::Text, ["", r#""country""#],
        "The name of the GraphQL field that follows the link. Required.",
        &[]),
    row(Section::Relation, "columns", SettingKind::Texts, ["", r#"["country_id"]"#],
        "The columns here. Required.",
        &["column"]),
    row(Section::Relation, "target", SettingKind::Text, ["", r#""countries""#],
        "The dataset there. Required.",
        &["table", "dataset"]),
    row(Section::Relation, "target_columns", SettingKind::Texts, ["", r#"["id"]"#],
        "The columns there, as many as `columns`; its `key` when not given.",
        &["target_column"]),
    // Store
    row(Section::Store, "name", SettingKind::Text, ["", r#""city_by_id""#],
        "The name of the store. Required.",
        &[]),
    row(Section::Store, "dataset", SettingKind::Text, ["", r#""uk_cities""#],
        "The dataset. Required.",
        &["table", "uri", "source"]),
    row(Section::Store, "key", SettingKind::Text, ["", r#""id""#],
        "The column that is looked up. Required.",
        &[]),
    row(Section::Store, "value", SettingKind::Text, ["", r#""city""#],
        "The column that is answered. Required.",
        &[]),
];
