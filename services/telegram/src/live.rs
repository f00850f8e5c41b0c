//! What is shown while an answer is made: that somebody types, what was said so
//! far or what is done, in one message that is edited and that the answer takes
//! the place of.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::StreamExt as _;
use openclaw_channel::Link;
use openclaw_channel::link::Pauses;
use openclaw_channel::rich::{Rich, read};
use openclaw_proto::call::RefusalCode;
use openclaw_proto::event::Kind;
use openclaw_proto::outbox::Delivery;
use openclaw_silence as silence;
use serde_json::json;
use tokio::time::{Instant, interval, sleep, timeout};

use crate::api::Error;
use crate::begun;
use crate::bot::Bot;
use crate::chats::Beginning;
use crate::html::html;
use crate::send::{Target, delete};
use crate::settings::Streaming;
use crate::shown::{Preview, Shown};

/// Between two edits. They count as messages do.
const BETWEEN: Duration = Duration::from_millis(1500);
/// How often it is shown that somebody types; Telegram shows it for five seconds.
const TYPING: Duration = Duration::from_secs(4);
/// The longest that it is shown for one run.
const LONGEST: Duration = Duration::from_secs(6 * 60 * 60);
/// Characters that are worth a message.
const LEAST: usize = 24;
/// What lines are for the gateway, which makes files of them
/// (`inbound/src/media.rs`).
const FILE: &str = "MEDIA:";
/// What begins what else is (`inbound/src/directives.rs`), and what ends it.
const DIRECTIVES: [&str; 5] = [
    "[[audio_as_voice",
    "[[buttons:",
    "[[react:",
    "[[reply_to:",
    "[[reply_to_current",
];
const DIRECTIVES_END: &str = "]]";
/// What lines of code are between.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Shows the run of `delivery` until it is over.
pub(crate) async fn attend(bot: &Bot, delivery: &Delivery, link: &Link) {
    let streaming = bot.reader().options.streaming;
    let shown = bot.lives.of(&delivery.run_id);
    let is_waiting = Mutex::new(false);
    let follow = async {
        if delivery.run_id.is_empty() {
            return;
        }
        let mut target = Target::of(bot, delivery);
        settle(bot, &target, link).await;
        shown.lock().await.open(&delivery.run_id, link);
        // The answer, which takes its place, says so no more.
        target.set_reply(bot, delivery, 0);
        let mut view = View {
            bot,
            target,
            answered: delivery.extras.answers_id.parse().unwrap_or_default(),
            shown: &shown,
            streaming,
            is_waiting: &is_waiting,
            text: String::new(),
            done: String::new(),
            last: None,
            is_unanswered: false,
        };
        view.follow(&delivery.run_id, link).await;
        if view.is_unanswered {
            view.take_back().await;
        }
    };
    tokio::select! {
        () = follow => {}
        () = typing(bot, delivery, &is_waiting, &shown) => {}
    }
}

/// Looks for what the daemon before may have left there, until that is known.
async fn settle(bot: &Bot, target: &Target, link: &Link) {
    loop {
        let entered = bot.chats.enter(target.spot()).await;
        let Err(after) = begun::settle(bot, target.spot(), link).await else {
            return;
        };
        drop(entered);
        sleep(after).await;
    }
}

/// Shows that somebody types, but not while a person is waited for.
async fn typing(
    bot: &Bot,
    delivery: &Delivery,
    is_waiting: &Mutex<bool>,
    shown: &tokio::sync::Mutex<Shown>,
) {
    let mut action = json!({"chat_id": Target::of(bot, delivery).chat_id(), "action": "typing"});
    // Here the general topic has its number.
    if let Some(thread) = delivery
        .place
        .thread
        .as_deref()
        .and_then(|it| it.parse::<i64>().ok())
    {
        action["message_thread_id"] = thread.into();
    }
    let until = Instant::now() + LONGEST;
    let mut ticks = interval(TYPING);
    // Telegram wants none before that.
    let mut next = Instant::now();
    while Instant::now() < until {
        ticks.tick().await;
        if shown.try_lock().is_ok_and(|shown| shown.is_over) {
            return;
        }
        let waits = *is_waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if !waits
            && Instant::now() >= next
            && let Ok(api) = bot.api()
            && let Err(error) = api.call("sendChatAction", &action).await
        {
            tracing::debug!("{error}");
            next = Instant::now() + error.retry_after().unwrap_or_default();
        }
    }
}

