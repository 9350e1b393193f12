//! The settings of a session that clients set and read (`SET`, `SHOW`, and those of the start). What decides how values
//! are written is fixed, and another value of it is refused; others are remembered and have no effect.

use std::collections::BTreeMap;

use super::refusal::Refusal;

/// A setting of PostgreSQL that clients read.
struct Known {
    name: &'static str,
    value: &'static str,
    /// Whether clients are told of it when they connect, and when it changes.
    is_reported: bool,
    /// Whether it has this value only.
    is_fixed: bool,
}

const fn known(name: &'static str, value: &'static str, is_reported: bool, is_fixed: bool) -> Known {
    Known { name, value, is_reported, is_fixed }
}

/// The version of PostgreSQL whose protocol and catalog clients find here.
pub(super) const SERVER_VERSION: &str = "15.18";

/// The settings with their defaults.
const KNOWN: [Known; 24] = [
    known("application_name", "", true, false),
    known("bytea_output", "hex", false, true),
    known("client_encoding", "UTF8", true, true),
    known("client_min_messages", "notice", false, false),
    known("datestyle", "ISO, MDY", true, true),
    known("default_transaction_isolation", "read committed", false, false),
    known("default_transaction_read_only", "on", true, false),
    known("extra_float_digits", "1", false, false),
    known("in_hot_standby", "off", true, true),
    known("integer_datetimes", "on", true, true),
    known("intervalstyle", "postgres", true, true),
    known("is_superuser", "off", true, true),
    known("lc_collate", "C.UTF-8", false, true),
    known("lock_timeout", "0", false, false),
    known("max_identifier_length", "63", false, true),
    known("row_security", "on", false, false),
    known("search_path", "public", false, false),
    known("server_encoding", "UTF8", true, true),
    known("server_version", SERVER_VERSION, true, true),
    known("server_version_num", "150018", false, true),
    known("standard_conforming_strings", "on", true, true),
    known("statement_timeout", "0", false, false),
    known("timezone", "UTC", true, true),
    known("transaction_isolation", "read committed", false, false),
];

/// Names of settings as clients are told them, where those are not in lower case.
const SPELLED: [(&str, &str); 3] =
    [("datestyle", "DateStyle"), ("intervalstyle", "IntervalStyle"), ("timezone", "TimeZone")];

/// The settings of one session.
#[derive(Debug, Default)]
pub(super) struct SessionSettings {
    set: BTreeMap<String, String>,
    user: String,
}

impl SessionSettings {
    /// Returns the settings of a session of this user, who said some when it began.
    pub(super) fn new(user: &str, said: &[(String, String)]) -> Self {
        let mut settings = Self { set: BTreeMap::new(), user: user.to_owned() };
        for (name, value) in said {
            // The start of a session is not refused for a setting: the client is told which value it has.
            let _ = settings.set(name, value);
        }
        settings
    }

    /// Returns what clients are told when they connect.
    pub(super) fn reported(&self) -> impl Iterator<Item = (&str, &str)> {
        let known = KNOWN.iter().filter(|known| known.is_reported).map(|known| {
            let value = self.set.get(known.name).map_or(known.value, String::as_str);
            (spelled(known.name), value)
        });
        known.chain([("session_authorization", self.user.as_str())])
    }

