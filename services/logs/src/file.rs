//! The file that `openclawctl run` writes, and the one before it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use inotify::{Inotify, WatchMask};
use openclaw_terminal::Failure;

use crate::filter::Filter;
use crate::record::{Record, Take};

/// Bytes of events that are read at once.
const EVENTS: usize = 4096;

/// Gives what `filter` wants to `take`. `is_own`: the suite writes it, or will; else it was
/// named, and is to be a log.
pub(crate) fn read(
    path: &Path,
    filter: &Filter,
    follow: bool,
    is_own: bool,
    take: &mut Take<'_>,
) -> Result<(), Failure> {
    // Before the first look, so that nothing is missed after it.
    let news = follow.then(|| watch(path)).transpose()?;
    let mut last = VecDeque::new();
    let mut keep = |record: Record| {
        last.push_back(record);
        if filter.lines.is_some_and(|lines| last.len() > lines) {
            last.pop_front();
        }
        Ok(())
    };
    if let Some(mut earlier) = Lines::open(&openclaw_foreground::earlier_log(path))? {
        earlier.give(filter, &mut keep)?;
    }
    let mut lines = Lines::open(path)?.ok_or_else(|| absent(path));
    if let Ok(lines) = &mut lines {
        lines.give(filter, &mut keep)?;
    } else if !follow || !openclaw_foreground::earlier_log(path).exists() && !is_own {
        return Err(absent(path));
    }
    let is_log = |lines: &Lines| lines.records > 0 || lines.others == 0;
    if let Ok(lines) = &lines
        && !is_own
        && !is_log(lines)
    {
        let said = format!("{} is no log of openclawctl run", path.display());
        return Err(Failure::new(said));
    }
    for record in last {
        take(record)?;
    }
    let Some(mut news) = news else {
        return Ok(());
    };
    let mut lines = lines.ok();
    let mut buffer = [0; EVENTS];
    loop {
        news.read_events_blocking(&mut buffer)
            .context("cannot wait for news of the log")?;
        if let Some(lines) = &mut lines {
            lines.give(filter, take)?;
        }
        // It was put away, and another one begun.
        if lines.as_ref().is_none_or(|it| !it.is_at(path)) {
            lines = Lines::open(path)?;
            if let Some(lines) = &mut lines {
                lines.give(filter, take)?;
            }
        }
    }
}

/// The values that a field has anywhere in the log.
pub(crate) fn values(path: &Path, field: &str) -> Vec<String> {
    let mut values = Vec::new();
    let mut note = |record: Record| {
        if let Some(value) = record.field(field)
            && !values.iter().any(|known| known == value)
        {
            values.push(value.to_owned());
        }
        Ok(())
    };
    for path in [openclaw_foreground::earlier_log(path), path.to_owned()] {
        // What cannot be read is told when the records are.
        if let Ok(Some(mut lines)) = Lines::open(&path) {
            let _ = lines.give(&Filter::default(), &mut note);
        }
    }
    values
}

fn watch(path: &Path) -> Result<Inotify, Failure> {
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let inotify = Inotify::init().context("cannot watch the log")?;
    inotify
        .watches()
        .add(
            &folder,
            WatchMask::MODIFY | WatchMask::CREATE | WatchMask::MOVED_TO,
        )
        .with_context(|| format!("cannot watch {}", folder.display()))?;
    Ok(inotify)
}

fn absent(path: &Path) -> Failure {
    Failure::new(format!("there is no log {}", path.display()))
}

/// A file that is read line by line, and on from there when there is more.
struct Lines {
    reader: BufReader<File>,
    inode: u64,
    /// A line that is not whole yet.
    begun: Vec<u8>,
    /// Lines that are records so far, and those that are something else.
    records: u64,
    others: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Option<Self>, Failure> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                let context = format!("cannot open {}", path.display());
                return Err(anyhow::Error::new(error).context(context).into());
            }
        };
        let inode = file.metadata().context("cannot look at the log")?.ino();
        Ok(Some(Self {
            reader: BufReader::new(file),
            inode,
            begun: Vec::new(),
            records: 0,
            others: 0,
        }))
    }

    fn is_at(&self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|found| found.ino() == self.inode)
    }

    /// Gives the records of the lines that are whole.
    fn give(&mut self, filter: &Filter, take: &mut Take<'_>) -> Result<(), Failure> {
        loop {
            let length = self.reader.read_until(b'\n', &mut self.begun);
            if length.context("cannot read the log")? == 0 || self.begun.last() != Some(&b'\n') {
                return Ok(());
            }
            let record = Record::of_line(String::from_utf8_lossy(&self.begun).trim_end());
            self.begun.clear();
            match &record {
                Some(_) => self.records += 1,
                None => self.others += 1,
            }
            if let Some(record) = record.filter(|record| filter.admits(record)) {
                take(record)?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    fn line(message: &str) -> String {
        format!(
            "{{\"timestamp\":\"2025-01-01T00:00:00Z\",\"level\":\"info\",\"message\":\"{message}\",\
             \"context\":{{\"openclaw_run\":\"run-{message}\"}}}}\n"
        )
    }

    fn messages(path: &Path, filter: &Filter) -> Vec<String> {
        let mut all = Vec::new();
        let mut take = |record: Record| {
            all.push(record.message);
            Ok(())
        };
        read(path, filter, false, true, &mut take).unwrap();
        all
    }

    #[test]
    fn last_lines_are_those_of_both_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        fs::write(
            openclaw_foreground::earlier_log(&path),
            line("a") + "no record\n",
        )
        .unwrap();
        fs::write(&path, line("b") + &line("c") + "{\"half").unwrap();
        assert_eq!(messages(&path, &Filter::default()), ["a", "b", "c"]);
        let two = Filter {
            lines: Some(2),
            ..Filter::default()
        };
        assert_eq!(messages(&path, &two), ["b", "c"]);
        assert_eq!(values(&path, "openclaw_run"), ["run-a", "run-b", "run-c"]);
        let none = folder.path().join("none");
        for follow in [false, true] {
            assert!(read(&none, &two, follow, false, &mut |_| Ok(())).is_err());
        }
        let other = folder.path().join("passwd");
        fs::write(&other, "root:x:0:0\n").unwrap();
        let refused = read(&other, &two, false, false, &mut |_| Ok(())).unwrap_err();
        assert!(refused.text().ends_with("is no log of openclawctl run"));
    }

    #[test]
    fn follower_hears_what_comes_also_in_the_next_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        fs::write(&path, line("a")).unwrap();
        let (tell, heard) = std::sync::mpsc::channel();
        let follower = path.clone();
        std::thread::spawn(move || {
            let mut take = |record: Record| {
                // The test has ended.
                tell.send(record.message)
                    .map_err(|_| Failure::reader_gone())
            };
            let _ = read(&follower, &Filter::default(), true, true, &mut take);
        });
        let hear = || {
            heard
                .recv_timeout(std::time::Duration::from_secs(20))
                .unwrap()
        };
        assert_eq!(hear(), "a");
        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(line("b").as_bytes()).unwrap();
        assert_eq!(hear(), "b");
        fs::rename(&path, openclaw_foreground::earlier_log(&path)).unwrap();
        fs::write(&path, line("c")).unwrap();
        assert_eq!(hear(), "c");
    }
}
