//! Calls that a filter leaves to another process, seccomp_unotify(2).

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

use nix::errno::Errno;
use nix::libc;
use seccompiler::BpfProgram;

/// `SECCOMP_IOCTL_NOTIF_*` of linux/seccomp.h, one number on all architectures.
const RECEIVE: u32 = 0xc050_2100;
const SEND: u32 = 0xc018_2101;
const ID_VALID: u32 = 0x4008_2102;
const ADD_DESCRIPTOR: u32 = 0x4018_2103;

/// Arguments of a call.
const ARGUMENTS: usize = 6;

/// `struct seccomp_notif`, with the `struct seccomp_data` in it.
#[repr(C)]
#[derive(Default)]
struct Notification {
    id: u64,
    pid: u32,
    flags: u32,
    number: i32,
    architecture: u32,
    instruction: u64,
    arguments: [u64; ARGUMENTS],
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// `struct seccomp_notif_addfd`.
#[repr(C)]
struct AddDescriptor {
    id: u64,
    flags: u32,
    source: u32,
    target: u32,
    target_flags: u32,
}

/// A call that waits for its answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    id: u64,
    /// The thread that makes it, as this process knows it.
    pub(crate) thread: i32,
    pub(crate) arguments: [u64; ARGUMENTS],
}

/// Where the calls of a filter come to be answered. The descriptor is closed by execve.
#[derive(Debug)]
pub(crate) struct Listener(OwnedFd);

impl Listener {
    /// Puts a program that leaves calls to somebody into force for this thread and all it starts.
    /// Needs no_new_privs.
    ///
    /// # Errors
    /// `EBUSY`: this process has such a filter from whoever started it, and the kernel takes no
    /// second one.
    pub(crate) fn install(program: &BpfProgram) -> Result<Self, Errno> {
        let length = u16::try_from(program.len()).map_err(|_| Errno::E2BIG)?;
        let program = libc::sock_fprog {
            len: length,
            // Two names of one structure, which the kernel only reads.
            filter: program.as_ptr().cast_mut().cast(),
        };
        // A signal does not interrupt a call that is being answered: it would be made twice.
        let flags =
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
        // SAFETY: the program and its instructions live through the call and are only read.
        let code = unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_SET_MODE_FILTER,
                flags,
                &raw const program,
            )
        };
        let descriptor = RawFd::try_from(Errno::result(code)?).map_err(|_| Errno::EBADF)?;
        // SAFETY: the kernel made this descriptor just now; nothing else owns it.
        Ok(Self(unsafe { OwnedFd::from_raw_fd(descriptor) }))
    }

    /// Waits for the next call.
    ///
    /// # Errors
    /// `ENOENT`: whoever made it has ended meanwhile.
    pub(crate) fn receive(&self) -> Result<Call, Errno> {
        let mut notification = Notification::default();
        // SAFETY: the kernel writes a structure of this layout, which has to be zero before.
        unsafe { self.control(RECEIVE, (&raw mut notification).cast()) }?;
        Ok(Call {
            id: notification.id,
            thread: notification.pid.cast_signed(),
            arguments: notification.arguments,
        })
    }

    /// Whether the call still waits: what was opened by its thread's number before is that
    /// thread's then.
    pub(crate) fn is_waiting(&self, call: &Call) -> bool {
        let mut id = call.id;
        // SAFETY: the kernel reads one number.
        unsafe { self.control(ID_VALID, (&raw mut id).cast()) }.is_ok()
    }

    /// Has the call return; it is not made.
    pub(crate) fn answer(&self, call: &Call, answer: Result<(), Errno>) -> Result<(), Errno> {
        let mut response = Response {
            id: call.id,
            value: 0,
            error: answer.err().map_or(0, |errno| -(errno as i32)),
            flags: 0,
        };
        // SAFETY: the kernel reads a structure of this layout.
        unsafe { self.control(SEND, (&raw mut response).cast()) }.map(drop)
    }

    /// Puts a copy of `source` where the process that makes the call has its descriptor `target`.
    pub(crate) fn replace(
        &self,
        call: &Call,
        target: RawFd,
        source: BorrowedFd<'_>,
        is_closed_by_exec: bool,
    ) -> Result<(), Errno> {
        let close = libc::O_CLOEXEC.unsigned_abs();
        let mut added = AddDescriptor {
            id: call.id,
            flags: u32::try_from(libc::SECCOMP_ADDFD_FLAG_SETFD).unwrap_or_default(),
            source: source.as_raw_fd().unsigned_abs(),
            target: target.unsigned_abs(),
            target_flags: if is_closed_by_exec { close } else { 0 },
        };
        // SAFETY: the kernel reads a structure of this layout; `source` is open through the call.
        unsafe { self.control(ADD_DESCRIPTOR, (&raw mut added).cast()) }.map(drop)
    }

    /// # Safety
    /// `argument` points to what the request reads or writes.
    unsafe fn control(&self, request: u32, argument: *mut libc::c_void) -> Result<i32, Errno> {
        // C libraries differ in the type of its number.
        let request = request as libc::Ioctl;
        // SAFETY: the caller's.
        Errno::result(unsafe { libc::ioctl(self.0.as_raw_fd(), request, argument) })
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<OwnedFd> for Listener {
    fn from(descriptor: OwnedFd) -> Self {
        Self(descriptor)
    }
}
