//! The system-call filter, seccomp(2): what is refused, everything else is allowed.
//!
//! A list of what is allowed was rejected: the turn runs whatever compiler, interpreter or browser
//! the workspace needs, and each would need its own list.

use std::os::fd::RawFd;

use nix::libc;
use seccompiler::{
    BackendError, BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule,
};

use self::files::{refuse_commands, refuse_set_ids, refuse_truncation};
use self::program::{Answer, Rules, compile, compile_each};
use crate::failure::StepError;
use crate::plan::Network;
use crate::syscalls::{ABSENT, CHANGES, QUEUES, REFUSED, SIGNALS};

mod files;
mod program;

/// Landlock judges truncation from this version on.
const ABI_TRUNCATE: i32 = 3;
/// Bits of a socket's type without its flags, `SOCK_TYPE_MASK` of linux/net.h.
const SOCKET_TYPE: u64 = 0xf;
/// Of asm-generic/socket.h; libc does not know it for every C library.
const SO_BINDTOIFINDEX: i32 = 62;
/// Execution domains that change nothing that matters: Linux, the query, 32-bit names, 2.6 names.
const HARMLESS_PERSONALITIES: [u64; 5] = [0, 0xffff_ffff, 0x0008, 0x2_0000, 0x2_0008];

/// The programs to stack, for a kernel with this Landlock version. The kernel takes the strictest
/// answer of all.
///
/// With `apart` there are namespaces: addresses, queues and semaphores need no rule.
pub(crate) fn programs(
    network: &Network,
    apart: bool,
    abi: i32,
) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused = Rules::new();
    for call in REFUSED.iter().copied().flatten() {
        refused.insert(*call, Vec::new());
    }
    refuse_signals_to_all(&mut refused)?;
    refuse_namespaces(&mut refused)?;
    refuse_terminal_input(&mut refused)?;
    refuse_personalities(&mut refused)?;
    refuse_limits_of_others(&mut refused)?;
    refuse_set_ids(&mut refused)?;
    refuse_commands(&mut refused)?;
    refuse_sockets(&mut refused, network)?;
    if let (Network::Loopback(_), false) = (network, apart) {
        refuse_all_but_tcp(&mut refused)?;
    }
    if abi < ABI_TRUNCATE {
        refuse_truncation(&mut refused)?;
    }
    let queues = if apart { &[] } else { QUEUES };
    let absent = ABSENT.iter().chain(queues);
    let mut absent: Rules = absent.map(|call| (*call, Vec::new())).collect();
    // Its flags and its mode are behind a pointer; what uses it has another way.
    absent.insert(libc::SYS_openat2, Vec::new());
    Ok(vec![compile(refused, absent)?])
}

/// What a program of [`Level::Text`](crate::Level::Text) may not do beside that: execute anything
/// but what stands at the descriptor `program`, open a file for writing, change one, or signal.
pub(crate) fn text(program: RawFd) -> Result<Vec<BpfProgram>, BackendError> {
    let mut refused = Rules::new();
    for call in [CHANGES, SIGNALS, &[libc::SYS_execve]].concat() {
        refused.insert(call, Vec::new());
    }
    let number = u64::from(program.unsigned_abs());
    let elsewhere = when(0, SeccompCmpOp::Ne, number)?;
    refuse(&mut refused, libc::SYS_execveat, vec![elsewhere])?;
    let by_path = when(
        4,
        SeccompCmpOp::Ne,
        libc::AT_EMPTY_PATH.unsigned_abs().into(),
    )?;
    refuse(&mut refused, libc::SYS_execveat, vec![by_path])?;
    // Access mode 3, which gives no access but asks for both, has the bits of the other two.
    for flag in [libc::O_WRONLY, libc::O_RDWR, libc::O_CREAT, libc::O_TRUNC] {
        let flag = u64::from(flag.unsigned_abs());
        let at = when(2, SeccompCmpOp::MaskedEq(flag), flag)?;
        refuse(&mut refused, libc::SYS_openat, vec![at])?;
        #[cfg(target_arch = "x86_64")]
        {
            let open = when(1, SeccompCmpOp::MaskedEq(flag), flag)?;
            refuse(&mut refused, libc::SYS_open, vec![open])?;
        }
    }
    // Its flags are behind a pointer.
    let absent = Rules::from([(libc::SYS_openat2, Vec::new())]);
    Ok(vec![compile(refused, absent)?])
}

