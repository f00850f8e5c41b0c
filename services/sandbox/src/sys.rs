//! System calls that nix does not wrap: through rustix where it does, by number where neither does
//! or where no wrapper can be safe. Unsafe code is in this crate alone: here, and where a
//! descriptor is taken over (`doors`, `passing`, `spawner/serve`), calls are answered (`notify`) or memory is mapped or given
//! back (`mapping`, `text`).

use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, Signal};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use nix::unistd::{ForkResult, Pid};
use rustix::fs::CWD;
use rustix::mount::{self, MoveMountFlags, OpenTreeFlags};
use rustix::process::{self, PidfdFlags};
use rustix::thread::{self, CapabilitySet, CapabilitySets};

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
    if !is_alone().map_err(|_| Errno::ENOSYS)? {
        return Err(Errno::EDEADLK);
    }
    // SAFETY: this is the only thread of the process, so no lock is held elsewhere and the child
    // is a complete copy; nothing could have started a thread since the check above.
    unsafe { nix::unistd::fork() }
}

/// Whether this process has one thread.
fn is_alone() -> std::io::Result<bool> {
    /// Links of this folder: its own two, and one for each thread (proc(5)).
    const TASKS: &str = "/proc/self/task";
    const LINKS_OF_ONE: u64 = 3;
    if std::fs::metadata(TASKS)?.nlink() == LINKS_OF_ONE {
        return Ok(true);
    }
    Ok(std::fs::read_dir(TASKS)?.count() == 1)
}

/// Every signal gets its default action and none is blocked. Both are inherited through execve:
/// the standard library ignores SIGPIPE, and a caller may ignore others.
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

/// Closes the descriptors from `first` to `last`.
pub(crate) fn close_range(first: u32, last: u32) -> Result<(), Errno> {
    // SAFETY: closing descriptors is sound as long as no owner of one lives; the callers hold
    // none in the range, and what the standard library holds are the numbers 0 to 2.
    let code = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    Errno::result(code).map(drop)
}

/// The error of a call made through rustix, as nix has it.
pub(crate) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

/// Takes one capability out of the bounding set. `EINVAL` above the last one the kernel knows.
pub(crate) fn drop_bounding(capability: u32) -> Result<(), Errno> {
    thread::remove_capability_from_bounding_set(one(capability)?).map_err(errno)
}

/// Whether a capability is in the bounding set. `EINVAL` above the last one the kernel knows.
pub(crate) fn in_bounding(capability: u32) -> Result<bool, Errno> {
    thread::capability_is_in_bounding_set(one(capability)?).map_err(errno)
}

/// The set with one capability alone. It may be one that rustix has no name for.
fn one(capability: u32) -> Result<CapabilitySet, Errno> {
    let bit = 1_u64.checked_shl(capability).ok_or(Errno::EINVAL)?;
    Ok(CapabilitySet::from_bits_retain(bit))
}

/// Empties the ambient set.
pub(crate) fn clear_ambient() -> Result<(), Errno> {
    thread::clear_ambient_capability_set().map_err(errno)
}

/// Empties the effective, permitted and inheritable sets.
pub(crate) fn clear_capabilities() -> Result<(), Errno> {
    let sets = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    thread::set_capabilities(None, sets).map_err(errno)
}

/// The effective set of this process; `None` where it cannot be asked.
pub(crate) fn effective_capabilities() -> Option<u64> {
    let sets = thread::capabilities(None).ok()?;
    Some(sets.effective.bits())
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
///
/// # Errors
/// `EINVAL` for a number that no process can have, `ESRCH` when there is no such process.
pub(crate) fn pidfd_open(pid: Pid) -> Result<OwnedFd, Errno> {
    let number = Some(pid.as_raw()).filter(|number| *number > 0);
    let pid = number.and_then(process::Pid::from_raw);
    process::pidfd_open(pid.ok_or(Errno::EINVAL)?, PidfdFlags::empty()).map_err(errno)
}

/// Sends a signal to the process behind `pidfd`.
pub(crate) fn pidfd_send(pidfd: &OwnedFd, signal: Signal) -> Result<(), Errno> {
    let signal = process::Signal::from_named_raw(signal as i32).ok_or(Errno::EINVAL)?;
    process::pidfd_send_signal(pidfd, signal).map_err(errno)
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

/// A copy of what is mounted at `object` and below, attached nowhere (open_tree(2)).
pub(crate) fn clone_mount(object: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    mount::open_tree(object, c"", flags).map_err(errno)
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
pub(crate) fn move_mount(copy: &OwnedFd, target: &Path) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    mount::move_mount(copy, c"", CWD, target, flags).map_err(errno)
}

/// Brings up the interface `lo` of this network namespace, which starts down (netdevice(7)).
pub(crate) fn bring_up_loopback() -> Result<(), Errno> {
    // SAFETY: all zero is a valid value of this structure of integers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        // Architectures differ in whether it has a sign.
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    let socket = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    // C libraries differ in the type of its number.
    let set_flags = libc::SIOCSIFFLAGS as libc::Ioctl;
    // SAFETY: the request has the type this ioctl wants and lives through the call.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), set_flags, &raw const request) };
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
