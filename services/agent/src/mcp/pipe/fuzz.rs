//! What the runner may answer through the pipe.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;

use super::*;
use crate::fuzz::runtime;

/// Calls that wait.
const CALLS: u64 = 4;

/// Any bytes of answers. Who waits hears the first answer under their id, if
/// there is one before the pipe breaks, or else of the break.
pub fn pipe_answers(bytes: &[u8]) {
    let (mut calls, waiting) = (Vec::new(), Waiting::default());
    for id in 0..CALLS {
        let (answer, answered) = oneshot::channel();
        lock(&waiting).insert(id, answer);
        calls.push(answered);
    }
    runtime().block_on(async {
        let (receiver, sender) = nix::unistd::pipe().expect("a pipe");
        let receiver = nonblocking(receiver);
        let mut sender = File::from(sender);
        sender.write_all(bytes).expect("it has room");
        drop(sender);
        read_all(BufReader::new(receiver), waiting, Arc::default()).await;
    });
    for (id, mut call) in (0..CALLS).zip(calls) {
        let heard = call.try_recv().ok().map(|answer| format!("{answer:?}"));
        assert_eq!(heard, first(bytes, id));
    }
}

fn nonblocking(end: OwnedFd) -> Receiver {
    let receiver = Receiver::from_owned_fd(end);
    receiver.expect("the reading end of a pipe")
}

/// The first answer under `id`.
fn first(bytes: &[u8], id: u64) -> Option<String> {
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.filter(|line| line.ends_with(b"\n"));
    let said = lines.filter_map(|line| serde_json::from_slice::<HostLine>(line).ok());
    let mut answers = said.filter_map(|said| match said {
        HostLine::Answer { id: to, answer } if to == id => Some(answer),
        _ => None,
    });
    Some(format!("{:?}", answers.next()?))
}
