//! How signals end a program at a terminal.

use crate::failure::Failure;

/// What a shell adds to the number of the signal that ended a program.
const SIGNALLED: i32 = 128;
/// The line of a process's status with the signals that it ignores, as hexadecimal bits.
const IGNORED: &str = "SigIgn:";

/// How a program ends that the signal `number` ended, as a shell has it: 128 and the number.
#[must_use]
pub fn ended_by(number: i32) -> Failure {
    Failure::silent(u8::try_from(SIGNALLED + number).unwrap_or(u8::MAX))
}

/// Whether this process was started so that it ignores the signal `number`, as nohup(1) does.
/// Without an answer it was not.
#[must_use]
pub fn is_ignored(number: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    ignores(&status, number)
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
