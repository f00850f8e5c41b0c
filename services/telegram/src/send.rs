//! The way out: what a delivery is in Telegram's messages, and sending them.

mod call;
mod content;
mod doubt;

use std::time::Duration;

use openclaw_channel::Link;
use openclaw_channel::progress::Progress;
use openclaw_channel::rich::{Rich, Style};
use openclaw_daemon::configuration::now_ms;
use openclaw_proto::outbox::{Delivery, Kind, Outcome};
use serde_json::Value;

use crate::begun;
use crate::bot::Bot;
use crate::html::html;
use crate::settings::TEXT_LIMIT;
use crate::shown::Shown;
use content::Part;

pub(crate) use call::{Failure, Target, delete};

/// When a delivery is tried again that Telegram could not take.
const AGAIN_MS: i64 = 5_000;

/// Delivers what Telegram has not taken yet.
pub(crate) async fn deliver(
    bot: &Bot,
    delivery: &Delivery,
    progress: &mut Progress,
    link: &Link,
) -> Outcome {
    if let Kind::Edit {
        provider_ids, text, ..
    } = &delivery.kind
    {
        return edit(bot, delivery, provider_ids, text).await;
    }
    let target = Target::of(bot, delivery);
    let _entered = bot.chats.enter(target.spot()).await;
    if let Err(after) = begun::settle(bot, target.spot(), link).await {
        let reason = "what was being shown there has to be looked for first".to_owned();
        return outcome(Failure::Later { after, reason });
    }
    let mut shown = shown(bot, delivery, link).await;
    let is_reply = matches!(delivery.kind, Kind::Reply { .. });
    let replaced = shown.as_ref().and_then(|it| it.at(target.spot()));
    if replaced.is_some()
        && !is_reply
        && let Some(shown) = &mut shown
    {
        // Before it is sent: a daemon that is killed after that would put the answer in
        // the place of the question.
        shown.unrecord(&delivery.run_id, link);
    }
    let mut sending = Sending {
        bot,
        delivery,
        link,
        parts: content::parts(bot, delivery),
        replaced,
        standing: shown.as_ref().and_then(|it| it.content.clone()),
        target,
    };
    if let Err(failure) = sending.send(progress).await {
        progress.refused();
        return outcome(failure);
    }
    sending.clear().await;
    match &mut shown {
        Some(shown) if is_reply => shown.forget(),
        Some(shown) => {
            shown.message = None;
            shown.content = None;
        }
        None => {}
    }
    match progress.missing() {
        [] => Outcome::Delivered(progress.ids()),
        missing => Outcome::Undeliverable(missing.join("; ")),
    }
}

/// A delivery on its way.
struct Sending<'a> {
    bot: &'a Bot,
    delivery: &'a Delivery,
    link: &'a Link,
    target: Target,
    parts: Vec<Part>,
    /// The message that shows the run, in whose place the first text comes.
    replaced: Option<i64>,
    /// What that says.
    standing: Option<String>,
}

