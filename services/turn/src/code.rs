//! Why a turn fails, for programs.

use serde::{Deserialize, Serialize};

/// Why a turn failed, or a request over the turn socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// There is no login for the provider.
    NotLoggedIn,
    /// The provider refused the key.
    Auth,
    /// The provider wants us to slow down.
    RateLimited,
    /// The provider is overloaded.
    Overloaded,
    /// The provider answered with another error.
    ModelError,
    /// The provider or the other side sent something that is not its format.
    MalformedOutput,
    /// The connection to the provider failed or broke off.
    Network,
    /// Nothing came for too long.
    Timeout,
    /// The agent made the same call again and again.
    LoopDetected,
    /// The conversation does not fit into the model's window.
    ContextOverflow,
    /// The turn used more than it may.
    ResourceLimit,
    /// Somebody ended the turn.
    Cancelled,
    /// A bug, or programs that do not fit together.
    Internal,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::NotLoggedIn,
        Self::Auth,
        Self::RateLimited,
        Self::Overloaded,
        Self::ModelError,
        Self::MalformedOutput,
        Self::Network,
        Self::Timeout,
        Self::LoopDetected,
        Self::ContextOverflow,
        Self::ResourceLimit,
        Self::Cancelled,
        Self::Internal,
    ];

    /// The code as it is written.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotLoggedIn => "not_logged_in",
            Self::Auth => "auth",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ModelError => "model_error",
            Self::MalformedOutput => "malformed_output",
            Self::Network => "network",
            Self::Timeout => "timeout",
            Self::LoopDetected => "loop_detected",
            Self::ContextOverflow => "context_overflow",
            Self::ResourceLimit => "resource_limit",
            Self::Cancelled => "cancelled",
            Self::Internal => "internal",
        }
    }

    /// The code that is written as `text`.
    #[must_use]
    pub fn from_name(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.as_str() == text)
    }
}

/// The body of an answer that refuses a request over the turn socket, in the
/// shape in which providers write theirs. Their types are no [`Code`]s.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    error: ProblemError,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct ProblemError {
    #[serde(rename = "type")]
    code: Code,
    message: String,
}

impl Problem {
    /// Refuses because of `code`; `message` is for people.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            error: ProblemError { code, message },
        }
    }

    /// Why, for programs.
    #[must_use]
    pub fn code(&self) -> Code {
        self.error.code
    }

    /// Why, for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.error.message
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn code_is_written_one_way() {
        for code in Code::ALL {
            assert_eq!(json!(code), code.as_str());
            assert_eq!(Code::from_name(code.as_str()), Some(code));
            assert_eq!(serde_json::from_value::<Code>(json!(code)).unwrap(), code);
        }
        assert_eq!(Code::from_name("rate_limit_error"), None);
    }

    #[test]
    fn problem_has_the_shape_of_a_providers_error() {
        let problem = Problem::new(Code::Network, "cannot reach the provider");
        let json = json!({"error": {"type": "network", "message": "cannot reach the provider"}});
        assert_eq!(json!(problem), json);
        assert_eq!(serde_json::from_value::<Problem>(json).unwrap(), problem);
        let theirs = json!({"error": {"type": "api_error", "message": "m"}});
        assert!(serde_json::from_value::<Problem>(theirs).is_err());
    }
}
