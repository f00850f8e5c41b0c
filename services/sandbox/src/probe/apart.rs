//! The checks of level strict: namespaces of the turn's own.

use std::fs;
use std::path::Path;

use nix::unistd::{ForkResult, pipe};

use super::scene::Scene;
use super::trial::{Verdict, enforced, failed, listen, tell};
use crate::failure::{Failure, StepError, io as in_io, system};
use crate::{doors, namespaces, root, sys};

/// What must not be there: other people's files, sockets of daemons, control groups.
const UNSEEN: [&str; 6] = [
    "/home",
    "/root",
    "/run/user",
    "/run/dbus",
    "/sys/fs/cgroup",
    "/var",
];

type Outcome = Result<Verdict, StepError>;

pub(super) fn own_root(scene: &Scene) -> Outcome {
    within(scene, |scene| {
        let inside = scene.workspace().join("file");
        fs::write(&inside, "x").map_err(in_io("write", inside.display()))?;
        let outside = scene.outside();
        let seen = UNSEEN.iter().map(Path::new).chain([outside.as_path()]);
        let seen: Vec<_> = seen
            .filter(|path| path.exists() && !inside.starts_with(path))
            .map(|path| path.display().to_string())
            .collect();
        Ok(if seen.is_empty() {
            enforced("only what is granted is there; the workspace is writable")
        } else {
            failed(format!("there is {}", seen.join(", ")))
        })
    })
}

pub(super) fn own_processes(scene: &Scene) -> Outcome {
    within(scene, |_| {
        let entries = fs::read_dir("/proc").map_err(in_io("list", "/proc"))?;
        let numbers = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let others = numbers.filter(|pid| *pid != 1).count();
        Ok(match others {
            0 => enforced("no process but the turn's can be seen, signalled or traced"),
            _ => failed(format!("{others} other processes are in /proc")),
        })
    })
}

pub(super) fn own_network(scene: &Scene) -> Outcome {
    within(scene, |_| {
        const INTERFACES: &str = "/proc/net/dev";
        const ROUTES: &str = "/proc/net/route";
        let read = |path: &'static str| fs::read_to_string(path).map_err(in_io("read", path));
        // Two lines of headings, and one.
        let interfaces = read(INTERFACES)?;
        let others = interfaces.lines().skip(2);
        let others = others.filter(|line| !line.trim_start().starts_with("lo:"));
        let routes = read(ROUTES)?.lines().skip(1).count();
        Ok(match (others.count(), routes) {
            (0, 0) => enforced("a loopback of its own, and no way out"),
            _ => failed("there are interfaces or routes beside the loopback"),
        })
    })
}

/// Does the check in the namespaces and the root of a turn of level strict.
fn within(scene: &Scene, check: fn(&Scene) -> Outcome) -> Outcome {
    namespaces::enter_processes()?;
    let (reader, writer) = pipe().map_err(system("make", "pipe"))?;
    match sys::fork().map_err(system("fork", "first process"))? {
        ForkResult::Child => {
            drop(reader);
            let found = enter(scene).and_then(|()| check(scene));
            let found =
                found.unwrap_or_else(|error| failed(Failure::new("namespaces", &error).message));
            tell(writer, &found);
            sys::leave();
        }
        ForkResult::Parent { .. } => {
            drop(writer);
            Ok(listen(reader))
        }
    }
}

fn enter(scene: &Scene) -> Result<(), StepError> {
    namespaces::enter_others(true)?;
    doors::open(&[], None)?;
    root::enter(&scene.grants(), None).map(drop)
}
