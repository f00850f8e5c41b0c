//! Words in everything that is kept: shown, and taken out.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use openclaw_doctor::Remains;
use openclaw_proto::memory::NoteLines;
use openclaw_proto::sessions::{Excerpt, Mention, Mentions};
use openclaw_sessions::forgetting::Words;
use openclaw_settings::Settings;
use openclaw_terminal::{Failure, output, question, words};
use serde_json::json;
use tokio_stream::StreamExt as _;

use crate::daemon::Memory;
use openclaw_connection::Gateway;

/// Characters of a place on its line.
const WIDTH: usize = 100;

/// Links that are named; --json names all.
const LINKS: usize = 20;

/// Words that are looked for.
pub(super) struct Everywhere<'a> {
    pub(super) memory: &'a Memory,
    pub(super) gateway: &'a Gateway,
    pub(super) settings: &'a Settings,
    pub(super) words: &'a str,
    /// Empty: notes of the default agent, conversations of all.
    pub(super) agent: &'a str,
    pub(super) is_json: bool,
}

/// Where they are.
struct Places {
    notes: Vec<NoteLines>,
    said: Mentions,
    kept: Remains,
}

impl Everywhere<'_> {
    /// Shows where the words are; exit code 1 where they are nowhere, as grep(1)
    /// has it.
    pub(super) async fn show(&self) -> Result<ExitCode, Failure> {
        let places = self.look(false).await?;
        if self.is_json {
            output::document(&places.document())?;
        } else {
            output::stdout(&places.rendered())?;
            if !places.is_empty() {
                let hint = "to take all of that out for good: openclawctl memory forget \
                            --everywhere with the same words";
                output::stderr_line(hint);
            }
        }
        Ok(if places.is_empty() {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Takes them out, after the question.
    pub(super) async fn forget(&self, is_sure: bool) -> Result<ExitCode, Failure> {
        if !is_sure {
            let places = self.look(false).await?;
            output::stderr(&places.rendered());
            if places.is_empty() {
                return Ok(ExitCode::FAILURE);
            }
            let what = "Remove these lines of notes and sessions of agent CLIs, and cover the words in what was said,";
            if !may(what)? {
                return Err(Failure::new("nothing was forgotten"));
            }
        }
        let places = self.look(true).await?;
        if places.is_empty() {
            output::stderr(&places.rendered());
            return Ok(ExitCode::FAILURE);
        }
        self.index_anew().await?;
        if self.is_json {
            output::document(&places.document())?;
        } else {
            let notes: u64 = places
                .notes
                .iter()
                .map(|one| u64::from(one.to - one.from + 1))
                .sum();
            let lines = words::count(notes, "line");
            let said = words::count(places.said.forgotten, "place");
            let sessions = words::count(places.kept.sessions.len() as u64, "session");
            let text = format!(
                "removed {lines} of notes and {sessions} of agent CLIs, covered {said} in what \
                 was said, and made the index anew"
            );
            output::stdout_line(&text)?;
            output::stderr(&places.left());
        }
        Ok(ExitCode::SUCCESS)
    }

    async fn look(&self, forget: bool) -> Result<Places, Failure> {
        let words = Words::new(self.words).map_err(|error| Failure::usage(error.to_string()))?;
        let notes = self
            .memory
            .client
            .notes_with(self.agent, self.words, forget);
        let notes = notes.await.map_err(|error| self.memory.failure(&error))?;
        let mut kept = Remains::look(self.settings, self.agent, &words, forget);
        // After the sessions of CLIs: it ends the processes that have read them.
        let said = self
            .gateway
            .sessions
            .mentions(self.words, self.agent, forget);
        let said = said.await.map_err(|error| self.gateway.failure(&error))?;
        if !forget {
            // Notes are shown with their lines.
            kept.files
                .retain(|path| !notes.iter().any(|note| path.ends_with(&note.path)));
        }
        Ok(Places { notes, said, kept })
    }

    /// What the index had of it is overwritten.
    async fn index_anew(&self) -> Result<(), Failure> {
        let progress = self.memory.client.index(self.agent, true).await;
        let mut progress = progress.map_err(|error| self.memory.failure(&error))?;
        while let Some(news) = progress.next().await {
            news.map_err(|error| self.memory.failure(&error))?;
        }
        Ok(())
    }
}

impl Places {
    fn is_empty(&self) -> bool {
        self.notes.is_empty()
            && self.said.files.is_empty()
            && self.said.in_tables == 0
            && self.said.jobs.is_empty()
            && self.kept.is_empty()
    }

    fn document(&self) -> serde_json::Value {
        json!({ "notes": self.notes, "conversations": self.said, "files": self.kept })
    }

    /// What still has the words when they are forgotten, or may have them.
    fn left(&self) -> String {
        let mut text = String::new();
        for path in &self.kept.files {
            let path = output::line(&path.display().to_string());
            let _ = writeln!(text, "{path} still has them: change or remove it yourself");
        }
        for job in &self.said.jobs {
            let job = output::line(job);
            let _ = writeln!(text, "the job {job} still has them: change or remove it");
        }
        for path in &self.kept.unread {
            let path = output::line(&path.display().to_string());
            let _ = writeln!(text, "{path} cannot be looked into");
        }
        text.push_str(&links(&self.kept.links));
        text
    }

    fn rendered(&self) -> String {
        let mut text = String::new();
        for note in &self.notes {
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{}",
                output::line(&format!("{}:{}", note.path, note.from))
            );
            let _ = writeln!(text, "    {}", output::one_line(&note.text, WIDTH));
        }
        self.said.files.iter().for_each(|file| say(&mut text, file));
        if self.said.in_tables > 0 {
            let times = words::count(self.said.in_tables, "time");
            let _ = writeln!(text, "{times} in the gateway's own records");
        }
        for path in &self.kept.sessions {
            let path = output::line(&path.display().to_string());
            let _ = writeln!(text, "{path} of an agent CLI");
        }
        if self.is_empty() {
            let nowhere = if self.kept.is_whole() {
                "the words are nowhere\n"
            } else {
                "the words are nowhere that was looked into\n"
            };
            text.push_str(nowhere);
        }
        text.push_str(&self.left());
        text
    }
}

/// Links that were not followed: what they lead to may have the words.
fn links(links: &[PathBuf]) -> String {
    let mut text = String::new();
    for link in links.iter().take(LINKS) {
        let link = output::line(&link.display().to_string());
        let _ = writeln!(
            text,
            "{link} is a link, which is not followed: look yourself where it leads"
        );
    }
    if let Some(more) = links.len().checked_sub(LINKS).filter(|more| *more > 0) {
        let more = words::count(more as u64, "more link");
        let _ = writeln!(text, "{more} are not followed; --json names them");
    }
    text
}

fn say(text: &mut String, file: &Mention) {
    let name = match file.session_key.as_str() {
        "" => format!("{} (ended)", file.path),
        key => key.to_owned(),
    };
    let matches = words::count(file.matches, "time");
    let _ = writeln!(text, "{}  {matches}", output::line(&name));
    for Excerpt {
        role, text: said, ..
    } in &file.excerpts
    {
        let who = if role.is_empty() { "entry" } else { role };
        let _ = writeln!(
            text,
            "    {}: {}",
            output::line(who),
            output::one_line(said, WIDTH)
        );
    }
}

/// Whether the person says that it may be done.
pub(super) fn may(what: &str) -> Result<bool, Failure> {
    if !question::can_be_asked() {
        return Err(Failure::usage("say --yes to forget without being asked"));
    }
    Ok(question::says_yes(&format!("{what} for good? [y/N]\n"))?)
}
