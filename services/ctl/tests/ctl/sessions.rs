//! The sessions commands against a gateway that the test plays. What the real
//! one does with them is tested in tests/integration.

#![expect(clippy::disallowed_types, reason = "it stands in for a server")]

use std::pin::Pin;

use openclaw_proto::sessions::{ListSessionsResponse, Row, Rows};
use openclaw_proto::wire::gateway as wire;
use serde_json::Value;
use tokio_stream::{Stream, StreamExt as _};
use tonic::{Request, Response, Status, Streaming};
use wire::sessions_server::Sessions;

use crate::gateway::ScriptedGateway;
use crate::scene::{Scene, text};

/// A gateway that has two sessions and finds one of them.
pub(crate) struct Listed;

type Answer<T> = Result<Response<T>, Status>;

fn session(key: &str, updated_at_ms: i64) -> wire::Session {
    wire::Session {
        key: key.to_owned(),
        id: format!("id-of-{key}"),
        agent_id: "main".to_owned(),
        updated_at_ms,
        message_count: 2,
        ..wire::Session::default()
    }
}

fn known(name: &str) -> Result<wire::Session, Status> {
    match name {
        "newer" => Ok(session("newer", 2)),
        _ => Err(Status::not_found(format!("there is no session {name:?}"))),
    }
}

#[tonic::async_trait]
impl Sessions for Listed {
    type ExportSessionsStream =
        Pin<Box<dyn Stream<Item = Result<wire::ExportSessionsResponse, Status>> + Send>>;

    async fn list_sessions(
        &self,
        request: Request<wire::ListSessionsRequest>,
    ) -> Answer<ListSessionsResponse> {
        let mut sessions = vec![session("newer", 2), session("older", 1)];
        if request.into_inner().limit == 1 {
            sessions.pop();
        }
        let rows = sessions.into_iter().map(|session| Row::new(session.into()));
        let rows = rows.collect();
        Ok(Response::new(Rows { rows, total: 2 }.into()))
    }

    async fn get_session(
        &self,
        request: Request<wire::GetSessionRequest>,
    ) -> Answer<wire::GetSessionResponse> {
        Ok(Response::new(wire::GetSessionResponse {
            session: Some(known(&request.into_inner().session)?),
            entry_json: r#"{"sessionId":"x"}"#.to_owned(),
        }))
    }

    async fn create_session(
        &self,
        _: Request<wire::CreateSessionRequest>,
    ) -> Answer<wire::CreateSessionResponse> {
        Err(Status::already_exists("session x is there already"))
    }

    async fn patch_session(
        &self,
        request: Request<wire::PatchSessionRequest>,
    ) -> Answer<wire::PatchSessionResponse> {
        let request = request.into_inner();
        let mut session = known(&request.session)?;
        let fields = request.fields.into_iter();
        let fields: Vec<_> = fields
            .map(|field| format!("{}={}", field.name, field.value))
            .collect();
        session.label = fields.join(" ");
        Ok(Response::new(wire::PatchSessionResponse {
            session: Some(session),
        }))
    }

    async fn reset_session(
        &self,
        request: Request<wire::ResetSessionRequest>,
    ) -> Answer<wire::ResetSessionResponse> {
        Ok(Response::new(wire::ResetSessionResponse {
            session: Some(known(&request.into_inner().session)?),
        }))
    }

    async fn delete_session(
        &self,
        _: Request<wire::DeleteSessionRequest>,
    ) -> Answer<wire::DeleteSessionResponse> {
        Err(Status::failed_precondition("a turn is running"))
    }

    async fn compact_session(
        &self,
        request: Request<wire::CompactSessionRequest>,
    ) -> Answer<wire::CompactSessionResponse> {
        let request = request.into_inner();
        let mut session = known(&request.session)?;
        session.label = format!("{}/{}", request.summary, request.keep_messages);
        Ok(Response::new(wire::CompactSessionResponse {
            session: Some(session),
        }))
    }

