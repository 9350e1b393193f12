//! What `salver config show` writes reads back to the same, and writes the same again.

use salver_config::{Checked, Sources, example, load, show};

use crate::{Written, meant};

/// Everything set, and nothing to its default.
const EVERYTHING: &str = r##"
[wire]
postgres = "127.0.0.1:5432"
flight = "127.0.0.1:32010"
[cluster]
engine = "ballista"
scheduler = "scheduler.example:50050"
bytes_min = "3GiB"
partitions = 800
[server]
listen = "0.0.0.0:1"
socket_mode = "600"
base_path = "/data/"
data_dir = "cache"
data_dir_in_use = "end"
queries = "queries"
log = "debug"
log_format = "json"
metrics_listen = "127.0.0.1:9090"
cors = true
access_log = true
slow_ms = "250ms"
server_timing = true
otlp_endpoint = "http://collector:4318"
ready_needs_all = true
default_format = "csv"
threads = 3
reverse_proxy = true
caller = { user = "X-User", "the tenant" = "X-Tenant" }
firewall = ["10.0.0.0/8", "::1"]
proxy_protocol = ["127.0.0.1", "fd00::/8", "unix"]
watch = false
insecure = true
callbacks = ["https://example.org/hooks/"]
tls_certificate = "fullchain.pem"
tls_key = "privkey.pem"
tls_client_ca = "clients.pem"
tls_client = "optional"
ssl_redirect = true
xsrf = true
ajax_only = true
cors_origins = ["https://*.example.com"]
hosts = ["data.example.org", "*.corp"]

[auth]
mode = "optional"
api_keys = ["reporting:0123456789abcdef"]
api_keys_file = "keys.txt"
api_key_header = "X-Key"
basic_users = ["ann:$2y$10$cg7/nswxVZ0cmVIsMB/pVOh1OfcHScBJGq7Xu4KF9dFEQgRZ8HWe."]
basic_file = "users.htpasswd"
realm = "The shop"
jwt_secrets = ["k1:0123456789abcdef0123456789abcdef", """k2:-----BEGIN PUBLIC KEY-----
MAA=
-----END PUBLIC KEY-----
"""]
jwt_key_set = "https://id.example.com/keys"
jwt_key_set_interval = "1h"
jwt_header = "X-Token"
jwt_algorithms = ["RS256"]
jwt_audiences = ["shop"]
jwt_issuers = ["id"]
jwt_leeway = "1s"
jwt_ttl = "2m"
oidc_issuer = "https://id.example.com/"
oidc_client_id = "shop"
oidc_client_secret = "a secret of a client"
oidc_client_secret_file = "client.secret"
oidc_scopes = "openid groups"
oidc_logout = true
oidc_claim = "name"
database = "blog"
wordpress = "wp_"
users_table = "members"
login_table = "members_shown"
login = false
username_column = "email"
password_column = "hash"
api_key_column = "key"
returned_columns = ["id", "email"]
username_field = "user"
password_field = "pass"
new_password_field = "new"
users_prefix = "user:"
register = true
register_columns = { role = "guest" }
login_after_registration = true
password_length_min = 16
session_cookie = "sid"
session_idle = "15m"
users_shown = true
attempts_max = 5
jwt_exp_required = false

[[role]]
name = "analyst"
callers = ["api_key:reporting"]
addresses = ["10.0.0.0/8"]
when = "caller.group = 'x'"

[[access]]
roles = ["analyst"]
entries = ["people", "blog.*"]
permissions = ["read", "update"]
columns_hidden = ["email"]
columns_masked = { name = "left(name, 1) || '*'", "secret_*" = "null" }
rows = "region = caller.region"

[[access]]
entries = ["*"]
permissions = ["read"]
deny = true

[[limit]]
roles = ["analyst"]
requests_per_second = 10
burst = 50
concurrent_requests_max = 4
rows_max = 0
query_ms_max = "2s"
body_bytes_max = "64KiB"
response_bytes_max = "1MiB"

[limits]
query_ms_max = 1
rows_max = 2
body_bytes_max = 3
queries_max = 4
queue_ms_max = 5
memory_bytes_max = 6
cache_bytes_max = 7
connections_max = 8
connections_per_address_max = 14
head_ms_max = 9
drain_ms_max = 10
jobs_max = 11
job_bytes_max = 12
job_ttl = 13

[compat]
roapi = true

[[dataset]]
name = "all \"of\" it"
source = ["a.csv", "http://h/b.csv"]
headers = { Accept = "text \\ csv", "X-Y" = "z" }
format = "tab"
delimiter = "tab"
header = false
quote = "'"
escape = "\\"
comment = "#"
skip_rows = 2
null_tokens = ["NA", "-"]
encoding = "windows-1252"
decimal = ","
thousands = "'"
dates = "dmy"
pointer = "/a/b"
array_encoded = true
sheet = "Sheet 1"
range = "B3:F100"
schema = [
    { name = "id", type = "Int64", nullable = false },
    { name = "at", type = 'timestamp("ms", "Europe/London")' },
    { name = "price", type = "decimal(10, 2)" },
    { name = "tags", type = "list(struct(a text, b list(float)))" },
]
partitions = false
key = "id"
refresh = "90s"
memory = "always"
relation = [{ name = "other", columns = ["id"], target = "other", target_columns = ["x"] }]

