//! Profiles of AWS's tools: keys and regions in `~/.aws/credentials` and `~/.aws/config`.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use salver_model::limits::OBJECT_CREDENTIALS_BYTES_MAX;
use salver_model::spec::ObjectStoreSpec;
use salver_model::{Code, Error, Result};

use super::environment::variable;

/// What a profile says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Profile {
    /// Its key; `None` if it has none, or if the environment has one that comes first.
    pub(super) key: Option<Key>,
    /// Its region.
    pub(super) region: Option<String>,
}

/// A key of a profile.
#[derive(PartialEq, Eq)]
pub(super) struct Key {
    pub(super) id: String,
    pub(super) secret: String,
    pub(super) token: Option<String>,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(***)")
    }
}

/// Variables that name other credentials, which come before those of a profile that nobody named.
const OTHER_CREDENTIALS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

/// Returns the profile for `spec`: the one it names, that of `AWS_PROFILE`, or `default`.
///
/// # Errors
/// If a profile or a file that is named is not there.
pub(super) fn of(spec: &ObjectStoreSpec) -> Result<Profile> {
    let home = variable("HOME").map(PathBuf::from);
    let place = |own: &str| home.as_ref().map(|home| home.join(".aws").join(own));
    let file = spec.credentials_file.clone().or_else(|| variable("AWS_SHARED_CREDENTIALS_FILE").map(PathBuf::from));
    let config = variable("AWS_CONFIG_FILE").map(PathBuf::from).or_else(|| place("config"));
    let named = spec.profile.clone().or_else(|| variable("AWS_PROFILE"));
    let is_asked_for = named.is_some() || file.is_some();
    let name = named.unwrap_or_else(|| "default".to_owned());
    let Some(credentials) = file.or_else(|| place("credentials")) else { return Ok(Profile::default()) };

    let text = match read(&credentials) {
        Ok(text) => text,
        Err(error) if is_asked_for => return Err(error),
        Err(_) => String::new(),
    };
    let config = config.and_then(|path| read(&path).ok()).unwrap_or_default();
    let profile = parsed(&text, &config, &name);
    let is_own = spec.profile.is_some() || spec.credentials_file.is_some();
    // A key in the environment counts more than a profile that only the environment names, as with AWS's tools.
    let is_second = !is_own && OTHER_CREDENTIALS.iter().any(|name| variable(name).is_some());
    let key = profile.key.filter(|_| !is_second);
    if key.is_none() && is_own && spec.key_id.is_none() {
        return Err(Error::new(
            Code::Source,
            format!("there is no key of a profile `{name}` in `{}`", credentials.display()),
        )
        .with_hint(
            "check `store_profile` and `store_credentials_file`: the profile needs aws_access_key_id and \
                        aws_secret_access_key",
        ));
    }
    Ok(Profile { key, region: profile.region })
}

fn read(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read =
        std::fs::File::open(path).and_then(|file| file.take(OBJECT_CREDENTIALS_BYTES_MAX).read_to_string(&mut text));
    read.map(|_| text).map_err(|cause| {
        Error::new(Code::Source, format!("can't read the credentials in `{}`: {cause}", path.display()))
            .with_hint("check `store_credentials_file` or AWS_SHARED_CREDENTIALS_FILE")
            .with_source(cause)
    })
}

fn parsed(credentials: &str, config: &str, name: &str) -> Profile {
    let headed = format!("profile {name}");
    let value = |key: &str| {
        value_of(credentials, &[name], key).or_else(|| value_of(config, &[name, &headed], key)).map(str::to_owned)
    };
    let pair = value("aws_access_key_id").zip(value("aws_secret_access_key"));
    let key = pair.map(|(id, secret)| Key { id, secret, token: value("aws_session_token") });
    Profile { key, region: value("region") }
}

/// Returns the value of a key in one of the sections.
fn value_of<'t>(text: &'t str, sections: &[&str], key: &str) -> Option<&'t str> {
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        if let Some(section) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            is_inside = sections.contains(&section.trim());
        } else if let Some((found, value)) = line.split_once('=')
            && is_inside
            && found.trim() == key
        {
            return Some(value.trim());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Profile, parsed};

    #[test]
    fn profiles() {
        let credentials = "# made by hand\n[default]\naws_access_key_id = A\naws_secret_access_key=b=\n\
                           [other]\naws_access_key_id=C\naws_secret_access_key=d\naws_session_token = t\n";
        let config = "[default]\nregion = eu-west-1\n[profile other]\nregion=us-east-2\n";
        let told = |name: &str| {
            let Profile { key, region } = parsed(credentials, config, name);
            (key.map(|key| (key.id, key.secret, key.token)), region)
        };
        let owned = |text: &str| text.to_owned();
        assert_eq!(told("default"), (Some((owned("A"), owned("b="), None)), Some(owned("eu-west-1"))));
        assert_eq!(told("other"), (Some((owned("C"), owned("d"), Some(owned("t")))), Some(owned("us-east-2"))));
        assert_eq!(told("none"), (None, None));
    }
}
