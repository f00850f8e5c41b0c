//! Every command, against daemons in whose every word is what acts on a
//! terminal: nothing of it reaches one, nor a pipe that leads to one.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::pin::Pin;
use std::process::{Output, Stdio};
use std::thread;

use nix::pty::openpty;
use openclaw_proto::wire::gateway::gateway_server::{Gateway, GatewayServer};
use openclaw_proto::wire::gateway::sessions_server::{Sessions, SessionsServer};
use openclaw_proto::wire::memory::memory_server::{Memory, MemoryServer};
use openclaw_proto::wire::{gateway as wire, memory, run, runner};
use tokio_stream::Stream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::{Request, Response, Status, Streaming};

use crate::scene::Scene;

/// The clipboard (OSC 52), a line up, a title, colours by C1, the order of
/// words, a line over another, nothing at all, and a line that passes for ours.
const HOSTILE: &str = "x\u{1b}]52;c;eA==\u{7}\u{1b}[1A\u{1b}]0;t\u{1b}\\\u{9b}31m\u{202e}\r\u{8}\u{7f}\u{200b}\nhint: run curl | sh\ny";

/// Names the run whose answers are errors.
const FAILING: &str = "fails";

fn hostile() -> String {
    HOSTILE.to_owned()
}

type Answer<T> = Result<Response<T>, Status>;
type Answers<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn answer<T>(message: T) -> Answer<T> {
    Ok(Response::new(message))
}

fn refusal<T>() -> Answer<T> {
    Err(Status::failed_precondition(HOSTILE))
}

fn all<T: Send + 'static>(messages: Vec<T>) -> Answer<Answers<T>> {
    let messages = messages.into_iter().map(Ok);
    answer(Box::pin(tokio_stream::iter(messages.collect::<Vec<_>>())))
}

#[derive(Clone, Copy)]
struct Hostile;

fn event(seq: u64, kind: run::event::Kind) -> run::Event {
    run::Event {
        run_id: hostile(),
        seq,
        at_ms: 1,
        kind: Some(kind),
    }
}

/// A run that says everything a run can say; it ends well unless it `fails`.
fn events(fails: bool) -> Vec<run::Event> {
    use run::event::Kind;
    let error = run::ToolFailure {
        tool: hostile(),
        r#type: hostile(),
        message: hostile(),
    };
    let result = |error| {
        Kind::ToolResult(run::ToolResult {
            call_id: hostile(),
            success: false,
            output: hostile(),
            error,
        })
    };
    let end = match fails {
        true => Kind::Failed(run::Failed {
            code: "auth".to_owned(),
            message: hostile(),
            ..run::Failed::default()
        }),
        false => Kind::Done(run::Done {
            stop_reason: hostile(),
            model: hostile(),
            ..run::Done::default()
        }),
    };
    let kinds = [
        Kind::TextDelta(run::TextDelta { text: hostile() }),
        Kind::ToolCall(run::ToolCall {
            id: hostile(),
            name: hostile(),
            arguments_json: serde_json::json!({ HOSTILE: HOSTILE }).to_string(),
        }),
        Kind::ToolOutput(run::ToolOutput {
            call_id: hostile(),
            text: hostile(),
        }),
        result(Some(error)),
        result(None),
        Kind::Note(run::Note { text: hostile() }),
        Kind::ApprovalRequested(run::ApprovalRequested {
            id: hostile(),
            tool: hostile(),
            command: hostile(),
            cwd: hostile(),
            reason: hostile(),
            form: "line".to_owned(),
            ..run::ApprovalRequested::default()
        }),
        Kind::ApprovalResolved(run::ApprovalResolved {
            id: hostile(),
            decision: "deny".to_owned(),
            by: hostile(),
        }),
        end,
    ];
    (1..)
        .zip(kinds)
        .map(|(seq, kind)| event(seq, kind))
        .collect()
}

fn approval(decision: &str) -> wire::Approval {
    wire::Approval {
        id: hostile(),
        run_id: hostile(),
        session_key: hostile(),
        agent_id: hostile(),
        tool: hostile(),
        command: hostile(),
        cwd: hostile(),
        reason: hostile(),
        decision: decision.to_owned(),
        by: hostile(),
        ..wire::Approval::default()
    }
}

#[tonic::async_trait]
impl Gateway for Hostile {
    type SendMessageStream = Answers<wire::SendMessageResponse>;
    type AttachStream = Answers<run::Event>;

