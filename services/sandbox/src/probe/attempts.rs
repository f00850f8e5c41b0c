//! What each check does.

use std::ffi::{CStr, CString};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::net::TcpListener;
use std::os::fd::{OwnedFd, RawFd};
use std::path::Path;

use nix::errno::Errno;
use nix::fcntl::AtFlags;
use nix::libc;
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket, socketpair};
use nix::unistd::{
    ForkResult, Pid, execve, execveat, getpid, getppid, pause, pipe, setsid, truncate, write,
};

use super::Part;
use super::apart::{own_network, own_processes, own_root};
use super::connecting::door_addresses;
use super::scene::Scene;
use super::trial::{Attempt, PRIVILEGE_DROP, Verdict, enforced, failed, readable, unavailable};
use crate::failure::{StepError, io as in_io, system};
use crate::plan::{Limits, Network};
use crate::valid::Tcp;
use crate::{capabilities, descriptors, filter, ids, limits, paths, sys, tree, view};

/// A program that is everywhere, and is not executed in fact.
const HARMLESS: &str = "/bin/true";

/// For a process to die after its parent did.
const DEATH_MILLISECONDS: u16 = 2000;

type Outcome = Result<Verdict, StepError>;

/// Every check, in the order of the steps.
pub(super) const ALL: &[Attempt] = &[
    plain("tree_ended", tree_ended),
    plain("rlimits", rlimits),
    for_root(Part::Workspace, "home_hidden", home_hidden),
    for_root(Part::Base, PRIVILEGE_DROP, privilege_drop),
    plain("capabilities_empty", capabilities_empty),
    plain("parent_death", parent_death),
    plain("no_new_privs", no_new_privs),
    landlock("landlock", 1, in_force),
    landlock("landlock_outside_write", 1, outside_write),
    landlock("landlock_outside_read", 1, outside_read),
    of(Part::PathRules, "outside_truncate", outside_truncate),
    landlock("landlock_tcp", 4, landlock_tcp),
    of(Part::Workspace, "door_addresses", door_addresses),
    landlock("signal_scope", 6, signal_scope),
    plain("seccomp", seccomp),
    plain("af_unix", af_unix),
    plain("datagram_pair", datagram_pair),
    plain("network", network),
    plain("io_uring", io_uring),
    plain("namespaces", namespaces),
    plain("kill_all", kill_all),
    plain("foreign_calls", foreign_calls),
    of(Part::Namespaces, "own_root", own_root),
    of(Part::Namespaces, "own_processes", own_processes),
    of(Part::Namespaces, "own_network", own_network),
    of(Part::Text, "no_commands", no_commands),
    of(Part::Text, "no_changes", no_changes),
];

const fn plain(name: &'static str, run: fn(&Scene) -> Outcome) -> Attempt {
    of(Part::Base, name, run)
}

const fn for_root(part: Part, name: &'static str, run: fn(&Scene) -> Outcome) -> Attempt {
    Attempt {
        root: true,
        ..of(part, name, run)
    }
}

const fn landlock(name: &'static str, abi: i32, run: fn(&Scene) -> Outcome) -> Attempt {
    Attempt {
        abi,
        ..of(Part::PathRules, name, run)
    }
}

const fn of(part: Part, name: &'static str, run: fn(&Scene) -> Outcome) -> Attempt {
    Attempt {
        name,
        abi: 0,
        root: false,
        part,
        run,
    }
}

/// Enforced when the answer is exactly the refusal expected: another error could be luck.
fn refused<T>(what: &str, answer: Result<T, Errno>, expected: Errno) -> Outcome {
    Ok(match answer {
        Err(error) if error == expected => enforced(format!("{what}: {expected}")),
        Err(error) => failed(format!("{what}: {error}, expected {expected}")),
        Ok(_) => failed(format!("{what}: permitted")),
    })
}

fn errno<T>(answer: io::Result<T>) -> Result<T, Errno> {
    answer.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(0)))
}

