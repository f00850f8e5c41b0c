//! Slash commands, at every door.

use std::collections::BTreeSet;
use std::pin::pin;

use futures_util::StreamExt as _;
use integration_tests::http::{answer, json as with_json};
use integration_tests::socket::Socket;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Http, Setup, Suite, processes};
use nix::sys::signal::Signal;
use openclaw_proto::event::Kind;
use openclaw_proto::gateway::{Message, Reply};
use reqwest::Method;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};

const SECRET: &str = "a-made-up-secret";

/// Each command with what its answer says, whatever was commanded before.
const COMMANDS: [(&str, &str); 23] = [
    ("/help", "/status"),
    ("/commands", "/approve - "),
    ("/status", "🦞 OpenClaw"),
    ("/whoami", "User id: "),
    ("/usage", "Input: "),
    ("/models", "odel"),
    ("/agents", "main (default)"),
    ("/tools", "execute_shell"),
    ("/sessions", "(this one)"),
    ("/exec", "host=sandbox"),
    ("/stop", "nothing to stop"),
    ("Stop!", "nothing to stop"),
    ("/verbose", "Current verbose level"),
    ("/reasoning", "Current reasoning level"),
    ("/name A trip", "A trip"),
    ("/approve", "Nothing waits"),
    ("/compact", "skipped"),
    ("/model default", "Model reset to default"),
    ("/think: high", "Thinking level set to high"),
    ("/queue collect cap:7", "cap=7"),
    ("/queue nonsense", "Unrecognized queue mode"),
    ("/new", "New session started"),
    ("/reset", "New session started"),
];

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .variable("OPENCLAW_CLI_SECRET", SECRET)
        .variable("OPENCLAW_CLI_PORT", "0")
        .start()
        .await;
    (suite, model)
}

/// A way in, and what it says to a message.
enum EntryPoint {
    Ctl,
    Message(Http),
    Completions(Http),
    Responses(Http),
    Socket(&'static str, Box<Socket>),
}

impl EntryPoint {
    async fn all(suite: &Suite) -> Vec<Self> {
        let mut doors = vec![
            Self::Ctl,
            Self::Message(Http::new(&suite.address("cli").await, SECRET)),
            Self::Completions(suite.http().await),
            Self::Responses(suite.http().await),
        ];
        for method in ["chat.send", "sessions.send", "agent"] {
            doors.push(Self::Socket(method, Box::new(Socket::enter(suite).await)));
        }
        doors
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ctl => "openclawctl",
            Self::Message(_) => "message",
            Self::Completions(_) => "completions",
            Self::Responses(_) => "responses",
            Self::Socket(method, _) => method,
        }
    }

    async fn say(&mut self, suite: &Suite, text: &str, id: &str) -> String {
        match self {
            Self::Ctl => suite.say(text).await,
            Self::Message(http) => {
                let said = http.post("/message", &json!({"text": text})).await.ok();
                said["bot_text"].as_str().unwrap().to_owned()
            }
            Self::Completions(http) => {
                let body = json!({
                    "model": "openclaw", "user": "ann",
                    "messages": [{"role": "user", "content": text}],
                });
                let said = http.post("/v1/chat/completions", &body).await.ok();
                let message = &said["choices"][0]["message"]["content"];
                message.as_str().unwrap().to_owned()
            }
            Self::Responses(http) => {
                let body = json!({"model": "openclaw", "user": "ann", "input": text});
                let said = http.post("/v1/responses", &body).await.ok();
                let part = &said["output"][0]["content"][0]["text"];
                part.as_str().unwrap().to_owned()
            }
            Self::Socket(method, socket) => {
                let key = match *method {
                    "sessions.send" => "key",
                    _ => "sessionKey",
                };
                let mut params = json!({"message": text, "idempotencyKey": id});
                params[key] = json!("main");
                socket.call(method, params).await;
                let end = socket.end_of(id).await;
                let said = &end["payload"]["message"]["content"][0]["text"];
                said.as_str().unwrap_or_default().to_owned()
            }
        }
    }
}

#[tokio::test]
async fn commands_are_answered_at_every_door() {
    let (suite, model) = scene().await;
    for mut door in EntryPoint::all(&suite).await {
        for (number, (command, words)) in COMMANDS.iter().enumerate() {
            let id = format!("{}-{number}", door.name());
            let said = door.say(&suite, command, &id).await;
            assert!(said.contains(words), "{} {command}: {said}", door.name());
        }
        let is_shown = matches!(door, EntryPoint::Ctl | EntryPoint::Socket(..));
        for (number, command) in ["/verbose on", "/reasoning off", "/usage tokens"]
            .into_iter()
            .enumerate()
        {
            let id = format!("{}-level-{number}", door.name());
            let said = door.say(&suite, command, &id).await;
            let is_refused = said.contains("Nothing was changed");
            assert_eq!(is_refused, !is_shown, "{} {command}: {said}", door.name());
        }
        let id = format!("{}-text", door.name());
        for text in [
            "/frobnicate now",
            "/help me with this",
            "/usr/bin is a folder",
        ] {
            let id = format!("{id}-{}", text.len());
            let said = door.say(&suite, text, &id).await;
            assert!(said.contains(text), "{} {text}: {said}", door.name());
        }
    }
    assert_eq!(
        model.turns().len(),
        7 * 3,
        "a model was asked for a command"
    );
}

