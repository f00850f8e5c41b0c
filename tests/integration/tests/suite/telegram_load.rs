//! Telegram with more than one bot should get: refusals while many wait, and
//! strangers by the thousand. The figures are shown with `--nocapture`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use integration_tests::{Setup, Suite, before, processes, within};
use scripted_model::Server;
use serde_json::json;
use telegram_double::{Double, Storm};

/// Chats that write at the same moment.
const CHATS: i64 = 100;
/// Of so many calls that say something one is refused, for one to three seconds.
const STORM: Storm = Storm {
    one_of: 4,
    seconds: 3,
};
/// For a hundred turns at once with unoptimised programs on a loaded machine.
const STORM_DEADLINE: Duration = Duration::from_secs(240);

const OWNER: i64 = 7;
const STRANGERS: i64 = 10_000;
const FLOOD_DEADLINE: Duration = Duration::from_secs(240);
/// What the owner waits at most. It is a figure of optimised programs: others need what
/// the machine leaves them.
const OWNER_BOUND: Duration = if cfg!(debug_assertions) {
    FLOOD_DEADLINE
} else {
    Duration::from_secs(2)
};
/// For how long nobody writes before the memory is read.
const REST: Duration = Duration::from_secs(12);
/// What the daemon may have then, in KiB. Unoptimised programs are larger.
const AT_REST: u64 = if cfg!(debug_assertions) { 16 } else { 6 } * 1024;
/// What a daemon may have more after the flood, in KiB, of memory that is no file's.
const GROWTH: u64 = 4 * 1024;
/// And after another one like it. The daemon of Telegram was seen to keep 1.0 to 1.5
/// MiB more, 100 to 150 bytes a stranger, and the gateway nothing.
const GROWTH_AGAIN: u64 = 3 * 1024;
const ANONYMOUS: &str = "Pss_Anon";
const RELEASE_DEADLINE: Duration = Duration::from_secs(120);
/// Between two looks at memory and folders, which tell nobody.
const LOOK: Duration = Duration::from_secs(1);

struct Scene {
    suite: Suite,
    model: Server,
    double: Double,
}

impl Scene {
    async fn start(configured: impl FnOnce(Setup) -> Setup) -> Self {
        let model = Server::start().await.unwrap();
        let double = Double::start().await.unwrap();
        let setup = Setup::anthropic(&model)
            .set("channels.telegram.apiRoot", double.url())
            .set("session.dmScope", "per-channel-peer")
            .variable("TELEGRAM_BOT_TOKEN", double.token());
        let suite = configured(setup).start().await;
        let scene = Self {
            suite,
            model,
            double,
        };
        let polled = scene.double.wait(Double::is_polled);
        within("the first poll", polled).await;
        scene
    }

    /// The memory of both daemons, in KiB, as `processes::memory` names its kinds.
    async fn memory(&self, kind: &str) -> [u64; 2] {
        let mut memory = [0; 2];
        for (program, memory) in ["openclaw-telegram", "openclaw-gateway"]
            .iter()
            .zip(&mut memory)
        {
            let pid = self.suite.seen_program(program).await;
            *memory = processes::memory(pid, kind).unwrap();
        }
        memory
    }
}

/// How long each chat waited for its whole answer, the shortest first.
async fn waits(storm: Option<Storm>) -> Vec<Duration> {
    let scene = Scene::start(|setup| {
        setup
            .set("channels.telegram.dmPolicy", "open")
            .set("channels.telegram.allowFrom", json!(["*"]))
    })
    .await;
    scene.double.storm(storm);
    let answer = |chat: i64| format!("The answer to {chat}, which is long enough to be shown.");
    let begun = Instant::now();
    for chat in 1..=CHATS {
        let scenario = json!({"text": answer(chat), "pace": {"chunk": 8, "delay_ms": 20}});
        scene.double.say(chat, &format!("[[scenario:{scenario}]]"));
    }
    let came: RefCell<BTreeMap<i64, Duration>> = RefCell::default();
    let all = scene.double.wait(|double| {
        let mut came = came.borrow_mut();
        for chat in 1..=CHATS {
            let is_new = !came.contains_key(&chat);
            let wanted = answer(chat);
            if is_new && double.sent_to(chat).iter().any(|it| it.text == wanted) {
                came.insert(chat, begun.elapsed());
            }
        }
        came.len() == usize::try_from(CHATS).unwrap()
    });
    before(STORM_DEADLINE, "an answer to each chat", all).await;
    for chat in 1..=CHATS {
        let sent = scene.double.sent_to(chat);
        assert_eq!(sent.len(), 1, "chat {chat}: {sent:?}");
    }
    let (refused, early) = scene.double.refusals();
    println!("{refused} refused, {early} calls before the time that was named");
    assert_eq!(early, 0, "calls before the time that Telegram named");
    assert_eq!(storm.is_some(), refused > 0);
    let mut waits: Vec<Duration> = came.into_inner().into_values().collect();
    waits.sort();
    waits
}

