//! Every backend, with the real CLIs, with every kind of tool, when a call is
//! asked about, when its turn is cancelled, and when the agent-runner is killed
//! over it. Each cell looks at what the user was told, what the transcript has,
//! what the model was asked, and how often the tool really ran.

mod backend;

use std::os::unix::fs::PermissionsExt;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use nix::sys::signal::Signal;
use scripted_model::{Pace, Scenario, Server};
use serde_json::json;

use backend::Backend;

use crate::tool_server::ToolServer;
use crate::transcript::{of_role, text};
use crate::{Suite, Talk, asked, processes, until, within};

/// What a call of the hanging server may take, in milliseconds.
const HANGING_MS: u64 = 2_000;

/// Within which a call fails that is not made.
const AT_ONCE: Duration = Duration::from_millis(HANGING_MS);

/// Rounds after which a tool that came late has to be there. It is called in the
/// first one in which it is.
const ROUNDS: usize = 30;

/// As many where nobody is told of it.
const FEW_ROUNDS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Row {
    /// The agent's own commands.
    Own,
    /// Our memory.
    Ours,
    Fast,
    /// Comes while the turn goes on.
    Slow,
    /// Leaves calls unanswered.
    Hanging,
    /// Ends over each call.
    Crashing,
    /// Writes where its `paths` let it.
    Writing,
    /// Has sixty tools.
    Sixty,
}

/// What happens to a call. The table has a column for each, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// It is asked about.
    Approval,
    /// Its turn is cancelled.
    Cancel,
    /// The agent-runner is killed over it.
    Kill,
}

/// All of them.
pub const EVENTS: [Event; 3] = [Event::Approval, Event::Cancel, Event::Kill];

/// What a cell comes to.
#[derive(Debug, Clone, Copy)]
enum Cell {
    /// The event meets the call itself.
    Call,
    /// It meets the answer after the call, which is over at once.
    After,
    /// There is no such thing, and why.
    Not(&'static str),
}

/// For all backends. The slow server comes first: its session is the one in
/// which the others are up.
const TABLE: [(Row, [Cell; 3]); 8] = [
    (Row::Slow, [Cell::Call, Cell::Call, Cell::Call]),
    (Row::Own, [Cell::Call, Cell::Call, Cell::Call]),
    (
        Row::Ours,
        [
            Cell::Not("nobody is asked about memory"),
            Cell::After,
            Cell::After,
        ],
    ),
    (Row::Fast, [Cell::Call, Cell::Call, Cell::Call]),
    (Row::Writing, [Cell::Call, Cell::Call, Cell::Call]),
    (Row::Sixty, [Cell::Call, Cell::Call, Cell::Call]),
    (Row::Crashing, [Cell::Call, Cell::After, Cell::Call]),
    (Row::Hanging, [Cell::Call, Cell::Call, Cell::Call]),
];

/// How long a call takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Length {
    Short,
    /// Until the test releases it.
    Held,
    Endless,
}

/// A suite with all servers, in which the cells of one event happen one after
/// the other, in one session.
struct Scene {
    backend: Backend,
    event: Event,
    model: Server,
    suite: Suite,
    server: ToolServer,
    /// The agent-runner was killed so often.
    kills: usize,
}

impl Scene {
    async fn new(backend: fn(&Server) -> Option<Backend>, event: Event) -> Option<Self> {
        let model = Server::start().await.unwrap();
        let backend = backend(&model)?;
        let server = ToolServer::default();
        let granted = server.path("granted");
        std::fs::create_dir(&granted).unwrap();
        // Root's agents are another user.
        std::fs::set_permissions(&granted, PermissionsExt::from_mode(0o777)).unwrap();
        let mut writing = server.seeing(&json!({"threads": true, "into": granted}));
        writing["paths"]["rw"] = json!([granted]);
        let mut hanging = server.seeing(&json!({}));
        hanging["requestTimeoutMs"] = HANGING_MS.into();
        let threads = json!({"threads": true});
        let many = json!({"threads": true, "tools": 55});
        let slow = json!({"threads": true, "gate": server.gate()});
        let ask = match event {
            Event::Approval => "on-miss",
            _ => "off",
        };
        let suite = backend
            .setup
            .clone()
            .set("tools.exec.ask", ask)
            .set("mcp.servers.fast", server.seeing(&threads))
            .set("mcp.servers.slow", server.seeing(&slow))
            .set("mcp.servers.hanging", hanging)
            .set("mcp.servers.crashing", server.seeing(&threads))
            .set("mcp.servers.writing", writing)
            .set("mcp.servers.sixty", server.seeing(&many))
            .start()
            .await;
        Some(Self {
            backend,
            event,
            model,
            suite,
            server,
            kills: 0,
        })
    }

