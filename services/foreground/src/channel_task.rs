//! Keeps the channel daemon of one account running. It has no part in whether the
//! suite runs: one that cannot is told, and left until the configuration changes.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_config::{Environment, Paths};
use openclaw_settings::LogLevel;
use openclaw_terminal::Failure;
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::account::Account;
use crate::backoff::Backoff;
use crate::child;
use crate::daemon_task::is_final;
use crate::log::Log;
use crate::notify::NotifySocket;

/// How long it may take to end; what it has not said by then is said at its next
/// start.
const END_DEADLINE: Duration = Duration::from_secs(5);
/// How long the last lines of a daemon that ended are waited for.
const LAST_LINES: Duration = Duration::from_secs(1);

/// What the task of an account needs.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) paths: Paths,
    pub(crate) environment: Environment,
    pub(crate) log: Log,
}

enum End {
    Asked,
    /// It is not to be started again: why, and whether that may be otherwise soon.
    Over(String, Ended),
    Died(String),
}

/// How the daemon of an account came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Starting it again would end the same way, or it is not wanted any more.
    ForGood,
    /// The gateway let it go, which may not have read yet what the configuration says.
    LetGo,
}

/// Starts the daemon of `account`, again and again, until `stop` is true or it is
/// over.
pub(crate) async fn keep(account: Account, place: Place, mut stop: watch::Receiver<bool>) -> Ended {
    let say = |level, what: &str| {
        let name = account.shown();
        place.log.own(level, &format!("{name}: {what}"));
    };
    let own = account.argument().unwrap_or_default();
    let name = format!("{}-{own}.notify", account.channel);
    let notify = match NotifySocket::bind(place.paths.runtime.join(name)) {
        Ok(notify) => notify,
        Err(error) => {
            say(
                LogLevel::Error,
                &format!("cannot listen to its news: {error}"),
            );
            return Ended::ForGood;
        }
    };
    let mut backoff = Backoff::new();
    loop {
        let mut was_ready = false;
        let ready = || say(LogLevel::Info, "ready");
        let how = match live(&account, &place, &notify, &mut stop, &mut was_ready, ready).await {
            End::Asked => return Ended::ForGood,
            End::Over(why, ended) => {
                say(
                    LogLevel::Warn,
                    &format!("{why}; the suite goes on without it"),
                );
                return ended;
            }
            End::Died(how) => how,
        };
        let wait = backoff.after(was_ready, Instant::now());
        let text = format!("{how}, starting it again in {} ms", wait.as_millis());
        say(LogLevel::Warn, &text);
        tokio::select! {
            () = told_to_end(&mut stop) => return Ended::ForGood,
            () = sleep(wait) => {}
        }
    }
}

/// One life of the daemon.
async fn live(
    account: &Account,
    place: &Place,
    notify: &NotifySocket,
    stop: &mut watch::Receiver<bool>,
    was_ready: &mut bool,
    ready: impl Fn(),
) -> End {
    let mut child = match child::start_channel(account, &place.environment, notify) {
        Ok(child) => child,
        Err(failure) => return End::Died(Failure::text(&failure)),
    };
    let log = place.log.clone();
    let lines = child
        .stderr
        .take()
        .map(|stderr| tokio::spawn(log.forward(account.shown(), stderr)));
    let status = loop {
        tokio::select! {
            status = child.wait() => break Some(status),
            () = told_to_end(stop) => {
                end(&mut child).await;
                break None;
            }
            Ok(()) = notify.ready() => {
                *was_ready = true;
                ready();
            }
        }
    };
    if let Some(lines) = lines {
        // What comes later is lost; the daemon itself has ended.
        let _ = timeout(LAST_LINES, lines).await;
    }
    status.map_or(End::Asked, judge)
}

async fn told_to_end(stop: &mut watch::Receiver<bool>) {
    // Nobody is left to tell it when the sender is gone.
    drop(stop.wait_for(|stop| *stop).await);
}

async fn end(child: &mut Child) {
    child::send(child, Signal::SIGTERM);
    if timeout(END_DEADLINE, child.wait()).await.is_err() {
        child::send(child, Signal::SIGKILL);
        let _ = child.wait().await;
    }
}

fn judge(status: io::Result<ExitStatus>) -> End {
    let status = match status {
        Ok(status) => status,
        Err(error) => return End::Died(format!("it cannot be waited for: {error}")),
    };
    match (status.code(), status.signal()) {
        (Some(0), _) => {
            let why = "it has ended, as the gateway told it".to_owned();
            End::Over(why, Ended::LetGo)
        }
        (Some(code), _) if is_final(code) => {
            let why = format!("it cannot run as it is set up (exit code {code})");
            End::Over(why, Ended::ForGood)
        }
        (Some(code), _) => End::Died(format!("ended with exit code {code}")),
        (None, Some(signal)) => End::Died(format!("was killed by signal {signal}")),
        (None, None) => End::Died(format!("ended: {status}")),
    }
}
