//! Telegram from end to end: the suite with its channel daemon, between a double
//! of the Bot API and a scripted model.

use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

use integration_tests::{Setup, Suite, processes, until, within};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use telegram_double::{Double, Sent};
use tempfile::NamedTempFile;

/// The owner, whom the configuration names.
pub(crate) const OWNER: i64 = 7;
pub(crate) const STRANGER: i64 = 8;
pub(crate) const GROUP: i64 = -100;
pub(crate) const DAEMON: &str = "openclaw-telegram";
/// What a loaded machine may add to the second within which a stop is confirmed.
const STOP_BOUND: Duration = Duration::from_secs(5);
/// What whoever says stop is told.
const STOPPED: &str = "⚙️ Agent was aborted.";

pub(crate) struct Scene {
    pub(crate) suite: Suite,
    pub(crate) model: Server,
    pub(crate) double: Double,
    _token: NamedTempFile,
}

impl Scene {
    /// A suite that knows its owner.
    pub(crate) async fn start() -> Self {
        Self::with(|setup| setup.set("channels.telegram.allowFrom", json!([OWNER]))).await
    }

    pub(crate) async fn with(more: impl FnOnce(Setup) -> Setup) -> Self {
        let model = Server::start().await.unwrap();
        let double = Double::start().await.unwrap();
        let token = NamedTempFile::new().unwrap();
        fs::write(token.path(), double.token()).unwrap();
        let setup = Setup::anthropic(&model)
            .set("channels.telegram.apiRoot", double.url())
            .set("channels.telegram.tokenFile", token.path().to_str());
        Self {
            suite: more(setup).start().await,
            model,
            double,
            _token: token,
        }
    }

    /// What the bot has said in `chat`, when it is `count` messages and
    /// nothing of it is still being changed.
    pub(crate) async fn said(&self, chat: i64, count: usize) -> Vec<Sent> {
        let what = format!("{count} messages to {chat}");
        let said = self.double.wait(|it| it.sent_to(chat).len() >= count);
        within(&what, said).await;
        self.double.sent_to(chat)
    }

    /// Waits until the last thing said in `chat` is `text`.
    pub(crate) async fn answered(&self, chat: i64, text: &str) -> Vec<Sent> {
        let is_so = |it: &Double| it.sent_to(chat).last().is_some_and(|it| it.text == text);
        let what = format!("{text:?} to {chat}");
        within(&what, self.double.wait(is_so)).await;
        self.double.sent_to(chat)
    }

    /// Waits until the owner is told that what ran was ended, which was asked for
    /// at `begun`. The half answer says that it was stopped too, where there is one.
    pub(crate) async fn stop_is_confirmed(&self, begun: Instant) {
        let is_told = |it: &Double| {
            let said = it.sent_to(OWNER);
            said.iter().any(|it| it.text.starts_with(STOPPED))
        };
        within("the stop is confirmed", self.double.wait(is_told)).await;
        let confirmed = begun.elapsed();
        println!("confirmed after {confirmed:?}");
        assert!(confirmed < STOP_BOUND, "{confirmed:?}");
    }

    /// Waits until the daemon has handed in all that came.
    pub(crate) async fn handed_in(&self) {
        let confirmed = self.double.wait(|it| it.unconfirmed() == 0);
        within("updates are confirmed", confirmed).await;
        let folder = self
            .suite
            .state()
            .join("state/channels/telegram/default/in");
        let is_batch = |name: &str| name != "position";
        until("the spool is empty", || {
            let mut entries = fs::read_dir(&folder).unwrap().flatten();
            !entries.any(|it| is_batch(&it.file_name().to_string_lossy()))
        })
        .await;
    }

    /// Somebody says `text` in the group.
    pub(crate) fn say_in_group(&self, from: i64, message: i64, text: &str) {
        let length = text.split(' ').next().map_or(0, str::len);
        let entities = if text.starts_with('@') {
            json!([{"type": "mention", "offset": 0, "length": length}])
        } else {
            json!([])
        };
        self.double.update(json!({"message": {
            "message_id": message, "date": 1_700_000_000, "text": text, "entities": entities,
            "chat": {"id": GROUP, "type": "supergroup", "title": "Friends"},
            "from": {"id": from, "is_bot": false, "first_name": format!("P{from}")},
        }}));
    }
}

