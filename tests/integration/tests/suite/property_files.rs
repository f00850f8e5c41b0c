//! Properties 5 and 26 of seed 002: where files are, and whose.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use integration_tests::{Setup, Socket, Suite, within};
use nix::sched::{CloneFlags, unshare};
use nix::sys::stat::{Mode, umask};
use openclaw_proto::gateway::Message;
use proptest::prelude::*;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use tokio::runtime::Builder;
use tokio::sync::Mutex;

use crate::properties::{exchange, runner};
use crate::telegram;

/// Stands for a folder beside the state directory.
const OUTSIDE: &str = "@OUTSIDE@";
/// What belongs to the suite, in the folder of a test.
const OWN: [&str; 3] = ["state", "run", "tmp"];

/// A name that somebody gives to a thing, in the hope that it becomes a path.
fn name() -> impl Strategy<Value = String> {
    let climbing =
        (1..8_usize, "[a-z]{1,6}").prop_map(|(up, name)| format!("{}{name}", "../".repeat(up)));
    prop_oneof![
        2 => climbing.clone(),
        1 => climbing.prop_map(|path| format!("x/{path}")),
        1 => "[a-z]{1,6}".prop_map(|name| format!("{OUTSIDE}/{name}")),
        1 => "[a-z]{1,6}".prop_map(|name| format!("../../{OUTSIDE}/{name}")),
        1 => "[a-z]{1,6}".prop_map(|name| format!("..%2f..%2f{name}")),
        1 => "[a-z]{1,6}".prop_map(|name| format!("~/{name}")),
        1 => "[a-z]{1,6}".prop_map(|name| format!("$HOME/{name}")),
        1 => Just("..".to_owned()),
        1 => "[a-zA-Z0-9 ._/\\\\:-]{1,24}",
    ]
}

/// Something that makes files, in one of the programs.
#[derive(Debug, Clone, Copy)]
enum Does {
    Say,
    CreateSession,
    PatchSession,
    ResetSession,
    AddJob,
    Import,
    Configure,
    Remember,
    WriteFile,
    Edit,
    Patch,
    Shell,
    Attach,
    Receive,
    BackUp,
}

const ALL: [Does; 15] = [
    Does::Say,
    Does::CreateSession,
    Does::PatchSession,
    Does::ResetSession,
    Does::AddJob,
    Does::Import,
    Does::Configure,
    Does::Remember,
    Does::WriteFile,
    Does::Edit,
    Does::Patch,
    Does::Shell,
    Does::Attach,
    Does::Receive,
    Does::BackUp,
];

/// A suite with a channel.
struct Scene {
    telegram: telegram::Scene,
    socket: Mutex<Socket>,
    /// Files that were sent, and backups that were made.
    count: AtomicU32,
}

impl Scene {
    async fn new() -> Self {
        let owner = json!([telegram::OWNER]);
        let telegram = telegram::Scene::with(|setup| {
            let setup = setup.set("tools.exec.ask", "off");
            setup.set("channels.telegram.allowFrom", owner)
        });
        let telegram = telegram.await;
        fs::create_dir(telegram.suite.path("outside")).unwrap();
        let socket = Mutex::new(Socket::enter(&telegram.suite).await);
        Self {
            telegram,
            socket,
            count: AtomicU32::new(0),
        }
    }

    fn suite(&self) -> &Suite {
        &self.telegram.suite
    }