struct View<'a> {
    bot: &'a Bot,
    target: Target,
    /// The number of what is answered; 0: it has none.
    answered: i64,
    shown: &'a tokio::sync::Mutex<Shown>,
    streaming: Streaming,
    is_waiting: &'a Mutex<bool>,
    /// What was said.
    text: String,
    /// What is done.
    done: String,
    last: Option<(Instant, String)>,
    /// No answer will take the place of what is shown.
    is_unanswered: bool,
}

impl View<'_> {
    async fn follow(&mut self, run_id: &str, link: &Link) {
        let mut next = 1;
        let mut pauses = Pauses::default();
        loop {
            let error = match link.follow(run_id, next).await {
                Ok(mut events) => loop {
                    // What was held back is shown when nothing more comes, too.
                    match timeout(BETWEEN, events.next()).await {
                        Err(_) => self.show().await,
                        Ok(None) => return,
                        Ok(Some(Err(error))) => break error,
                        Ok(Some(Ok(event))) => {
                            pauses.renew();
                            next = event.seq + 1;
                            if self.take(event.kind) {
                                return;
                            }
                            self.show().await;
                        }
                    }
                },
                Err(error) => error,
            };
            let is_gone = [RefusalCode::NotFound, RefusalCode::OutOfRange]
                .iter()
                .any(|code| error.is_refused(*code));
            if is_gone {
                return;
            }
            pauses.wait("follow a run", &error).await;
        }
    }

    /// Whether the run is over.
    fn take(&mut self, kind: Kind) -> bool {
        match kind {
            Kind::TextDelta { text } => self.text.push_str(&text),
            Kind::ToolCall {
                name, arguments, ..
            } => self.done = line(&name, &arguments),
            Kind::ToolResult(_) => self.done.clear(),
            Kind::ApprovalRequested(_) => self.wait(true),
            Kind::ApprovalResolved(_) => self.wait(false),
            Kind::Done(done) => {
                let text = self.text.trim();
                let is_silent = text.is_empty() || silence::is_for_nobody(text);
                self.is_unanswered = is_silent || done.stop_reason == silence::STOP_REASON;
                return true;
            }
            kind => return kind.is_terminal(),
        }
        false
    }

    fn wait(&self, is_waiting: bool) {
        *self
            .is_waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = is_waiting;
    }

    /// What there is to show now.
    fn view(&self) -> Option<Rich> {
        let said = match self.streaming {
            Streaming::Off => return None,
            Streaming::Progress => "",
            Streaming::Block => self.text.rsplit_once("\n\n").map_or("", |(whole, _)| whole),
            Streaming::Partial => self.text.as_str(),
        };
        let said = worth_showing(said);
        let both = [said.as_str(), self.done.as_str()];
        let both: Vec<&str> = both.into_iter().filter(|it| !it.is_empty()).collect();
        let limit = self.bot.reader().options.text_chunk_limit;
        let text = read(&both.join("\n\n"));
        text.first_part(limit.saturating_sub(2))
    }

    /// Nothing is said in the place of what is shown.
    async fn take_back(&self) {
        let mut shown = self.shown.lock().await;
        shown.is_over = true;
        if let Some(message) = &shown.message {
            delete(self.bot, &self.target, message.id).await;
        }
        shown.forget();
    }

    async fn show(&mut self) {
        let Some(view) = self.view() else { return };
        let content = html(&view);
        if let Some((at, last)) = &self.last
            && (at.elapsed() < BETWEEN || *last == content)
        {
            return;
        }
        let mut shown = self.shown.lock().await;
        if shown.is_over {
            return;
        }
        let entered = match shown.message {
            // An edit takes no number.
            Some(_) => Ok(None),
            None => self.bot.chats.try_enter(self.target.spot()),
        };
        let Ok(_entered) = entered else { return };
        if !self.bot.pace.try_turn(self.target.chat()) {
            return;
        }
        self.last = Some((Instant::now(), content.clone()));
        self.send(&mut shown, &content).await;
    }

    /// What cannot be shown is left out: the answer comes anyway.
    async fn send(&mut self, shown: &mut Shown, content: &str) {
        let Ok(api) = self.bot.api() else { return };
        let mut parameters = self.target.message(content);
        let method = match &shown.message {
            Some(message) => {
                parameters["message_id"] = message.id.into();
                // What it answers stays as it is.
                if let Some(fields) = parameters.as_object_mut() {
                    fields.remove("reply_parameters");
                }
                "editMessageText"
            }
            None => "sendMessage",
        };
        let mut beginning = None;
        if shown.message.is_none() {
            beginning = begun::note(self.bot, self.target.spot(), self.answered, content);
            note(shown, beginning.as_ref());
        }
        shown.content = None;
        match api.send(method, &parameters).await {
            Ok(sent) => {
                shown.content = Some(content.to_owned());
                let id = sent["message_id"].as_i64();
                if let Some(id) = id.filter(|_| shown.message.is_none()) {
                    let spot = self.target.spot().clone();
                    self.bot.said(&spot.chat, &[id.to_string()]);
                    is_shown(shown, Preview { id, spot });
                }
            }
            Err(error) => {
                tracing::debug!("{error}");
                if shown.message.is_none() {
                    was_not_shown(self.bot, shown, &error, beginning).await;
                }
                if self.target.follow(self.bot, &error) {
                    shown.message = None;
                }
                if let Some(after) = error.retry_after() {
                    self.bot.pace.block(self.target.chat(), after);
                }
            }
        }
    }
}