pub(crate) fn texts(said: &[Sent]) -> Vec<&str> {
    said.iter().map(|it| it.text.as_str()).collect()
}

#[tokio::test]
async fn telegram_stranger_is_paired_and_then_answered_once() {
    let scene = Scene::with(|setup| setup).await;
    scene.double.say(STRANGER, "let me in");
    let said = scene.said(STRANGER, 1).await;
    let code = said[0].text.split("Pairing code: ").nth(1).unwrap();
    let code = code.split_whitespace().next().unwrap().to_owned();
    assert_eq!(code.len(), 8, "{}", said[0].text);
    scene.double.say(STRANGER, "are you there?");
    scene.handed_in().await;
    assert!(scene.model.turns().is_empty(), "a stranger cost a call");

    let approve = ["pairing", "approve", "telegram", &code];
    scene.suite.ctl(&approve).await.ended(0).says(&["owner"]);
    scene.model.push(Scenario::text("Hello, you."));
    scene.double.say(STRANGER, "hello");
    let said = scene.answered(STRANGER, "Hello, you.").await;
    assert_eq!(said.len(), 3, "{:?}", texts(&said));
    assert!(said[1].text.contains("approved"), "{}", said[1].text);
    assert_eq!(scene.model.turns().len(), 1);
    scene
        .suite
        .ctl(&["channels", "status"])
        .await
        .ended(0)
        .says(&["telegram", "connected", "@double_bot"]);
}

#[tokio::test]
async fn telegram_group_is_answered_when_the_bot_is_called() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("channels.telegram.groups", json!({GROUP.to_string(): {}}))
    })
    .await;
    scene.say_in_group(OWNER, 1, "nobody is called");
    scene.say_in_group(STRANGER, 2, "@double_bot who am I?");
    scene.handed_in().await;
    scene.model.push(Scenario::text("I am here."));
    scene.say_in_group(OWNER, 3, "@double_bot are you there?");
    let said = scene.answered(GROUP, "I am here.").await;
    assert_eq!(said.len(), 1, "{:?}", texts(&said));
    assert_eq!(scene.model.turns().len(), 1);
    assert!(
        scene.double.sent_to(STRANGER).is_empty(),
        "no code by a group"
    );
}

#[tokio::test]
async fn telegram_stop_ends_what_runs_and_is_confirmed() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::held("It begins and", "never"));
    scene.double.say(OWNER, "work");
    within("the turn", scene.model.wait_for_turns(1)).await;
    let begun = Instant::now();
    scene.double.say(OWNER, "/stop");
    scene.stop_is_confirmed(begun).await;
    scene.model.push(Scenario::text("Here again."));
    scene.double.say(OWNER, "and now?");
    scene.answered(OWNER, "Here again.").await;
}

#[tokio::test]
async fn telegram_button_allows_a_command() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("tools.exec.ask", "on-miss")
    })
    .await;
    let touch = Scenario::tool("execute_shell", json!({"command": "touch a"}));
    scene.model.push(touch.then(Scenario::text("It is there.")));
    scene.double.say(OWNER, "make a file");
    let button = |it: &Double| -> Option<(i64, String)> {
        let said = it.sent_to(OWNER);
        let asked = said
            .iter()
            .find(|it| !it.parameters["reply_markup"].is_null())?;
        let button: &Value = &asked.parameters["reply_markup"]["inline_keyboard"][0][0];
        Some((asked.id, button["callback_data"].as_str()?.to_owned()))
    };
    let asked = scene.double.wait(|it| button(it).is_some());
    within("the question", asked).await;
    assert_eq!(scene.suite.written("a"), None, "it ran unasked");
    let (id, data) = button(&scene.double).unwrap();
    scene.double.press(OWNER, id, &data);
    scene.answered(OWNER, "It is there.").await;
    assert!(scene.suite.written("a").is_some());
    let answered = scene.double.calls_of("answerCallbackQuery");
    assert_eq!(answered[0].parameters["text"], "Allowed once.");
}

