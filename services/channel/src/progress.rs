//! What of a delivery its provider has: recorded before a part is sent and after
//! it was taken. A daemon that is killed in between sends that one part again;
//! parts that were recorded are not sent again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use tokio::task::spawn_blocking;

use crate::durable;

/// A delivery fails for good after three days; what is older is nobody's.
const KEPT: Duration = Duration::from_secs(4 * 24 * 60 * 60);

/// How the name of a run's record ends.
const RUN: &str = "run";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// What the provider notes of the part that comes next.
    Note(String),
    /// The part of this number is being sent.
    Sending(usize),
    /// The provider took it and calls it so.
    Sent(usize, Vec<String>),
    /// The provider took something else in its place, for this reason.
    Instead(usize, Vec<String>, String),
    /// The provider did not take the part of this number, that is certain.
    Refused(usize),
    /// All of it was taken.
    Over,
}

/// The records of all deliveries of an account.
#[derive(Debug, Clone)]
pub struct Records {
    folder: PathBuf,
}

/// How far one delivery is.
#[derive(Debug)]
pub struct Progress {
    path: PathBuf,
    parts: Vec<Vec<String>>,
    /// Why parts were not taken in whose place something else was said.
    missing: Vec<String>,
    is_over: bool,
    /// The part that was being sent when the daemon before was killed.
    doubtful: Option<usize>,
    note: String,
    /// The record, from where a part is being sent until it was.
    file: Option<File>,
}

impl Records {
    /// The records in `folder`, without those that are too old.
    pub fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let records = Self {
            folder: folder.to_owned(),
        };
        records.tidy()?;
        Ok(records)
    }

    /// Removes what is too old.
    pub(crate) fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let age = match entry.metadata() {
                // Its delivery was over meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                metadata => metadata?.modified()?,
            };
            if SystemTime::now()
                .duration_since(age)
                .is_ok_and(|it| it > KEPT)
            {
                durable::remove(&entry.path())?;
            }
        }
        Ok(())
    }

    /// How far the delivery `id` is.
    pub fn of(&self, id: u64) -> io::Result<Progress> {
        Progress::read(self.folder.join(format!("{id}.delivery")))
    }

    /// What the runs that are not over have said already.
    pub fn of_runs(&self) -> io::Result<Vec<Progress>> {
        let mut runs = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|it| it == RUN) {
                runs.push(Progress::read(path)?);
            }
        }
        Ok(runs)
    }

    /// What a run that is not over has said already, and where: kept so that its
    /// reply takes the place of that.
    pub fn of_run(&self, run_id: &str) -> io::Result<Progress> {
        // Only what run ids have.
        let name = run_id.replace(|it: char| !it.is_ascii_alphanumeric() && it != '-', "_");
        Progress::read(self.folder.join(format!("{name}.{RUN}")))
    }
}

