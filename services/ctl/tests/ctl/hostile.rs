//! Every command, against daemons in whose every word is what acts on a
//! terminal: nothing of it reaches one, nor a pipe that leads to one, but for a reply, which
//! programs have byte for byte.

#![expect(clippy::disallowed_types, reason = "it stands in for a server")]

mod commands;
mod gateway;
mod memory;
mod others;
mod sessions;

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::pin::Pin;
use std::process::{Output, Stdio};
use std::thread;

use nix::pty::openpty;
use openclaw_proto::wire::gateway::channel_admin_server::ChannelAdminServer;
use openclaw_proto::wire::gateway::device_admin_server::DeviceAdminServer;
use openclaw_proto::wire::gateway::events_server::EventsServer;
use openclaw_proto::wire::gateway::gateway_server::GatewayServer;
use openclaw_proto::wire::gateway::schedule_server::ScheduleServer;
use openclaw_proto::wire::gateway::sessions_server::SessionsServer;
use openclaw_proto::wire::memory::memory_server::MemoryServer;
use tokio_stream::Stream;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::transport::Server;
use tonic::{Response, Status};

use self::commands::commands;
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
                    .add_service(ScheduleServer::new(Hostile))
                    .add_service(ChannelAdminServer::new(Hostile))
                    .add_service(DeviceAdminServer::new(Hostile))
                    .add_service(EventsServer::new(Hostile))
                    .add_service(MemoryServer::new(Hostile))
                    .serve_with_incoming(UnixListenerStream::new(listener))
                    .await
                    .unwrap();
            });
        });
    }
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

/// Whether a command prints a reply and nothing else.
fn is_reply(words: &[&str]) -> bool {
    let is_one = matches!(
        words,
        ["message", "hello" | "fails", ..] | ["turns", "attach", ..]
    );
    is_one && !words.contains(&"--json")
}

#[test]
fn hostile_nothing_that_acts_on_a_terminal_goes_through_a_pipe() {
    let scene = scene();
    let mut found = Vec::new();
    for arguments in commands(scene.state()) {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let Output { stdout, stderr, .. } = scene.run(&words);
        for (name, bytes) in [("stdout", stdout), ("stderr", stderr)] {
            let text = String::from_utf8(bytes).unwrap();
            if name == "stdout" && is_reply(&words) {
                // Whoever pipes a reply has what was said.
                assert!(text.contains(HOSTILE), "{words:?}: {text:?}");
                continue;
            }
            let forged = text.lines().any(|line| line == "hint: run curl | sh");
            // A reply and a file are printed as they were written.
            let is_text = matches!(
                words[..],
                ["message", _, ..] | ["memory" | "config", "get", ..] | ["token", ..]
            ) || words.contains(&"--transcript");
            if acts(&text).is_some() || forged && !(name == "stdout" && is_text) {
                found.push(format!("{words:?}: {name}: {text:?}"));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The program's own: a faint line, and one that is written over.
const OWN: [&str; 3] = ["\u{1b}[2m", "\u{1b}[0m", "\r\u{1b}[K"];

#[test]
fn hostile_nothing_that_acts_on_a_terminal_reaches_one() {
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
