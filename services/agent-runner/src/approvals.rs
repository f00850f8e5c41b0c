//! Asking before a command of a turn runs. The turn's process asks through its
//! events and hears the answer through a file beside its spool, which the
//! daemon writes: so neither a restart of the daemon nor of the gateway loses
//! a question or an answer.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use inotify::{Inotify, WatchMask};
use openclaw_proto::approval::{ApprovalRequested, ApprovalResolved, Decision};
use openclaw_proto::event::Kind;
use openclaw_tools::approval::{Ask, Rules, Verdict, shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use crate::activity::Activity;
use crate::spool::Spool;
use crate::tools;

/// What is left of a turn when a question expires: enough for the model to say
/// what was not done.
const RESERVE: Duration = Duration::from_secs(20);

/// Bytes of events that are read at once.
const BUFFER: usize = 1024;

/// Bytes of a command that people are shown; its hash would say no more.
const SHOWN_BYTES: usize = 16 * 1024;

/// A line of the file with decisions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Decided {
    pub(crate) id: String,
    pub(crate) decision: Decision,
    pub(crate) by: String,
}

/// Why a decision was not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// Nothing was asked in that turn.
    #[error("nothing waits to be allowed in that turn")]
    NotAsked,
    /// Somebody was faster.
    #[error("that was decided already")]
    Decided,
    #[error("write {path}")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Adds a decision to the file, for the turn's process to read.
pub(crate) fn decide(path: &Path, decided: &Decided) -> Result<(), Refused> {
    let cannot = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Refused::NotAsked,
        _ => Refused::Write {
            path: path.to_owned(),
            source,
        },
    };
    if find(path, &decided.id).map_err(cannot)?.is_some() {
        return Err(Refused::Decided);
    }
    let mut line = serde_json::to_vec(decided).map_err(|error| cannot(error.into()))?;
    line.push(b'\n');
    let mut file = OpenOptions::new().append(true).open(path).map_err(cannot)?;
    file.write_all(&line).map_err(cannot)
}

/// The first decision about `id`.
fn find(path: &Path, id: &str) -> io::Result<Option<Decided>> {
    let text = std::fs::read_to_string(path)?;
    let lines = text
        .split_inclusive('\n')
        .filter(|line| line.ends_with('\n'));
    let mut decided = lines.filter_map(|line| serde_json::from_str::<Decided>(line).ok());
    Ok(decided.find(|decided| decided.id == id))
}

/// A call that is to be judged.
#[derive(Debug)]
pub(crate) struct Question<'a> {
    pub(crate) call_id: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Value,
    /// Whether the tool is said to change nothing.
    pub(crate) only_reads: bool,
}

/// What asks in one turn.
#[derive(Debug)]
pub(crate) struct Approvals {
    rules: Mutex<Rules>,
    patience: Duration,
    /// When the turn ends at the latest.
    end: Instant,
    spool: Arc<Spool>,
    /// Where decisions come in.
    decisions: PathBuf,
    activity: Arc<Activity>,
}

impl Approvals {
    pub(crate) fn new(
        rules: Rules,
        patience: Duration,
        end: Instant,
        spool: Arc<Spool>,
        decisions: PathBuf,
        activity: Arc<Activity>,
    ) -> Self {
        Self {
            rules: Mutex::new(rules),
            patience,
            end,
            spool,
            decisions,
            activity,
        }
    }

