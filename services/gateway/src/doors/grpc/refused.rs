//! How gRPC says why something is refused.

use openclaw_daemon::failure;
use tonic::Status;

use crate::conversations::refusal::Refusal;

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        let message = failure::chain(&refusal);
        match refusal {
            Refusal::Stopping | Refusal::NoRunner(_) => Self::unavailable(message),
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
            | Refusal::Model(_) => Self::invalid_argument(message),
            Refusal::Compacting(_) => Self::aborted(message),
            Refusal::Exists(_) | Refusal::LabelTaken { .. } => Self::already_exists(message),
            Refusal::Ambiguous { .. } | Refusal::Busy(_) | Refusal::Main(_) | Refusal::Blocked => {
                Self::failed_precondition(message)
            }
            Refusal::Crowded(_) | Refusal::ImportTooLarge(_) => Self::resource_exhausted(message),
            Refusal::Missed(_) => Self::out_of_range(message),
            Refusal::UnknownRun(_) | Refusal::UnknownSession(_) => Self::not_found(message),
            Refusal::NotDurable(fault) | Refusal::NotSaved(fault) | Refusal::Unreadable(fault) => {
                if fault.is_disk_full() {
                    Self::resource_exhausted(message)
                } else {
                    Self::internal(message)
                }
            }
        }
    }
}
