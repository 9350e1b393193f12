//! How a MariaDB server is made, run and talked to.

use std::path::{Path, PathBuf};

use super::Client;
use super::programs::{program, unprivileged};

/// Run by the server at each start, before anybody can connect.
const WELCOME: &str = "create user if not exists salver@'127.0.0.1' identified by 'salver';\n\
                       grant all on *.* to salver@'127.0.0.1';\n";

fn socket(directory: &Path) -> PathBuf {
    directory.join("socket")
}

/// Makes the server's files.
pub(super) fn initialise(directory: &Path) {
    std::fs::write(directory.join("welcome.sql"), WELCOME).expect("a file for the server");
    let arguments = [
        "--no-defaults".to_owned(),
        format!("--datadir={}", directory.join("data").display()),
        // A server that starts removes what others left in its place for temporary tables.
        format!("--tmpdir={}", directory.join("data").display()),
        "--auth-root-authentication-method=normal".to_owned(),
        "--skip-test-db".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--innodb-log-file-size=16M".to_owned(),
        "--innodb-flush-method=nosync".to_owned(),
    ];
    super::prepare(directory, &unprivileged(&program("mariadb-install-db"), &arguments));
}

/// The server's command line. What is acknowledged survives the server's end, but not the machine's.
pub(super) fn command(directory: &Path, port: u16) -> Vec<String> {
    let place = |name: &str| directory.join(name).display().to_string();
    let arguments = [
        "--no-defaults".to_owned(),
        format!("--datadir={}", place("data")),
        format!("--tmpdir={}", place("data")),
        format!("--socket={}", socket(directory).display()),
        format!("--pid-file={}", place("data/pid")),
        format!("--init-file={}", place("welcome.sql")),
        format!("--port={port}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--skip-name-resolve".to_owned(),
        "--skip-log-bin".to_owned(),
        "--character-set-server=utf8mb4".to_owned(),
        "--max-connections=300".to_owned(),
        "--innodb-buffer-pool-size=64M".to_owned(),
        "--innodb-log-file-size=16M".to_owned(),
        "--innodb-flush-method=nosync".to_owned(),
        "--innodb-flush-log-at-trx-commit=2".to_owned(),
        "--innodb-doublewrite=0".to_owned(),
        "--sync-frm=0".to_owned(),
        "--innodb-use-native-aio=0".to_owned(),
    ];
    unprivileged(&program("mariadbd"), &arguments)
}

/// The client, as the administrator.
pub(super) fn client(directory: &Path, database: Option<&str>) -> Client {
    let mut arguments = vec![
        "--no-defaults".to_owned(),
        format!("--socket={}", socket(directory).display()),
        "--user=root".to_owned(),
        "--default-character-set=utf8mb4".to_owned(),
        "--batch".to_owned(),
        "--unbuffered".to_owned(),
        "--skip-column-names".to_owned(),
    ];
    arguments.extend(database.map(str::to_owned));
    Client { program: program("mariadb"), arguments }
}
