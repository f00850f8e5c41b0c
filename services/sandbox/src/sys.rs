//! System calls that nix does not wrap, or cannot wrap safely.

use std::ffi::CString;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{ForkResult, Pid};

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h; nix and libc do not carry it.
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;
/// `LANDLOCK_CREATE_RULESET_VERSION` of linux/landlock.h.
const LANDLOCK_CREATE_RULESET_VERSION: u32 = 1;
/// `AT_RECURSIVE` of linux/fcntl.h.
const RECURSIVE: u32 = 0x8000;
/// Highest signal number on Linux, real-time signals included.
const SIGNAL_MAX: i32 = 64;

/// Forks a process that has one thread, after which the child may do anything.
///
/// # Errors
/// `EDEADLK` when other threads run: one of them could hold a lock, of the allocator for one, that
/// nobody would release in the child.
pub(crate) fn fork() -> Result<ForkResult, Errno> {
    let tasks = std::fs::read_dir("/proc/self/task").map_err(|_| Errno::ENOSYS)?;
    if tasks.count() != 1 {
        return Err(Errno::EDEADLK);
    }
    // SAFETY: this is the only thread of the process, so no lock is held elsewhere and the child
    // is a complete copy; nothing could have started a thread since the check above.
    unsafe { nix::unistd::fork() }
}

/// Every signal gets its default action and none is blocked. Both are inherited through execve:
/// the standard library ignores SIGPIPE, and the supervisor blocks what it waits for.
pub(crate) fn reset_signals() -> Result<(), Errno> {
    // The kernel's sigaction, all of it zero: default action, no flags, empty mask. Not signal(3),
    // which refuses the two signals glibc keeps to itself, and a caller may have ignored those.
    let default = [0_u64; 4];
    let none = std::ptr::null::<libc::c_void>();
    let mask = size_of::<u64>();
    for signal in 1..=SIGNAL_MAX {
        let action = default.as_ptr();
        // SAFETY: installs no handler. The array is as long as the kernel's structure on every
        // 64-bit architecture and is only read. SIGKILL and SIGSTOP answer EINVAL, and need none.
        unsafe { libc::syscall(libc::SYS_rt_sigaction, signal, action, none, mask) };
    }
    SigSet::empty().thread_set_mask()
}

/// Closes every descriptor from `first` on.
pub(crate) fn close_from(first: u32) -> Result<(), Errno> {
    // SAFETY: closing descriptors is sound as long as no owner of one lives; the callers hold
    // none, and what the standard library holds are the numbers 0 to 2.
    let code = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    Errno::result(code).map(drop)
}

/// Takes one capability out of the bounding set. `EINVAL` above the last one the kernel knows.
pub(crate) fn drop_bounding(capability: u32) -> Result<(), Errno> {
    // SAFETY: takes integers only.
    let code = unsafe { libc::prctl(libc::PR_CAPBSET_DROP, u64::from(capability), 0, 0, 0) };
    Errno::result(code).map(drop)
}

/// Whether a capability is in the bounding set. `EINVAL` above the last one the kernel knows.
pub(crate) fn in_bounding(capability: u32) -> Result<bool, Errno> {
    // SAFETY: takes integers only.
    let code = unsafe { libc::prctl(libc::PR_CAPBSET_READ, u64::from(capability), 0, 0, 0) };
    Errno::result(code).map(|held| held == 1)
}

/// Empties the ambient set.
pub(crate) fn clear_ambient() -> Result<(), Errno> {
    let all = libc::PR_CAP_AMBIENT_CLEAR_ALL as u64;
    // SAFETY: takes integers only.
    let code = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, all, 0, 0, 0) };
    Errno::result(code).map(drop)
}

/// Empties the effective, permitted and inheritable sets.
pub(crate) fn clear_capabilities() -> Result<(), Errno> {
    #[repr(C)]
    struct Header {
        version: u32,
        pid: i32,
    }
    let header = Header {
        version: CAPABILITY_VERSION_3,
        pid: 0,
    };
    let sets = [[0_u32; 3]; 2];
    // SAFETY: header and sets have the layout of version 3 (two words of three sets) and live
    // through the call, which only reads them for this version.
    let code = unsafe { libc::syscall(libc::SYS_capset, &raw const header, sets.as_ptr()) };
    Errno::result(code).map(drop)
}

/// The Landlock version the running kernel offers, if it is enabled.
pub(crate) fn landlock_abi() -> Option<i32> {
    let none = std::ptr::null::<libc::c_void>();
    let flag = LANDLOCK_CREATE_RULESET_VERSION;
    // SAFETY: with this flag the kernel reads no memory and only answers its version.
    let code = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, none, 0_usize, flag) };
    i32::try_from(code).ok().filter(|version| *version > 0)
}