#[tokio::test]
async fn telegram_file_of_the_workspace_is_sent() {
    let scene = Scene::start().await;
    scene.suite.note("report.txt", "twelve apples\n");
    scene
        .model
        .push(Scenario::text("Here it is.\nMEDIA:report.txt"));
    scene.double.say(OWNER, "the report, please");
    let sent = scene
        .double
        .wait(|it| !it.calls_of("sendDocument").is_empty());
    within("the file", sent).await;
    let calls = scene.double.calls_of("sendDocument");
    assert_eq!(calls.len(), 1);
    let document = &calls[0].parameters["document"];
    assert_eq!(document["size"], "twelve apples\n".len(), "{document}");
}

/// Whoever has an agent that reads no file say the name of one does not have it by that.
#[tokio::test]
async fn telegram_file_is_not_sent_of_an_agent_that_reads_none() {
    let [text, denied] = [
        ("sandbox.level", json!("text")),
        ("tools.deny", json!(["read", "exec"])),
    ];
    for (key, value) in [text, denied] {
        let scene = Scene::with(|setup| {
            setup
                .set("channels.telegram.allowFrom", json!([OWNER]))
                .set(key, value)
        })
        .await;
        scene.suite.note("report.txt", "twelve apples\n");
        scene.model.push(Scenario::text("Here.\nMEDIA:report.txt"));
        scene.double.say(OWNER, "say the line MEDIA:report.txt");
        let told = "Here.\n(the file report.txt could not be attached)";
        scene.answered(OWNER, told).await;
        assert!(scene.double.calls_of("sendDocument").is_empty(), "{key}");
    }
}

/// What a command answers is nobody's wish, whoever worded it.
#[tokio::test]
async fn telegram_answer_of_a_command_asks_for_nothing() {
    let scene = Scene::start().await;
    scene
        .double
        .say(OWNER, "/think [[react:👍]][[buttons: Yes | No]]");
    let is_whole = |it: &Double| {
        let said = it.sent_to(OWNER);
        let has = |mark: &str| said.last().is_some_and(|it| it.text.contains(mark));
        has("[[buttons: Yes | No]]") && has("[[react:👍]]")
    };
    within("all of it", scene.double.wait(is_whole)).await;
    assert!(scene.double.calls_of("setMessageReaction").is_empty());
}

#[tokio::test]
async fn telegram_answers_once_however_daemons_are_killed() {
    const MESSAGES: usize = 12;
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.dmPolicy", "open")
            .set("channels.telegram.allowFrom", json!(["*"]))
    })
    .await;
    for number in 0..MESSAGES {
        let chat = 100 + i64::try_from(number).unwrap();
        scene.double.say(chat, &format!("message number {number}"));
        // At another point of the message's way each time.
        tokio::time::sleep(Duration::from_millis(41 * number as u64)).await;
        let program = if number % 3 == 2 {
            "openclaw-gateway"
        } else {
            DAEMON
        };
        let pid = scene.suite.seen_program(program).await;
        processes::send(pid, Signal::SIGKILL);
    }
    let chats = 100..100 + i64::try_from(MESSAGES).unwrap();
    let is_answered = |chat: i64, it: &Double| {
        let said = it.sent_to(chat);
        said.iter().any(|it| it.text.contains("message number"))
    };
    for chat in chats.clone() {
        let what = format!("an answer to {chat}");
        within(&what, scene.double.wait(|it| is_answered(chat, it))).await;
    }
    // Whatever would be said again has the time for it that a lease has.
    scene.double.say(99, "message number last");
    within("the last", scene.double.wait(|it| is_answered(99, it))).await;
    let mut often: BTreeMap<i64, usize> = BTreeMap::new();
    for chat in chats {
        often.insert(chat, scene.double.sent_to(chat).len());
    }
    let doubled = often.values().filter(|count| **count != 1).count();
    let told = scene
        .suite
        .log
        .lines()
        .iter()
        .filter(|it| it.contains("may be there twice"))
        .count();
    assert!(doubled <= told, "{often:?}, {told} told");
    assert_eq!(scene.model.turns().len(), MESSAGES + 1, "one turn each");
}

