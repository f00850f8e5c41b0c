//! What came of a step.

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// There was nothing to do.
    Ok,
    /// It was done now.
    Done,
    /// It was left out.
    Skipped,
    /// It did not work.
    Failed,
}

impl State {
    /// As it is shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
        }
    }
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is about.
    pub name: &'static str,
    /// How it ended.
    pub state: State,
    /// What was found or done, or why not.
    pub detail: String,
    /// What the user can do.
    pub fix: Option<String>,
}

impl Step {
    /// There was nothing to do.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self::ended(name, State::Ok, detail)
    }

    /// It was done now.
    pub fn done(name: &'static str, detail: impl Into<String>) -> Self {
        Self::ended(name, State::Done, detail)
    }

    /// It was left out, for a reason.
    pub fn skipped(name: &'static str, detail: impl Into<String>) -> Self {
        Self::ended(name, State::Skipped, detail)
    }

    /// It did not work; `fix` is the way out.
    pub fn failed(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self::ended(name, State::Failed, detail).with(fix)
    }

    /// The same with what the user can do.
    #[must_use]
    pub fn with(self, fix: impl Into<String>) -> Self {
        Self {
            fix: Some(fix.into()),
            ..self
        }
    }

    fn ended(name: &'static str, state: State, detail: impl Into<String>) -> Self {
        Self {
            name,
            state,
            detail: detail.into(),
            fix: None,
        }
    }
}
