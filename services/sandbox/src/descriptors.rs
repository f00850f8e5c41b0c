//! Which open files a process of the helper keeps.

use std::fs::OpenOptions;

use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::failure::{StepError, io, system};
use crate::sys;

/// First number after the standard streams.
const FIRST_OTHER: u32 = 3;

/// Keeps the three standard streams and nothing else.
pub(crate) fn keep_standard() -> Result<(), StepError> {
    sys::close_from(FIRST_OTHER).map_err(system("close", "inherited descriptors"))
}

/// Lets go of the standard streams. The reader of the agent's output learns from end-of-file that
/// the agent's tree is gone; the supervisor must not be what keeps the stream open.
pub(crate) fn release_standard() -> Result<(), StepError> {
    let null = OpenOptions::new().read(true).write(true).open("/dev/null");
    let null = null.map_err(io("open", "/dev/null"))?;
    dup2_stdin(&null).map_err(system("replace", "standard input"))?;
    dup2_stdout(&null).map_err(system("replace", "standard output"))?;
    dup2_stderr(&null).map_err(system("replace", "standard error"))
}