/// Notes that `beginning` is about to be shown; one that a killed daemon had shown
/// without knowing is looked for (`begun::settle`), or told (`Shown::open`).
fn note(shown: &mut Shown, beginning: Option<&Beginning>) {
    let Some(record) = &mut shown.record else {
        return;
    };
    let noted = beginning.map_or(Ok(String::new()), serde_json::to_string);
    let recorded = noted.map_err(Into::into).and_then(|it| record.sending(&it));
    if let Err(error) = recorded {
        tracing::warn!("cannot record what is being shown: {error}");
    }
}

fn is_shown(shown: &mut Shown, message: Preview) {
    let recorded = message.record();
    shown.message = Some(message);
    if let Some(record) = &mut shown.record
        && let Err(error) = record.sent(recorded)
    {
        openclaw_daemon::failure::report("record what is shown", &error);
    }
}

/// Notes what became of a beginning of which Telegram says `error`: that it is not
/// there, that it is after all, or that nobody knows.
async fn was_not_shown(bot: &Bot, shown: &mut Shown, error: &Error, beginning: Option<Beginning>) {
    let is_lost = matches!(
        error,
        Error::Lost {
            is_unsent: false,
            ..
        }
    );
    let found = match beginning.filter(|_| is_lost) {
        Some(beginning) => begun::find(bot, &beginning).await.ok(),
        None => None,
    };
    if let Some(Some(message)) = found {
        is_shown(shown, message);
    } else if is_lost && found.is_none() {
        tracing::warn!("{error}; the beginning of an answer may be left, and be there twice");
    } else if let Some(record) = &mut shown.record {
        record.refused();
    }
}

