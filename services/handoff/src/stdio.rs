//! The standard streams of programs that are not ours: each one end of a pair
//! of sockets.
//!
//! A pipe can be opened again by every process of the same user that may look
//! at the one that has it (`/proc/PID/fd/1`): a command that an agent runs
//! could speak in the agent's name, or answer its questions in ours. Opening a
//! socket so fails with ENXIO (proc(5)), whatever the sandbox's level.
//!
//! What stays: processes of one sandbox are of one user, and where the kernel
//! does not forbid it (Yama) one may write into another's memory through
//! `/proc/PID/mem`. An agent and its commands are one party. So nothing that
//! comes over these streams decides what a turn may do or what it cost.

use std::io;
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as Pair;

use tokio::net::UnixStream;

/// Our end, to write at, and theirs, to be a program's standard input. Its end
/// comes when ours is dropped.
pub fn input() -> io::Result<(UnixStream, OwnedFd)> {
    // Nobody reads what is written into a standard input, and what waits there
    // unread would be an error to the program instead of the end.
    pair(Shutdown::Read)
}

/// Our end, to read from, and theirs, to be a program's standard output or standard error.
/// Descriptors that are passed along with the text are closed by the kernel: read(2) takes none.
pub fn output() -> io::Result<(UnixStream, OwnedFd)> {
    pair(Shutdown::Write)
}

fn pair(closed: Shutdown) -> io::Result<(UnixStream, OwnedFd)> {
    let (ours, theirs) = Pair::pair()?;
    ours.shutdown(closed)?;
    ours.set_nonblocking(true)?;
    Ok((UnixStream::from_std(ours)?, theirs.into()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "plays an agent's program")]
mod tests {
    use std::io::IoSlice;
    use std::os::fd::AsRawFd as _;
    use std::process::Stdio;

    use nix::sys::socket::{ControlMessage, MsgFlags, sendmsg};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn stream_of_a_program_cannot_be_opened_again_by_its_child() {
        let (mut stdin, theirs_in) = input().unwrap();
        let (mut stdout, theirs_out) = output().unwrap();
        let (mut stderr, theirs_err) = output().unwrap();
        let script = r#"
            for n in 0 1 2; do (echo forged > /proc/$$/fd/$n) 2>/dev/null && echo "opened $n"; done
            cat; echo end; echo oops >&2
        "#;
        let mut child = Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(Stdio::from(theirs_in))
            .stdout(Stdio::from(theirs_out))
            .stderr(Stdio::from(theirs_err))
            .spawn()
            .unwrap();
        stdin.write_all(b"hello\n").await.unwrap();
        drop(stdin);
        let (mut said, mut complained) = (String::new(), String::new());
        stdout.read_to_string(&mut said).await.unwrap();
        stderr.read_to_string(&mut complained).await.unwrap();
        child.wait().await.unwrap();
        assert_eq!(
            (said.as_str(), complained.as_str()),
            ("hello\nend\n", "oops\n")
        );
    }

    #[tokio::test]
    async fn descriptor_that_comes_along_is_not_kept() {
        let (mut ours, theirs) = output().unwrap();
        let (passed, mut watched) = Pair::pair().unwrap();
        let descriptors = [passed.as_raw_fd()];
        sendmsg::<()>(
            theirs.as_raw_fd(),
            &[IoSlice::new(b"text\n")],
            &[ControlMessage::ScmRights(&descriptors)],
            MsgFlags::empty(),
            None,
        )
        .unwrap();
        drop((passed, theirs));
        let mut said = String::new();
        ours.read_to_string(&mut said).await.unwrap();
        assert_eq!(said, "text\n");
        // At its end: nobody holds the other one.
        let mut rest = Vec::new();
        std::io::Read::read_to_end(&mut watched, &mut rest).unwrap();
        assert_eq!(rest, b"");
    }

    #[tokio::test]
    async fn standard_input_takes_nothing_from_the_program() {
        let (ours, theirs) = input().unwrap();
        let theirs = Pair::from(theirs);
        let refused = std::io::Write::write(&mut &theirs, b"back");
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
        drop(ours);
        let end = std::io::Read::read(&mut &theirs, &mut [0]);
        assert_eq!(end.unwrap(), 0);
    }
}
