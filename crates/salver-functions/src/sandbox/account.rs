//! Users of the system, by name.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

/// The system's own list of users, where there is no program to ask.
const USERS: &str = "/etc/passwd";

/// User that processes run as.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// Name of the user.
    pub(crate) name: String,
    /// User id.
    pub(crate) user: u32,
    /// Id of the main group.
    pub(crate) group: u32,
    /// Home directory.
    pub(crate) home: String,
    /// Shell.
    pub(crate) shell: String,
}

impl Account {
    /// Returns the user `name`, who is not the superuser.
    ///
    /// # Errors
    /// Returns the reason why there is none.
    pub(super) fn find(name: &str) -> Result<Self, String> {
        let lines = match Command::new("getent").args(["passwd", name]).stdin(Stdio::null()).output() {
            // Asks directories such as LDAP as well. Without a user it prints nothing.
            Ok(said) => String::from_utf8_lossy(&said.stdout).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                std::fs::read_to_string(USERS).map_err(|error| format!("{USERS} can't be read: {error}"))?
            }
            Err(error) => return Err(format!("`getent` can't be started: {error}")),
        };
        let account = lines.lines().find_map(|line| Self::parse(line).filter(|account| account.name == name));
        let account = account.ok_or_else(|| format!("there is no user `{name}`"))?;
        if account.user == super::ROOT {
            return Err(format!("`{name}` is the superuser"));
        }
        Ok(account)
    }

    /// Returns whether the user may read a file; `None` if that can't be found out, as by a server that is not root.
    pub(super) fn may_read(&self, path: &Path) -> Option<bool> {
        let as_user = ["--reuid", &self.name, "--regid", &self.group.to_string(), "--init-groups", "--"];
        let asked = Command::new("setpriv")
            .args(as_user)
            .args(["sh", "-c", "test -r \"$0\" || exit 3"])
            .arg(std::path::absolute(path).ok()?)
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .status();
        // Other codes are those of programs that could not do their part.
        match asked.ok()?.code() {
            Some(0) => Some(true),
            Some(3) => Some(false),
            _ => None,
        }
    }

    /// Parses a line of passwd(5).
    fn parse(line: &str) -> Option<Self> {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, user, group, _, home, shell] = fields.as_slice() else { return None };
        Some(Self {
            name: (*name).to_owned(),
            user: user.parse().ok()?,
            group: group.parse().ok()?,
            home: (*home).to_owned(),
            shell: (*shell).to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Account;

    #[test]
    fn users() {
        let line = "ann:x:1000:1001:Ann, room 7:/home/ann:/bin/bash";
        let ann = Account::parse(line).unwrap();
        assert_eq!((ann.name.as_str(), ann.user, ann.group), ("ann", 1000, 1001));
        assert_eq!((ann.home.as_str(), ann.shell.as_str()), ("/home/ann", "/bin/bash"));
        for wrong in ["", "ann:x:1000:1001::/home/ann", "ann:x:-1:1001:::", "ann:x:4294967296:1:::", "+::::::"] {
            assert_eq!(Account::parse(wrong), None, "{wrong}");
        }
        assert_eq!(Account::find("no-such-user").unwrap_err(), "there is no user `no-such-user`");
        assert_eq!(Account::find("root").unwrap_err(), "`root` is the superuser");
    }
}