fn path_rules(scene: &Scene) -> Result<i32, StepError> {
    prctl::set_no_new_privs().map_err(system("set", "no_new_privs"))?;
    paths::apply(&scene.grants(), &Tcp::Refused)
}

fn filtered(scene: &Scene) -> Result<(), StepError> {
    let programs = filter::programs(&Network::ModelOnly, false, scene.abi);
    let programs = programs.map_err(seccompiler::Error::from)?;
    prctl::set_no_new_privs().map_err(system("set", "no_new_privs"))?;
    filter::apply(&programs)
}

fn status_line(name: &str) -> Result<String, StepError> {
    const STATUS: &str = "/proc/self/status";
    let text = fs::read_to_string(STATUS).map_err(in_io("read", STATUS))?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let value = lines.find(|(key, _)| *key == name);
    Ok(value
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default())
}

fn tree_ended(_: &Scene) -> Outcome {
    // A process in another session whose parent is gone, as daemons are.
    let alive = orphan(|| setsid().map(drop))?;
    let all = tree::end_all(|_| {});
    Ok(if all && readable(&alive, DEATH_MILLISECONDS) {
        enforced("an orphan in another session was found and ended")
    } else {
        failed("an orphan in another session outlived the turn")
    })
}

fn parent_death(_: &Scene) -> Outcome {
    let alive = orphan(|| prctl::set_pdeathsig(Signal::SIGKILL))?;
    let died = readable(&alive, DEATH_MILLISECONDS);
    tree::end_all(|_| {});
    Ok(if died {
        enforced("a child ended with its killed parent")
    } else {
        failed("a child outlived its killed parent")
    })
}

/// Starts a process that prepares itself and waits forever, and kills the one between. The
/// descriptor reads end-of-file when it is gone.
fn orphan(prepare: fn() -> Result<(), Errno>) -> Result<OwnedFd, StepError> {
    let failed = system("start", "orphan");
    prctl::set_child_subreaper(true).map_err(&failed)?;
    let (alive, held) = pipe().map_err(&failed)?;
    let (ready, tell) = pipe().map_err(&failed)?;
    if let ForkResult::Child = sys::fork().map_err(&failed)? {
        if let Ok(ForkResult::Child) = sys::fork() {
            let _ = prepare();
            let _ = write(&tell, b"x");
            drop(tell);
            pause();
            sys::leave();
        }
        readable(&ready, DEATH_MILLISECONDS);
        let _ = kill(getpid(), Signal::SIGKILL);
        sys::leave();
    }
    drop((held, tell));
    readable(&ready, DEATH_MILLISECONDS);
    Ok(alive)
}

fn rlimits(_: &Scene) -> Outcome {
    const OPEN_FILES: u64 = 32;
    let wanted = Limits {
        open_files: Some(OPEN_FILES),
        ..Limits::default()
    };
    limits::apply(&wanted, false)?;
    let read = |resource| getrlimit(resource).map_err(system("read", "limit"));
    if read(Resource::RLIMIT_CORE)? != (0, 0) {
        return Ok(failed("core dumps are possible"));
    }
    let mut held = Vec::new();
    let answer = loop {
        match errno(File::open("/dev/null")) {
            Ok(file) if held.len() as u64 <= OPEN_FILES => held.push(file),
            other => break other,
        }
    };
    refused("one open file too many", answer, Errno::EMFILE)
}

fn home_hidden(scene: &Scene) -> Outcome {
    let Some(identity) = &scene.identity else {
        return Ok(unavailable("not root"));
    };
    view::apply(&[scene.home()], &scene.grants(), identity)?;
    ids::give_up(identity)?;
    let inside = scene.granted().join("file");
    fs::write(&inside, "x").map_err(in_io("write", inside.display()))?;
    refused(
        "read a file of the home",
        errno(fs::read(scene.secret())),
        Errno::ENOENT,
    )
}

