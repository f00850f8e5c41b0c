//! Which open files a process of the helper keeps.

use std::fs::OpenOptions;
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::failure::{StepError, io, system};
use crate::sys;

/// First number after the standard streams.
const FIRST_OTHER: u32 = 3;

/// Keeps the three standard streams, and `other`. A shell leaves descriptors to what it starts,
/// also of high numbers: bash's process substitution begins at 63.
pub(crate) fn keep_standard(other: Option<&OwnedFd>) -> Result<(), StepError> {
    let close = |first, last| {
        sys::close_range(first, last).map_err(system("close", "inherited descriptors"))
    };
    let Some(other) = other else {
        return close(FIRST_OTHER, u32::MAX);
    };
    let other = other.as_raw_fd().unsigned_abs();
    // close_range(2) refuses a range that is empty.
    if other > FIRST_OTHER {
        close(FIRST_OTHER, other - 1)?;
    }
    close(other + 1, u32::MAX)
}

/// Opens `program` to be executed through the descriptor of this number, which closes itself then.
pub(crate) fn only_program(program: &Path, number: RawFd) -> Result<OwnedFd, StepError> {
    let flags = OFlag::O_PATH | OFlag::O_CLOEXEC;
    let opened = open(program, flags, Mode::empty());
    let opened = opened.map_err(system("open", program.display()))?;
    let held = rustix::io::fcntl_dupfd_cloexec(&opened, number);
    let held = held.map_err(|error| Errno::from_raw(error.raw_os_error()));
    let held = held.map_err(system("hold", program.display()))?;
    // Another number is another one than the filter lets pass.
    if held.as_raw_fd() == number {
        Ok(held)
    } else {
        Err(system("hold", program.display())(Errno::EMFILE))
    }
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