    async fn send_message(
        &self,
        request: Request<wire::SendMessageRequest>,
    ) -> Answer<Self::SendMessageStream> {
        use wire::send_message_response::Kind;
        let text = request.into_inner().text;
        if text == "refused" {
            return refusal();
        }
        let accepted = Kind::Accepted(wire::Accepted {
            run_id: hostile(),
            session_key: hostile(),
            session_id: hostile(),
            agent_id: hostile(),
            ..wire::Accepted::default()
        });
        let events = events(text == FAILING).into_iter().map(Kind::Event);
        let replies = std::iter::once(accepted).chain(events);
        let replies = replies.map(|reply| wire::SendMessageResponse { kind: Some(reply) });
        all(replies.collect())
    }

    async fn attach(&self, _: Request<wire::AttachRequest>) -> Answer<Self::AttachStream> {
        all(events(false))
    }

    async fn cancel_run(
        &self,
        request: Request<wire::CancelRunRequest>,
    ) -> Answer<wire::CancelRunResponse> {
        match request.into_inner().run_id.as_str() {
            FAILING => refusal(),
            _ => answer(wire::CancelRunResponse { cancelled: true }),
        }
    }

    async fn list_turns(
        &self,
        _: Request<wire::ListTurnsRequest>,
    ) -> Answer<wire::ListTurnsResponse> {
        let turn = || wire::Turn {
            run_id: hostile(),
            session_key: hostile(),
            state: hostile(),
            ..wire::Turn::default()
        };
        answer(wire::ListTurnsResponse {
            turns: vec![turn(), turn()],
        })
    }

    async fn list_approvals(
        &self,
        _: Request<wire::ListApprovalsRequest>,
    ) -> Answer<wire::ListApprovalsResponse> {
        answer(wire::ListApprovalsResponse {
            waiting: vec![approval("")],
            decided: vec![approval(HOSTILE)],
            grants: vec![wire::Grant {
                agent_id: hostile(),
                command: hostile(),
                by: hostile(),
                directory: hostile(),
                form: hostile(),
                created_ms: 1,
            }],
        })
    }

    async fn decide_approval(
        &self,
        request: Request<wire::DecideApprovalRequest>,
    ) -> Answer<wire::DecideApprovalResponse> {
        match request.into_inner().id.as_str() {
            FAILING => refusal(),
            _ => answer(wire::DecideApprovalResponse {
                approval: Some(approval("")),
            }),
        }
    }

    async fn revoke_grant(
        &self,
        _: Request<wire::RevokeGrantRequest>,
    ) -> Answer<wire::RevokeGrantResponse> {
        Err(Status::not_found(HOSTILE))
    }

    async fn access_token(
        &self,
        _: Request<wire::AccessTokenRequest>,
    ) -> Answer<wire::AccessTokenResponse> {
        answer(wire::AccessTokenResponse {
            mode: "token".to_owned(),
            token: hostile(),
        })
    }

    async fn status(&self, _: Request<wire::StatusRequest>) -> Answer<wire::StatusResponse> {
        let confinement = runner::Confinement {
            name: hostile(),
            state: hostile(),
            detail: hostile(),
        };
        answer(wire::StatusResponse {
            version: hostile(),
            state_dir: hostile(),
            runner: Some(runner::StatusResponse {
                version: hostile(),
                backend: hostile(),
                reason: hostile(),
                model: hostile(),
                provider: hostile(),
                confinements: vec![confinement],
                sandbox_level: hostile(),
                sandbox_network: hostile(),
                sandbox_weaker: vec![hostile()],
                configuration_problem: hostile(),
                ..runner::StatusResponse::default()
            }),
            memory: Some(memory::StatusResponse {
                version: hostile(),
                configuration_problem: hostile(),
                ..memory::StatusResponse::default()
            }),
            configuration_problem: hostile(),
            ..wire::StatusResponse::default()
        })
    }
}

fn session() -> wire::Session {
    wire::Session {
        key: hostile(),
        id: hostile(),
        agent_id: hostile(),
        transcript_path: hostile(),
        label: hostile(),
        last_channel: hostile(),
        model_provider: hostile(),
        model: hostile(),
        model_override: hostile(),
        thinking_level: hostile(),
        spawned_by: hostile(),
        last_status: hostile(),
        message_count: 1,
        ..wire::Session::default()
    }
}