#[tokio::test]
async fn telegram_daemon_runs_where_it_is_configured_alone() {
    let suite = Setup::offline().start().await;
    let named = |suite: &Suite| {
        let found = processes::of_folder(&suite.path(""));
        let programs = found.into_iter().filter_map(processes::program);
        programs.filter(|it| it == DAEMON).count()
    };
    assert_eq!(named(&suite), 0, "nothing is configured");
    let double = Double::start().await.unwrap();
    let root = ["config", "set", "channels.telegram.apiRoot", &double.url()];
    suite.ctl(&root).await.ok();
    let add = ["channels", "add", "telegram"];
    let refused = suite.ctl_with_input(&add, "1:wrong\n").await;
    refused.complains(&["the token was not taken", "@BotFather"]);
    assert_eq!(named(&suite), 0, "it was not added");
    let added = suite.ctl_with_input(&add, double.token()).await;
    added
        .ended(0)
        .says(&["telegram is @double_bot", "pairing approve CODE"]);
    double.say(STRANGER, "let me in");
    let said = double.wait(|it| it.sent_to(STRANGER).len() == 1);
    within("the pairing code", said).await;
    assert_eq!(named(&suite), 1);
    // A token that is taken back ends no daemon of the suite.
    double.revoke(true);
    let status = async {
        loop {
            let status = suite.ctl(&["channels", "status"]).await;
            if status.stdout.contains("refused") {
                return status;
            }
        }
    };
    // It is told at the end of a poll, which lasts half a minute.
    let status = tokio::time::timeout(Duration::from_secs(60), status).await;
    status.unwrap().says(&["channels login telegram"]);
    suite.say("still there?").await;
    double.revoke(false);
    let login = ["channels", "login", "telegram"];
    suite.ctl_with_input(&login, double.token()).await.ended(0);
    suite.ctl(&["channels", "remove", "telegram"]).await.ok();
    until("the daemon's end", || named(&suite) == 0).await;
    suite.say("still there?").await;
}

/// Without systemd the suite itself starts and ends the daemons of channels, as the
/// configuration has them meanwhile. An account may have any name.
#[tokio::test]
async fn telegram_daemon_comes_and_goes_with_its_account_in_the_configuration() {
    let model = Server::start().await.unwrap();
    let double = Double::start().await.unwrap();
    let account =
        json!({"botToken": double.token(), "dmPolicy": "allowlist", "allowFrom": [OWNER]});
    let suite = Setup::anthropic(&model)
        .set("channels.telegram.enabled", false)
        .set("channels.telegram.apiRoot", double.url())
        .set("channels.telegram.accounts", json!({"work": account}))
        .start()
        .await;
    let switch = async |is_on: bool| {
        let value = is_on.to_string();
        let words = ["config", "set", "channels.telegram.enabled", &value];
        suite.ctl(&words).await.ended(0);
    };
    switch(true).await;
    double.say(OWNER, "hello");
    let is_answered = |it: &Double| !it.sent_to(OWNER).is_empty();
    within("an answer", double.wait(is_answered)).await;
    switch(false).await;
    let has_daemon = || {
        let found = processes::of_folder(&suite.path(""));
        let mut programs = found.into_iter().filter_map(processes::program);
        programs.any(|program| program == DAEMON)
    };
    until("the daemon has ended", || !has_daemon()).await;
    switch(true).await;
    double.say(OWNER, "once more");
    let is_answered = |it: &Double| it.sent_to(OWNER).len() > 1;
    within("the next answer", double.wait(is_answered)).await;
}

/// The gateway lets a daemon go that it has not read of yet.
#[tokio::test]
async fn telegram_daemon_that_was_let_go_comes_back_while_it_is_configured() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    let pid = scene.suite.seen_program(DAEMON).await;
    processes::send(pid, Signal::SIGTERM);
    let is_gone = || !processes::of_folder(&scene.suite.path("")).contains(&pid);
    until("the daemon has ended", is_gone).await;
    scene.model.push(Scenario::text("Here again."));
    scene.double.say(OWNER, "are you there?");
    scene.answered(OWNER, "Here again.").await;
}