fn privilege_drop(scene: &Scene) -> Outcome {
    let Some(identity) = &scene.identity else {
        return Ok(unavailable("not root"));
    };
    capabilities::drop_bounding()?;
    ids::give_up(identity)?;
    Ok(if capabilities::bounding_is_empty() {
        enforced(format!("became {} for good", identity.name))
    } else {
        enforced(format!(
            "became {} for good; the bounding set stayed",
            identity.name
        ))
    })
}

fn capabilities_empty(_: &Scene) -> Outcome {
    capabilities::drop_bounding()?;
    capabilities::clear()?;
    for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
        let value = status_line(set)?;
        if !value.starts_with('0') || !value.trim_matches('0').is_empty() {
            return Ok(failed(format!("{set} is {value}")));
        }
    }
    Ok(enforced(
        "inheritable, permitted, effective and ambient sets are empty",
    ))
}

fn no_new_privs(_: &Scene) -> Outcome {
    prctl::set_no_new_privs().map_err(system("set", "no_new_privs"))?;
    Ok(match status_line("NoNewPrivs")?.as_str() {
        "1" => enforced("set, and inherited by everything started"),
        other => failed(format!("NoNewPrivs is {other:?}")),
    })
}

fn in_force(scene: &Scene) -> Outcome {
    let version = path_rules(scene)?;
    let inside = scene.workspace().join("file");
    fs::write(&inside, "x").map_err(in_io("write", inside.display()))?;
    Ok(enforced(format!(
        "version {version}; the workspace is writable"
    )))
}

fn outside_write(scene: &Scene) -> Outcome {
    path_rules(scene)?;
    let opened = OpenOptions::new().append(true).open(scene.outside());
    refused("write outside the workspace", errno(opened), Errno::EACCES)
}

fn outside_read(scene: &Scene) -> Outcome {
    path_rules(scene)?;
    let read = errno(fs::read(scene.outside()));
    refused("read outside the workspace", read, Errno::EACCES)
}

fn outside_truncate(scene: &Scene) -> Outcome {
    path_rules(scene)?;
    filtered(scene)?;
    match truncate(&scene.outside(), 0) {
        Err(error @ (Errno::EACCES | Errno::EPERM)) => Ok(enforced(format!(
            "empty a file outside the workspace: {error}"
        ))),
        other => refused("empty a file outside the workspace", other, Errno::EACCES),
    }
}

fn landlock_tcp(scene: &Scene) -> Outcome {
    path_rules(scene)?;
    let listener = errno(TcpListener::bind(("127.0.0.1", 0)));
    refused("listen on a TCP port", listener, Errno::EACCES)
}

/// The highest descriptor of a program that may execute nothing else.
const ONLY_PROGRAM: RawFd = 63;

/// Confines as level text does, and opens the only program.
fn text(scene: &Scene) -> Result<OwnedFd, StepError> {
    let only = descriptors::only_program(Path::new(HARMLESS), ONLY_PROGRAM)?;
    filtered(scene)?;
    let programs = filter::text(ONLY_PROGRAM).map_err(seccompiler::Error::from)?;
    filter::apply(&programs)?;
    Ok(only)
}

fn no_commands(scene: &Scene) -> Outcome {
    let arguments = [c"probe"];
    let nothing: [&CStr; 0] = [];
    let only = text(scene)?;
    let other = only.try_clone().map_err(in_io("copy", "descriptor"))?;
    let by_descriptor =
        |of: &OwnedFd| execveat(of, c"", &arguments, &nothing, AtFlags::AT_EMPTY_PATH);
    if let Err(error) = by_descriptor(&other)
        && error != Errno::EPERM
    {
        return Ok(failed(format!(
            "execute through another descriptor: {error}"
        )));
    }
    let path = CString::new(HARMLESS).unwrap_or_default();
    refused(
        "execute a program",
        execve(&path, &arguments, &nothing),
        Errno::EPERM,
    )
}