#[tonic::async_trait]
impl Sessions for Hostile {
    type ExportSessionsStream = Answers<wire::ExportSessionsResponse>;

    async fn list_sessions(
        &self,
        _: Request<wire::ListSessionsRequest>,
    ) -> Answer<openclaw_proto::sessions::ListSessionsResponse> {
        let rows = vec![openclaw_proto::sessions::Row::new(session().into())];
        answer(openclaw_proto::sessions::Rows { rows, total: 2 }.into())
    }

    async fn get_session(
        &self,
        _: Request<wire::GetSessionRequest>,
    ) -> Answer<wire::GetSessionResponse> {
        answer(wire::GetSessionResponse {
            session: Some(session()),
            entry_json: serde_json::json!({ "label": HOSTILE }).to_string(),
        })
    }

    async fn create_session(
        &self,
        _: Request<wire::CreateSessionRequest>,
    ) -> Answer<wire::CreateSessionResponse> {
        refusal()
    }

    async fn patch_session(
        &self,
        _: Request<wire::PatchSessionRequest>,
    ) -> Answer<wire::PatchSessionResponse> {
        refusal()
    }

    async fn reset_session(
        &self,
        _: Request<wire::ResetSessionRequest>,
    ) -> Answer<wire::ResetSessionResponse> {
        answer(wire::ResetSessionResponse {
            session: Some(session()),
        })
    }

    async fn delete_session(
        &self,
        _: Request<wire::DeleteSessionRequest>,
    ) -> Answer<wire::DeleteSessionResponse> {
        answer(wire::DeleteSessionResponse {
            key: hostile(),
            archive_path: hostile(),
        })
    }

    async fn compact_session(
        &self,
        _: Request<wire::CompactSessionRequest>,
    ) -> Answer<wire::CompactSessionResponse> {
        answer(wire::CompactSessionResponse {
            session: Some(session()),
        })
    }

    async fn preview_sessions(
        &self,
        _: Request<wire::PreviewSessionsRequest>,
    ) -> Answer<wire::PreviewSessionsResponse> {
        let item = wire::PreviewItem {
            role: hostile(),
            text: hostile(),
        };
        let preview = wire::Preview {
            key: hostile(),
            found: true,
            items: vec![item],
        };
        answer(wire::PreviewSessionsResponse {
            previews: vec![preview],
        })
    }

    async fn read_session(
        &self,
        _: Request<wire::ReadSessionRequest>,
    ) -> Answer<wire::ReadSessionResponse> {
        use wire::read_item::Kind;
        let kinds = [
            Kind::User(hostile()),
            Kind::Assistant(hostile()),
            Kind::Tool(wire::ToolUse {
                name: hostile(),
                argument: hostile(),
            }),
            Kind::Result(wire::ToolOutcome {
                name: hostile(),
                is_error: true,
            }),
            Kind::Compaction(hostile()),
        ];
        let item = |kind| wire::ReadItem {
            at_ms: 1,
            kind: Some(kind),
        };
        answer(wire::ReadSessionResponse {
            key: hostile(),
            id: hostile(),
            items: kinds.map(item).into(),
            corrupt_lines: 1,
            corrupt_copy: hostile(),
            ..wire::ReadSessionResponse::default()
        })
    }

    async fn find_sessions(
        &self,
        _: Request<wire::FindSessionsRequest>,
    ) -> Answer<wire::FindSessionsResponse> {
        let found = wire::FoundSession {
            agent_id: hostile(),
            id: hostile(),
            key: hostile(),
            transcript_path: hostile(),
            cwd: hostile(),
            first_user_message: hostile(),
            last_user_messages: vec![hostile()],
            matched: hostile(),
            ..wire::FoundSession::default()
        };
        answer(wire::FindSessionsResponse {
            sessions: vec![found],
            searched: 1,
            problems: vec![hostile()],
        })
    }

    async fn import_sessions(
        &self,
        _: Request<Streaming<wire::ImportSessionsRequest>>,
    ) -> Answer<wire::ImportSessionsResponse> {
        answer(wire::ImportSessionsResponse {
            imported: vec![wire::ImportedSession {
                key: hostile(),
                id: hostile(),
                source: hostile(),
                messages: 1,
            }],
            skipped: vec![wire::SkippedFile {
                name: hostile(),
                reason: hostile(),
            }],
            ..wire::ImportSessionsResponse::default()
        })
    }