impl Sending<'_> {
    /// Sends what `progress` has not.
    async fn send(&mut self, progress: &mut Progress) -> Result<(), Failure> {
        // A reaction is not a message.
        let reactions = self.parts.iter().filter(|it| **it == Part::Reaction);
        let reactions = reactions.count();
        let parts = self.parts.clone();
        for (index, part) in parts.iter().enumerate().skip(progress.parts().len()) {
            let number = index.saturating_sub(reactions);
            self.target.set_reply(self.bot, self.delivery, number);
            let is_last = index + 1 == parts.len();
            let keyboard = is_last.then(|| content::keyboard(self.bot, self.delivery));
            let keyboard = keyboard.flatten();
            if self.was_sent((part, &keyboard), progress).await {
                continue;
            }
            // The record is of use for the next daemon alone; without it this goes on.
            let note = doubt::note(self.bot, self.delivery, &self.target);
            if let Err(error) = progress.sending(&note) {
                tracing::warn!("cannot record what is being sent: {error}");
            }
            let (ids, missing) = self.part((index, part), keyboard).await?;
            self.bot.said(self.target.chat(), &ids);
            record(match missing {
                None => progress.sent(ids),
                Some(reason) => progress.sent_instead(ids, reason),
            });
        }
        Ok(())
    }

    /// Whether a daemon that was killed over this part had sent it, which is recorded then.
    async fn was_sent(
        &self,
        (part, keyboard): (&Part, &Option<Value>),
        progress: &mut Progress,
    ) -> bool {
        let (Some(noted), Part::Text(text), None) = (progress.doubt(), part, self.replaced) else {
            return false;
        };
        let content = (text, keyboard);
        let Some(id) = doubt::found(self.bot, &self.target, content, noted, self.link).await else {
            return false;
        };
        tracing::info!("the message {id} is what was being sent: it is not sent again");
        let ids = vec![id.to_string()];
        self.bot.said(self.target.chat(), &ids);
        record(progress.sent(ids));
        true
    }

    /// Sends one part: the ids of its messages, and why they are not what was wanted.
    async fn part(
        &mut self,
        (index, part): (usize, &Part),
        keyboard: Option<Value>,
    ) -> Result<(Vec<String>, Option<String>), Failure> {
        let Self { bot, delivery, .. } = *self;
        match part {
            Part::Text(text) => {
                let is_first = Some(index) == self.first_text();
                let replaced = self.replaced.filter(|_| is_first);
                let ids = self.text(text, keyboard, replaced).await?;
                Ok((ids, None))
            }
            Part::File(number) => {
                match call::file(bot, &mut self.target, delivery, *number, self.link).await {
                    Err(Failure::Never(why)) => {
                        let reason = missing_file(delivery, *number, &why);
                        let ids = unsent(bot, &mut self.target, delivery, &reason).await?;
                        Ok((ids, Some(reason)))
                    }
                    sent => Ok((sent?, None)),
                }
            }
            Part::Reaction => {
                let has_reacted = call::reaction(bot, delivery).await?;
                if has_reacted || self.parts.len() > 1 {
                    return Ok((Vec::new(), None));
                }
                // It is the whole answer.
                let emoji = Rich::plain(&delivery.extras.reaction);
                let ids = call::text(bot, &mut self.target, &emoji, keyboard, None).await?;
                Ok((ids, None))
            }
        }
    }

    async fn text(
        &mut self,
        text: &Rich,
        keyboard: Option<Value>,
        replaced: Option<i64>,
    ) -> Result<Vec<String>, Failure> {
        let has_previews = self.bot.reader().options.link_preview;
        let standing = self.standing.as_deref();
        match replaced {
            Some(id) if keyboard.is_none() && stands(standing, text, has_previews) => {
                Ok(vec![id.to_string()])
            }
            _ => call::text(self.bot, &mut self.target, text, keyboard, replaced).await,
        }
    }

    fn first_text(&self) -> Option<usize> {
        let of_text = |part: &Part| matches!(part, Part::Text(_));
        self.parts.iter().position(of_text)
    }

    /// Removes the message that shows the run where no text came in its place.
    async fn clear(&self) {
        if let (None, Some(message)) = (self.first_text(), self.replaced) {
            call::delete(self.bot, &self.target, message).await;
        }
    }
}

fn missing_file(delivery: &Delivery, index: u32, why: &str) -> String {
    let file = delivery.extras.files.get(index as usize);
    let name = file.map_or("", |file| file.name.as_str());
    format!("the file {name} could not be attached: {why}")
}

/// Says that a file cannot be sent; what comes after it can. Whoever has somebody else
/// sent something is told, and not the other.
async fn unsent(
    bot: &Bot,
    target: &mut Target,
    delivery: &Delivery,
    reason: &str,
) -> Result<Vec<String>, Failure> {
    if delivery.agent_id.is_empty() && matches!(delivery.kind, Kind::Announcement { .. }) {
        return Err(Failure::Never(reason.to_owned()));
    }
    tracing::warn!("{reason}; said instead");
    let words = format!("({reason})");
    let words = openclaw_channel::rich::beginning(&words, TEXT_LIMIT);
    call::text(bot, target, &Rich::plain(words), None, None).await
}

fn record(recorded: std::io::Result<()>) {
    if let Err(error) = recorded {
        openclaw_daemon::failure::report("record what was sent", &error);
    }
}

/// What is shown of the run that says `delivery`, if that takes the place of it: an
/// answer ends it, and after a question it goes on.
async fn shown(
    bot: &Bot,
    delivery: &Delivery,
    link: &Link,
) -> Option<tokio::sync::OwnedMutexGuard<Shown>> {
    match delivery.kind {
        Kind::Reply { .. } => Some(bot.lives.end(&delivery.run_id, link).await),
        Kind::Question { .. } => {
            let shown = bot.lives.pause(&delivery.run_id, link).await;
            let is_here = shown.at(Target::of(bot, delivery).spot()).is_some();
            is_here.then_some(shown)
        }
        Kind::Announcement { .. } | Kind::Edit { .. } | Kind::Typing => None,
    }
}

