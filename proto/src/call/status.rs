//! Refusals as gRPC carries them: the one place where a status is made an error.

#![expect(
    clippy::disallowed_types,
    reason = "this is the door: a status comes in and an error goes on"
)]

use std::error::Error;
use std::iter::successors;

use tonic::metadata::MetadataValue;
use tonic::{Code, Status};

use super::{Broken, CallError, NotConnected, RefusalCode};
use crate::invalid::Invalid;

/// The trailer that says what people can do about a refusal.
const REMEDY: &str = "openclaw-remedy-bin";

/// A refusal with what people can do about it.
pub fn refused(code: Code, message: impl Into<String>, remedy: &str) -> Status {
    let mut status = Status::new(code, message);
    let value = MetadataValue::from_bytes(remedy.as_bytes());
    status.metadata_mut().insert_bin(REMEDY, value);
    status
}

impl From<Status> for CallError {
    fn from(status: Status) -> Self {
        let mut causes = causes(&status);
        if let Some(failed) = causes.find_map(|cause| cause.downcast_ref::<NotConnected>())
            && failed.is_absence()
        {
            return failed.clone().into();
        }
        match code(&status) {
            Some(code) => Self::Refused {
                code,
                message: status.message().to_owned(),
                remedy: remedy(&status),
            },
            None => Broken::Lost(innermost(&status)).into(),
        }
    }
}

/// An answer that cannot be read, of a daemon of another version.
impl From<Invalid> for CallError {
    fn from(invalid: Invalid) -> Self {
        Self::Refused {
            code: RefusalCode::Internal,
            message: format!("its answer cannot be read: {invalid}"),
            remedy: None,
        }
    }
}

/// The code of an answer; none when the connection broke.
fn code(status: &Status) -> Option<RefusalCode> {
    // A status that came over the wire has no cause; one that tonic made of an
    // error has.
    if status.source().is_some() {
        return None;
    }
    match status.code() {
        // What a daemon answers while it ends, and what is made of an answer
        // that was cut off.
        Code::Unavailable | Code::Unknown | Code::Cancelled | Code::DeadlineExceeded => None,
        Code::InvalidArgument => Some(RefusalCode::InvalidArgument),
        Code::NotFound => Some(RefusalCode::NotFound),
        Code::AlreadyExists => Some(RefusalCode::AlreadyExists),
        Code::FailedPrecondition => Some(RefusalCode::FailedPrecondition),
        Code::ResourceExhausted => Some(RefusalCode::ResourceExhausted),
        Code::PermissionDenied | Code::Unauthenticated => Some(RefusalCode::PermissionDenied),
        Code::OutOfRange => Some(RefusalCode::OutOfRange),
        Code::Aborted => Some(RefusalCode::Aborted),
        Code::Unimplemented => Some(RefusalCode::Unimplemented),
        Code::Ok | Code::Internal | Code::DataLoss => Some(RefusalCode::Internal),
    }
}

fn remedy(status: &Status) -> Option<String> {
    let value = status.metadata().get_bin(REMEDY)?.to_bytes().ok()?;
    String::from_utf8(value.into()).ok()
}

/// The innermost cause, which says most.
fn innermost(status: &Status) -> String {
    let last = causes(status).last();
    last.map_or_else(|| status.message().to_owned(), ToString::to_string)
}

fn causes(status: &Status) -> impl Iterator<Item = &(dyn Error + 'static)> {
    successors(status.source(), |cause| (*cause).source())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn call_error_has_the_code_the_message_and_the_remedy_of_a_status() {
        let status = refused(Code::NotFound, "there is no note", "look at `list`");
        let error = CallError::from(status);
        assert!(error.is_refused(RefusalCode::NotFound), "{error:?}");
        assert_eq!(error.to_string(), "there is no note; look at `list`");
        let bare = CallError::from(Status::internal("oh"));
        assert_eq!(bare.code(), Some(RefusalCode::Internal));
        assert_eq!(bare.to_string(), "oh");
    }

    #[test]
    fn call_error_of_a_daemon_that_ends_is_no_refusal() {
        for code in [Code::Unavailable, Code::Unknown, Code::Cancelled] {
            let error = CallError::from(Status::new(code, "not now"));
            assert!(error.is_lost(), "{error:?}");
            assert_eq!(error.to_string(), "not now");
        }
    }

    #[test]
    fn call_error_of_a_status_with_a_cause_is_a_broken_connection() {
        let mut status = Status::internal("h2 protocol error");
        status.set_source(Arc::new(std::io::Error::other("reset by peer")));
        let error = CallError::from(status);
        assert!(error.is_lost(), "{error:?}");
        assert_eq!(error.to_string(), "reset by peer");
    }
}