    async fn export_sessions(
        &self,
        _: Request<wire::ExportSessionsRequest>,
    ) -> Answer<Self::ExportSessionsStream> {
        use wire::export_sessions_response::Kind;
        let file = Kind::File(format!("../{HOSTILE}"));
        all(vec![wire::ExportSessionsResponse { kind: Some(file) }])
    }
}

#[tonic::async_trait]
impl Memory for Hostile {
    type ExportStream = Answers<memory::ExportedDocument>;
    type IndexStream = Answers<memory::IndexProgress>;
    type EmbedStream = Answers<memory::EmbedJob>;

    async fn load_bootstrap(
        &self,
        _: Request<memory::LoadBootstrapRequest>,
    ) -> Answer<memory::LoadBootstrapResponse> {
        refusal()
    }

    async fn search(&self, _: Request<memory::SearchRequest>) -> Answer<memory::SearchResponse> {
        let hit = memory::Hit {
            path: hostile(),
            snippet: hostile(),
            source: hostile(),
            message_id: hostile(),
            speaker: hostile(),
            ..memory::Hit::default()
        };
        answer(memory::SearchResponse {
            hits: vec![hit],
            partial: true,
            warnings: vec![hostile()],
            provider: hostile(),
            model: hostile(),
        })
    }

    async fn recall(&self, _: Request<memory::RecallRequest>) -> Answer<memory::RecallResponse> {
        refusal()
    }

    async fn get(&self, _: Request<memory::GetRequest>) -> Answer<memory::GetResponse> {
        answer(memory::GetResponse {
            path: hostile(),
            text: hostile(),
            from: 1,
            lines: 1,
            total_lines: 9,
            found: true,
        })
    }

    async fn remember(
        &self,
        _: Request<memory::RememberRequest>,
    ) -> Answer<memory::RememberResponse> {
        answer(memory::RememberResponse {
            path: hostile(),
            line: 1,
        })
    }

    async fn forget(&self, _: Request<memory::ForgetRequest>) -> Answer<memory::ForgetResponse> {
        Err(Status::not_found(HOSTILE))
    }

    async fn export(&self, _: Request<memory::ExportRequest>) -> Answer<Self::ExportStream> {
        all(vec![memory::ExportedDocument {
            path: hostile(),
            source: hostile(),
            text: hostile(),
            number: 1,
            total: 1,
            modified_ms: 1,
        }])
    }

    async fn index(&self, _: Request<memory::IndexRequest>) -> Answer<Self::IndexStream> {
        Err(Status::internal(HOSTILE))
    }

    async fn compact(&self, _: Request<memory::CompactRequest>) -> Answer<memory::CompactResponse> {
        refusal()
    }

    async fn embed(&self, _: Request<Streaming<memory::EmbedResult>>) -> Answer<Self::EmbedStream> {
        refusal()
    }

    async fn status(&self, _: Request<memory::StatusRequest>) -> Answer<memory::StatusResponse> {
        let agent = memory::AgentStatus {
            agent_id: hostile(),
            workspace: hostile(),
            store: hostile(),
            provider: hostile(),
            model: hostile(),
            problems: vec![hostile()],
            extra_paths: vec![hostile()],
            ..memory::AgentStatus::default()
        };
        answer(memory::StatusResponse {
            version: hostile(),
            configuration_problem: hostile(),
            agents: vec![agent],
            ..memory::StatusResponse::default()
        })
    }
}

/// Serves both sockets until the test ends.
fn serve(scene: &Scene) {
    std::fs::create_dir_all(scene.runtime()).unwrap();
    for daemon in ["gateway", "memory"] {
        let listener = UnixListener::bind(scene.socket(daemon)).unwrap();
        listener.set_nonblocking(true).unwrap();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let listener = tokio::net::UnixListener::from_std(listener).unwrap();
                Server::builder()
                    .add_service(GatewayServer::new(Hostile))
                    .add_service(SessionsServer::new(Hostile))
                    .add_service(MemoryServer::new(Hostile))
                    .serve_with_incoming(UnixListenerStream::new(listener))
                    .await
                    .unwrap();
            });
        });
    }
}