/// What leaves each connect(2) to the supervisor, who looks at its address (`connections.rs`).
///
/// With `readable`, a process that hides its memory is told that it did, and did not: what cannot be
/// looked into can connect nowhere. Codex does so first of all, and ends where that fails.
pub(crate) fn asking(readable: bool) -> Result<BpfProgram, BackendError> {
    let asked = Rules::from([(libc::SYS_connect, Vec::new())]);
    let mut ignored = Rules::new();
    if readable {
        let option = u64::from(libc::PR_SET_DUMPABLE.unsigned_abs());
        let hides = vec![
            when(0, SeccompCmpOp::Eq, option)?,
            when(1, SeccompCmpOp::Eq, 0)?,
        ];
        refuse(&mut ignored, libc::SYS_prctl, hides)?;
    }
    compile_each([(asked, Answer::Asked), (ignored, Answer::Errno(0))])
}

/// Puts the programs into force for this thread and all it starts. Needs no_new_privs.
pub(crate) fn apply(programs: &[BpfProgram]) -> Result<(), StepError> {
    for program in programs {
        seccompiler::apply_filter(program)?;
    }
    Ok(())
}

/// An argument compared as the 32 bits the kernel reads of it.
fn when(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn refuse(
    rules: &mut Rules,
    call: i64,
    conditions: Vec<SeccompCondition>,
) -> Result<(), BackendError> {
    let rule = SeccompRule::new(conditions)?;
    rules.entry(call).or_default().push(rule);
    Ok(())
}

/// `kill(-1, …)` reaches everything of the user, the daemons and the login session included.
fn refuse_signals_to_all(rules: &mut Rules) -> Result<(), BackendError> {
    let everyone = when(0, SeccompCmpOp::Eq, u64::from(u32::MAX))?;
    refuse(rules, libc::SYS_kill, vec![everyone])
}

fn refuse_namespaces(rules: &mut Rules) -> Result<(), BackendError> {
    let flags = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWUSER,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    for flag in flags.map(|flag| u64::from(flag.unsigned_abs())) {
        let set = when(0, SeccompCmpOp::MaskedEq(flag), flag)?;
        refuse(rules, libc::SYS_clone, vec![set])?;
    }
    Ok(())
}

/// Typing into the terminal the helper was started from.
fn refuse_terminal_input(rules: &mut Rules) -> Result<(), BackendError> {
    /// Input as if typed, and the selection and paste of the text console (asm-generic/ioctls.h;
    /// libc gives them another type on each C library).
    const REQUESTS: [u64; 2] = [0x5412, 0x541c];
    for request in REQUESTS {
        let request = when(1, SeccompCmpOp::Eq, request)?;
        refuse(rules, libc::SYS_ioctl, vec![request])?;
    }
    Ok(())
}

/// Domains that switch off address randomisation or make all memory executable.
fn refuse_personalities(rules: &mut Rules) -> Result<(), BackendError> {
    let other = HARMLESS_PERSONALITIES.map(|domain| when(0, SeccompCmpOp::Ne, domain));
    let other = other.into_iter().collect::<Result<_, _>>()?;
    refuse(rules, libc::SYS_personality, other)
}

/// Limits set for another process of the user, with which a daemon can be ended or kept from writing;
/// Landlock does not judge them. Reading them is left, and one's own are process 0.
fn refuse_limits_of_others(rules: &mut Rules) -> Result<(), BackendError> {
    let other = when(0, SeccompCmpOp::Ne, 0)?;
    let pointer = SeccompCmpArgLen::Qword;
    let sets = SeccompCondition::new(2, pointer, SeccompCmpOp::Ne, 0)?;
    refuse(rules, libc::SYS_prlimit64, vec![other, sets])
}

fn refuse_sockets(rules: &mut Rules, network: &Network) -> Result<(), BackendError> {
    let family = |family: i32| u64::from(family.unsigned_abs());
    match network {
        Network::ModelOnly => {
            rules.insert(libc::SYS_socket, Vec::new());
        }
        Network::Loopback(_) | Network::Full => {
            let allowed = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
            let other = allowed.map(|allowed| when(0, SeccompCmpOp::Ne, family(allowed)));
            let other = other.into_iter().collect::<Result<_, _>>()?;
            refuse(rules, libc::SYS_socket, other)?;
            // Of netlink only routing, which getifaddrs asks; not the audit, crypto or generic
            // families.
            let netlink = when(0, SeccompCmpOp::Eq, family(libc::AF_NETLINK))?;
            let routing = family(libc::NETLINK_ROUTE);
            let not_routing = when(2, SeccompCmpOp::Ne, routing)?;
            refuse(rules, libc::SYS_socket, vec![netlink, not_routing])?;
        }
    }
    // A pair of datagram sockets is a way around: unlike a connected stream, each end may still
    // send to, or connect to, any address, the journal and the bus of the user included. The raw
    // kind becomes datagram in the kernel.
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        let kind = when(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), family(kind))?;
        refuse(rules, libc::SYS_socketpair, vec![kind])?;
    }
    Ok(())
}