    /// What a model calls the tool.
    fn tool(&self, row: Row) -> String {
        let name = match row {
            Row::Own => return self.backend.shell.to_owned(),
            Row::Ours => "memory_write",
            Row::Fast => "fast__count",
            Row::Slow => "slow__count",
            Row::Hanging => "hanging__count",
            Row::Crashing => "crashing__die",
            Row::Writing => "writing__count",
            Row::Sixty => "sixty__t54",
        };
        format!("{}{name}", self.backend.prefix)
    }

    /// A call that leaves `mark` behind.
    fn call(&self, row: Row, mark: &str, length: Length) -> Scenario {
        let release = self.release(row);
        let arguments = match row {
            Row::Own => {
                let wait = match length {
                    Length::Short => String::new(),
                    Length::Held => "until [ -e release ]; do sleep 0.05; done;".to_owned(),
                    Length::Endless => "sleep 86400;".to_owned(),
                };
                let line = format!("echo {mark} >> put.txt; {wait} echo it went");
                match self.backend.shell {
                    "exec_command" => json!({"cmd": line}),
                    _ => json!({"command": line}),
                }
            }
            Row::Ours => json!({"text": mark}),
            _ => match length {
                Length::Short => json!({"put": mark}),
                Length::Held => json!({"put": mark, "until": release}),
                Length::Endless => json!({"put": mark, "stuck": true}),
            },
        };
        Scenario::tool(self.tool(row), arguments)
    }

    /// The file that ends a held call.
    fn release(&self, row: Row) -> std::path::PathBuf {
        match row {
            Row::Own => self.suite.workspace().join("release"),
            other => self.server.path(&format!("release-{other:?}")),
        }
    }

