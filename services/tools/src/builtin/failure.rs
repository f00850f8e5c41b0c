//! System errors in words that help.

use std::io;
use std::path::Path;

use super::Workspace;
use crate::call::FailureKind;
use crate::handler::HandlerError;

/// An error of `doing` (as in "read") with `path`.
pub(super) fn io_failure(
    workspace: &Workspace,
    doing: &str,
    path: &Path,
    error: &io::Error,
) -> HandlerError {
    let shown = path.display();
    let root = workspace.root().display();
    match error.kind() {
        io::ErrorKind::NotFound if workspace.is_outside(path) => HandlerError::new(
            FailureKind::NOT_FOUND,
            format!(
                "cannot {doing} {shown}: it does not exist, or is outside the workspace ({root}) and not visible"
            ),
        ),
        io::ErrorKind::NotFound => HandlerError::new(
            FailureKind::NOT_FOUND,
            format!("cannot {doing} {shown}: it does not exist"),
        ),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => HandlerError::new(
            FailureKind::PERMISSION_DENIED,
            format!("cannot {doing} {shown}: outside the workspace ({root}) or not permitted"),
        ),
        io::ErrorKind::FileTooLarge => HandlerError::new(
            FailureKind::TOO_LARGE,
            format!("cannot {doing} {shown}: larger than the file size limit of this turn"),
        ),
        io::ErrorKind::NotADirectory => {
            wrong_type(doing, path, "a part of the path is not a folder")
        }
        io::ErrorKind::IsADirectory => wrong_type(doing, path, "it is a folder"),
        _ => HandlerError::new(FailureKind::IO, format!("cannot {doing} {shown}: {error}")),
    }
}

/// `path` is not the kind of file that `doing` needs.
pub(super) fn wrong_type(doing: &str, path: &Path, why: &str) -> HandlerError {
    HandlerError::new(
        FailureKind::WRONG_FILE_TYPE,
        format!("cannot {doing} {}: {why}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_system_are_said_in_words_that_help() {
        let workspace = Workspace::new("/w");
        for (kind, path, expected, words) in [
            (
                io::ErrorKind::NotFound,
                "/w/a",
                FailureKind::NOT_FOUND,
                "cannot read /w/a: it does not exist",
            ),
            (
                io::ErrorKind::NotFound,
                "/x/a",
                FailureKind::NOT_FOUND,
                "cannot read /x/a: it does not exist, or is outside the workspace (/w) and not \
                 visible",
            ),
            (
                io::ErrorKind::PermissionDenied,
                "/x/a",
                FailureKind::PERMISSION_DENIED,
                "cannot read /x/a: outside the workspace (/w) or not permitted",
            ),
            (
                io::ErrorKind::ReadOnlyFilesystem,
                "/x/a",
                FailureKind::PERMISSION_DENIED,
                "cannot read /x/a: outside the workspace (/w) or not permitted",
            ),
            (
                io::ErrorKind::FileTooLarge,
                "/w/a",
                FailureKind::TOO_LARGE,
                "cannot read /w/a: larger than the file size limit of this turn",
            ),
            (
                io::ErrorKind::NotADirectory,
                "/w/a",
                FailureKind::WRONG_FILE_TYPE,
                "cannot read /w/a: a part of the path is not a folder",
            ),
            (
                io::ErrorKind::IsADirectory,
                "/w/a",
                FailureKind::WRONG_FILE_TYPE,
                "cannot read /w/a: it is a folder",
            ),
        ] {
            let failure = io_failure(&workspace, "read", Path::new(path), &kind.into());
            assert_eq!(
                (&failure.kind, failure.message.as_str()),
                (&expected, words)
            );
        }
        let other = io::Error::other("the disk is wet");
        let failure = io_failure(&workspace, "read", Path::new("/w/a"), &other);
        assert_eq!(failure.kind, FailureKind::IO);
        assert_eq!(failure.message, "cannot read /w/a: the disk is wet");
    }
}
