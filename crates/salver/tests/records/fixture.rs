//! What is in the databases, and the configurations they are served with.

use salver_testkit::servers::{Database, Kind, database};

const BLOG: [&str; 3] =
    [include_str!("fixture/sqlite.sql"), include_str!("fixture/mysql.sql"), include_str!("fixture/pgsql.sql")];
const SHOP: [&str; 3] = [
    include_str!("fixture/shop.sqlite.sql"),
    include_str!("fixture/shop.mysql.sql"),
    include_str!("fixture/shop.pgsql.sql"),
];

/// The names that PHP-CRUD-API's tests give to the table `abc_posts`.
pub(crate) const MAPPING: &str = "mapping = { \"abc_posts.abc_id\" = \"posts.id\", \"abc_posts.abc_user_id\" = \"posts.user_id\", \
                                  \"abc_posts.abc_category_id\" = \"posts.category_id\", \"abc_posts.abc_content\" = \"posts.content\" }\n";

/// The settings under which PHP-CRUD-API's tests run, without its ways to log in.
pub(crate) fn upstream() -> String {
    format!(
        "writable = true\ncolumns = true\n{MAPPING}pages_max = 5\nrecords_max = 10\njoins_depth_max = 2\n\
         joins_tables_max = 4\njoins_records_max = 10\nvalidate = [\"*\"]\nsanitize = [\"forgiving\"]\n\
         strip_tags = [\"*.*\"]\nip_address = [\"barcodes.ip_address\"]\n\
         tenant = {{ \"kunsthåndværk.user_id\" = \"1\" }}\n\
         [[database.check]]\ncolumns = [\"*.post_id\"]\nis = \"numeric\"\nmessage = \"must be numeric\"\n\
         [[database.rule]]\ntables = [\"invisibles\"]\ndeny = true\n\
         [[database.rule]]\ncolumns_hidden = [\"invisible\"]\n\
         [[database.rule]]\ntables = [\"comments\"]\nrows = \"message != 'invisible'\"\n\
         operations = [\"list\", \"read\", \"update\", \"increment\", \"delete\"]\n"
    )
}

/// The blog of PHP-CRUD-API's tests.
pub(crate) fn blog(kind: Kind) -> Database {
    database(kind, BLOG[index(kind)])
}

/// The statements that make the blog and the shop.
pub(crate) fn statements(kind: Kind) -> String {
    format!("{}\n{}", BLOG[index(kind)], SHOP[index(kind)])
}

/// The blog, and what it does not have.
pub(crate) fn everything(kind: Kind) -> Database {
    database(kind, &statements(kind))
}

/// How a kind of database is called in the files of cases.
pub(crate) fn word(kind: Kind) -> &'static str {
    ["sqlite", "mysql", "pgsql"][index(kind)]
}

fn index(kind: Kind) -> usize {
    match kind {
        Kind::Sqlite => 0,
        Kind::Mariadb => 1,
        Kind::Postgres => 2,
    }
}
