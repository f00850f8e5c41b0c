//! Listens to a run until it has ended or the user does not want it any more.

use std::future;
use std::process::ExitCode;
use std::time::Duration;

use openclaw_config::Environment;
use openclaw_proto::approval::Decision;
use openclaw_proto::event::{Event, Kind};
use openclaw_proto::gateway::{Message, Reply};
use openclaw_terminal::{Failure, output};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::Note;
use super::configuration;
use super::conversation;
use super::interruption::{Stop, Stops};
use super::question::{self, Questions};
use super::session::New;
use super::sink::Sink;
use super::summary::{State, Summary};
use openclaw_connection::Gateway;

/// How long a cancelled run may take to say that it ended. The runner kills
/// what does not end by itself within a few seconds.
const CANCEL_DEADLINE: Duration = Duration::from_secs(10);

/// Events that are held back while somebody is asked.
const HELD: usize = 10_000;

/// Between two pictures of what is drawn.
const TICK: Duration = Duration::from_millis(100);

/// A run, as it is heard.
pub(super) struct Listener {
    gateway: Gateway,
    sink: Box<dyn Sink>,
    summary: Summary,
    stop: Option<(Stop, Instant)>,
    questions: Questions,
    /// What happened while somebody is asked. Shown below a question, what an agent says would
    /// push it off the screen, or pass for one.
    held: Vec<Event>,
    names: Names,
    environment: Environment,
}

/// What is known by name, or is to be.
pub(super) struct Names {
    /// The session, where it is still to begin.
    pub(super) new_session: Option<New>,
    /// Is told the run's id.
    pub(super) note: Option<Note>,
}

enum News {
    Reply(Option<Result<Reply, Failure>>),
    Stop(Stop),
    Answer(String, Decision),
    Overdue,
    Tick,
}

impl Listener {
    /// Prints to `sink`.
    pub(super) fn new(
        gateway: Gateway,
        sink: Box<dyn Sink>,
        questions: Questions,
        names: Names,
        environment: &Environment,
    ) -> Self {
        Self {
            gateway,
            sink,
            summary: Summary::default(),
            stop: None,
            questions,
            held: Vec::new(),
            names,
            environment: environment.clone(),
        }
    }

    /// Sends `message` and listens to the end.
    pub(super) async fn listen(
        mut self,
        message: Message,
        mut stops: Stops,
    ) -> Result<ExitCode, Failure> {
        let mut replies = conversation::start(self.gateway.clone(), message);
        loop {
            match self.news(&mut replies, &mut stops).await {
                News::Reply(Some(Ok(reply))) => self.hear(&reply)?,
                News::Reply(Some(Err(failure))) => return self.broken(failure),
                News::Reply(None) => return self.ended(),
                News::Stop(stop) if self.stop.is_some() || stop.leaves_the_run() => {
                    self.sink.leave();
                    return Err(stop.failure());
                }
                News::Stop(stop) => self.cancel(stop),
                News::Answer(id, decision) => {
                    // Whether it worked is seen by what the run says.
                    tokio::spawn(question::decide(self.gateway.clone(), id, decision));
                }
                News::Overdue => return self.overdue(),
                News::Tick => self.sink.tick()?,
            }
        }
    }

