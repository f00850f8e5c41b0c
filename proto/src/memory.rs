//! The memory daemon, seen from its clients.

use std::path::PathBuf;

use tokio_stream::{Stream, StreamExt as _};

use crate::address::{self, Channel};
use crate::call::CallError;
use crate::origin::{Origin, is_isolated, is_shared};
use crate::wire::memory as wire;
use wire::memory_client::MemoryClient;

mod compaction;
mod document;
mod hit;
mod index;

pub use compaction::{Compaction, Conversation, Shortened};
pub use document::{
    Bootstrap, BootstrapFile, Exported, Forgotten, Lines, NoteLines, Remembered, Text,
};
pub use hit::{Hit, Parts, Question, Recall, Recalled, SearchResults, is_private_note};
pub use index::Progress;

/// A client of the memory daemon. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(MemoryClient<Channel>);

impl Client {
    /// A client of the daemon at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        Self(
            MemoryClient::new(address::channel(socket))
                .max_decoding_message_size(crate::MESSAGE_LIMIT)
                .max_encoding_message_size(crate::MESSAGE_LIMIT),
        )
    }

    /// The bootstrap files of an agent, in their order.
    pub async fn load_bootstrap(
        &self,
        origin: &Origin,
        agent_id: &str,
    ) -> Result<Bootstrap, CallError> {
        let request = wire::LoadBootstrapRequest {
            agent_id: agent_id.to_owned(),
            shared: is_shared(&origin.session_key),
        };
        let response = self
            .0
            .clone()
            .load_bootstrap(origin.request(request))
            .await?
            .into_inner();
        Ok(Bootstrap {
            files: response.files.into_iter().map(Into::into).collect(),
            problems: response.problems,
        })
    }

    /// The best passages, best first.
    pub async fn search(
        &self,
        origin: &Origin,
        question: Question,
    ) -> Result<SearchResults, CallError> {
        let mut request: wire::SearchRequest = question.into();
        request.shared |= is_shared(&origin.session_key);
        let response = self.0.clone().search(origin.request(request)).await?;
        Ok(response.into_inner().into())
    }

    /// The few passages that a message is given unasked, in the session with the id
    /// `session_id`. `patient`: its answer is made of them alone, so that files which are not
    /// read yet are waited for.
    ///
    /// # Errors
    /// When memory does not answer.
    pub async fn recall(
        &self,
        origin: &Origin,
        agent_id: &str,
        (text, patient): (&str, bool),
        session_id: &str,
    ) -> Result<Recall, CallError> {
        let shared = is_shared(&origin.session_key);
        // Where others hear it nothing is found of any conversation, this one neither.
        let session_id = if shared { "" } else { session_id };
        let request = wire::RecallRequest {
            agent_id: agent_id.to_owned(),
            text: text.to_owned(),
            shared,
            patient,
            session_id: session_id.to_owned(),
            isolated: is_isolated(&origin.session_key),
        };
        let response = self.0.clone().recall(origin.request(request)).await?;
        Ok(response.into_inner().into())
    }

    /// Lines of a file or a transcript that is searched; `None` when there is
    /// no such file.
    pub async fn get(
        &self,
        origin: &Origin,
        agent_id: &str,
        path: &str,
        lines: Lines,
    ) -> Result<Option<Text>, CallError> {
        self.get_for(origin, agent_id, path, lines, ("", false))
            .await
    }

    /// As [`Client::get`], for a run of the session with the id `session_id`. For
    /// one that does not know of those before it (`isolated`), what is in its
    /// transcript is not there, nor what was answered in another.
    ///
    /// # Errors
    /// When memory does not answer, or knows no such path.
    pub async fn get_for(
        &self,
        origin: &Origin,
        agent_id: &str,
        path: &str,
        lines: Lines,
        (session_id, isolated): (&str, bool),
    ) -> Result<Option<Text>, CallError> {
        let request = wire::GetRequest {
            agent_id: agent_id.to_owned(),
            path: path.to_owned(),
            from: lines.from,
            lines: lines.count,
            isolated,
            session_id: session_id.to_owned(),
            shared: is_shared(&origin.session_key),
        };
        let response = self.0.clone().get(origin.request(request)).await?;
        let response = response.into_inner();
        Ok(response.found.then(|| response.into()))
    }

    /// Appends a note to today's memory file.
    pub async fn remember(
        &self,
        origin: &Origin,
        agent_id: &str,
        text: &str,
    ) -> Result<Remembered, CallError> {
        let request = wire::RememberRequest {
            agent_id: agent_id.to_owned(),
            text: text.to_owned(),
        };
        let response = self
            .0
            .clone()
            .remember(origin.request(request))
            .await?
            .into_inner();
        Ok(Remembered {
            path: response.path,
            line: response.line,
        })
    }

    /// Takes the lines `from` to `to` away from a note, or with 0 and 0 the
    /// whole file.
    pub async fn forget(
        &self,
        agent_id: &str,
        path: &str,
        (from, to): (u32, u32),
    ) -> Result<Forgotten, CallError> {
        let request = wire::ForgetRequest {
            agent_id: agent_id.to_owned(),
            path: path.to_owned(),
            from,
            to,
        };
        let response = self.0.clone().forget(request).await?;
        Ok(response.into_inner().into())
    }

    /// The lines of notes that have the words; with `forget`, they are taken away.
    pub async fn notes_with(
        &self,
        agent_id: &str,
        words: &str,
        forget: bool,
    ) -> Result<Vec<NoteLines>, CallError> {
        let request = wire::FindNotesRequest {
            agent_id: agent_id.to_owned(),
            words: words.to_owned(),
            forget,
        };
        let response = self.0.clone().find_notes(request).await?.into_inner();
        Ok(response.lines.into_iter().map(Into::into).collect())
    }

    /// Everything that is searched.
    pub async fn export(
        &self,
        agent_id: &str,
    ) -> Result<impl Stream<Item = Result<Exported, CallError>> + Send + use<>, CallError> {
        let request = wire::ExportRequest {
            agent_id: agent_id.to_owned(),
        };
        let stream = self.0.clone().export(request).await?.into_inner();
        Ok(stream.map(|document| Ok(document?.into())))
    }

    /// Takes in what has changed, or with `force` everything anew. The last
    /// progress is done.
    pub async fn index(
        &self,
        agent_id: &str,
        force: bool,
    ) -> Result<impl Stream<Item = Result<Progress, CallError>> + Send + use<>, CallError> {
        let request = wire::IndexRequest {
            agent_id: agent_id.to_owned(),
            force,
        };
        let stream = self.0.clone().index(request).await?.into_inner();
        Ok(stream.map(|progress| Ok(progress?.into())))
    }

    /// Plans which part of a conversation gives way to a summary.
    pub async fn compact(
        &self,
        origin: &Origin,
        conversation: Conversation,
    ) -> Result<Compaction, CallError> {
        let request: wire::CompactRequest = conversation.into();
        let response = self.0.clone().compact(origin.request(request)).await?;
        Ok(response.into_inner().into())
    }

    /// The beginning of `text` with at most `max_tokens`, counted as for
    /// [`Client::compact`]; all of it when it fits.
    pub async fn shorten(
        &self,
        origin: &Origin,
        agent_id: &str,
        (text, max_tokens): (String, u32),
    ) -> Result<String, CallError> {
        let request = wire::ShortenRequest {
            agent_id: agent_id.to_owned(),
            text,
            max_tokens,
        };
        let response = self.0.clone().shorten(origin.request(request)).await?;
        Ok(response.into_inner().text)
    }

    /// Offers to make vectors: `results` go in, jobs come out.
    pub async fn embed<R>(
        &self,
        results: R,
    ) -> Result<impl Stream<Item = Result<wire::EmbedJob, CallError>> + Send + use<R>, CallError>
    where
        R: Stream<Item = wire::EmbedResult> + Send + 'static,
    {
        let jobs = self.0.clone().embed(results).await?.into_inner();
        Ok(jobs.map(|job| Ok(job?)))
    }

    /// What the daemon says of itself.
    pub async fn status(&self) -> Result<wire::StatusResponse, CallError> {
        let response = self.0.clone().status(wire::StatusRequest {}).await?;
        Ok(response.into_inner())
    }
}