    /// What a call that came to its end says.
    fn result(&self, row: Row) -> &'static str {
        match row {
            Row::Own => "it went",
            Row::Ours => "memory/2",
            Row::Crashing => "I have had enough",
            // How often it was called, and its start.
            _ => "-",
        }
    }

    /// How often calls with this mark ran.
    fn ran(&self, row: Row, mark: &str) -> usize {
        let put = |folder: std::path::PathBuf| vec![folder.join("put.txt")];
        let own = |name: &str| put(self.suite.state().join("agents/main/mcp").join(name));
        let files = match row {
            Row::Own => put(self.suite.workspace()),
            Row::Ours => {
                let notes = std::fs::read_dir(self.suite.workspace().join("memory"));
                let notes = notes.into_iter().flatten().flatten();
                notes.map(|note| note.path()).collect()
            }
            Row::Fast => own("fast"),
            Row::Slow => own("slow"),
            Row::Hanging => own("hanging"),
            Row::Crashing => own("crashing"),
            Row::Writing => put(self.server.path("granted")),
            Row::Sixty => own("sixty"),
        };
        let files = files
            .iter()
            .filter_map(|file| std::fs::read_to_string(file).ok());
        files.map(|text| text.matches(mark).count()).sum()
    }

    /// How often the result is in what a CLI keeps of its sessions.
    fn in_own_session(&self, row: Row) -> usize {
        let mut folders = vec![self.suite.state().join("agents/main/cli")];
        let mut count = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
                let (path, kind) = (entry.path(), entry.file_type());
                if kind.is_ok_and(|kind| kind.is_dir()) {
                    folders.push(path);
                } else if path.extension().is_some_and(|end| end == "jsonl") {
                    let text = std::fs::read_to_string(path).unwrap_or_default();
                    count += text.matches(self.result(row)).count();
                }
            }
        }
        count
    }

    async fn runs(&self, row: Row, mark: &str) {
        let what = format!("{mark} runs");
        until(&what, || self.ran(row, mark) > 0).await;
    }

    fn begin(&self, scenario: Scenario) -> Talk {
        self.model.forget();
        self.model.push(scenario);
        self.suite.begin(&["message", "--json", "go on"])
    }

    /// The last request to the model, once there are `count`.
    async fn last(&self, count: usize) -> String {
        asked::words(asked::turns(&self.model, count).await.last().unwrap())
    }

    /// A message whose call is made, and allowed where that is asked for.
    async fn works(&self, row: Row, mark: &str, result: &str) {
        let is_asked = self.event == Event::Approval && row != Row::Ours;
        self.answered(row, mark, result, is_asked).await;
    }

    /// A message with a call, whose result is this.
    async fn answered(&self, row: Row, mark: &str, result: &str, is_asked: bool) {
        let talk = self.begin(
            self.call(row, mark, Length::Short)
                .then(Scenario::text("Done.")),
        );
        if is_asked {
            self.decide("allow").await;
        }
        talk.end().await.ok();
        let told = self.last(2).await;
        assert!(told.contains(result), "{told}");
        self.is_in_transcript(result);
    }

    /// Answers the next question.
    async fn decide(&self, decision: &str) {
        let asked = within("a question", async {
            loop {
                let said = self.suite.ctl(&["approvals", "list", "--json"]).await;
                let waiting = said.ended(0).document()["waiting"].clone();
                if let Some(id) = waiting[0]["id"].as_str() {
                    return id.to_owned();
                }
            }
        });
        let decision = ["approvals", decision, &asked.await];
        self.suite.ctl(&decision).await.ok();
    }

    /// The last result of the transcript.
    fn is_in_transcript(&self, result: &str) {
        let messages = self.suite.messages();
        let last = of_role(&messages, "toolResult").pop().unwrap().to_string();
        assert!(last.contains(result), "{last}");
        let answer = of_role(&messages, "assistant").pop().unwrap().clone();
        assert_eq!(text(&answer), "Done.", "{answer}");
    }

    /// Kills the agent-runner and waits until its turn goes on.
    async fn kill(&mut self) {
        self.kills += 1;
        let runner = self.suite.daemon("openclaw-agent-runner");
        processes::send(runner, Signal::SIGKILL);
        self.suite.log.times("the turn goes on", self.kills).await;
    }

    /// Leaves nothing of a cell that failed to the next one.
    async fn tidy(&self) {
        self.suite.ctl(&["cancel"]).await;
        while self.model.queued() > 0 {
            self.suite.ctl(&["message", "tidy up"]).await;
        }
    }

    async fn cell(&mut self, row: Row, cell: Cell) {
        if row == Row::Slow {
            self.comes_late().await;
        }
        match (self.event, cell) {
            (_, Cell::Not(_)) => self.works(row, "unasked", self.result(row)).await,
            (Event::Approval, _) => self.approval(row).await,
            (Event::Cancel, Cell::Call) => self.cancel(row).await,
            (Event::Cancel, Cell::After) => self.cancel_after(row).await,
            (Event::Kill, _) => self.killed(row, cell).await,
        }
    }

    /// The slow server comes while a turn goes on, and has been told of; the
    /// turn is met by the event before that.
    async fn comes_late(&mut self) {
        let search = |number: usize| {
            let query = format!("word {number}");
            let tool = format!("{}memory_search", self.backend.prefix);
            Scenario::tool(tool, json!({ "query": query }))
        };
        let held = Scenario {
            text: "Looking further.".to_owned(),
            pace: Pace {
                gate: Some("late".to_owned()),
                ..Pace::default()
            },
            ..search(1)
        };
        let last = self.call(Row::Slow, "late", Length::Short);
        let last = last.then(Scenario::text("Done."));
        let is_told = self.backend.takes_late_tools && self.event != Event::Cancel;
        let tool = self.tool(Row::Slow);
        let rounds = if is_told { ROUNDS } else { FEW_ROUNDS };
        let rounds = (2..rounds).rev().fold(last, |next, number| {
            search(number).until(tool.clone()).then(next)
        });
        let mut talk = self.begin(search(0).then(held.then(rounds)));
        let early = asked::turns(&self.model, 2).await;
        assert!(
            early
                .iter()
                .all(|request| !asked::tools(request).contains(&tool))
        );
        let heard = talk.hear("slow is still being started").await;
        assert!(!heard.contains("cannot be used"), "{heard}");
        match self.event {
            Event::Kill => self.kill().await,
            Event::Cancel => talk.signal(Signal::SIGINT),
            Event::Approval => {}
        }
        std::fs::write(self.server.gate(), "").unwrap();
        let listed = self.suite.state().join("agents/main/mcp/slow/listed");
        until("the slow server", || listed.exists()).await;
        self.model.release("late");
        if is_told && self.event == Event::Approval {
            self.decide("allow").await;
        }
        talk.end().await;
        let asked = self.model.turns();
        let came = asked
            .iter()
            .any(|request| asked::tools(request).contains(&tool));
        if is_told {
            assert!(came, "{:?}", asked::tools(asked.last().unwrap()));
            assert_eq!(self.ran(Row::Slow, "late"), 1);
            self.is_in_transcript(self.result(Row::Slow));
        } else {
            self.begin(Scenario::text("Done.")).end().await.ok();
            let tools = asked::tools(&asked::turns(&self.model, 1).await[0]);
            assert!(tools.contains(&tool), "{tools:?}");
        }
    }

    async fn approval(&mut self, row: Row) {
        let call = self.call(row, "never", Length::Short);
        let talk = self.begin(call.then(Scenario::text("Done.")));
        self.decide("deny").await;
        let said = talk.end().await.ok();
        assert!(
            said.contains("\"deny\"") || said.contains("\"denied\""),
            "{said}"
        );
        assert_eq!(self.ran(row, "never"), 0, "it was denied");
        let told = self.last(2).await;
        let words = ["denied", "rejected", "declined"];
        assert!(words.iter().any(|word| told.contains(word)), "{told}");
        match row {
            Row::Hanging => self.hangs("allowed").await,
            Row::Crashing => {
                self.works(row, "allowed", self.result(row)).await;
                self.is_up_again().await;
            }
            _ => self.works(row, "allowed", self.result(row)).await,
        }
        assert_eq!(self.ran(row, "allowed"), 1);
    }

    /// The first call that gets no answer costs its time, the next ones none.
    async fn hangs(&self, mark: &str) {
        let first = self.call(Row::Hanging, mark, Length::Endless);
        let again = self.call(Row::Hanging, "again", Length::Short);
        let last = Scenario::text("Done.");
        let talk = self.begin(first.then(again.then(last)));
        if self.event == Event::Approval {
            self.decide("allow").await;
        }
        // Nobody is asked about a call that is not made.
        talk.end().await.ok();
        self.is_refused("again").await;
        // The next message starts it anew, and it is not called before its time.
        self.answered(Row::Hanging, "once more", "gave no answer to count", false)
            .await;
        assert_eq!(self.ran(Row::Hanging, "once more"), 0);
    }

    async fn is_refused(&self, mark: &str) {
        let asked = asked::turns(&self.model, 3).await;
        let took = asked[2].arrived.duration_since(asked[1].arrived).unwrap();
        assert!(took < AT_ONCE, "{took:?}");
        let told = asked::words(&asked[2]);
        assert!(told.contains("did not answer within 2s"), "{told}");
        assert!(told.contains("gave no answer to count within 2s"), "{told}");
        assert_eq!(self.ran(Row::Hanging, mark), 0);
    }

    /// The server that crashed is there again with the next message.
    async fn is_up_again(&self) {
        let tool = format!("{}crashing__count", self.backend.prefix);
        let call = Scenario::tool(tool, json!({"put": "after the crash"}));
        let talk = self.begin(call.then(Scenario::text("Done.")));
        if self.event == Event::Approval {
            self.decide("allow").await;
        }
        talk.end().await.ok();
        assert!(self.ran(Row::Crashing, "after the crash") >= 1);
    }

    async fn cancel(&mut self, row: Row) {
        let call = self.call(row, "cut off", Length::Endless);
        let talk = self.begin(call.then(Scenario::text("Done.")));
        self.runs(row, "cut off").await;
        talk.signal(Signal::SIGINT);
        talk.end().await.ended(130);
        let messages = self.suite.messages();
        let last = of_role(&messages, "assistant").pop().unwrap().clone();
        assert_eq!(last["stopReason"], "aborted", "{last}");
        self.begin(Scenario::text("Done.")).end().await.ok();
        let told = self.last(1).await;
        assert!(
            told.contains("cut off") && told.contains("cancelled"),
            "{told}"
        );
        match row {
            // Nobody has waited for an answer of it yet.
            Row::Hanging => self.works(row, "next", "did not answer within 2s").await,
            _ => self.works(row, "next", self.result(row)).await,
        }
        assert_eq!(self.ran(row, "cut off"), 1);
    }

    async fn cancel_after(&mut self, row: Row) {
        let call = self.call(row, "whole", Length::Short);
        let held = Scenario::held("Let me think about that.", "never");
        let before = self.in_own_session(row);
        let mut talk = self.begin(call.then(held));
        talk.hear("Let me think").await;
        if self.backend.has_own_session {
            // It writes that a moment later, and what is not there is forgotten.
            let what = "the result in the CLI's own session";
            until(what, || self.in_own_session(row) > before).await;
        }
        talk.signal(Signal::SIGINT);
        talk.end().await.ended(130);
        self.begin(Scenario::text("Done.")).end().await.ok();
        let told = self.last(1).await;
        assert!(told.contains(self.result(row)), "{told}");
        assert_eq!(self.ran(row, "whole"), 1);
        if row == Row::Crashing {
            self.is_up_again().await;
        }
    }

    async fn killed(&mut self, row: Row, cell: Cell) {
        let is_over = matches!(cell, Cell::After);
        // One that was opened stays open.
        let gate = format!("killed-{row:?}");
        let (length, then) = match (row, is_over) {
            (Row::Hanging, _) => (Length::Endless, Scenario::text("Done.")),
            (_, true) => (Length::Short, Scenario::held("Done.", &gate)),
            (_, false) => (Length::Held, Scenario::text("Done.")),
        };
        let talk = self.begin(self.call(row, "once", length).then(then));
        self.runs(row, "once").await;
        if is_over {
            asked::turns(&self.model, 2).await;
        }
        self.kill().await;
        std::fs::write(self.release(row), "").unwrap();
        self.model.release(&gate);
        talk.end().await.ok();
        let result = match row {
            Row::Hanging => "did not answer within 2s",
            _ => self.result(row),
        };
        let told = self.last(2).await;
        assert!(told.contains(result), "{told}");
        self.is_in_transcript(result);
        assert_eq!(self.model.turns().len(), 2, "nothing is asked twice");
        match row {
            Row::Crashing => self.is_up_again().await,
            _ => self.works(row, "after", self.result(row)).await,
        }
        assert_eq!(self.ran(row, "once"), 1);
    }
}

