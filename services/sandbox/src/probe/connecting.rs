//! The check that connections lead to a turn's doors and nowhere else.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;

use nix::errno::Errno;
use nix::sys::prctl;
use nix::unistd::{ForkResult, pipe};

use super::scene::Scene;
use super::trial::{Verdict, enforced, failed, listen, tell, unavailable};
use crate::connections::Doors;
use crate::failure::{Failure, StepError, io as in_io, system};
use crate::{child, doors, filter, ids, sys};

type Outcome = Result<Verdict, StepError>;

/// Another address of the loopback.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

pub(super) fn door_addresses(scene: &Scene) -> Outcome {
    // At every address, so that only the confinement keeps from the others.
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0));
    let listener = listener.map_err(in_io("listen on", "a free port"))?;
    let port = listener.local_addr().map_err(in_io("look at", "port"))?;
    let port = port.port();
    let (ours, theirs) = doors::pair().map_err(in_io("make", "line for connections"))?;
    let (reader, writer) = pipe().map_err(system("make", "pipe"))?;
    match sys::fork().map_err(system("fork", "agent"))? {
        ForkResult::Child => {
            drop((reader, ours));
            let found = attempt(scene, &theirs, port);
            let found =
                found.unwrap_or_else(|error| unavailable(Failure::new("ask", &error).message));
            tell(writer, &found);
            sys::leave();
        }
        ForkResult::Parent { .. } => {
            drop((writer, theirs));
            let attended = Doors::new(&[port], scene.identity.as_ref()).attend(ours);
            attended.map_err(in_io("start", "supervisor of connections"))?;
            Ok(listen(reader))
        }
    }
}

/// What an agent does. A step that cannot be made leaves the machine without this confinement.
fn attempt(scene: &Scene, line: &OwnedFd, port: u16) -> Outcome {
    if let Some(identity) = &scene.identity {
        ids::give_up(identity)?;
        // As execve leaves it, which a turn's process goes through.
        prctl::set_dumpable(true).map_err(system("show", "memory"))?;
    }
    prctl::set_no_new_privs().map_err(system("set", "no_new_privs"))?;
    let asking = filter::asking(false).map_err(seccompiler::Error::from)?;
    child::ask(&asking, line)?;
    let door = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    if let Err(error) = TcpStream::connect(door) {
        return Ok(unavailable(format!("connect to a door: {error}")));
    }
    let elsewhere = TcpStream::connect((ELSEWHERE, port));
    Ok(match refusal(elsewhere) {
        Some(Errno::EACCES) => enforced(format!("connect to {ELSEWHERE}: {}", Errno::EACCES)),
        Some(error) => failed(format!("connect to {ELSEWHERE}: {error}")),
        None => failed(format!("connect to {ELSEWHERE}: permitted")),
    })
}

fn refusal(answer: io::Result<TcpStream>) -> Option<Errno> {
    let number = answer.err()?.raw_os_error();
    Some(Errno::from_raw(number.unwrap_or_default()))
}
