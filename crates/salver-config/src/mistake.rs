//! Mistakes in the settings. Checking continues after a mistake, so that all of them are reported at once.

use std::fmt;

use crate::hidden::{self, HiddenText};
use crate::keys::Setting;
use crate::setting_place::SettingPlace;

/// Mistake with its place and a suggested fix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Place of the mistake.
    pub place: SettingPlace,
    /// Message, naming the subject.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// Mistake that is probably wrong but not fatal.
pub type Warning = Mistake;

impl Mistake {
    /// Creates a mistake without a hint.
    #[must_use]
    pub fn new(place: &SettingPlace, message: impl Into<String>) -> Self {
        Self { place: place.clone(), message: message.into(), hint: None }
    }

    /// Adds a suggested fix.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a suggested fix, if there is one.
    #[must_use]
    pub fn with_hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Converts an error of the model.
    #[must_use]
    pub fn from_error(place: &SettingPlace, error: &salver_model::Error) -> Self {
        Self::new(place, error.message.clone()).with_hint_if(error.hint.clone())
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Mistake {}

/// Mistakes and warnings found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// Fatal mistakes.
    pub(crate) mistakes: Vec<Mistake>,
    /// Warnings.
    pub(crate) warnings: Vec<Warning>,
    /// Places where the file could not be parsed.
    pub(crate) unreadable: Vec<SettingPlace>,
    /// What variables and files put into settings.
    pub(crate) hidden: Vec<HiddenText>,
}

impl Findings {
    /// Records a mistake.
    pub(crate) fn mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    /// Records a syntax error at `place`.
    pub(crate) fn unreadable(&mut self, place: &SettingPlace, why: &str) {
        self.unreadable.push(place.clone());
        self.mistake(Mistake::new(place, format!("this is not TOML: {why}")));
    }

    /// Returns everything found, in the order of the places. Follow-up mistakes of a malformed line are dropped, so
    /// that only the syntax error is reported.
    pub(crate) fn finish(self) -> Result<Vec<Warning>, Vec<Mistake>> {
        let Self { mut mistakes, mut warnings, unreadable, hidden } = self;
        for mistake in mistakes.iter_mut().chain(&mut warnings) {
            mistake.message = hidden::masked_message(&hidden, &mistake.place, &mistake.message);
            let hint = mistake.hint.take();
            mistake.hint = hint.map(|hint| hidden::masked_message(&hidden, &mistake.place, &hint));
        }
        mistakes.retain(|mistake| {
            let damaged = unreadable.iter().any(|place| place.line().is_some() && place.line() == mistake.place.line());
            !damaged || unreadable.contains(&mistake.place) && mistake.message.starts_with("this is not TOML")
        });
        mistakes.sort();
        mistakes.dedup();
        warnings.sort();
        warnings.dedup();
        if mistakes.is_empty() { Ok(warnings) } else { Err(mistakes) }
    }

    /// Hides a text that a variable or a file put into `setting` at `place`.
    pub(crate) fn hide(&mut self, setting: &Setting, place: &SettingPlace, text: &str) {
        self.hidden.extend(HiddenText::new(setting, place, text));
        // A text may contain another.
        self.hidden.sort_by_key(|own| std::cmp::Reverse(own.reveal().len()));
    }

    /// Records a warning.
    pub(crate) fn warning(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// Returns the value, or records the mistake and returns `None`.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Mistake>) -> Option<T> {
        result.map_err(|mistake| self.mistake(mistake)).ok()
    }
}