[[dataset]]
name = "other"
source = "-"

[[dataset]]
name = "far"
source = "s3://bucket/a.csv"
store_endpoint = "https://minio.example:9000"
store_region = "eu-central-1"
store_key_id = "id"
store_secret = "a secret"
store_token = "a token"
store_api_key = "a key"
store_account = "sales"
store_credentials_file = "store.json"
store_profile = "reports"
store_anonymous = true
store_path_style = false

[[store]]
name = "s"
dataset = "other"
key = "k"
value = "v"

[[database]]
name = "blog"
url = "sqlite:blog.db"
init = "blog.sql"
tables = ["posts", "b*"]
writable = true
columns = true
mapping = { "abc_posts.abc_id" = "posts.id", "abc_tags" = "tags" }
strict = true
connections_max = 3
statement_ms_max = 4
refresh = "5s"
geometry_srid = 3857
pages_max = 6
records_max = 7
joins_depth_max = 8
joins_tables_max = 9
joins_records_max = 10
search = "q"
validate = ["posts.*"]
sanitize = ["*"]
strip_tags = ["comments.*"]
ip_address = ["barcodes.ip"]
json_columns = ["products.properties"]
tenant = { "*.tenant_id" = "caller.tenant", "posts.kind" = "'a \"quoted\" one'" }
check = [
    { columns = ["a.b"], is = "email", message = "must be an address" },
    { columns = ["a.b", "*.c"], rule = "price >= 0", message = "must not be \"less\"" },
]
before = "maths/before"
after = "words/after"

[[database.rule]]
tables = ["posts"]
operations = ["update", "delete"]
rows = "user_id = caller.user or status = 'public'"

[[database.rule]]
deny = true
columns_hidden = ["password", "secret_*"]
except = "caller.role = 'staff'"

[[database]]
name = "own"
url = "postgres://u@h/app_{caller.tenant}?sslmode=require"
after = "maths/after"

[[stream]]
name = "clicks"
sink = "kafka"
dir = "logs/clicks"
brokers = ["localhost:9092", "[::1]:9093", "broker"]
topic = "web.clicks"
kafka = { "linger.ms" = "5", "client.id" = "a \"quoted\" one" }
id_header = "event-id"
ack = "broker"
key = "$.user['the id']"
id = "header:X-Id"
time = "$.at"
dedupe = "1h"
schema = '{ "type": "object", "required": ["user"] }'
retain = "7d"
disk_bytes_max = "20GiB"
segment_bytes = "64MiB"
delta = "lake/clicks"
delta_every = "1m"
delta_keep = "1d"
route = "/track/"

[[stream]]
name = "plain"

[[function]]
name = "maths"
file = "functions/fib.R"
path = "/maths/"
interpreter = "/opt/R/bin/R"
workers = 4
workers_min = 2
job_workers = 1
job_timeout = 60000
waiting_max = 10
wait = "1s"
timeout = "5m"
memory_bytes_max = "512MiB"
calls_max = 10000
environment = { "MODEL" = "/srv/model.rds" }
inherit_environment = ["AWS_*"]
sandbox = "strict"
run_as = "nobody"
network = false
open_files_max = 256
processes_max = 16

[[function]]
file = "words.py"
timeout = 0
memory_bytes_max = 0

[[view]]
name = "large"
sql = """
SELECT "id"
FROM other"""
runs_as = "owner"

[[query]]
name = "of_id"
sql = "SELECT * FROM other WHERE id = $id AND at > $2"
description = "Those of an id."
parameter = [
    { name = "id", type = "integer", default = "7", required = false, description = "which" },
    { name = "at", required = true },
]
runs_as = "owner"
"##;

fn round(checked: &Checked) -> Checked {
    let shown = show(checked);
    let written = Written::new(&shown);
    let (again, _) = load(&written.sources()).unwrap_or_else(|mistakes| panic!("{mistakes:?}\n{shown}"));
    assert_eq!(show(&again), shown);
    again
}

