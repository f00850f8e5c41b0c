//! Giving sessions away as OpenClaw imports them.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use futures_util::Stream;
use openclaw_proto::sessions::Exported;
use openclaw_sessions::SessionKey;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Sessions;
use crate::refusal::Refusal;
use crate::storage::{Exportable, Fault};

/// Bytes of one piece.
const CHUNK: usize = 256 * 1024;

/// Pieces that wait for a slow client.
const PIECES: usize = 8;

type Pieces = mpsc::Sender<Result<Exported, Refusal>>;

/// Nobody takes the pieces any more, or a file could not be read and they were told so.
struct Over;

impl Sessions {
    /// The files of one session, or with an empty name of all sessions of an agent, or of all
    /// agents: an index each, and the transcripts byte for byte as far as their lines are whole.
    pub async fn export(
        &self,
        session: &str,
        agent: &str,
    ) -> Result<impl Stream<Item = Result<Exported, Refusal>> + Send + use<>, Refusal> {
        let key: Option<SessionKey> = match session {
            "" => None,
            named => Some(self.resolve(named, agent).await?),
        };
        let exportable = self.storage.exportable(key).await;
        let mut exportable = exportable.map_err(Refusal::Unreadable)?;
        if !agent.is_empty() {
            exportable.retain(|export| export.agent.as_str() == agent);
        }
        let (pieces, stream) = mpsc::channel(PIECES);
        tokio::task::spawn_blocking(move || {
            for export in exportable {
                if send_agent(&pieces, &export).is_err() {
                    return;
                }
            }
        });
        Ok(ReceiverStream::new(stream))
    }
}

fn send_agent(pieces: &Pieces, export: &Exportable) -> Result<(), Over> {
    let folder = format!("agents/{}/sessions", export.agent);
    let index = serde_json::to_vec_pretty(&export.index).unwrap_or_default();
    send(pieces, Exported::File(format!("{folder}/sessions.json")))?;
    for chunk in index.chunks(CHUNK) {
        send(pieces, Exported::Chunk(chunk.to_vec()))?;
    }
    for (name, path) in &export.transcripts {
        send(pieces, Exported::File(format!("{folder}/{name}")))?;
        send_file(pieces, path)?;
    }
    Ok(())
}

fn send_file(pieces: &Pieces, path: &Path) -> Result<(), Over> {
    let failed = |source| {
        let fault = Fault::read(path, source);
        let _ = pieces.blocking_send(Err(Refusal::Unreadable(fault)));
        Over
    };
    let mut file = File::open(path).map_err(failed)?;
    // What is written behind the last line end is an append under way.
    let mut held = Vec::new();
    loop {
        let mut chunk = vec![0; CHUNK];
        let length = file.read(&mut chunk).map_err(failed)?;
        if length == 0 {
            return Ok(());
        }
        held.extend_from_slice(&chunk[..length]);
        let Some(end) = held.iter().rposition(|byte| *byte == b'\n') else {
            continue;
        };
        let rest = held.split_off(end + 1);
        for piece in std::mem::replace(&mut held, rest).chunks(CHUNK) {
            send(pieces, Exported::Chunk(piece.to_vec()))?;
        }
    }
}

fn send(pieces: &Pieces, piece: Exported) -> Result<(), Over> {
    pieces.blocking_send(Ok(piece)).map_err(|_| Over)
}
