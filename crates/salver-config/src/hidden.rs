//! Texts that environment variables and files put into settings: they may be secrets, and are shown to nobody.

use salver_model::limits::{MASKED_SECRET_BYTES_MIN, UNNAMED_SECRET_BYTES_MIN};
use salver_model::secrecy::{MASK, is_secret_name};
use salver_model::spec::Secret;

use crate::keys::{Section, Setting, SettingKind};
use crate::setting_place::SettingPlace;

/// Text that a variable or a file put into a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenText {
    section: Section,
    key: &'static str,
    place: SettingPlace,
    text: Secret,
}

impl HiddenText {
    /// Hides `text` in the setting at `place`; `None` for what is no secret: an empty text, and the name of an entry,
    /// which stands in every URL of it.
    pub(crate) fn new(setting: &Setting, place: &SettingPlace, text: &str) -> Option<Self> {
        let is_public = text.is_empty() || setting.key == "name";
        (!is_public).then(|| Self {
            section: setting.section,
            key: setting.key,
            place: place.clone(),
            text: Secret::new(text),
        })
    }

    /// Returns the text.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.text.reveal()
    }

    /// Returns whether the setting takes texts of any kind, which may be secrets. Numbers and words of a choice are
    /// none.
    #[must_use]
    pub fn may_be_secret(&self) -> bool {
        let kind = self.section.setting(self.key).map(|setting| setting.kind);
        matches!(kind, Some(SettingKind::Text | SettingKind::Location | SettingKind::Texts | SettingKind::Pairs))
    }

    /// Returns whether the text is masked wherever it occurs, in the log and in answers: if its setting is one for
    /// secrets, or if it looks like one. A common word stands in too many places that have nothing to do with it.
    #[must_use]
    pub fn is_masked_everywhere(&self) -> bool {
        let is_column = self.key == "key";
        let is_for_secrets = !is_column && is_secret_name(self.key)
            || matches!(self.key, "url" | "source")
            || self.section.setting(self.key).is_some_and(|setting| matches!(setting.kind, SettingKind::Pairs));
        self.may_be_secret() && (is_for_secrets || looks_secret(self.text.reveal()))
    }

    /// Returns whether the text may stand in the value of `setting`, or in a part of it.
    fn is_in(&self, setting: &Setting) -> bool {
        let is_part = matches!(setting.kind, SettingKind::Tables(section) if section == self.section);
        self.may_be_secret() && (is_part || self.section == setting.section && self.key == setting.key)
    }
}

/// Returns whether a text is no common word: it is not too short, and has characters of several kinds.
fn looks_secret(text: &str) -> bool {
    let kinds: [fn(char) -> bool; 4] =
        [char::is_lowercase, char::is_uppercase, char::is_numeric, |c| !c.is_alphanumeric()];
    // `Production` is as common as `production`.
    let mut inner = text.chars();
    inner.next();
    let inner = inner.as_str();
    text.len() >= UNNAMED_SECRET_BYTES_MIN && kinds.iter().filter(|kind| inner.contains(**kind)).count() > 1
}

/// Masks in `text`, which is in the value of `setting`, what came into such settings from outside.
pub(crate) fn masked_in(hidden: &[HiddenText], setting: &Setting, text: &str) -> String {
    let mut text = text.to_owned();
    for own in hidden.iter().filter(|own| own.is_in(setting)) {
        text = text.replace(own.reveal(), MASK);
    }
    text
}

/// Returns whether anything may be masked in `setting`.
pub(crate) fn is_any_in(hidden: &[HiddenText], setting: &Setting) -> bool {
    hidden.iter().any(|own| own.is_in(setting))
}

/// Masks what came from outside in a message about the setting at `place`. A short text stands there by chance, unless
/// the message is about its own setting.
pub(crate) fn masked_message(hidden: &[HiddenText], place: &SettingPlace, message: &str) -> String {
    let mut message = message.to_owned();
    for own in hidden {
        let text = own.reveal();
        if text.len() >= MASKED_SECRET_BYTES_MIN {
            message = message.replace(text, MASK).replace(&text.escape_debug().to_string(), MASK);
        } else if own.place == *place {
            message = without_word(&message, text);
        }
    }
    message
}

/// Masks a short text where it is not part of a word or a number.
fn without_word(told: &str, text: &str) -> String {
    let mut out = String::with_capacity(told.len());
    let mut rest = told;
    while let Some(at) = rest.find(text) {
        let (before, found) = rest.split_at(at);
        let behind = &found[text.len()..];
        out.push_str(before);
        let joins = |edge: Option<char>| edge.is_some_and(char::is_alphanumeric);
        let is_part = joins(out.chars().next_back()) || joins(behind.chars().next());
        out.push_str(if is_part { text } else { MASK });
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{looks_secret, without_word};

    #[test]
    fn common_words_are_no_secrets() {
        for text in ["", "shop", "orders", "production", "Production", "eu-west", "12345678"] {
            assert!(!looks_secret(text), "{text}");
        }
        for text in ["s3cretvalue", "aBcDeFgH", "correct horse", "db.internal", "0af76519"] {
            assert!(looks_secret(text), "{text}");
        }
    }

    #[test]
    fn short_texts_are_masked_as_words() {
        assert_eq!(without_word("`5` is not 500ms or 5", "5"), "`***` is not 500ms or ***");
        assert_eq!(without_word("nothing", "5"), "nothing");
    }
}