    async fn preview_sessions(
        &self,
        request: Request<wire::PreviewSessionsRequest>,
    ) -> Answer<wire::PreviewSessionsResponse> {
        let preview = |key| wire::Preview {
            key,
            found: true,
            items: vec![wire::PreviewItem {
                role: "assistant".to_owned(),
                text: "good\nbye".to_owned(),
            }],
        };
        let keys = request.into_inner().keys.into_iter();
        Ok(Response::new(wire::PreviewSessionsResponse {
            previews: keys.map(preview).collect(),
        }))
    }

    async fn read_session(
        &self,
        request: Request<wire::ReadSessionRequest>,
    ) -> Answer<wire::ReadSessionResponse> {
        let request = request.into_inner();
        // Two pages, the older one last.
        let (words, has_more) = match request.skip {
            0 => ("and now?", true),
            _ => ("hello", false),
        };
        Ok(Response::new(wire::ReadSessionResponse {
            key: "newer".to_owned(),
            id: "id-of-newer".to_owned(),
            items: vec![wire::ReadItem {
                at_ms: 0,
                kind: Some(wire::read_item::Kind::User(words.to_owned())),
            }],
            has_more,
            ..wire::ReadSessionResponse::default()
        }))
    }

    async fn find_words(
        &self,
        _: Request<wire::FindWordsRequest>,
    ) -> Answer<wire::FindWordsResponse> {
        Ok(Response::new(wire::FindWordsResponse::default()))
    }

    async fn find_sessions(
        &self,
        request: Request<wire::FindSessionsRequest>,
    ) -> Answer<wire::FindSessionsResponse> {
        let found = wire::FoundSession {
            id: "abc".to_owned(),
            cwd: "/home/anna/eastore".to_owned(),
            first_user_message: request.into_inner().project,
            ..wire::FoundSession::default()
        };
        Ok(Response::new(wire::FindSessionsResponse {
            sessions: vec![found],
            searched: 3,
            problems: vec!["cannot open /x".to_owned()],
        }))
    }

    async fn import_sessions(
        &self,
        request: Request<Streaming<wire::ImportSessionsRequest>>,
    ) -> Answer<wire::ImportSessionsResponse> {
        let mut parts = request.into_inner();
        let mut skipped = Vec::new();
        while let Some(part) = parts.next().await {
            if let Some(wire::import_sessions_request::Kind::File(file)) = part?.kind {
                skipped.push(wire::SkippedFile {
                    name: format!("{}/{}", file.agent, file.name),
                    reason: "as a test".to_owned(),
                });
            }
        }
        Ok(Response::new(wire::ImportSessionsResponse {
            skipped,
            left_out: vec![wire::LeftOutField {
                name: "limits".to_owned(),
                sessions: 2,
            }],
            ..wire::ImportSessionsResponse::default()
        }))
    }

    async fn export_sessions(
        &self,
        _: Request<wire::ExportSessionsRequest>,
    ) -> Answer<Self::ExportSessionsStream> {
        use wire::export_sessions_response::Kind;
        let kinds = [
            Kind::File("agents/main/sessions/sessions.json".to_owned()),
            Kind::Chunk(b"{}".to_vec()),
            Kind::File("../outside".to_owned()),
        ];
        let parts = kinds.map(|kind| Ok(wire::ExportSessionsResponse { kind: Some(kind) }));
        Ok(Response::new(Box::pin(tokio_stream::iter(parts))))
    }
}

#[test]
fn sessions_are_listed_latest_first() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let shown = text(&scene.run(&["sessions"]).stdout);
    let keys: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(keys, ["SESSION", "newer", "older"]);
    let document = scene.run(&["sessions", "list", "--json"]).stdout;
    let document: Value = serde_json::from_slice(&document).unwrap();
    assert_eq!(document["sessions"][0]["messageCount"], 2);
    let previews = text(&scene.run(&["sessions", "--preview"]).stdout);
    assert!(
        previews.contains("newer  assistant: good⏎bye\n"),
        "{previews}"
    );
    let short = text(&scene.run(&["sessions", "--limit", "1"]).stdout);
    assert!(short.ends_with("1 more\n"), "{short}");
}

