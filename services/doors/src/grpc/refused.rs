//! How gRPC says why something is refused.

use std::error::Error;

use openclaw_config::nearest;
use openclaw_conversations::{MissingSession, Refusal};
use openclaw_daemon::failure;
use tonic::{Code, Status};

/// Why a call that sends a stream fails: the stream broke off, or it is refused.
pub(super) struct Failed(pub(super) Status);

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Self {
        Self(refused(refusal))
    }
}

/// What was nearly named and may have been meant.
fn meant(refusal: &Refusal) -> Option<String> {
    match refusal {
        Refusal::UnknownSession(MissingSession(name, near)) => {
            nearest::question(name.trim(), near.as_deref())
        }
        Refusal::UnknownAgent { agent, configured } => {
            nearest::question(agent.as_str(), configured.iter().map(String::as_str))
        }
        _ => None,
    }
}

/// The status that says it.
pub(super) fn refused(refusal: Refusal) -> Status {
    let message = failure::chain(&refusal);
    if let Some(remedy) = meant(&refusal) {
        let code = match refusal {
            Refusal::UnknownSession(_) => Code::NotFound,
            _ => Code::InvalidArgument,
        };
        return openclaw_proto::call::refused(code, message, &remedy);
    }
    match refusal {
        Refusal::Stopping | Refusal::NoRunner(_) => Status::unavailable(message),
        Refusal::TooLong { .. }
        | Refusal::Key(_)
        | Refusal::Agent(_)
        | Refusal::OtherAgent { .. }
        | Refusal::UnknownAgent { .. }
        | Refusal::Route(_)
        | Refusal::Empty { .. }
        | Refusal::Import(_)
        | Refusal::Patch(_)
        | Refusal::Limit(_)
        | Refusal::UnknownAuthProfile { .. }
        | Refusal::Model(_) => Status::invalid_argument(message),
        Refusal::Compacting(_) => Status::aborted(message),
        Refusal::Exists(_) | Refusal::LabelTaken { .. } => Status::already_exists(message),
        Refusal::Ambiguous { .. } | Refusal::Busy(_) | Refusal::Main(_) | Refusal::Blocked => {
            Status::failed_precondition(message)
        }
        Refusal::Crowded(_) | Refusal::ImportTooLarge(_) => Status::resource_exhausted(message),
        Refusal::Missed(_) => Status::out_of_range(message),
        Refusal::LeftOpen(_) => Status::unavailable(message),
        Refusal::UnknownRun(_) | Refusal::UnknownSession(_) => Status::not_found(message),
        Refusal::Unrecorded(_)
        | Refusal::NotDurable(_)
        | Refusal::NotSaved(_)
        | Refusal::Unreadable(_) => unkept(&refusal),
    }
}

/// That something cannot be read or written, and what can be done about it.
pub(super) fn unkept(error: &(dyn Error + 'static)) -> Status {
    let message = failure::chain(error);
    match failure::remedy(error) {
        Some(remedy) => {
            let code = if failure::is_disk_full(error) {
                Code::ResourceExhausted
            } else {
                Code::Internal
            };
            openclaw_proto::call::refused(code, message, remedy)
        }
        None => Status::internal(message),
    }
}
