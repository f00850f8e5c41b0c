//! Why a turn failed: the codes of the turn, and those of runs.

use openclaw_proto::event;
use openclaw_turn::Code;

/// The code of the run that fails with its turn.
pub(super) fn of_run(code: Code) -> event::Code {
    match code {
        Code::NotLoggedIn => event::Code::NotLoggedIn,
        Code::Auth => event::Code::Auth,
        Code::RateLimited => event::Code::RateLimited,
        Code::Overloaded => event::Code::Overloaded,
        Code::ModelError => event::Code::ModelError,
        Code::MalformedOutput => event::Code::MalformedOutput,
        Code::Network => event::Code::Network,
        Code::Timeout => event::Code::Timeout,
        Code::LoopDetected => event::Code::LoopDetected,
        Code::ContextOverflow => event::Code::ContextOverflow,
        Code::ResourceLimit => event::Code::ResourceLimit,
        Code::Cancelled => event::Code::Cancelled,
        Code::Internal => event::Code::Internal,
    }
}

/// The code that the agent is told; one that no turn has counts as a bug.
pub(super) fn of_turn(code: event::Code) -> Code {
    Code::from_name(code.as_str()).unwrap_or(Code::Internal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_the_same_name_in_the_run() {
        for code in Code::ALL {
            assert_eq!(of_run(code).as_str(), code.as_str());
            assert_eq!(of_turn(of_run(code)), code);
        }
        assert_eq!(of_turn(event::Code::BackendMissing), Code::Internal);
    }
}