fn no_changes(scene: &Scene) -> Outcome {
    let inside = scene.granted().join("file");
    fs::write(&inside, "x").map_err(in_io("write", inside.display()))?;
    text(scene)?;
    for (what, answer) in [
        (
            "open a file for writing",
            errno(File::create(&inside)).map(drop),
        ),
        ("remove a file", errno(fs::remove_file(&inside))),
        ("empty a file", truncate(&inside, 0)),
    ] {
        if answer != Err(Errno::EPERM) {
            return refused(what, answer, Errno::EPERM);
        }
    }
    errno(fs::read(&inside)).map_err(system("read", inside.display()))?;
    Ok(enforced(
        "a file of its own can be neither written nor removed",
    ))
}

fn signal_scope(scene: &Scene) -> Outcome {
    path_rules(scene)?;
    let answer = kill(scene.prober, None);
    refused("signal a process outside", answer, Errno::EPERM)
}

fn seccomp(scene: &Scene) -> Outcome {
    filtered(scene)?;
    Ok(match status_line("Seccomp")?.as_str() {
        "2" => enforced("the filter is in force"),
        other => failed(format!("Seccomp is {other:?}")),
    })
}

fn make_socket(family: AddressFamily) -> Result<OwnedFd, Errno> {
    socket(family, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)
}

fn af_unix(scene: &Scene) -> Outcome {
    filtered(scene)?;
    refused(
        "make a Unix socket",
        make_socket(AddressFamily::Unix),
        Errno::EPERM,
    )
}

fn datagram_pair(scene: &Scene) -> Outcome {
    filtered(scene)?;
    let pair = |kind| socketpair(AddressFamily::Unix, kind, None, SockFlag::SOCK_CLOEXEC);
    pair(SockType::Stream).map_err(system("make", "stream pair"))?;
    refused(
        "make a datagram pair",
        pair(SockType::Datagram),
        Errno::EPERM,
    )
}

fn network(scene: &Scene) -> Outcome {
    filtered(scene)?;
    let answer = make_socket(AddressFamily::Inet).or_else(|_| make_socket(AddressFamily::Inet6));
    refused("make an internet socket", answer, Errno::EPERM)
}

fn io_uring(scene: &Scene) -> Outcome {
    filtered(scene)?;
    let answer = sys::answer(libc::SYS_io_uring_setup, [0; 3]);
    refused("set up io_uring", answer, Errno::ENOSYS)
}

fn namespaces(scene: &Scene) -> Outcome {
    filtered(scene)?;
    let answer = unshare(CloneFlags::CLONE_NEWUSER);
    refused("make a user namespace", answer, Errno::EPERM)
}

fn kill_all(scene: &Scene) -> Outcome {
    filtered(scene)?;
    // Signal 0 only asks whether it may be sent.
    kill(getppid(), None).map_err(system("signal", "one process"))?;
    refused(
        "signal every process",
        kill(Pid::from_raw(-1), None),
        Errno::EPERM,
    )
}

/// In a process of its own: a filter of the unit that this runs in may end it
/// (`SystemCallArchitectures=`), which refuses as well as ours.
#[cfg(target_arch = "x86_64")]
fn foreign_calls(scene: &Scene) -> Outcome {
    use super::trial::{listen, tell};
    use nix::sys::wait::{WaitStatus, waitpid};

    const X32_GETPID: i64 = 0x4000_0000 + libc::SYS_getpid;
    filtered(scene)?;
    let (reader, writer) = pipe().map_err(system("make", "pipe"))?;
    match sys::fork().map_err(system("fork", "caller"))? {
        ForkResult::Child => {
            drop(reader);
            let answer = sys::answer(X32_GETPID, [0; 3]);
            let found = refused("call through the x32 table", answer, Errno::EPERM);
            if let Ok(found) = found {
                tell(writer, &found);
            }
            sys::leave();
        }
        ForkResult::Parent { child } => {
            drop(writer);
            Ok(match waitpid(child, None) {
                Ok(WaitStatus::Signaled(_, Signal::SIGSYS, _)) => {
                    enforced("call through the x32 table: ends the process")
                }
                _ => listen(reader),
            })
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn foreign_calls(_: &Scene) -> Outcome {
    Ok(unavailable(
        "this architecture has one table of system calls",
    ))
}