/// A command that is added is added to the table above.
#[tokio::test]
async fn commands_that_are_listed_are_all_tried() {
    let (suite, _model) = scene().await;
    let mut socket = Socket::enter(&suite).await;
    let listed = socket.call("commands.list", json!({})).await;
    let listed = listed["commands"].as_array().unwrap().iter();
    let listed: BTreeSet<&str> = listed.map(|it| it["name"].as_str().unwrap()).collect();
    let tried = COMMANDS.iter().filter_map(|(text, _)| {
        let name = text.strip_prefix('/')?.split([' ', ':']).next()?;
        Some(name)
    });
    assert_eq!(listed, tried.collect());
}

#[tokio::test]
async fn commands_are_text_where_a_program_passes_it_on() {
    let (suite, model) = scene().await;
    let http = suite.http().await;
    let once = json!({
        "model": "openclaw", "messages": [{"role": "user", "content": "/status"}],
    });
    let said = http.post("/v1/chat/completions", &once).await.ok();
    let said = said["choices"][0]["message"]["content"].to_string();
    assert!(said.contains("You said: /status"), "{said}");

    let mut socket = Socket::enter(&suite).await;
    let params = json!({
        "sessionKey": "main", "message": "/status", "idempotencyKey": "plain",
        "suppressCommandInterpretation": true,
    });
    socket.call("chat.send", params).await;
    let end = socket.end_of("plain").await.to_string();
    assert!(end.contains("You said: /status"), "{end}");
    assert_eq!(model.turns().len(), 2);
}

/// Sends a message under a key; its run and what was answered.
async fn keyed(suite: &Suite, text: &str, key: &str) -> (String, bool, String) {
    let message = Message {
        text: text.to_owned(),
        idempotency_key: key.to_owned(),
        ..Message::default()
    };
    let replies = suite.gateway().send_message(message).await.unwrap();
    let mut replies = pin!(replies);
    let (mut run, mut said) = ((String::new(), false), String::new());
    while let Some(reply) = replies.next().await {
        match reply.unwrap() {
            Reply::Accepted(accepted, ..) => run = (accepted.run_id, accepted.existing),
            Reply::Event(event) => {
                if let Kind::TextDelta { text } = event.kind {
                    said.push_str(&text);
                }
            }
        }
    }
    (run.0, run.1, said)
}

#[tokio::test]
async fn commands_with_the_same_key_are_carried_out_once() {
    let (suite, model) = scene().await;
    let (run, existing, said) = keyed(&suite, "/think high", "k1").await;
    assert!(!existing && said.contains("high"), "{said}");
    keyed(&suite, "/think low", "k2").await;
    assert_eq!(
        keyed(&suite, "/think high", "k1").await,
        (run.clone(), true, said.clone())
    );
    let now = keyed(&suite, "/think", "k3").await.2;
    assert!(now.contains("low"), "carried out again: {now}");
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    suite.say("/whoami").await;
    assert_eq!(keyed(&suite, "/think high", "k1").await, (run, true, said));
    assert!(model.turns().is_empty());

    // What was commanded is in the transcript, and no model reads it.
    suite.say("hello").await;
    let messages = suite.messages();
    let commanded = |message: &&Value| message["__openclaw"]["command"] == "think";
    assert_eq!(messages.iter().filter(commanded).count(), 6, "{messages:?}");
    let asked = integration_tests::asked::words(&model.turns()[0]);
    assert!(!asked.contains("/think"), "{asked}");
}

/// What an agent answers that has nothing to say, at each door.
#[tokio::test]
async fn silence_is_told_at_no_door() {
    let (suite, model) = scene().await;
    for mut door in EntryPoint::all(&suite).await {
        model.push(Scenario::text("NO_REPLY").chunk(3));
        let said = door
            .say(&suite, "anything?", &format!("s-{}", door.name()))
            .await;
        assert_eq!(said.trim(), "", "{}", door.name());
        model.push(Scenario::text("NO_REPLY is a word.").chunk(3));
        let said = door
            .say(&suite, "well?", &format!("t-{}", door.name()))
            .await;
        assert_eq!(said.trim(), "NO_REPLY is a word.", "{}", door.name());
    }
    let messages = suite.messages();
    let answers = of_role(&messages, "assistant");
    let silent = answers.iter().filter(|answer| text(answer) == "NO_REPLY");
    assert_eq!(silent.count(), 5, "it is kept in the transcript");

    let mut socket = Socket::enter(&suite).await;
    let history = socket
        .call("chat.history", json!({"sessionKey": "main"}))
        .await;
    let told = history["messages"].to_string();
    assert!(told.contains("NO_REPLY is a word."), "{told}");
    assert!(!told.contains("\"NO_REPLY\""), "{told}");
    let repeated = keyed(&suite, "anything?", "s-chat.send").await;
    assert_eq!((repeated.1, repeated.2.as_str()), (true, ""));
    let http = Http::new(&suite.address("cli").await, SECRET);
    let session = answer(with_json(http.request(Method::GET, "/session"), &json!({})))
        .await
        .ok();
    assert!(!session.to_string().contains("\"NO_REPLY\""), "{session}");
}
