//! Keeps one daemon running.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::Signal;
use openclaw_config::{Environment, Paths};
use openclaw_settings::LogLevel;
use openclaw_terminal::failure;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use crate::backoff::Backoff;
use crate::child;
use crate::daemon::Daemon;
use crate::log::Log;
use crate::notify::NotifySocket;
use crate::sockets::Sockets;

/// How long the last lines of a daemon that ended are waited for. Its stderr
/// may have been inherited by something that lives on.
const LAST_LINES: Duration = Duration::from_secs(1);

/// What a daemon's task is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// Read the configuration again.
    Reload,
    /// End, in good order.
    Stop,
    /// End now.
    Kill,
}

/// What a daemon's task tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum News {
    /// The daemon can serve.
    Ready(Daemon),
    /// It says that starting again is of no use; its exit code.
    Refused(Daemon, u8),
    /// It has ended for good.
    Ended(Daemon),
}

/// What the tasks of all daemons need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Suite<'a> {
    pub(crate) paths: &'a Paths,
    pub(crate) environment: &'a Environment,
    pub(crate) sockets: &'a Sockets,
    pub(crate) log: &'a Log,
}

impl Suite<'_> {
    /// Makes this program's own log follow a level that was changed; with a
    /// configuration that cannot be used it stays.
    fn follow_level(&self) {
        if let Ok(settings) = openclaw_settings::load_usable(self.environment) {
            self.log.set_level(settings.log_level);
        }
    }
}

/// Keeps one daemon running.
pub(crate) struct DaemonTask<'a> {
    daemon: Daemon,
    suite: Suite<'a>,
    notify: NotifySocket,
    orders: mpsc::Receiver<Order>,
    news: mpsc::Sender<News>,
    stopping: bool,
    /// Whether the last life of the daemon got as far as to serve.
    was_ready: bool,
}

enum End {
    Asked,
    Refused(u8),
    Died(String),
}

impl<'a> DaemonTask<'a> {
    /// For `daemon`, which is started by [`DaemonTask::keep`].
    pub(crate) fn new(
        daemon: Daemon,
        suite: Suite<'a>,
        orders: mpsc::Receiver<Order>,
        news: mpsc::Sender<News>,
    ) -> io::Result<Self> {
        let name = format!("{}.notify", daemon.name());
        Ok(Self {
            daemon,
            suite,
            notify: NotifySocket::bind(suite.paths.runtime.join(name))?,
            orders,
            news,
            stopping: false,
            was_ready: false,
        })
    }

    /// Starts the daemon, again and again, until it is told to end.
    pub(crate) async fn keep(mut self) {
        let mut backoff = Backoff::new();
        loop {
            let how = match self.live().await {
                End::Asked => break,
                End::Refused(code) => {
                    self.tell(News::Refused(self.daemon, code)).await;
                    break;
                }
                End::Died(how) => how,
            };
            let wait = backoff.after(self.was_ready, Instant::now());
            self.say(
                LogLevel::Warn,
                &format!("{how}, starting it again in {} ms", wait.as_millis()),
            );
            if self.is_told_to_end_within(wait).await {
                break;
            }
        }
        self.tell(News::Ended(self.daemon)).await;
    }

    /// One life of the daemon.
    async fn live(&mut self) -> End {
        self.was_ready = false;
        let suite = self.suite;
        let started = match suite.sockets.hand_over(self.daemon) {
            Ok(sockets) => child::start(
                self.daemon,
                suite.paths,
                suite.environment,
                sockets,
                &self.notify,
            ),
            Err(error) => Err(anyhow::Error::new(error)
                .context("cannot pass the sockets")
                .into()),
        };
        let mut child = match started {
            Ok(child) => child,
            Err(failure) => return End::Died(failure.text()),
        };
        let log = suite.log.clone();
        let lines = child
            .stderr
            .take()
            .map(|stderr| tokio::spawn(log.forward(self.daemon.name(), stderr)));
        let status = self.attend(&mut child).await;
        if let Some(lines) = lines {
            // What comes later is lost; the daemon itself has ended.
            let _ = timeout(LAST_LINES, lines).await;
        }
        self.judge(status)
    }

    /// Obeys and listens until the daemon has ended.
    async fn attend(&mut self, child: &mut Child) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                status = child.wait() => return status,
                Ok(()) = self.notify.ready() => {
                    // It has read the configuration anew.
                    if self.was_ready {
                        self.suite.follow_level();
                    }
                    self.was_ready = true;
                    self.say(LogLevel::Info, "ready");
                    self.tell(News::Ready(self.daemon)).await;
                }
                Some(order) = self.orders.recv() => match order {
                    // Before that it has no handler and would be killed.
                    Order::Reload if self.was_ready => child::send(child, Signal::SIGHUP),
                    Order::Reload => {}
                    Order::Stop => {
                        self.stopping = true;
                        child::send(child, Signal::SIGTERM);
                    }
                    Order::Kill => {
                        self.stopping = true;
                        child::send(child, Signal::SIGKILL);
                    }
                },
            }
        }
    }

    fn judge(&self, status: io::Result<ExitStatus>) -> End {
        let how = match status {
            _ if self.stopping => return End::Asked,
            Err(error) => format!("it cannot be waited for: {error}"),
            Ok(status) => match (status.code(), status.signal()) {
                (Some(code), _) if is_final(code) => return End::Refused(code as u8),
                (Some(code), _) => format!("ended with exit code {code}"),
                (None, Some(signal)) => format!("was killed by signal {signal}"),
                (None, None) => format!("ended: {status}"),
            },
        };
        End::Died(how)
    }

    async fn is_told_to_end_within(&mut self, wait: Duration) -> bool {
        let end = async {
            while let Some(order) = self.orders.recv().await {
                if order != Order::Reload {
                    return;
                }
            }
        };
        tokio::select! {
            () = end => true,
            () = sleep(wait) => false,
        }
    }

    fn say(&self, level: LogLevel, what: &str) {
        self.suite
            .log
            .own(level, &format!("{}: {what}", self.daemon.name()));
    }

    async fn tell(&self, news: News) {
        // The supervisor listens for as long as its tasks are there.
        let _ = self.news.send(news).await;
    }
}

/// Whether starting again would end the same way (sysexits.h).
pub(crate) fn is_final(code: i32) -> bool {
    [failure::CONFIG, failure::USAGE, failure::HELD]
        .into_iter()
        .any(|last| code == i32::from(last))
}
