//! What is wrong in the settings. Checking goes on after a mistake, so that all of them are told at once.

use std::fmt;

use crate::place::Place;

/// Something wrong, where it stands, and the way out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mistake {
    /// Where.
    pub place: Place,
    /// What. Names the thing.
    pub message: String,
    /// The fix.
    pub hint: Option<String>,
}

/// Something that is probably wrong but stops nothing.
pub type Warning = Mistake;

impl Mistake {
    /// A mistake without a hint.
    #[must_use]
    pub fn new(place: &Place, message: impl Into<String>) -> Self {
        Self { place: place.clone(), message: message.into(), hint: None }
    }

    /// Adds the fix.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the fix, when there is one.
    #[must_use]
    pub fn with_hint_if(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// A mistake found by the model.
    #[must_use]
    pub fn from_error(place: &Place, error: &salver_model::Error) -> Self {
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

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    /// What stops.
    pub(crate) mistakes: Vec<Mistake>,
    /// What doesn't.
    pub(crate) warnings: Vec<Warning>,
    /// Where the file could not be read at all.
    pub(crate) unreadable: Vec<Place>,
}

impl Findings {
    /// Records a mistake and goes on.
    pub(crate) fn mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
    }

    /// Records that the file is damaged at `place`.
    pub(crate) fn unreadable(&mut self, place: &Place, why: &str) {
        self.unreadable.push(place.clone());
        self.mistake(Mistake::new(place, format!("this is not TOML: {why}")));
    }

    /// Everything found, in the order it stands. What was made of a damaged line is not worth a word, so only the
    /// damage itself is told.
    pub(crate) fn finish(self) -> Result<Vec<Warning>, Vec<Mistake>> {
        let Self { mut mistakes, mut warnings, unreadable } = self;
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

    /// Records a warning.
    pub(crate) fn warning(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// The value, or `None` and the mistake recorded.
    pub(crate) fn keep<T>(&mut self, result: Result<T, Mistake>) -> Option<T> {
        result.map_err(|mistake| self.mistake(mistake)).ok()
    }
}