    /// Lets the call run, at once or when somebody allows it; the error says
    /// why it does not, for the model and the user.
    pub(crate) async fn ask(&self, question: Question<'_>) -> Result<(), String> {
        let reason = match self.judge(&question) {
            Verdict::Run => return Ok(()),
            Verdict::Ask(reason) => reason,
        };
        let command = command(&question);
        let request = ApprovalRequested {
            id: Uuid::new_v4().to_string(),
            call_id: question.call_id.to_owned(),
            tool: question.tool.to_owned(),
            command: cut(&command).to_owned(),
            cwd: text(question.arguments, "workdir").to_owned(),
            reason,
            expires_ms: 0,
        };
        let outcome = self.wait(request).await;
        let (decision, by) = outcome.map_err(|error| {
            tracing::error!(%error, "a call cannot be asked about");
            format!("nobody can be asked to allow it ({error}); it was not run")
        })?;
        match decision {
            Some(Decision::AllowOnce) => Ok(()),
            Some(Decision::AllowAlways) => {
                let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
                rules.granted.push(command);
                Ok(())
            }
            Some(Decision::Deny) => Err(format!(
                "the user denied it ({by}); it was not run. Do not try it another way; say what \
                 you wanted to do"
            )),
            None => Err(
                "nobody allowed it in time; it was not run. Say what you wanted to do; the user \
                 can allow it when asked again"
                    .to_owned(),
            ),
        }
    }

    fn judge(&self, question: &Question<'_>) -> Verdict {
        let rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let arguments = question.arguments;
        let env = arguments.get("env").and_then(Value::as_object);
        let is_plain = env.is_none_or(serde_json::Map::is_empty);
        match tools::is_command(question.tool) {
            true => rules.judge(&arguments["command"], is_plain),
            false => {
                let is_known = openclaw_tools::catalog::is_known(question.tool);
                let only_reads = question.only_reads && rules.ask == Ask::OnMiss;
                rules.judge_other(question.tool, &command(question), is_known || only_reads)
            }
        }
    }

    /// Asks and waits. The question is in the spool before anybody can answer.
    async fn wait(
        &self,
        mut request: ApprovalRequested,
    ) -> Result<(Option<Decision>, String), crate::spool::Refused> {
        let cannot = |source| crate::spool::Refused::Write {
            path: self.decisions.clone(),
            source,
        };
        let now = Instant::now();
        let end = self.end.checked_sub(RESERVE).unwrap_or(now);
        let expires = (now + self.patience).min(end).max(now);
        let news = self.watch().map_err(cannot)?;
        tokio::pin!(news);
        let left = i64::try_from((expires - now).as_millis()).unwrap_or(i64::MAX);
        request.expires_ms = jiff::Timestamp::now().as_millisecond().saturating_add(left);
        let id = request.id.clone();
        tracing::info!(
            openclaw_tool = %request.tool,
            message_id = crate::message_id::APPROVAL_REQUESTED,
            approval = %id,
            "a call waits to be allowed"
        );
        self.spool.push(Kind::ApprovalRequested(request))?;
        self.activity.quiet_until(expires);
        let decided = loop {
            match find(&self.decisions, &id).map_err(cannot)? {
                Some(decided) => break Some(decided),
                None if timeout_at(expires, news.next()).await.is_err() => break None,
                None => {}
            }
        };
        self.activity.quiet_until(Instant::now());
        let (decision, by) = match decided {
            Some(decided) => (Some(decided.decision), decided.by),
            None => (None, String::new()),
        };
        tracing::info!(
            message_id = crate::message_id::APPROVAL_RESOLVED,
            approval = %id,
            decision = decision.map_or("expired", Decision::as_str),
            by,
            "a call was decided about"
        );
        self.spool.push(Kind::ApprovalResolved(ApprovalResolved {
            id,
            decision,
            by: by.clone(),
        }))?;
        Ok((decision, by))
    }

    /// News of the file with decisions, which is made here.
    fn watch(&self) -> io::Result<inotify::EventStream<[u8; BUFFER]>> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.decisions)?;
        let inotify = Inotify::init()?;
        inotify.watches().add(&self.decisions, WatchMask::MODIFY)?;
        inotify.into_event_stream([0; BUFFER])
    }
}

/// What is asked about, as people read it.
fn command(question: &Question<'_>) -> String {
    match tools::is_command(question.tool) {
        true => shown(&question.arguments["command"]),
        false => format!("{} {}", question.tool, question.arguments),
    }
}

