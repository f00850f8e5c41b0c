//! System calls no agent needs, by reason.

use nix::libc;

/// Answered with EPERM, whatever the arguments.
pub(crate) const REFUSED: &[&[libc::c_long]] = &[
    MOUNTS,
    NAMESPACES,
    MACHINE,
    KERNEL,
    OTHER_PROCESSES,
    KEYS,
    HANDLES,
    SHARED_MEMORY,
    ARCHITECTURE,
];

/// Answered with ENOSYS, as on a kernel without them, so that programs take their other way.
///
/// io_uring does file and socket work without system calls, past any filter. clone3 hides its
/// flags behind a pointer, where a filter cannot see CLONE_NEWUSER; glibc, Go and bun fall back
/// to clone. The older asynchronous input and output has a number of requests that the whole
/// machine shares (fs.aio-max-nr).
pub(crate) const ABSENT: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_clone3,
    libc::SYS_io_setup,
    libc::SYS_io_submit,
    libc::SYS_io_destroy,
    libc::SYS_io_cancel,
    libc::SYS_io_getevents,
];

/// open_tree_attr(2) of Linux 6.15, which libc does not know yet; one number on all architectures.
pub(crate) const OPEN_TREE_ATTR: libc::c_long = 467;

const MOUNTS: &[libc::c_long] = &[
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    OPEN_TREE_ATTR,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
];

/// A user namespace gives all capabilities inside it, and with them most of the kernel's surface.
const NAMESPACES: &[libc::c_long] = &[libc::SYS_unshare, libc::SYS_setns];

const MACHINE: &[libc::c_long] = &[
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_reboot,
    libc::SYS_kexec_load,
    libc::SYS_kexec_file_load,
    libc::SYS_acct,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_vhangup,
    libc::SYS_syslog,
];

const KERNEL: &[libc::c_long] = &[
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_lookup_dcookie,
];

/// Reading and steering other processes of the same user, descriptors of theirs included.
const OTHER_PROCESSES: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];

/// Keyrings are shared by everything of the user, and not by path.
const KEYS: &[libc::c_long] = &[libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key];

/// Opening by handle goes past the path, and so past path rules.
const HANDLES: &[libc::c_long] = &[libc::SYS_open_by_handle_at];

/// System V shared memory belongs to the user and not to a path: the segments of the desktop's
/// windows are among it. POSIX shared memory is files and falls under the path rules.
const SHARED_MEMORY: &[libc::c_long] = &[libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl];

/// Answered with ENOSYS where there is no IPC namespace: queues and semaphores (sysvipc(7),
/// mq_overview(7)) are named by numbers or a list of the machine, outlive who made them, and their
/// number and memory are those of everybody on it.
pub(crate) const QUEUES: &[libc::c_long] = &[
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: &[libc::c_long] = &[
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_uselib,
];

#[cfg(not(target_arch = "x86_64"))]
const ARCHITECTURE: &[libc::c_long] = &[];

/// What changes files, their names or what is known of them, apart from writing to one that is open.
pub(crate) const CHANGES: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_creat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rename,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_link,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_symlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mkdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_mknod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_truncate,
    libc::SYS_ftruncate,
    libc::SYS_fallocate,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_linkat,
    libc::SYS_symlinkat,
    libc::SYS_unlinkat,
    libc::SYS_mkdirat,
    libc::SYS_mknodat,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Calls of Linux 6.6, 6.13 and 6.17, one number on all architectures.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// What sends a signal, also to the program itself: which process is meant cannot be told before
/// there is one.
pub(crate) const SIGNALS: &[libc::c_long] = &[
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_send_signal,
];