/// What of a text that goes on may be shown; nothing of one that is short, or
/// may become silence.
fn worth_showing(text: &str) -> String {
    let shown = silence::shown(text);
    // Its last line goes on, unless what is not shown began another one.
    let goes_on = text.ends_with(shown);
    let text = shown;
    let mut is_code = false;
    let mut lines = Vec::new();
    for line in text.lines() {
        let bare = line.trim_start();
        if FENCES.iter().any(|it| bare.starts_with(it)) {
            is_code = !is_code;
        }
        if is_code {
            lines.push(line.to_owned());
        } else if !bare.starts_with(FILE) {
            lines.push(without_directives(line));
        }
    }
    if let Some(last) = lines.last_mut().filter(|_| !is_code && goes_on) {
        // It may become one.
        let begins = |mark: &&str| {
            let is_beginning =
                |at: &usize| last.is_char_boundary(*at) && mark.starts_with(&last[*at..]);
            (0..last.len()).find(is_beginning)
        };
        if let Some(at) = DIRECTIVES.iter().filter_map(begins).min() {
            last.truncate(at);
        }
        if FILE.starts_with(last.trim()) {
            last.clear();
        }
    }
    let text = lines.join("\n").trim().to_owned();
    if text.len() < LEAST {
        String::new()
    } else {
        text
    }
}

/// `line` without what the gateway takes out of it, also where the end of that is
/// yet to come.
fn without_directives(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(at) = DIRECTIVES.iter().filter_map(|it| rest.find(it)).min() {
        kept.push_str(rest[..at].trim_end());
        let end = rest[at..].find(DIRECTIVES_END);
        rest = end.map_or("", |end| &rest[at + end + DIRECTIVES_END.len()..]);
    }
    kept + rest
}

/// A call of a tool in one line.
fn line(name: &str, arguments: &serde_json::Value) -> String {
    let said = ["command", "path", "file_path", "query", "url", "pattern"]
        .iter()
        .find_map(|key| arguments[key].as_str());
    let first = said.and_then(|it| it.lines().next()).unwrap_or_default();
    let short = openclaw_channel::rich::beginning(first, 120).replace('`', "'");
    if short.is_empty() {
        format!("🔧 `{name}`")
    } else {
        format!("🔧 `{name}` `{short}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn view_has_neither_beginnings_nor_lines_of_the_gateway() {
        for text in ["", "NO_REP", "Well", "MEDIA:a/long/path/of/a/picture.png"] {
            assert_eq!(worth_showing(text), "", "{text}");
        }
        let text = "This is the picture that you want:\nMEDIA:a.png\nand more";
        let shown = "This is the picture that you want:\nand more";
        assert_eq!(worth_showing(text), shown);
        let code = "So it is written, as everywhere:\n```\nMEDIA:a.png\n[[react:👍]]\n```";
        assert_eq!(worth_showing(code), code);
        let silent = "NO_REPLY\n\n[[reply_to_current]] It is as it was, and nothing is to be done.";
        let shown = "It is as it was, and nothing is to be done.";
        assert_eq!(worth_showing(silent), shown);
    }

    #[test]
    fn view_has_no_directives_nor_what_may_become_one() {
        let question = "Shall I go on with all of that now?";
        let whole = format!("{question} [[buttons: Yes | No]] [[react:👍]]");
        for (end, _) in whole.char_indices().skip(question.len()) {
            assert_eq!(worth_showing(&whole[..end]), question, "{}", &whole[..end]);
        }
        assert_eq!(worth_showing(&format!("{question}\nMED")), question);
        let list = format!("{question} [1] and [[2]]");
        assert_eq!(worth_showing(&list), list);
    }

    #[test]
    fn tool_is_one_line() {
        let arguments = serde_json::json!({"command": "echo `a`\nrm b"});
        assert_eq!(
            line("execute_shell", &arguments),
            "🔧 `execute_shell` `echo 'a'`"
        );
        assert_eq!(line("x", &serde_json::Value::Null), "🔧 `x`");
    }
}