fn text<'a>(arguments: &'a Value, field: &str) -> &'a str {
    arguments[field].as_str().unwrap_or_default()
}

fn cut(command: &str) -> &str {
    let mut end = command.len().min(SHOWN_BYTES);
    while !command.is_char_boundary(end) {
        end -= 1;
    }
    &command[..end]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::spool::{self, Header, Reader};

    struct Scene {
        approvals: Arc<Approvals>,
        decisions: PathBuf,
        reader: Reader,
        _folder: tempfile::TempDir,
    }

    fn scene(patience: Duration) -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let header = Header {
            run_id: "r".to_owned(),
            agent_id: "main".to_owned(),
            pid: 1,
            unit: String::new(),
            memory_max: 0,
            own_limits: Vec::new(),
        };
        let path = spool::path(folder.path(), "r");
        let spool = Spool::create(&path, &header).unwrap();
        spool.begin().unwrap();
        let decisions = spool::decisions(folder.path(), "r");
        let rules = Rules {
            ask: Ask::OnMiss,
            allowlist: Vec::new(),
            granted: Vec::new(),
        };
        let end = Instant::now() + Duration::from_secs(600);
        let approvals = Approvals::new(
            rules,
            patience,
            end,
            Arc::new(spool),
            decisions.clone(),
            Arc::default(),
        );
        Scene {
            approvals: Arc::new(approvals),
            decisions,
            reader: Reader::open(&path).unwrap(),
            _folder: folder,
        }
    }

    async fn ask(approvals: &Approvals, command: &str) -> Result<(), String> {
        let arguments = json!({"command": command});
        approvals
            .ask(Question {
                call_id: "c",
                tool: "execute_shell",
                arguments: &arguments,
                only_reads: false,
            })
            .await
    }

    async fn requested(reader: &mut Reader) -> ApprovalRequested {
        loop {
            for event in reader.news().unwrap() {
                if let Kind::ApprovalRequested(request) = event.kind {
                    return request;
                }
            }
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_only_reads_asks_nobody_and_the_rest_waits() {
        let mut scene = scene(Duration::from_secs(60));
        assert!(ask(&scene.approvals, "ls -l").await.is_ok());
        assert!(scene.reader.news().unwrap().is_empty());
        for (decision, runs) in [
            (Decision::Deny, false),
            (Decision::AllowOnce, true),
            (Decision::AllowAlways, true),
        ] {
            let approvals = Arc::clone(&scene.approvals);
            let asking = tokio::spawn(async move { ask(&approvals, "rm a").await });
            let request = requested(&mut scene.reader).await;
            assert_eq!(request.command, "rm a");
            let decided = Decided {
                id: request.id,
                decision,
                by: "test".to_owned(),
            };
            decide(&scene.decisions, &decided).unwrap();
            assert!(matches!(
                decide(&scene.decisions, &decided),
                Err(Refused::Decided)
            ));
            assert_eq!(asking.await.unwrap().is_ok(), runs, "{decision}");
        }
        assert!(
            ask(&scene.approvals, "rm a").await.is_ok(),
            "allowed always"
        );
    }

    #[tokio::test]
    async fn nobody_answers_and_that_is_a_no() {
        let mut scene = scene(Duration::from_millis(20));
        let why = ask(&scene.approvals, "rm a").await.unwrap_err();
        assert!(why.contains("nobody allowed it"), "{why}");
        let events = scene.reader.news().unwrap();
        let last = &events.last().unwrap().kind;
        assert!(
            matches!(last, Kind::ApprovalResolved(resolved) if resolved.decision.is_none()),
            "{last:?}"
        );
    }

    #[test]
    fn without_a_question_there_is_no_answer() {
        let decided = Decided {
            id: "x".to_owned(),
            decision: Decision::Deny,
            by: String::new(),
        };
        let missing = Path::new("/nonexistent/r.decisions");
        assert!(matches!(decide(missing, &decided), Err(Refused::NotAsked)));
    }
}