    fn next(&self) -> u32 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether it works is another question.
    async fn act(&self, does: Does, name: &str) {
        match does {
            Does::Say => self.say(name, "hello").await,
            Does::CreateSession => {
                self.call("sessions.create", json!({"key": name, "label": name}))
                    .await
            }
            Does::PatchSession => {
                self.call("sessions.patch", json!({"key": "main", "label": name}))
                    .await;
                self.call("sessions.patch", json!({"key": name, "label": "x"}))
                    .await;
            }
            Does::ResetSession => self.call("sessions.reset", json!({"key": name})).await,
            Does::AddJob => {
                let job = json!({
                    "id": name, "name": name, "schedule": {"kind": "every", "everyMs": 3_600_000},
                    "sessionTarget": "isolated", "wakeMode": "now", "sessionKey": name, "agentId": name,
                    "payload": {"kind": "agentTurn", "message": name},
                });
                self.call("cron.add", job).await;
            }
            Does::Import => self.import(name).await,
            Does::Configure => {
                let value = json!({"n": name}).to_string();
                self.suite().ctl(&["config", "set", "ui", &value]).await;
            }
            Does::Remember => {
                self.tool(
                    "memory_write",
                    json!({"text": "x", "path": name, "file": name}),
                )
                .await
            }
            Does::WriteFile => {
                self.tool("write_file", json!({"path": name, "content": "x"}))
                    .await
            }
            Does::Edit => {
                let edits = json!([{"oldText": "x", "newText": "y"}]);
                self.tool("edit", json!({"path": name, "edits": edits}))
                    .await;
            }
            Does::Patch => {
                let patch = format!("*** Begin Patch\n*** Add File: {name}\n+x\n*** End Patch");
                self.tool("apply_patch", json!({"input": patch})).await;
            }
            Does::Shell => {
                let command = format!("mkdir -p \"$(dirname '{name}')\"; echo x > '{name}'");
                self.tool("execute_shell", json!({"command": command}))
                    .await;
            }
            Does::Attach => {
                let gateway = self.suite().gateway();
                let put = gateway.put_attachment("main", "", name, b"x".to_vec());
                let put = put.await.expect("attach a file");
                assert!(put.path.starts_with("media/inbound/"), "{put:?}");
            }
            Does::Receive => self.receive(name).await,
            Does::BackUp => {
                let file = format!("tmp/{}.tar.zst", self.next());
                let path = self.suite().path(&file).display().to_string();
                self.suite().ctl(&["backup", &path]).await.ok();
            }
        }
    }

    /// The owner sends the bot a file of that name: it passes the channel's spool, the
    /// place where its daemon keeps what it received, and the workspace.
    async fn receive(&self, name: &str) {
        let double = &self.telegram.double;
        let (id, before) = (self.next(), double.sent_to(telegram::OWNER).len());
        let file = format!("file-{id}");
        double.keep_file(&file, b"x".to_vec());
        double.update(json!({"message": {
            "message_id": 1_000 + id, "date": 1_700_000_000, "caption": "look",
            "chat": {"id": telegram::OWNER, "type": "private", "first_name": "Ada"},
            "from": {"id": telegram::OWNER, "is_bot": false, "first_name": "Ada"},
            "document": {"file_id": file, "file_unique_id": format!("u{id}"), "file_size": 1,
                "file_name": name, "mime_type": "application/octet-stream"},
        }}));
        let answered = double.wait(|it| it.sent_to(telegram::OWNER).len() > before);
        within("an answer to the file", answered).await;
    }

    async fn call(&self, method: &str, params: Value) {
        self.socket.lock().await.ask(method, params).await.unwrap();
    }

    async fn say(&self, session: &str, text: &str) {
        let message = Message {
            text: text.to_owned(),
            session_key: session.to_owned(),
            ..Message::default()
        };
        let sent = self.suite().gateway().send_message(message).await;
        if let Ok(replies) = sent {
            let mut replies = std::pin::pin!(replies);
            while let Some(Ok(_)) = tokio_stream::StreamExt::next(&mut replies).await {}
        }
    }

    async fn tool(&self, tool: &str, arguments: Value) {
        self.telegram.model.push(Scenario::tool(tool, arguments));
        let message = Message {
            text: "go on".to_owned(),
            ..Message::default()
        };
        exchange(self.suite(), message).await;
    }

    /// Sessions of another's folder, whose index names their files.
    async fn import(&self, name: &str) {
        let folder = self.suite().path("tmp/import");
        fs::create_dir_all(&folder).unwrap();
        let index =
            json!({"agent:main:other": {"sessionId": name, "sessionFile": name, "updatedAt": 1}});
        fs::write(folder.join("sessions.json"), index.to_string()).unwrap();
        fs::write(
            folder.join("a.jsonl"),
            "{\"type\":\"session\",\"id\":\"a\"}\n",
        )
        .unwrap();
        let folder = folder.display().to_string();
        self.suite().ctl(&["import", &folder]).await;
    }
}

/// Everything in the folder of a test that is not the suite's own.
fn beside(suite: &Suite) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(suite.path("")).unwrap() {
        let entry = entry.unwrap();
        if !OWN.contains(&&*entry.file_name().to_string_lossy()) {
            walk(&entry.path(), &mut |path| {
                found.insert(path.display().to_string());
            });
        }
    }
    found
}

fn walk(path: &Path, see: &mut impl FnMut(&Path)) {
    see(path);
    let is_folder = path.is_dir() && !path.is_symlink();
    let entries = is_folder.then(|| fs::read_dir(path).ok()).flatten();
    for entry in entries.into_iter().flatten().flatten() {
        walk(&entry.path(), see);
    }
}

