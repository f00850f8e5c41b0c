//! Commands: how they are started, and what they print.

mod capture;
mod group;
mod live;
mod report;
mod spill;
mod start;

use std::pin::pin;
use std::time::Duration;

use tokio::process::Child;
use tokio::time::{Instant, timeout, timeout_at};

use capture::{Capture, pump};

pub(super) use group::ProcessGroup;
pub(super) use live::Live;
pub(super) use report::{End, Report};
pub(super) use spill::{MAX_BYTES, Spill};
pub(super) use start::{CommandLine, Streams, Variables, check, start, start_on_terminal};

/// How long output is still read after the shell itself is gone: a process it
/// left in the background may hold the pipes open for good.
pub(super) const DRAIN_GRACE: Duration = Duration::from_millis(200);

/// Collects output until the shell ends or `deadline`. Processes it left in
/// the background live on until the turn ends; their output is no longer read.
pub(super) async fn follow(
    mut child: Child,
    deadline: Instant,
    live: &Live,
) -> std::io::Result<Report> {
    let group = ProcessGroup::of(&child);
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (mut stdout, mut stderr) = (Capture::named("stdout"), Capture::named("stderr"));
    let (end, held_open) = {
        let mut pumps = pin!(async {
            tokio::join!(pump(out, &mut stdout, live), pump(err, &mut stderr, live));
        });
        let mut drained = false;
        let in_time = timeout_at(deadline, async {
            tokio::select! {
                status = child.wait() => status,
                () = &mut pumps => { drained = true; child.wait().await }
            }
        })
        .await;
        let end = match in_time {
            Ok(status) => End::Status(status?),
            Err(_) => {
                group.kill();
                child.wait().await?;
                End::TimedOut
            }
        };
        let held_open = !drained && timeout(DRAIN_GRACE, pumps).await.is_err();
        (end, held_open)
    };
    group.release();
    Ok(Report {
        end,
        stdout,
        stderr,
        held_open,
    })
}
