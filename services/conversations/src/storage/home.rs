//! The home session of seed 000: the conversation that the command line and
//! all direct chats share, and its view.

use std::collections::HashMap;
use std::path::Path;

use openclaw_daemon::failure;
use openclaw_sessions::home::{self, Document, NewExchange, View};
use openclaw_sessions::transcript::{self, Count, Draft, Message, Transcript};
use openclaw_sessions::{AgentId, Error, SessionKey, now_ms};

use super::command::{Incoming, Intent};
use super::session_files::SessionFiles;
use crate::route;

pub(super) struct Home {
    key: SessionKey,
    view: View,
    /// Exchanges without an end, by run.
    open: HashMap<String, NewExchange>,
    /// Those with one, on their way into the view.
    ended: Vec<NewExchange>,
    /// Whether the view has to be made from the transcript.
    is_stale: bool,
    /// Whether the conversation begins anew.
    is_reset: bool,
}

impl Home {
    /// The default agent's main session. When it has nothing yet and there is a
    /// document, what that says is taken over, once.
    pub(super) fn open(session_files: &mut SessionFiles) -> Result<Self, Error> {
        let settings = session_files.settings();
        let agent = settings.default_agent.parse().unwrap_or(AgentId::main());
        let view = View::new(settings.paths.home_session());
        let mut home = Self {
            key: route::main(&agent, &settings.session),
            // The process before this one was killed while it wrote.
            is_stale: view.is_torn(),
            view,
            open: HashMap::new(),
            ended: Vec::new(),
            is_reset: false,
        };
        home.take_over(session_files)?;
        home.update(session_files);
        Ok(home)
    }

    /// A message was accepted, if the disk takes it.
    pub(super) fn asked(&mut self, incoming: &Incoming, said: &Intent, is_anew: bool, now: i64) {
        if incoming.key != self.key {
            return;
        }
        if is_anew {
            self.begin_anew(&incoming.key);
        }
        if let Intent::Text(text) = said {
            let exchange = NewExchange {
                user_text: text.clone(),
                bot_text: String::new(),
                channel: incoming.channel.clone(),
                sent_ms: now,
                replied_ms: now,
            };
            self.open.insert(incoming.run_id.clone(), exchange);
        }
    }

    /// The disk did not take the message.
    pub(super) fn withdrawn(&mut self, run_id: &str) {
        self.open.remove(run_id);
        self.is_stale = true;
    }

    /// Entries are being appended.
    pub(super) fn said(&mut self, drafts: &[Draft]) {
        for draft in drafts {
            let Draft::Message(message) = draft else {
                continue;
            };
            let Message::Assistant(assistant) = &**message else {
                continue;
            };
            let run = message.run_id().unwrap_or_default();
            if let Some(exchange) = self.open.get_mut(run) {
                // Their messages are a part of this exchange, and in the view already.
                self.is_stale |= message.also_answers().next().is_some();
                home::add(&mut exchange.bot_text, &assistant.content.to_text());
            }
        }
    }

    /// A run has its end. What was said before an error is not an answer: it is in
    /// the transcript alone.
    pub(super) fn answered(&mut self, run_id: &str, key: &SessionKey, whole: bool, now: i64) {
        match self.open.remove(run_id) {
            Some(mut exchange) => {
                exchange.replied_ms = now;
                if !whole {
                    exchange.bot_text.clear();
                }
                self.ended.push(exchange.without_silence());
            }
            // It was accepted by the gateway before this one.
            None => self.is_stale |= *key == self.key,
        }
    }

    /// The transcript says something else now.
    pub(super) fn make_anew(&mut self) {
        self.is_stale = true;
    }

    /// The conversation of `key` begins anew.
    pub(super) fn begin_anew(&mut self, key: &SessionKey) {
        if *key == self.key {
            self.ended.clear();
            self.is_reset = true;
        }
    }

    /// Brings the view up to date. The messages are durable whatever becomes of
    /// it, so that a failure is told and tried again with the next exchange.
    pub(super) fn update(&mut self, session_files: &mut SessionFiles) {
        let settings = session_files.settings();
        let key = route::main(self.key.agent(), &settings.session);
        if key != self.key {
            self.key = key;
            self.is_stale = true;
        }
        if !self.is_reset && !self.is_stale && self.ended.is_empty() {
            return;
        }
        if let Err(error) = self.try_update(session_files) {
            self.is_stale = true;
            let path = self.view.path().display();
            failure::report(
                "update the view of the home session, trying again with the next message",
                &error,
            );
            tracing::debug!(%path, "the view is behind");
        }
    }

    fn try_update(&mut self, session_files: &mut SessionFiles) -> Result<(), Error> {
        if std::mem::take(&mut self.is_reset) {
            self.view.forget()?;
            self.is_stale = false;
        }
        let ended = std::mem::take(&mut self.ended);
        if self.is_stale || !self.view.is_known() {
            self.is_stale = false;
            return self.make(session_files);
        }
        ended
            .into_iter()
            .try_for_each(|exchange| self.view.add(exchange))
    }

    /// Makes the view from the transcript.
    fn make(&mut self, session_files: &mut SessionFiles) -> Result<(), Error> {
        let store = session_files.store(self.key.agent())?;
        let Some(entry) = store.get(&self.key) else {
            return Ok(());
        };
        let transcript = store.transcript_path(entry);
        if !transcript.exists() {
            return Ok(());
        }
        let exchanges = home::exchanges(&transcript, |run| self.open.contains_key(run))?;
        self.view.write(exchanges)
    }

    fn take_over(&self, session_files: &mut SessionFiles) -> Result<(), Error> {
        let path = self.view.path();
        if session_files
            .store(self.key.agent())?
            .get(&self.key)
            .is_some()
        {
            return Ok(());
        }
        let document = match Document::read(path) {
            Ok(Some(document)) if !document.messages.is_empty() => document,
            Ok(_) => return Ok(()),
            Err(error) => {
                failure::report("take over the home session, beginning a new one", &error);
                return openclaw_sessions::set_aside(path, now_ms()).map(|_| ());
            }
        };
        let exchanges = document.messages.len();
        self.append(session_files, &document, path)?;
        tracing::info!(
            openclaw_session = %self.key,
            path = %path.display(),
            exchanges,
            "the home session was taken over from its document"
        );
        Ok(())
    }

    fn append(
        &self,
        session_files: &mut SessionFiles,
        document: &Document,
        path: &Path,
    ) -> Result<(), Error> {
        let now = now_ms();
        let workspace = session_files.workspace(self.key.agent());
        let store = session_files.store(self.key.agent())?;
        let (entry, _) = store.resolve_or_create(&self.key, now);
        let transcript = store.transcript_path(&entry);
        let origin = store.origin(&self.key, &entry, &workspace);
        let mut opened = Transcript::open(&transcript, origin)?.transcript;
        document.append_to(&mut opened, now)?;
        let count = transcript::count(&transcript, Count::default())?;
        store.set_count(&self.key, count);
        store.flush()?;
        // What was there stays beside what is written from now on.
        openclaw_sessions::keep_copy(path)
    }
}