    async fn news(
        &mut self,
        replies: &mut mpsc::Receiver<Result<Reply, Failure>>,
        stops: &mut Stops,
    ) -> News {
        let leave = self.stop.map(|(_, leave)| leave);
        let overdue = async {
            match leave {
                Some(leave) => sleep_until(leave).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            reply = replies.recv() => News::Reply(reply),
            stop = stops.next() => News::Stop(stop),
            (id, decision) = self.questions.answer() => News::Answer(id, decision),
            () = overdue => News::Overdue,
            () = sleep(TICK), if self.sink.is_drawn() => News::Tick,
        }
    }

    fn hear(&mut self, reply: &Reply) -> Result<(), Failure> {
        match reply {
            Reply::Accepted(accepted, seen, shown) => {
                configuration::tell(&self.environment, seen);
                self.summary.accepted(accepted);
                if let Some(note) = &self.names.note {
                    note(&accepted.run_id);
                }
                if let Some(new) = self.names.new_session.take() {
                    new.tell_begun(&accepted.session_key);
                }
                // Asked for before there was a run to cancel.
                if let Some((stop, _)) = self.stop {
                    self.send_cancel(stop);
                }
                self.sink.accepted(accepted, *shown)
            }
            Reply::Event(event) => {
                self.summary.observe(event);
                self.happened(event)
            }
        }
    }

    /// Shows it, or holds it back while somebody is asked.
    fn happened(&mut self, event: &Event) -> Result<(), Failure> {
        let kind = &event.kind;
        let is_told = matches!(
            kind,
            Kind::Note { .. } | Kind::ApprovalRequested(_) | Kind::ApprovalResolved(_)
        );
        if self.questions.is_open() && !is_told && !kind.is_terminal() && self.held.len() < HELD {
            self.held.push(event.clone());
            return Ok(());
        }
        if !is_told {
            self.release()?;
        }
        self.show(event)?;
        if !self.questions.is_open() {
            self.release()?;
        } else if !is_told && !kind.is_terminal() {
            self.questions.ask_again();
        }
        Ok(())
    }

    /// Shows what was held back.
    fn release(&mut self) -> Result<(), Failure> {
        let held = std::mem::take(&mut self.held);
        if !held.is_empty() {
            self.questions.end_line();
        }
        held.iter().try_for_each(|event| self.sink.event(event))
    }

    fn show(&mut self, event: &Event) -> Result<(), Failure> {
        let kind = &event.kind;
        let is_note = matches!(kind, Kind::Note { .. });
        if is_note || matches!(kind, Kind::ApprovalResolved(_)) || kind.is_terminal() {
            self.questions.end_line();
        }
        self.sink.event(event)?;
        match kind {
            Kind::Note { .. } => self.questions.ask_again(),
            Kind::ApprovalRequested(request) => {
                self.questions.ask(request, &self.summary.session_key);
            }
            Kind::ApprovalResolved(resolved) => self.questions.resolved(resolved),
            _ => {}
        }
        Ok(())
    }

    fn cancel(&mut self, stop: Stop) {
        self.stop = Some((stop, Instant::now() + CANCEL_DEADLINE));
        self.send_cancel(stop);
    }

    fn send_cancel(&self, stop: Stop) {
        if self.summary.run_id.is_empty() {
            return;
        }
        let client = self.gateway.client.clone();
        let run_id = self.summary.run_id.clone();
        tokio::spawn(async move {
            // Whether it worked is seen by the run's last event.
            let _ = client.cancel_run(&run_id, stop.reason()).await;
        });
    }

    fn ended(mut self) -> Result<ExitCode, Failure> {
        self.release()?;
        self.sink.finish(&self.summary)?;
        if let Some((stop, _)) = self.stop {
            if self.summary.status != State::Done {
                output::stderr_line("cancelled");
            }
            return Err(stop.failure());
        }
        match self.summary.failure() {
            Some(failure) => Err(failure),
            None => Ok(ExitCode::SUCCESS),
        }
    }

    fn overdue(mut self) -> Result<ExitCode, Failure> {
        self.release()?;
        self.summary
            .interrupted("the gateway did not say that the run ended");
        self.sink.finish(&self.summary)?;
        output::stderr_line(&format!(
            "warning: the gateway did not confirm that the run {} ended",
            self.summary.run_id
        ));
        Err(self
            .stop
            .map_or_else(|| Failure::silent(1), |(stop, _)| stop.failure()))
    }

    fn broken(mut self, failure: Failure) -> Result<ExitCode, Failure> {
        self.release()?;
        // Without a run there is nothing to sum up.
        if !self.summary.run_id.is_empty() {
            self.summary.interrupted(&failure.text());
            self.sink.finish(&self.summary)?;
        }
        Err(failure)
    }
}