/// All cells of a backend in which one of `events` happens.
async fn all(backend: fn(&Server) -> Option<Backend>, events: &[Event]) {
    let mut failed = Vec::new();
    for event in events {
        let Some(mut scene) = Scene::new(backend, *event).await else {
            return;
        };
        for (row, columns) in TABLE {
            let (begun, cell) = (Instant::now(), columns[*event as usize]);
            let name = format!("{} × {row:?} × {event:?}", scene.backend.name);
            eprintln!("{name}: begins");
            let ended = AssertUnwindSafe(scene.cell(row, cell)).catch_unwind().await;
            let is_well = ended.is_ok();
            eprintln!("{name}: {cell:?}, well: {is_well}, {:?}", begun.elapsed());
            if !is_well {
                failed.push(name.clone());
                scene.tidy().await;
            }
            if let Cell::Not(why) = cell {
                eprintln!("{name}: {why}");
            }
        }
    }
    assert_eq!(failed, [""; 0]);
}

/// Our own loop.
pub async fn native(events: &[Event]) {
    all(backend::native, events).await;
}

/// The real Claude Code CLI, unless the tests were told to do without.
pub async fn claude(events: &[Event]) {
    all(backend::claude, events).await;
}

/// The real Codex CLI, likewise.
pub async fn codex(events: &[Event]) {
    all(backend::codex, events).await;
}