#[tokio::test]
async fn telegram_storm_of_refusals_loses_no_answer() {
    let percentile = |waits: &[Duration], percent| waits[(waits.len() - 1) * percent / 100];
    let calm = waits(None).await;
    let rough = waits(Some(STORM)).await;
    for percent in [50, 99] {
        let (calm, rough) = (percentile(&calm, percent), percentile(&rough, percent));
        println!(
            "{percent} %: answered after {calm:.1?}, with refusals {rough:.1?}: {:.1?} more",
            rough.saturating_sub(calm)
        );
    }
}

/// At rest: at first, and again after a conversation.
#[tokio::test]
async fn telegram_daemon_is_small_at_rest() {
    let scene =
        Scene::start(|setup| setup.set("channels.telegram.allowFrom", json!([OWNER]))).await;
    for when in ["after its start", "after ten answers"] {
        tokio::time::sleep(REST).await;
        let [daemon, _] = scene.memory("Pss").await;
        println!("openclaw-telegram has {daemon} KiB {when}");
        assert!(daemon <= AT_REST, "{daemon} KiB {when}");
        for number in 0..10 {
            let text = format!("{when}: {number}");
            scene
                .double
                .say(OWNER, &format!("[[scenario:text {text}]]"));
            let is_said = |it: &Double| it.sent_to(OWNER).iter().any(|it| it.text == text);
            within("an answer", scene.double.wait(is_said)).await;
        }
    }
}

#[tokio::test]
async fn telegram_flood_of_strangers_costs_nothing() {
    let scene =
        Scene::start(|setup| setup.set("channels.telegram.allowFrom", json!([OWNER]))).await;
    // Whatever the first message needs is there then.
    scene.double.say(OWNER, "[[scenario:text ready]]");
    within("the first answer", scene.double.wait(is_said("ready"))).await;
    let rested = scene.memory(ANONYMOUS).await;
    let first = scene.flood(1_000_000, ["one", "two", "three"]).await;
    let after = scene.rest_below(rested.map(|it| it + GROWTH)).await;
    println!("KiB of [openclaw-telegram, openclaw-gateway]: {rested:?} before, {after:?} after");
    // What a first flood fills once, as the cache of a database, a second one does not.
    let second = scene.flood(2_000_000, ["four", "five", "six"]).await;
    let again = scene.rest_below(after.map(|it| it + GROWTH_AGAIN)).await;
    println!("and {again:?} after another");
    assert_eq!(scene.model.turns().len(), 7, "a stranger cost a call");
    let longest = first.max(second);
    assert!(longest < OWNER_BOUND, "the owner waited {longest:?}");
}

fn is_said(text: &'static str) -> impl Fn(&Double) -> bool {
    move |double| double.sent_to(OWNER).iter().any(|it| it.text == text)
}

impl Scene {
    /// Strangers write, numbered from `first` on, and the owner asks for each of
    /// `texts`: what the owner waited at most.
    async fn flood(&self, first: i64, texts: [&'static str; 3]) -> Duration {
        let begun = Instant::now();
        for stranger in first..first + STRANGERS {
            self.double.say(stranger, "let me in");
        }
        let mut longest = Duration::ZERO;
        for text in texts {
            let asked = Instant::now();
            self.double.say(OWNER, &format!("[[scenario:text {text}]]"));
            let answered = self.double.wait(is_said(text));
            before(FLOOD_DEADLINE, "the owner's answer", answered).await;
            let waited = asked.elapsed();
            println!(
                "the owner waited {waited:.1?}, {:.1?} after the flood",
                begun.elapsed()
            );
            longest = longest.max(waited);
        }
        let confirmed = self.double.wait(|it| it.unconfirmed() == 0);
        before(FLOOD_DEADLINE, "all were confirmed", confirmed).await;
        let folder = self
            .suite
            .state()
            .join("state/channels/telegram/default/in");
        let is_empty = async {
            while std::fs::read_dir(&folder).unwrap().count() > 1 {
                tokio::time::sleep(LOOK).await;
            }
        };
        before(FLOOD_DEADLINE, "the spool is empty", is_empty).await;
        let heard = begun.elapsed();
        println!("{STRANGERS} strangers were heard in {heard:.1?}");
        // However fast the programs are, the owner does not wait for all of them.
        assert!(
            longest < heard * 4 / 5,
            "the owner waited {longest:?} of {heard:?}"
        );
        longest
    }

    /// Waits until each daemon has less than its bound: what is not needed any
    /// more is given back once a minute.
    async fn rest_below(&self, bounds: [u64; 2]) -> [u64; 2] {
        let is_below = async {
            loop {
                let now = self.memory(ANONYMOUS).await;
                if now.iter().zip(bounds).all(|(now, bound)| *now < bound) {
                    return now;
                }
                tokio::time::sleep(LOOK).await;
            }
        };
        before(RELEASE_DEADLINE, "the memory is flat", is_below).await
    }
}