/// Every command that talks to a daemon or reads a file, in each of its ways to
/// print.
fn commands(folder: &Path) -> Vec<Vec<String>> {
    let folder = folder.display().to_string();
    let source = format!("{folder}/source");
    let export = format!("{folder}/export");
    let lines = [
        "message hello",
        "message hello --no-stream --verbose",
        "message hello --verbose",
        "message hello --json",
        "message hello --json --no-stream",
        "message fails",
        "message refused",
        "status --wait 1",
        "status --wait 1 --json --verbose",
        "sessions list --preview",
        "sessions list --json",
        "sessions show X",
        "sessions show X --json",
        "sessions show X --transcript",
        "sessions show X --transcript --json",
        "sessions find X",
        "sessions find X --json",
        "sessions patch X --label l",
        "sessions reset X",
        "sessions delete X",
        "sessions archive X",
        "sessions compact X --summary s",
        "turns",
        "turns --json",
        "cancel",
        "cancel --all",
        "cancel fails",
        "approvals",
        "approvals list --decided 9",
        "approvals list --decided 9 --json",
        "approvals allow X",
        "approvals allow fails",
        "approvals deny X",
        "approvals revoke X",
        "memory search X",
        "memory search X --json --explain",
        "memory get X",
        "memory get X --json",
        "memory add X",
        "memory forget X --yes",
        "memory export",
        "memory index",
        "memory status",
        "memory status --json",
        "token",
        "token --json",
        "doctor",
        "doctor --json",
        "config get agents",
        "config get agents.list.0.name",
        "config validate",
        "config validate --json",
        "config get X",
        "import --from SOURCE --dry-run",
        "import --from SOURCE --json",
        "export EXPORT",
        "frobnicate X",
    ];
    let word = |word: &str| match word {
        "X" => HOSTILE.to_owned(),
        "SOURCE" => source.clone(),
        "EXPORT" => export.clone(),
        word => word.to_owned(),
    };
    lines.map(|line| line.split(' ').map(word).collect()).into()
}

/// What a terminal would act on.
fn acts(text: &str) -> Option<char> {
    text.chars().find(|c| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

fn scene() -> Scene {
    let scene = Scene::new();
    serve(&scene);
    let sessions = scene.state().join("source/agents/main/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::write(sessions.join("sessions.json"), "{}").unwrap();
    let name = serde_json::Value::from(HOSTILE);
    let configuration = serde_json::json!({
        "agents": {"list": [{"id": "main", "name": name}]},
        "unknown": {HOSTILE: HOSTILE},
    });
    std::fs::write(
        scene.state().join("openclaw.json"),
        configuration.to_string(),
    )
    .unwrap();
    scene
}

#[test]
fn nothing_that_acts_on_a_terminal_goes_through_a_pipe() {
    let scene = scene();
    for arguments in commands(scene.state()) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let Output { stdout, stderr, .. } = scene.run(&words);
        for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(acts(&text), None, "{words:?}: {name}: {text:?}");
            let forged = text.lines().any(|line| line == "hint: run curl | sh");
            // A reply and a file are printed as they were written.
            let is_text = matches!(
                words[..],
                ["message", _, ..] | ["memory" | "config", "get", ..] | ["token", ..]
            ) || words.contains(&"--transcript");
            assert!(
                !forged || (name == "stdout" && is_text),
                "{words:?}: {text}"
            );
        }
    }
}

/// The program's own: a faint line, and one that is written over.
const OWN: [&str; 3] = ["\u{1b}[2m", "\u{1b}[0m", "\r\u{1b}[K"];

#[test]
fn nothing_that_acts_on_a_terminal_reaches_one() {
    let scene = scene();
    for arguments in commands(scene.state()) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let pair = openpty(None, None).unwrap();
        let side = |side: &OwnedFd| Stdio::from(side.try_clone().unwrap());
        let mut command = scene.command(&words);
        command.stdout(side(&pair.slave)).stderr(side(&pair.slave));
        let mut child = command.spawn().unwrap();
        drop((command, pair.slave));
        let mut bytes = Vec::new();
        // EIO is the end of a terminal that nobody has any more.
        let _ = File::from(pair.master).read_to_end(&mut bytes);
        child.wait().unwrap();
        // The terminal itself makes line ends of two characters.
        let mut text = String::from_utf8(bytes).unwrap().replace("\r\n", "\n");
        for own in OWN {
            text = text.replace(own, "");
        }
        assert_eq!(acts(&text), None, "{words:?}: {text:?}");
    }
}