    /// Sets a setting. Returns its name and value if the client is to be told of it.
    ///
    /// # Errors
    /// `22023` for another value of one that is fixed, `0A000` for another user, and `42704` for one that there is not.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<Option<(&'static str, String)>, Refusal> {
        let name = name.to_ascii_lowercase();
        if matches!(name.as_str(), "role" | "session_authorization") {
            let is_own = value == self.user || matches!(value.to_ascii_lowercase().as_str(), "none" | "default");
            let message = "the rights of a connection are those of the user who opened it";
            let hint = "open another connection as the other user";
            return if is_own { Ok(None) } else { Err(Refusal::new("0A000", message).with_hint(hint)) };
        }
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            // Names of extensions have a dot, and any value.
            return if name.contains('.') { Ok(None) } else { Err(unknown(&name)) };
        };
        if known.is_fixed && !is_same(known, value) {
            let message = format!("parameter \"{name}\" cannot be \"{value}\" here: it is always \"{}\"", known.value);
            return Err(Refusal::new("22023", message));
        }
        if known.is_fixed {
            return Ok(None);
        }
        self.set.insert(name, value.to_owned());
        Ok(known.is_reported.then(|| (spelled(known.name), value.to_owned())))
    }

    /// Gives a setting its default again.
    ///
    /// # Errors
    /// `42704` for one that there is not.
    pub(super) fn reset(&mut self, name: &str) -> Result<Option<(&'static str, String)>, Refusal> {
        let name = name.to_ascii_lowercase();
        match KNOWN.iter().find(|known| known.name == name) {
            Some(known) => {
                let was_set = self.set.remove(&name).is_some();
                Ok((was_set && known.is_reported).then(|| (spelled(known.name), known.value.to_owned())))
            }
            None if name.contains('.') || matches!(name.as_str(), "role" | "session_authorization") => Ok(None),
            None => Err(unknown(&name)),
        }
    }

    /// Gives all settings their defaults again.
    pub(super) fn reset_all(&mut self) -> Vec<(&'static str, String)> {
        let set = std::mem::take(&mut self.set);
        let known = KNOWN.iter().filter(|known| known.is_reported && set.contains_key(known.name));
        known.map(|known| (spelled(known.name), known.value.to_owned())).collect()
    }

    /// Returns the value of a setting.
    ///
    /// # Errors
    /// `42704` for one that there is not.
    pub(super) fn get(&self, name: &str) -> Result<String, Refusal> {
        let name = name.to_ascii_lowercase();
        if matches!(name.as_str(), "session_authorization" | "role") {
            return Ok(self.user.clone());
        }
        let known = KNOWN.iter().find(|known| known.name == name).ok_or_else(|| unknown(&name))?;
        Ok(self.set.get(&name).map_or_else(|| known.value.to_owned(), String::clone))
    }

    /// Returns all settings, by name.
    pub(super) fn all(&self) -> Vec<(&'static str, String)> {
        let value = |known: &Known| self.set.get(known.name).map_or_else(|| known.value.to_owned(), String::clone);
        KNOWN.iter().map(|known| (spelled(known.name), value(known))).collect()
    }
}

fn spelled(name: &'static str) -> &'static str {
    SPELLED.iter().find(|(own, _)| *own == name).map_or(name, |(_, spelled)| spelled)
}

/// Returns whether a value means the only one of a setting, however it is written.
fn is_same(known: &Known, value: &str) -> bool {
    let value = value.to_ascii_lowercase().replace([' ', '-', '_'], "");
    let own = known.value.to_ascii_lowercase().replace([' ', '-', '_'], "");
    match known.name {
        // Only letters and digits count, as in PostgreSQL: asyncpg says `'utf-8'` with the quotes.
        "client_encoding" => {
            let bare: String = value.chars().filter(char::is_ascii_alphanumeric).collect();
            matches!(bare.as_str(), "utf8" | "unicode")
        }
        // The order of days and months is for what clients write, which has the year first.
        "datestyle" => value.split(',').next() == Some("iso"),
        // Clients tell their own zone here; every answer says that its times are in UTC.
        "timezone" => true,
        "integer_datetimes" | "standard_conforming_strings" => matches!(value.as_str(), "on" | "true" | "yes" | "1"),
        _ => value == own || value == "default",
    }
}

fn unknown(name: &str) -> Refusal {
    Refusal::new("42704", format!("unrecognized configuration parameter \"{name}\""))
}

#[cfg(test)]
mod tests {
    use super::SessionSettings;

    #[test]
    fn settings_are_kept_or_refused() {
        let said = [("Application_Name".to_owned(), "tests".to_owned()), ("database".to_owned(), "x".to_owned())];
        let mut settings = SessionSettings::new("ann", &said);
        assert!(settings.reported().any(|pair| pair == ("application_name", "tests")));
        assert!(settings.reported().any(|pair| pair == ("session_authorization", "ann")));
        assert_eq!(settings.set("extra_float_digits", "3").unwrap(), None);
        assert_eq!(settings.get("EXTRA_FLOAT_DIGITS").unwrap(), "3");
        assert_eq!(settings.set("client_encoding", "utf-8").unwrap(), None);
        assert_eq!(settings.set("client_encoding", "'utf-8'").unwrap(), None);
        assert_eq!(settings.set("client_encoding", "latin1").unwrap_err().state, "22023");
        assert_eq!(settings.set("DateStyle", "ISO").unwrap(), None);
        assert_eq!(settings.set("nothing", "x").unwrap_err().state, "42704");
        assert_eq!(settings.set("role", "bob").unwrap_err().state, "0A000");
        assert_eq!(settings.set("role", "none").unwrap(), None);
        assert_eq!(settings.set("session_authorization", "ann").unwrap(), None);
        assert_eq!(settings.reset("role").unwrap(), None);
        assert_eq!(settings.set("jit.x", "x").unwrap(), None);
        assert_eq!(settings.reset("application_name").unwrap(), Some(("application_name", String::new())));
        settings.set("application_name", "again").unwrap();
        assert_eq!(settings.reset_all(), [("application_name", String::new())]);
        assert_eq!(settings.get("extra_float_digits").unwrap(), "1");
    }
}
