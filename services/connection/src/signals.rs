//! The signals that end a program at a terminal, which it has to leave as it found it.

use std::future::poll_fn;
use std::task::Poll;

use openclaw_terminal::Failure;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// What a shell adds to the number of the signal that ended a program.
const SIGNALLED: i32 = 128;
/// The line of a process's status with the signals that it ignores, as hexadecimal bits.
const IGNORED: &str = "SigIgn:";

/// Waits for one of them.
#[derive(Debug)]
pub struct Signals(Vec<(SignalKind, Signal)>);

impl Signals {
    /// Takes those of Ctrl-C, Ctrl-\, `kill` and of a terminal that is closed from now on.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub fn take() -> Result<Self, Failure> {
        Self::of(&[
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::quit(),
            SignalKind::hangup(),
        ])
    }

    /// As [`Self::take`], where Ctrl-C means something else.
    ///
    /// # Errors
    /// When they cannot be taken.
    pub fn take_but_interrupt() -> Result<Self, Failure> {
        Self::of(&[
            SignalKind::terminate(),
            SignalKind::quit(),
            SignalKind::hangup(),
        ])
    }

    fn of(kinds: &[SignalKind]) -> Result<Self, Failure> {
        let mut taken = Vec::new();
        for kind in kinds {
            // nohup(1) has the program go on when its terminal is closed.
            if *kind == SignalKind::hangup() && is_ignored(*kind) {
                continue;
            }
            let signal = signal(*kind);
            let signal =
                signal.map_err(|error| Failure::new(format!("cannot take signals: {error}")))?;
            taken.push((*kind, signal));
        }
        Ok(Self(taken))
    }

    /// The next one.
    pub async fn next(&mut self) -> SignalKind {
        poll_fn(|context| {
            for (kind, signal) in &mut self.0 {
                if let Poll::Ready(Some(())) = signal.poll_recv(context) {
                    return Poll::Ready(*kind);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// How a program ends that `kind` ended, as a shell has it: 128 and the signal's number.
#[must_use]
pub fn ended_by(kind: SignalKind) -> Failure {
    let code = SIGNALLED + kind.as_raw_value();
    Failure::silent(u8::try_from(code).unwrap_or(u8::MAX))
}

/// Whether this process was started so that it ignores `kind`. Without an answer it was not.
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, kind.as_raw_value())
}

fn ignores(status: &str, number: i32) -> bool {
    let line = status.lines().find_map(|line| line.strip_prefix(IGNORED));
    let bits = line.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    let bit = u32::try_from(number - 1).ok();
    let bit = bit.and_then(|bit| 1u64.checked_shl(bit));
    bits.zip(bit).is_some_and(|(bits, bit)| bits & bit != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_are_ignored_are_bits() {
        let status = "SigBlk:\t0000000000000002\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, 1) && ignores(status, 13));
        assert!(!ignores(status, 2) && !ignores(status, 15));
        assert!(!ignores("", 1) && !ignores("SigIgn:\tx\n", 1));
    }
}