/// Waits for one of the blocked signals in `set`, at most for `limit`; `None` when it ran out.
pub(crate) fn wait_signal(set: &SigSet, limit: Option<Duration>) -> Result<Option<Signal>, Errno> {
    let limit = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs().try_into().unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos().into(),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the set and the time live through the call; a null pointer for the details of the
    // signal and for the time are allowed by sigtimedwait(2).
    let code = unsafe { libc::sigtimedwait(set.as_ref(), std::ptr::null_mut(), limit) };
    match Errno::result(code) {
        Ok(signal) => Signal::try_from(signal).map(Some),
        Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A descriptor that keeps meaning this process, whoever gets its number later.
pub(crate) fn pidfd_open(pid: Pid) -> Result<OwnedFd, Errno> {
    // SAFETY: takes integers only.
    let code = unsafe { libc::syscall(libc::SYS_pidfd_open, pid.as_raw(), 0) };
    let descriptor = i32::try_from(Errno::result(code)?).map_err(|_| Errno::EOVERFLOW)?;
    // SAFETY: the kernel just made this descriptor, close-on-exec, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Sends a signal to the process behind `pidfd`.
pub(crate) fn pidfd_send(pidfd: &OwnedFd, signal: Signal) -> Result<(), Errno> {
    let none = std::ptr::null::<libc::siginfo_t>();
    let (pidfd, signal) = (pidfd.as_raw_fd(), signal as i32);
    // SAFETY: a null pointer for the details of the signal is allowed by pidfd_send_signal(2).
    let code = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, pidfd, signal, none, 0) };
    Errno::result(code).map(drop)
}

/// Attributes a mount is restricted by, `MOUNT_ATTR_*` of linux/mount.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MountFlags(u64);

impl MountFlags {
    pub(crate) const READ_ONLY: Self = Self(0x1);
    pub(crate) const NO_SUID: Self = Self(0x2);
    pub(crate) const NO_DEVICES: Self = Self(0x4);
    pub(crate) const NO_EXECUTION: Self = Self(0x8);
}

impl std::ops::BitOr for MountFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

fn c_path(path: &Path) -> Result<CString, Errno> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Errno::EINVAL)
}

/// A copy of what is mounted at `object` and below, attached nowhere (open_tree(2)).
pub(crate) fn clone_mount(object: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = libc::OPEN_TREE_CLONE
        | libc::OPEN_TREE_CLOEXEC
        | RECURSIVE
        | libc::AT_EMPTY_PATH.unsigned_abs();
    let (object, path) = (object.as_raw_fd(), c"".as_ptr());
    // SAFETY: the path is a string that lives through the call and is only read.
    let code = unsafe { libc::syscall(libc::SYS_open_tree, object, path, flags) };
    let descriptor = i32::try_from(Errno::result(code)?).map_err(|_| Errno::EOVERFLOW)?;
    // SAFETY: the kernel just made this descriptor, and nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Adds attributes to a copy and all below it (mount_setattr(2)).
pub(crate) fn restrict_mount(mount: &OwnedFd, flags: MountFlags) -> Result<(), Errno> {
    /// `struct mount_attr`, its first version.
    #[repr(C)]
    struct Attributes {
        set: u64,
        clear: u64,
        propagation: u64,
        user_namespace: u64,
    }
    let attributes = Attributes {
        set: flags.0,
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    let at = libc::AT_EMPTY_PATH.unsigned_abs() | RECURSIVE;
    // SAFETY: the empty path and the structure live through the call and are only read; the size
    // is the structure's own.
    let code = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            at,
            &raw const attributes,
            size_of::<Attributes>(),
        )
    };
    Errno::result(code).map(drop)
}

/// Attaches a copy at `target` (move_mount(2)).
pub(crate) fn move_mount(mount: &OwnedFd, target: &Path) -> Result<(), Errno> {
    let target = c_path(target)?;
    // SAFETY: both paths are strings that live through the call and are only read.
    let code = unsafe {
        libc::syscall(
            libc::SYS_move_mount,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_FDCWD,
            target.as_ptr(),
            libc::MOVE_MOUNT_F_EMPTY_PATH,
        )
    };
    Errno::result(code).map(drop)
}

/// Brings up the interface `lo` of this network namespace, which starts down (netdevice(7)).
pub(crate) fn bring_up_loopback() -> Result<(), Errno> {
    // SAFETY: all zero is a valid value of this structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: takes integers only.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    let socket = Errno::result(socket)?;
    // SAFETY: the kernel just made this descriptor, and nothing else owns it.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    // SAFETY: the request has the type this ioctl wants and lives through the call.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) };
    Errno::result(code).map(drop)
}

/// What the kernel answers to a system call with small integer arguments. For probes only.
pub(crate) fn answer(number: i64, args: [u32; 3]) -> Result<i64, Errno> {
    let [first, second, third] = args.map(i64::from);
    // SAFETY: the callers name calls to which none of these small numbers is a pointer to
    // readable or writable memory, so the kernel touches none of this process.
    let code = unsafe { libc::syscall(number, first, second, third, 0, 0, 0) };
    Errno::result(code)
}

/// Leaves a forked process at once, without the exit handlers that belong to its parent.
pub(crate) fn leave() -> ! {
    // SAFETY: _exit(2) takes an integer and does not return.
    unsafe { libc::_exit(0) }
}
