//! Keeps the daemons running until a signal or one of them ends it all.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_settings::LogLevel;
use openclaw_terminal::{Failure, output};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use crate::channels::Channels;
use crate::daemon::{Daemon, STOP_DEADLINE};
use crate::daemon_task::{DaemonTask, News, Order, Suite};
use crate::log::Log;
use crate::sockets::Sockets;

/// How much of that the gateway has for itself, while those that its turns
/// need still answer.
const GATEWAY_FIRST: Duration = Duration::from_secs(20);
/// Orders and news that may wait; there is never more than a handful.
const QUEUE: usize = 16;

struct Supervisor<'a> {
    log: &'a Log,
    signals: Signals,
    orders: Vec<(Daemon, mpsc::Sender<Order>)>,
    channels: mpsc::Sender<Order>,
    news: mpsc::Receiver<News>,
    running: BTreeSet<&'static str>,
}

/// What a signal asks for.
#[derive(Debug, PartialEq, Eq)]
enum Wish {
    End,
    Reload,
}

struct Signals {
    hangup: Signal,
    interrupt: Signal,
    terminate: Signal,
}

/// Runs the daemons until they are told to end and have ended.
pub(crate) async fn supervise(
    paths: &Paths,
    environment: &Environment,
    sockets: &Sockets,
    log: &Log,
) -> Result<ExitCode, Failure> {
    let suite = Suite {
        paths,
        environment,
        sockets,
        log,
    };
    let (teller, news) = mpsc::channel(QUEUE);
    let mut orders = Vec::new();
    let mut daemon_task = |daemon| {
        let (order, receiver) = mpsc::channel(QUEUE);
        orders.push((daemon, order));
        DaemonTask::new(daemon, suite, receiver, teller.clone())
            .with_context(|| format!("cannot listen to the {} daemon's news", daemon.name()))
    };
    let [memory, runner, gateway] = Daemon::ALL.map(&mut daemon_task);
    let (memory, runner, gateway) = (memory?, runner?, gateway?);
    let (channels, receiver) = mpsc::channel(QUEUE);
    let accounts = Channels::new(suite, receiver);
    let supervisor = Supervisor {
        log,
        channels,
        signals: Signals::install().context("cannot take signals")?,
        orders,
        news,
        running: Daemon::ALL.map(Daemon::name).into(),
    };
    let ready = format!(
        "openclaw is ready: gateway {}",
        paths.gateway_socket().display()
    );
    let (code, (), (), (), ()) = tokio::join!(
        supervisor.conduct(&ready),
        memory.keep(),
        runner.keep(),
        gateway.keep(),
        accounts.keep(),
    );
    Ok(code)
}

impl Supervisor<'_> {
    async fn conduct(mut self, ready: &str) -> ExitCode {
        let code = self.serve(ready).await;
        self.wind_down().await;
        code
    }

    /// Until something ends it; the exit code.
    async fn serve(&mut self, ready: &str) -> ExitCode {
        let mut waiting: BTreeSet<&str> = self.running.clone();
        loop {
            tokio::select! {
                Some(news) = self.news.recv() => match news {
                    News::Ready(daemon) => {
                        if waiting.remove(daemon.name()) && waiting.is_empty() {
                            // Who does not read it does not need it.
                            let _ = output::stdout_line(ready);
                        }
                    }
                    News::Refused(daemon, code) => {
                        self.refused(daemon, code);
                        return ExitCode::from(code);
                    }
                    News::Ended(daemon) => {
                        self.running.remove(daemon.name());
                    }
                },
                wish = self.signals.next() => {
                    // The kernel hangs up when the terminal was closed.
                    if wish == Wish::End || self.log.terminal_is_gone() {
                        return ExitCode::SUCCESS;
                    }
                    self.log.own(LogLevel::Info, "reloading");
                    self.order(&Daemon::ALL, Order::Reload).await;
                    self.order_channels(Order::Reload).await;
                }
            }
        }
    }

    fn refused(&self, daemon: Daemon, code: u8) {
        self.log.own(
            LogLevel::Error,
            &format!(
                "{} cannot run as it is set up (exit code {code}); ending the others",
                daemon.name()
            ),
        );
    }

    /// The gateway first, which drains into the others.
    async fn wind_down(&mut self) {
        let now = Instant::now();
        self.order(&[Daemon::Gateway], Order::Stop).await;
        let patient = self.wait(&[Daemon::Gateway], now + GATEWAY_FIRST).await;
        // What the gateway had to say until its end is said.
        self.order_channels(Order::Stop).await;
        self.order(&[Daemon::Runner, Daemon::Memory], Order::Stop)
            .await;
        if patient {
            self.wait(&Daemon::ALL, now + STOP_DEADLINE).await;
        }
        if self.running.is_empty() {
            return;
        }
        let left: Vec<&str> = self.running.iter().copied().collect();
        self.log
            .own(LogLevel::Warn, &format!("killing {}", left.join(", ")));
        self.order(&Daemon::ALL, Order::Kill).await;
        while !self.running.is_empty() {
            self.hear().await;
        }
    }

    /// Waits until `daemons` have ended or `until` has come; false when the
    /// user does not want to wait.
    async fn wait(&mut self, daemons: &[Daemon], until: Instant) -> bool {
        while daemons
            .iter()
            .any(|daemon| self.running.contains(daemon.name()))
        {
            tokio::select! {
                Some(news) = self.news.recv() => self.note(news),
                () = sleep_until(until) => return true,
                () = self.signals.end() => return false,
            }
        }
        true
    }

    async fn hear(&mut self) {
        if let Some(news) = self.news.recv().await {
            self.note(news);
        }
    }

    fn note(&mut self, news: News) {
        if let News::Ended(daemon) = news {
            self.running.remove(daemon.name());
        }
    }

    async fn order_channels(&self, order: Order) {
        // It ends after a stop alone.
        let _ = self.channels.send(order).await;
    }

    async fn order(&self, daemons: &[Daemon], order: Order) {
        for (daemon, orders) in &self.orders {
            if daemons.contains(daemon) {
                // One that has ended has closed its queue.
                let _ = orders.send(order).await;
            }
        }
    }
}

impl Signals {
    fn install() -> std::io::Result<Self> {
        Ok(Self {
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) -> Wish {
        tokio::select! {
            _ = self.interrupt.recv() => Wish::End,
            _ = self.terminate.recv() => Wish::End,
            _ = self.hangup.recv() => Wish::Reload,
        }
    }

    /// Ctrl-C or SIGTERM.
    async fn end(&mut self) {
        while self.next().await != Wish::End {}
    }
}