/// Landlock's port rules are about TCP alone: what it does not see is refused here. That is every
/// other kind of internet socket, and multipath TCP.
fn refuse_all_but_tcp(rules: &mut Rules) -> Result<(), BackendError> {
    let number = |value: i32| u64::from(value.unsigned_abs());
    for family in [libc::AF_INET, libc::AF_INET6] {
        let family = || when(0, SeccompCmpOp::Eq, number(family));
        for kind in [
            libc::SOCK_DGRAM,
            libc::SOCK_RAW,
            libc::SOCK_RDM,
            libc::SOCK_SEQPACKET,
            libc::SOCK_DCCP,
        ] {
            let kind = when(1, SeccompCmpOp::MaskedEq(SOCKET_TYPE), number(kind))?;
            refuse(rules, libc::SYS_socket, vec![family()?, kind])?;
        }
        let other = |protocol| when(2, SeccompCmpOp::Ne, number(protocol));
        let other = vec![family()?, other(0)?, other(libc::IPPROTO_TCP)?];
        refuse(rules, libc::SYS_socket, other)?;
    }
    // TCP Fast Open connects while it sends, past Landlock's rule for connect(2).
    let fast_open = number(libc::MSG_FASTOPEN);
    for (call, flags) in [
        (libc::SYS_sendto, 3),
        (libc::SYS_sendmsg, 2),
        (libc::SYS_sendmmsg, 3),
    ] {
        let set = when(flags, SeccompCmpOp::MaskedEq(fast_open), fast_open)?;
        refuse(rules, call, vec![set])?;
    }
    // One that was bound to no port, which Landlock refuses, listens on a free one at every address.
    rules.insert(libc::SYS_listen, Vec::new());
    refuse_routes(rules)
}

