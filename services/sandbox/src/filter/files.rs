//! Rules about files: what path rules do not say.

use nix::libc;
use seccompiler::{BackendError, SeccompCmpOp};

use super::program::Rules;
use super::{refuse, when};

/// `__O_TMPFILE` of asm-generic/fcntl.h, which libc has with `O_DIRECTORY` alone.
const NAMELESS: i32 = 0o20_000_000;
/// fchmodat2(2) of Linux 6.6, one number on all architectures.
const FCHMODAT2: libc::c_long = 452;

/// A set-user-ID program of the turn's user is that user to whoever runs it outside, where neither
/// no_new_privs nor a mount's nosuid holds. Everything that gives a file its mode is here but
/// openat2, which is absent, and mkdir, which gives no such bit.
pub(super) fn refuse_set_ids(rules: &mut Rules) -> Result<(), BackendError> {
    let bits = |flags: i32| u64::from(flags.unsigned_abs());
    for set_id in [libc::S_ISUID, libc::S_ISGID].map(u64::from) {
        let mode = |argument| when(argument, SeccompCmpOp::MaskedEq(set_id), set_id);
        for (call, argument) in MODES.iter().copied() {
            refuse(rules, call, vec![mode(argument)?])?;
        }
        for (call, flags) in OPENINGS.iter().copied() {
            // Without one of these nothing is made, and the mode is whatever lies there.
            for makes in [libc::O_CREAT, NAMELESS].map(bits) {
                let makes = when(flags, SeccompCmpOp::MaskedEq(makes), makes)?;
                refuse(rules, call, vec![makes, mode(flags + 1)?])?;
            }
        }
    }
    Ok(())
}

/// Holding up whoever opens a file, and hearing of it: the file's user may take a lease with a
/// descriptor that only reads (fcntl(2)), and opening the file outside of the turn waits for it.
/// And making pipes larger, of whose pages a user has a number (pipe(7)).
pub(super) fn refuse_commands(rules: &mut Rules) -> Result<(), BackendError> {
    for command in [libc::F_SETLEASE, libc::F_NOTIFY, libc::F_SETPIPE_SZ] {
        let command = u64::from(command.unsigned_abs());
        let holds = when(1, SeccompCmpOp::Eq, command)?;
        refuse(rules, libc::SYS_fcntl, vec![holds])?;
    }
    Ok(())
}

/// Calls that set a mode, and which argument that is.
const MODES: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
];

/// Calls that open, and which argument the flags are; the mode follows.
const OPENINGS: &[(libc::c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

/// Stands in for the truncation right on kernels before 6.2, where Landlock lets a process empty
/// any file of its user: truncation by path, and opening with O_TRUNC while asking for no write
/// access. (Access mode 3 asks for none in Landlock's eyes.)
pub(super) fn refuse_truncation(rules: &mut Rules) -> Result<(), BackendError> {
    rules.insert(libc::SYS_truncate, Vec::new());
    let bits = |flags: i32| u64::from(flags.unsigned_abs());
    let mask = bits(libc::O_ACCMODE | libc::O_TRUNC);
    for mode in [libc::O_RDONLY, libc::O_ACCMODE] {
        let value = bits(mode | libc::O_TRUNC);
        let at = when(2, SeccompCmpOp::MaskedEq(mask), value)?;
        refuse(rules, libc::SYS_openat, vec![at])?;
        #[cfg(target_arch = "x86_64")]
        {
            let open = when(1, SeccompCmpOp::MaskedEq(mask), value)?;
            refuse(rules, libc::SYS_open, vec![open])?;
        }
    }
    Ok(())
}