/// Whether `text` is what is shown already, so that Telegram would refuse to edit it.
/// What is shown while an answer is made has no preview of a link.
fn stands(shown: Option<&str>, text: &Rich, has_previews: bool) -> bool {
    shown == Some(html(text).as_str()) && !(has_previews && may_have_link(text))
}

/// Whether Telegram may find a link in `text`: it takes names of hosts for links, but
/// not in code.
fn may_have_link(text: &Rich) -> bool {
    let runs = text.runs().iter();
    let is_code = |style: &Style| style.is_code || style.block.is_some();
    let is_named = runs.clone().any(|run| run.style.link.is_some());
    let plain: String = runs
        .map(|run| {
            if is_code(&run.style) {
                " "
            } else {
                run.text.as_str()
            }
        })
        .collect();
    is_named || plain.split_whitespace().any(may_be_link)
}

/// Whether `word` has an address in it, or the name of a host: a label and, behind a
/// dot, a domain, which has two letters at least. Numbers and `e.g.` have none.
fn may_be_link(word: &str) -> bool {
    let mut labels = word.split('.').peekable();
    let mut is_host = false;
    while let Some(label) = labels.next() {
        let is_label = label.ends_with(char::is_alphanumeric);
        let domain = labels
            .peek()
            .map(|it| it.chars().take_while(|it| it.is_alphabetic()));
        is_host |= is_label && domain.is_some_and(|it| it.count() >= 2);
    }
    let is_address = || {
        let digits = |label: &str| !label.is_empty() && label.chars().all(|it| it.is_ascii_digit());
        let bare = word.trim_matches(|it: char| !it.is_ascii_digit());
        bare.split('.').count() == 4 && bare.split('.').all(digits)
    };
    is_host || word.contains("://") || is_address()
}

async fn edit(bot: &Bot, delivery: &Delivery, ids: &[String], text: &str) -> Outcome {
    // Of several that came as one the last has the buttons, and the others stay.
    let Some(id) = ids.last().and_then(|id| id.parse().ok()) else {
        return Outcome::Undeliverable("it is not known which message is to be edited".into());
    };
    let rich = openclaw_channel::rich::read(text);
    let limit = bot.reader().options.text_chunk_limit;
    let Some(first) = rich.first_part(limit) else {
        return Outcome::Undeliverable("there is nothing to be said in its place".into());
    };
    let mut target = Target::of(bot, delivery);
    match call::text(bot, &mut target, &first, None, Some(id)).await {
        Ok(ids) => Outcome::Delivered(ids),
        Err(failure) => outcome(failure),
    }
}

fn outcome(failure: Failure) -> Outcome {
    match failure {
        Failure::Later { after, reason } => {
            let after = i64::try_from(after.as_millis()).unwrap_or(i64::MAX / 2);
            Outcome::TryAgain {
                at_ms: now_ms() + after.max(AGAIN_MS.min(after + 1000)),
                reason,
            }
        }
        Failure::Never(reason) => Outcome::Undeliverable(reason),
    }
}

/// The longest that a delivery waits here before the gateway has it again.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use openclaw_channel::rich::read;

    use super::*;

    #[test]
    fn text_that_stands_already_is_not_edited() {
        let stands = |shown: Option<&str>, text: &str| stands(shown, &read(text), true);
        assert!(stands(Some("It is <b>so</b>. Yes."), "It is **so**. Yes."));
        assert!(!stands(Some("It is so."), "It is **so**."));
        assert!(!stands(None, "It is so."));
        for text in [
            "It is 3.14, v1.2 or 1.5 GB, i.e. so. Yes.",
            "Look into `main.rs`.",
            "```\nexample.org\n```",
            "Well...and so on",
        ] {
            assert!(stands(Some(&html(&read(text))), text), "{text}");
        }
        // Its preview comes with the edit.
        for text in [
            "See example.org",
            "(example.org)",
            "http://a",
            "[a](https://b.c)",
            "at 127.0.0.1.",
        ] {
            let shown = html(&read(text));
            assert!(!stands(Some(&shown), text), "{text}");
            assert!(super::stands(Some(&shown), &read(text), false), "{text}");
        }
    }
}