/// Options by which a packet to a door leaves the machine: by way of other hosts, or through an
/// interface that is not the loopback.
fn refuse_routes(rules: &mut Rules) -> Result<(), BackendError> {
    let number = |value: i32| u64::from(value.unsigned_abs());
    for (level, option) in [
        (libc::IPPROTO_IP, libc::IP_OPTIONS),
        (libc::SOL_SOCKET, libc::SO_BINDTODEVICE),
        (libc::SOL_SOCKET, SO_BINDTOIFINDEX),
    ] {
        let set = vec![
            when(1, SeccompCmpOp::Eq, number(level))?,
            when(2, SeccompCmpOp::Eq, number(option))?,
        ];
        refuse(rules, libc::SYS_setsockopt, set)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use nix::errno::Errno;
    use nix::fcntl::{self, OFlag};
    use nix::sys::stat::Mode;
    use nix::unistd::truncate;

    use super::*;
    use crate::sys;
    use crate::syscalls::OPEN_TREE_ATTR;

    /// A filter binds the thread that takes it and what that thread starts, so a test can take one.
    fn confined<T: Send + 'static>(abi: i32, attempt: impl FnOnce() -> T + Send + 'static) -> T {
        filtered(&Network::Full, abi, attempt)
    }

    fn filtered<T: Send + 'static>(
        network: &Network,
        abi: i32,
        attempt: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        under(network, false, abi, attempt)
    }

    fn under<T: Send + 'static>(
        network: &Network,
        apart: bool,
        abi: i32,
        attempt: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        let programs = programs(network, apart, abi).unwrap();
        let confined = move || {
            apply(&programs).unwrap();
            attempt()
        };
        std::thread::spawn(confined).join().unwrap()
    }

    #[test]
    fn filter_what_outlives_a_turn_is_had_in_namespaces_alone() {
        const MADE: u32 = libc::IPC_CREAT.unsigned_abs();
        let answers = |apart| {
            under(&Network::Full, apart, ABI_TRUNCATE, move || {
                // No semaphore and an unknown flag: as the kernel says that where it is asked,
                // nothing is made.
                let semaphores = sys::answer(libc::SYS_semget, [0, 0, MADE]);
                let queue = sys::answer(libc::SYS_mq_unlink, [1, 0, 0]);
                let message = sys::answer(libc::SYS_msgrcv, [u32::MAX, 0, 0]);
                [semaphores, queue, message]
            })
        };
        let asked = [Errno::EINVAL, Errno::EFAULT, Errno::EINVAL];
        assert_eq!(answers(true), asked.map(Err));
        assert_eq!(answers(false), [Err(Errno::ENOSYS); 3]);
        let segment = confined(ABI_TRUNCATE, || sys::answer(libc::SYS_shmctl, [0, 0, 0]));
        assert_eq!(segment, Err(Errno::EPERM));
    }

    #[test]
    fn limits_of_other_processes_are_read_and_not_set() {
        /// No resource, and no readable address: what the kernel says where it is asked.
        const NONE: u32 = u32::MAX;
        const NOWHERE: u32 = 1;
        let parent = nix::unistd::getppid().as_raw().unsigned_abs();
        let answers = confined(ABI_TRUNCATE, move || {
            [
                [parent, NONE, NOWHERE],
                [0, NONE, NOWHERE],
                [parent, NONE, 0],
            ]
            .map(|arguments| sys::answer(libc::SYS_prlimit64, arguments))
        });
        let wanted = [Errno::EPERM, Errno::EFAULT, Errno::EINVAL];
        assert_eq!(answers, wanted.map(Err));
    }

    #[test]
    fn connection_made_while_sending_is_refused_where_ports_are_ruled() {
        // No such descriptor, which the kernel says where it is asked.
        let send = || {
            let flags = libc::MSG_FASTOPEN.unsigned_abs();
            sys::answer(libc::SYS_sendmsg, [u32::MAX, 0, flags])
        };
        let ruled = Network::Loopback(vec![1]);
        assert_eq!(filtered(&ruled, ABI_TRUNCATE, send), Err(Errno::EPERM));
        let free = Network::Full;
        assert_eq!(filtered(&free, ABI_TRUNCATE, send), Err(Errno::EBADF));
    }

    #[test]
    fn taking_a_mount_with_other_attributes_is_refused() {
        let take = || sys::answer(OPEN_TREE_ATTR, [u32::MAX, 0, 0]);
        assert_eq!(confined(ABI_TRUNCATE, take), Err(Errno::EPERM));
    }

    fn ways_to_empty(file: &Path) -> [Result<(), Errno>; 3] {
        let open = |mode| {
            let flags = OFlag::from_bits_retain(mode | libc::O_TRUNC);
            fcntl::open(file, flags, Mode::empty()).map(drop)
        };
        [
            truncate(file, 0),
            open(libc::O_RDONLY),
            open(libc::O_ACCMODE),
        ]
    }

    fn file() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "text").unwrap();
        (dir, file)
    }

    #[test]
    fn old_kernels_get_the_truncation_rules() {
        let (_dir, file) = file();
        let inner = file.clone();
        let answers = confined(ABI_TRUNCATE - 1, move || ways_to_empty(&inner));
        assert_eq!(answers, [Err(Errno::EPERM); 3]);
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
    }

    #[test]
    fn old_kernels_still_open_files_the_usual_ways() {
        let (_dir, file) = file();
        confined(ABI_TRUNCATE - 1, move || {
            assert_eq!(fs::read_to_string(&file).unwrap(), "text");
            fs::write(&file, "new").unwrap();
            let mut private = OpenOptions::new();
            private
                .write(true)
                .custom_flags(libc::O_NOFOLLOW)
                .open(&file)
                .unwrap();
        });
    }

    #[test]
    fn newer_kernels_leave_truncation_to_the_path_rules() {
        let (_dir, file) = file();
        let answers = confined(ABI_TRUNCATE, move || ways_to_empty(&file));
        assert_eq!(answers, [Ok(()); 3]);
    }
}