/// Feature: openclaw-mvp, Property 5: For any file created by the system, the
/// file path SHALL be under the configured workspace directory, which is the
/// state directory here: whoever writes it (gateway, agent-runner, memory, an
/// agent, openclawctl, a channel's daemon), and however what it belongs to is called: what
/// is said and kept, files that are attached or come by a channel, backups.
#[test]
fn property_5_nothing_is_written_outside_the_state_directory() {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let scene = runtime.block_on(Scene::new());
    let outside = scene.suite().path("outside").display().to_string();
    let before = beside(scene.suite());
    let top = || -> BTreeSet<String> {
        let entries = fs::read_dir(scene.suite().state()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect()
    };
    runner()
        .run(&(prop::sample::select(&ALL[..]), name()), |(does, name)| {
            let name = name.replace(OUTSIDE, &outside);
            runtime.block_on(scene.act(does, &name));
            prop_assert_eq!(
                beside(scene.suite()),
                before.clone(),
                "{:?} of {:?}",
                does,
                name
            );
            Ok(())
        })
        .unwrap();
    // Nor did a name become one of the suite's own places.
    let known = [
        "agents",
        "auth.json",
        "channels",
        "logs",
        "memory",
        "openclaw.json",
        "openclaw.json.bak",
        "openclaw.json.last-good",
        "openclaw.json.lock",
        "sessions",
        "state",
        "workspace",
    ];
    let strange: Vec<String> = top()
        .into_iter()
        .filter(|name| !known.contains(&name.as_str()))
        .collect();
    assert!(strange.is_empty(), "{strange:?}");
}

/// Feature: openclaw-mvp, Property 5: For any file created by the system, the file path
/// SHALL be under the configured workspace directory. Here: what the agents that are other
/// people's programs write into their homes, a few times each, for they are slow.
#[tokio::test]
async fn property_5_clis_write_nothing_outside_the_state_directory() {
    for which in ["claude", "codex"] {
        let model = Server::start().await.unwrap();
        let setup = match which {
            "claude" => Setup::claude(&model),
            _ => Setup::codex(&model),
        };
        let Some(setup) = setup else { continue };
        let suite = setup.start().await;
        let before = beside(&suite);
        for session in ["main", "x/../../elsewhere", "~/elsewhere"] {
            let message = Message {
                text: format!("in {session}"),
                session_key: session.to_owned(),
                ..Message::default()
            };
            exchange(&suite, message).await;
            assert_eq!(beside(&suite), before, "{which}, in {session}");
        }
        let own = suite.state().join("agents/main/cli");
        let mut files = 0;
        walk(&own, &mut |path| files += usize::from(path.is_file()));
        assert!(files > 0, "{which} kept nothing in {}", own.display());
    }
}

/// Masks that take nothing, something and everything away.
const MASKS: [u32; 5] = [0o000, 0o002, 0o027, 0o277, 0o777];

/// Feature: openclaw-mvp, Property 26: For any token file created by the
/// Security_Manager, the file permissions SHALL be 600 (owner read/write only).
/// Here: with all other files that the suite makes, none of which is anybody
/// else's, under any umask it is started with.
#[test]
fn property_26_files_of_the_suite_are_their_owners_alone() {
    for mask in MASKS {
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let model = Server::start().await.unwrap();
                let site = Setup::anthropic(&model).site();
                // This thread's alone; programs that it starts inherit it.
                unshare(CloneFlags::CLONE_FS).unwrap();
                umask(Mode::from_bits_truncate(mask));
                let suite = Suite::start(site).await;
                suite.say("hello").await;
                suite.token().await;
                suite
                    .ctl(&["config", "set", "logging.level", "warn"])
                    .await
                    .ok();
                are_private(&suite, mask);
            });
        });
        thread.join().unwrap();
    }
}

fn are_private(suite: &Suite, mask: u32) {
    let mut count = 0;
    let mode = |path: &Path| fs::symlink_metadata(path).map(|found| found.mode() & 0o7777);
    for folder in [suite.state(), suite.runtime()] {
        walk(&folder, &mut |path| {
            // What a daemon renames in this moment may be gone.
            let Ok(mode) = mode(path) else { return };
            count += 1;
            // A turn mounts its own places there, for the turn alone to see.
            let is_of_turn = path.to_string_lossy().contains("/main/tmp/");
            let is_open = mode & 0o077 != 0 && !path.is_symlink() && !is_of_turn;
            assert!(
                !is_open,
                "umask {mask:03o}: {} has {mode:o}",
                path.display()
            );
        });
    }
    assert!(count > 15, "umask {mask:03o}: {count}");
    for secret in ["auth.json", "openclaw.json"] {
        assert_eq!(
            mode(&suite.state().join(secret)).unwrap(),
            0o600,
            "umask {mask:03o}: {secret}"
        );
    }
}