#[test]
fn transcript_is_read_to_its_beginning() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let shown = scene.run(&["sessions", "show", "newer", "--transcript"]);
    assert_eq!(text(&shown.stdout), "you: hello\n\nyou: and now?\n");
    let limited = scene.run(&["sessions", "show", "newer", "--transcript", "--limit", "1"]);
    assert_eq!(text(&limited.stdout), "you: and now?\n");
    let unknown = scene.run(&["sessions", "show", "nobody"]);
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("\"nobody\""));
}

#[test]
fn changes_are_sent_and_refusals_told() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let patched = scene.run(&[
        "sessions",
        "patch",
        "newer",
        "--label",
        "Trip",
        "--set",
        "verboseLevel=on",
        "--json",
    ]);
    let document: Value = serde_json::from_slice(&patched.stdout).unwrap();
    assert_eq!(document["label"], "label=Trip verboseLevel=on");
    let compacted = scene.run(&["sessions", "compact", "newer", "--summary", "s", "--json"]);
    let document: Value = serde_json::from_slice(&compacted.stdout).unwrap();
    assert_eq!(document["label"], "s/10");
    for (arguments, code, words) in [
        (&["sessions", "patch", "newer"][..], 64, "--label"),
        (&["sessions", "delete", "newer"], 1, "a turn is running"),
        (&["sessions", "create", "x"], 1, "there already"),
        (
            &["sessions", "patch", "newer", "--set", "x"],
            64,
            "FIELD=VALUE",
        ),
        (&["sessions", "find"], 64, "PROJECT"),
    ] {
        let output = scene.run(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn sessions_what_was_found_and_what_could_not_be_read_are_told() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let found = scene.run(&["sessions", "find", "ea", "store"]);
    let shown = text(&found.stdout);
    assert!(
        shown.contains("abc (in no index)") && shown.contains("first: ea store"),
        "{shown}"
    );
    assert!(text(&found.stderr).contains("cannot open /x; passed over"));
}

#[test]
fn import_sends_what_is_in_a_state_directory_or_a_folder() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let nothing = scene.run(&["import"]);
    assert_eq!(nothing.status.code(), Some(1));
    assert!(text(&nothing.stderr).contains("--from DIR"));
    let other = scene.state().join("other");
    let folder = other.join("agents/work/sessions");
    std::fs::create_dir_all(folder.join("cold")).unwrap();
    for file in ["sessions.json", "a.jsonl", "cold/b.jsonl.zst"] {
        std::fs::write(folder.join(file), "{}").unwrap();
    }
    for from in [&other, &folder] {
        let output = scene.run(&["import", "--from", from.to_str().unwrap(), "--json"]);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let skipped = document["skipped"].as_array().unwrap();
        let names: Vec<_> = skipped
            .iter()
            .map(|skip| skip["name"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["work/a.jsonl", "work/sessions.json", "work/b.jsonl.zst"]
        );
    }
    let shown = scene.run(&["import", "--from", other.to_str().unwrap()]);
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("left out") && shown.contains("limits (2 sessions)"),
        "{shown}"
    );
    let gone = scene.run(&["import", "--from", "/nowhere/at/all"]);
    assert!(text(&gone.stderr).contains("/nowhere/at/all"));
}

#[test]
fn export_writes_nowhere_else_and_overwrites_nothing() {
    let scene = Scene::new();
    let _gateway = ScriptedGateway::start(&scene, Vec::new());
    let target = scene.state().join("out/deep");
    let evil = scene.run(&["export", "--to", target.to_str().unwrap()]);
    assert_eq!(evil.status.code(), Some(1));
    assert!(!scene.state().join("out").exists(), "nothing is left of it");
    let empty = scene.state().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let evil = scene.run(&["export", "--to", empty.to_str().unwrap()]);
    assert_eq!(evil.status.code(), Some(1));
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0);
    let full = scene.run(&["export", "--to", scene.state().to_str().unwrap()]);
    assert_eq!(full.status.code(), Some(64));
    assert!(text(&full.stderr).contains("not empty"));
}