#[test]
fn everything() {
    let written = Written::new(EVERYTHING);
    let (checked, _) = load(&written.sources()).unwrap();
    // What is secret is not shown, and so does not come back; nor do roles of those who prove something by it.
    let mut rest = Checked { auth: None, access: None, caller_limits: None, ..checked.clone() };
    // Certificates of clients are [auth] by themselves.
    rest.server.tls.as_mut().unwrap().client = None;
    let store = &mut rest.datasets.iter_mut().find(|spec| spec.name.as_str() == "far").unwrap().object_store;
    (store.key_id, store.secret, store.token, store.api_key) = (None, None, None, None);
    assert_eq!(round(&rest), rest);
    // Nothing may be left out: every key of the table is in the dump.
    let shown = show(&checked);
    for section in salver_config::keys::Section::ALL {
        for setting in section.settings() {
            // A certificate comes from files or from an authority.
            let is_shown = shown.contains(&format!("{} = ", setting.key));
            assert_ne!(is_shown, setting.key.starts_with("acme_"), "{}\n{shown}", setting.path());
        }
    }
}

#[test]
fn a_certificate_from_an_authority() {
    let text = r#"
[server]
acme_domains = ["Data.example.org", "data.example.org", "b.example.org"]
acme_contact = "mailto:ops@example.org"
acme_directory = "https://acme.example/dir"
acme_ca = "ca.pem"
"#;
    let (checked, _) = load(&Written::new(text).sources()).unwrap();
    let spec = checked.server.tls.as_ref().and_then(|tls| tls.acme()).unwrap();
    assert_eq!(spec.domains, ["data.example.org", "b.example.org"]);
    assert_eq!(spec.contact.as_deref(), Some("ops@example.org"));
    assert_eq!(round(&checked), checked);
}

#[test]
fn secrets_are_not_shown() {
    let written = Written::new(
        "[[dataset]]\nname = \"a\"\nsource = \"http://u:s3cret@h/b.csv?token=s3cret\"\n\
         headers = { Authorization = \"Bearer s3cret\", Accept = \"text/csv\" }\n\
         [[database]]\nname = \"b\"\nurl = \"postgres://u:s3cret@h/x\"\n\
         [[stream]]\nname = \"c\"\nsink = \"kafka\"\nbrokers = [\"h:1\"]\nkafka = { \"sasl.password\" = \"s3cret\" }\n\
         [[function]]\nfile = \"f.py\"\nenvironment = { API_TOKEN = \"s3cret\", HOME_URL = \"http://u:s3cret@h/\" }\n",
    );
    let (checked, _) = load(&written.sources()).unwrap();
    let shown = show(&checked);
    assert!(!shown.contains("s3cret"), "{shown}");
    for expected in
        ["http://***@h/b.csv?token=***", "postgres://u:***@h/x", "\"Accept\" = \"text/csv\"", "http://***@h/"]
    {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    // What only stands for a password must not be taken for one.
    let mistakes = load(&Written::new(&shown).sources()).unwrap_err();
    assert!(mistakes.iter().any(|mistake| mistake.message.contains("is not shown here")), "{mistakes:?}");
}

#[test]
fn defaults() {
    let (checked, _) = load(&Sources::default()).unwrap();
    assert_eq!(round(&checked), checked);
}

#[test]
fn relative_sources_mean_the_same_elsewhere() {
    let sources = Sources { datasets: vec!["t=some/a.csv".to_owned()], ..Sources::default() };
    let (checked, _) = load(&sources).unwrap();
    let again = round(&checked);
    let here = std::env::current_dir().unwrap().join("some/a.csv");
    assert_eq!(again.datasets[0].sources, [here.to_str().unwrap()]);
}

#[test]
fn the_example_changes_nothing_as_it_is_and_is_right_without_its_comment_marks() {
    let (as_it_is, _) = meant(&example());
    assert_eq!(as_it_is, load(&Sources::default()).unwrap().0);
    let mut set = String::new();
    for line in example().lines() {
        match line.strip_prefix("# ") {
            Some(line) if line.starts_with("[[") || line.split_once(" = ").is_some_and(|(key, _)| is_key(key)) => {
                set.push_str(line);
            }
            Some(_) => {}
            None => set.push_str(line),
        }
        set.push('\n');
    }
    // The example's relation points to a dataset the example does not have, and its key to a column it does.
    set.push_str("[[dataset]]\nname = \"countries\"\nsource = \"countries.csv\"\nkey = \"id\"\n");
    // Some of its settings need each other.
    let set = set.replace("[\"country_id\"]", "[\"city\"]").replace("reverse_proxy = false", "reverse_proxy = true");
    let set = set.replace("sink = \"log\"", "sink = \"kafka\"").replace("\"hooks/", "\"fib/");
    // Nor need the variables be there that it names.
    let set = set.replace("${", "$${");
    // The certificate of the server comes from files or from an authority.
    for other_way in [&["acme_"][..], &["tls_certificate", "tls_key"]] {
        let is_other = |line: &&str| other_way.iter().any(|start| line.starts_with(start));
        let one_way: Vec<&str> = set.lines().filter(|line| !is_other(line)).collect();
        let (checked, _) = meant(&one_way.join("\n"));
        assert_eq!(checked.datasets.len(), 2);
        assert_eq!((checked.stores.len(), checked.streams.len()), (1, 1));
    }
}

fn is_key(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}
