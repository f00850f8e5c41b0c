//! How a command fails: what is said, what may help, and the exit code.

use std::path::Path;

use openclaw_config::nearest;
use openclaw_config::state_lock::{self, Holder};

pub use openclaw_config::exit::{CONFIG, HELD, USAGE};
use openclaw_config::exit::{FAILURE, UNDECIDED};

/// Why a command ends without having done what was asked.
#[derive(Debug)]
pub struct Failure {
    pub(crate) exit: u8,
    /// `None`: everything was said already.
    pub(crate) error: Option<anyhow::Error>,
    pub(crate) hint: Option<String>,
}

impl Failure {
    /// A failure described by `text`, one sentence without a full stop.
    pub fn new(text: impl Into<String>) -> Self {
        anyhow::Error::msg(text.into()).into()
    }

    /// Wrong arguments.
    pub fn usage(text: impl Into<String>) -> Self {
        Self {
            exit: USAGE,
            ..Self::new(text)
        }
    }

    /// Another suite uses the state directory.
    pub fn held(state: &Path, holder: &Holder) -> Self {
        let state = state.display();
        Self {
            exit: HELD,
            ..Self::new(format!("the state directory {state} is in use by {holder}"))
        }
    }

    /// A daemon cannot start, as `text` says, and trying again does not mend it.
    pub fn not_startable(text: impl Into<String>) -> Self {
        Self {
            exit: CONFIG,
            ..Self::new(text)
        }
    }

    /// Another suite is there already, as `text` says.
    pub fn taken(text: impl Into<String>) -> Self {
        Self {
            exit: HELD,
            ..Self::new(text)
        }
    }

    /// Another suite uses the state directory, as `error` says.
    pub fn in_use(error: state_lock::Error) -> Self {
        Self {
            exit: HELD,
            ..anyhow::Error::from(error).into()
        }
    }

    /// Somebody has to be asked, and nobody can be.
    pub fn undecided(text: impl Into<String>) -> Self {
        Self {
            exit: UNDECIDED,
            ..Self::new(text)
        }
    }

    /// Ends with `exit` without another word.
    pub fn silent(exit: u8) -> Self {
        Self {
            exit,
            error: None,
            hint: None,
        }
    }

    /// The reader of standard output is gone (EPIPE). It has what it wanted,
    /// so this is not a failure; a filter such as `head` ends this way.
    pub fn reader_gone() -> Self {
        Self::silent(0)
    }

    /// Whether it is [`Self::reader_gone`].
    #[must_use]
    pub fn is_of_reader(&self) -> bool {
        self.error.is_none() && self.exit == 0
    }

    /// The same failure with what the user can do about it.
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self {
            hint: Some(hint.into()),
            ..self
        }
    }

    /// The same failure with the one of `known` that `name` nearly is, as a question;
    /// with `otherwise` when it is none.
    pub fn near<'a>(
        self,
        name: &str,
        known: impl IntoIterator<Item = &'a str>,
        otherwise: impl Into<String>,
    ) -> Self {
        let hint = nearest::question(name, known).unwrap_or_else(|| otherwise.into());
        self.hint(hint)
    }

    /// The whole message on one line, without the hint.
    pub fn text(&self) -> String {
        self.error
            .as_ref()
            .map(|error| format!("{error:#}"))
            .unwrap_or_default()
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self {
            exit: FAILURE,
            error: Some(error),
            hint: None,
        }
    }
}

impl From<openclaw_config::Error> for Failure {
    fn from(error: openclaw_config::Error) -> Self {
        Self {
            exit: match error {
                // Nothing is wrong with the configuration.
                openclaw_config::Error::Write { .. } => FAILURE,
                _ => CONFIG,
            },
            error: Some(error.into()),
            hint: None,
        }
    }
}
