//! A machine that gives less: for whatever is started on it calls of the system
//! are refused, as filters of containers and kernels without a feature do.

use std::collections::BTreeMap;
use std::panic::resume_unwind;

use nix::libc;
use nix::sys::prctl;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

/// What a machine does not give.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Namespaces and mounts, to users and root alike.
    Namespaces,
    /// Landlock.
    Landlock,
}

impl Lack {
    /// What is refused, and with which error.
    fn refused(self) -> (&'static [i64], i32) {
        match self {
            Self::Namespaces => (
                &[
                    libc::SYS_unshare,
                    libc::SYS_setns,
                    libc::SYS_mount,
                    libc::SYS_umount2,
                    libc::SYS_pivot_root,
                ],
                libc::EPERM,
            ),
            Self::Landlock => (
                &[
                    libc::SYS_landlock_create_ruleset,
                    libc::SYS_landlock_add_rule,
                    libc::SYS_landlock_restrict_self,
                ],
                libc::ENOSYS,
            ),
        }
    }

    /// Takes it from this thread and what that starts.
    fn apply(self) {
        let (calls, error) = self.refused();
        let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
        let arch = std::env::consts::ARCH.try_into().expect("a filter for it");
        let errno = SeccompAction::Errno(error.unsigned_abs());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch);
        let program: BpfProgram = filter.expect("a filter").try_into().expect("it compiles");
        apply_filter(&program).expect("take the filter");
    }
}

/// Does `work` on a machine that lacks this.
pub fn without<W>(lacks: &[Lack], work: impl FnOnce() -> W + Send + 'static)
where
    W: Future<Output = ()>,
{
    let lacks = lacks.to_vec();
    // A filter binds the thread that takes it and what it starts, so one thread does everything.
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        prctl::set_no_new_privs().expect("no_new_privs");
        lacks.into_iter().for_each(Lack::apply);
        runtime.block_on(work());
    });
    if let Err(panic) = thread.join() {
        resume_unwind(panic);
    }
}