impl Progress {
    fn read(path: PathBuf) -> io::Result<Self> {
        let content = match fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            content => content?,
        };
        let mut progress = Self {
            path,
            parts: Vec::new(),
            missing: Vec::new(),
            is_over: false,
            doubtful: None,
            note: String::new(),
            file: None,
        };
        let lines = content.split(|byte| *byte == b'\n');
        for line in lines.filter_map(|line| serde_json::from_slice(line).ok()) {
            match line {
                Line::Note(note) => progress.note = note,
                Line::Sending(part) => progress.doubtful = Some(part),
                Line::Sent(_, ids) => {
                    progress.parts.push(ids);
                    progress.doubtful = None;
                }
                Line::Instead(_, ids, reason) => {
                    progress.parts.push(ids);
                    progress.missing.push(reason);
                    progress.doubtful = None;
                }
                Line::Refused(_) => progress.doubtful = None,
                Line::Over => progress.is_over = true,
            }
        }
        Ok(progress)
    }

    /// The parts that were taken, with what the provider calls them.
    pub fn parts(&self) -> &[Vec<String>] {
        &self.parts
    }

    /// Why parts were not taken in whose place something else was said.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// What the provider calls all that it took.
    pub fn ids(&self) -> Vec<String> {
        self.parts.concat()
    }

    /// Whether all of it was taken.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the next part may have been taken by the provider already, which
    /// only it knows.
    pub fn is_doubtful(&self) -> bool {
        self.doubtful == Some(self.parts.len())
    }

    /// What was noted of the part that may have been taken.
    pub fn doubt(&self) -> Option<&str> {
        self.is_doubtful().then_some(self.note.as_str())
    }

    /// The next part is about to be sent. A later daemon that doubts is told `note`.
    pub fn sending(&mut self, note: &str) -> io::Result<()> {
        let note = serde_json::to_string(&Line::Note(note.to_owned()))?;
        let line = serde_json::to_string(&Line::Sending(self.parts.len()))?;
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&self.path)?;
        // Not flushed to the disk: it outlives this process so, and after a loss of
        // power nothing is done by it.
        file.write_all(format!("\n{note}\n{line}\n").as_bytes())?;
        self.file = Some(file);
        Ok(())
    }

    /// It was taken. This outlives the process when it returns, and a loss of power
    /// a moment later: whoever waited for the disk here would hear of other messages
    /// late, and until that was heard a kill doubles them.
    pub fn sent(&mut self, ids: Vec<String>) -> io::Result<()> {
        self.taken(Line::Sent(self.parts.len(), ids.clone()), ids)
    }

    /// The next part will never be taken, for `reason`, and what was said in its place
    /// was.
    pub fn sent_instead(&mut self, ids: Vec<String>, reason: String) -> io::Result<()> {
        let line = Line::Instead(self.parts.len(), ids.clone(), reason.clone());
        // It is so, also where it cannot be recorded.
        self.missing.push(reason);
        self.taken(line, ids)
    }

    fn taken(&mut self, line: Line, ids: Vec<String>) -> io::Result<()> {
        let line = serde_json::to_string(&line)?;
        let file = match self.file.take() {
            Some(mut file) => {
                file.write_all(format!("{line}\n").as_bytes())?;
                file
            }
            None => durable::add(&self.path, &line)?,
        };
        self.parts.push(ids);
        self.doubtful = None;
        spawn_blocking(move || {
            if let Err(error) = file.sync_data() {
                openclaw_daemon::failure::report("put on disk what was sent", &error);
            }
        });
        Ok(())
    }

    /// It was not taken, that is certain.
    pub fn refused(&mut self) {
        self.doubtful = None;
        // Without the line the next daemon doubts where there is nothing to doubt.
        if let Some(mut file) = self.file.take()
            && let Ok(line) = serde_json::to_string(&Line::Refused(self.parts.len()))
            && let Err(error) = file.write_all(format!("{line}\n").as_bytes())
        {
            openclaw_daemon::failure::report("record that a part was refused", &error);
        }
    }

    /// All of it was taken. After a loss of power the parts say so too.
    pub fn over(&mut self) -> io::Result<()> {
        durable::add(&self.path, &serde_json::to_string(&Line::Over)?)?;
        self.is_over = true;
        Ok(())
    }

    /// Nobody will ask for it again.
    pub fn forget(self) -> io::Result<()> {
        durable::remove(&self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn progress_is_known_after_a_crash() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(folder.path()).unwrap();
        let mut progress = records.of(7).unwrap();
        progress.sending("").unwrap();
        progress.sent(vec!["11".into()]).unwrap();
        progress.sending("after 11").unwrap();
        let mut again = records.of(7).unwrap();
        assert_eq!(again.doubt(), Some("after 11"));
        assert_eq!(again.parts(), [["11".to_owned()]]);
        assert!(again.is_doubtful() && !again.is_over());
        again.sending("").unwrap();
        again.refused();
        assert!(!records.of(7).unwrap().is_doubtful());
        again.sent(vec!["12".into(), "13".into()]).unwrap();
        again
            .sent_instead(vec!["14".into()], "too large".into())
            .unwrap();
        again.over().unwrap();
        let last = records.of(7).unwrap();
        assert!(last.is_over() && !last.is_doubtful());
        assert_eq!(last.ids(), ["11", "12", "13", "14"]);
        assert_eq!(last.missing(), ["too large"]);
        last.forget().unwrap();
        assert!(records.of(7).unwrap().parts().is_empty());
    }

    #[tokio::test]
    async fn progress_skips_a_line_that_was_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(folder.path()).unwrap();
        fs::write(folder.path().join("7.delivery"), "{\"sent\":[0,[\"1").unwrap();
        let mut progress = records.of(7).unwrap();
        assert!(progress.parts().is_empty());
        progress.sent(vec!["2".into()]).unwrap();
        assert_eq!(records.of(7).unwrap().ids(), ["2"]);
    }

    #[tokio::test]
    async fn records_of_runs_stay_in_their_folder() {
        let folder = tempfile::tempdir().unwrap();
        let records = Records::open(&folder.path().join("out")).unwrap();
        let mut progress = records.of_run("../a/b").unwrap();
        progress.sent(vec!["1".into()]).unwrap();
        assert!(folder.path().join("out/___a_b.run").exists());
        records.of(1).unwrap().sent(vec!["2".into()]).unwrap();
        let runs = records.of_runs().unwrap();
        assert_eq!(runs.len(), 1);
        assert_eq!(runs[0].ids(), ["1"]);
    }
}
