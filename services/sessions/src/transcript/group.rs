//! Making several transcripts durable at once.

use std::thread;

use super::append::Transcript;
use crate::error::Error;

/// Transcripts that are synced at the same time. The file system writes its
/// journal once for all that wait together: 64 files take 80 ms and more one
/// after the other, and 5 ms this way.
const THREADS: usize = 16;

/// Makes everything appended to `transcripts` durable, each with what became of
/// it, in their order. One that failed is to be dropped, see
/// [`Transcript::sync`].
pub fn sync_all(mut transcripts: Vec<&mut Transcript>) -> Vec<Result<(), Error>> {
    if transcripts.len() <= 1 {
        return sync_each(&mut transcripts);
    }
    let share = transcripts.len().div_ceil(THREADS);
    thread::scope(|scope| {
        let threads: Vec<_> = transcripts
            .chunks_mut(share)
            .map(|chunk| (chunk.len(), scope.spawn(|| sync_each(chunk))))
            .collect();
        let joined = threads.into_iter().map(|(length, thread)| {
            let lost = |_| (0..length).map(|_| Err(Error::Interrupted)).collect();
            thread.join().unwrap_or_else(lost)
        });
        joined.collect::<Vec<_>>().into_iter().flatten().collect()
    })
}

fn sync_each(transcripts: &mut [&mut Transcript]) -> Vec<Result<(), Error>> {
    transcripts
        .iter_mut()
        .map(|transcript| transcript.sync())
        .collect()
}
