//! Reading a transcript from its beginning.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use super::LINE_LIMIT;
use super::entry::{Header, Line};
use crate::error::Error;

/// All lines of a transcript.
#[derive(Debug, Default)]
pub struct Reading {
    /// The lines that are entries, in their order.
    pub lines: Vec<Line>,
    /// The lines that are not; they stay in the file.
    pub corrupt: Vec<CorruptLine>,
}

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorruptLine {
    /// Counted from 1.
    pub number: usize,
    /// Where it starts, in bytes.
    pub offset: u64,
    /// Why.
    pub reason: String,
}

/// The whole lines of a transcript, one after the other. An unfinished last
/// line is an append that is under way, or that never was acknowledged, and is
/// left out.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    source: BufReader<File>,
    line: Vec<u8>,
    number: usize,
    offset: u64,
}

impl Lines {
    /// The lines of `path`.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        Ok(Self {
            path: path.to_owned(),
            source: BufReader::new(file),
            line: Vec::new(),
            number: 0,
            offset: 0,
        })
    }

    /// Where the lines end that were returned, in bytes.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    fn read(&mut self) -> io::Result<Option<LineRead>> {
        while let Some(length) = next_line(&mut self.source, &mut self.line)? {
            let start = self.offset;
            self.offset += length;
            self.number += 1;
            let corrupt = |reason| CorruptLine {
                number: self.number,
                offset: start,
                reason,
            };
            if length > LINE_LIMIT as u64 {
                let reason = format!("the line is longer than {LINE_LIMIT} bytes");
                return Ok(Some(LineRead::Corrupt(corrupt(reason))));
            }
            match Line::parse(&self.line) {
                Ok(line) => return Ok(Some(LineRead::Whole(line))),
                Err(_) if self.line.trim_ascii().is_empty() => {}
                Err(error) => return Ok(Some(LineRead::Corrupt(corrupt(describe(&error))))),
            }
        }
        Ok(None)
    }
}

/// A line of a transcript that was read.
#[derive(Debug)]
pub enum LineRead {
    /// It is one.
    Whole(Line),
    /// It cannot be understood.
    Corrupt(CorruptLine),
}

impl LineRead {
    /// The line, if it can be understood.
    pub fn whole(self) -> Option<Line> {
        match self {
            Self::Whole(line) => Some(line),
            Self::Corrupt(_) => None,
        }
    }
}

impl Iterator for Lines {
    type Item = Result<LineRead, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let read = self.read();
        read.map_err(Error::io("read", &self.path)).transpose()
    }
}

/// Reads every whole line of `path`.
pub fn read(path: &Path) -> Result<Reading, Error> {
    let mut reading = Reading::default();
    for line in Lines::open(path)? {
        match line? {
            LineRead::Whole(line) => reading.lines.push(line),
            LineRead::Corrupt(corrupt) => reading.corrupt.push(corrupt),
        }
    }
    Ok(reading)
}

/// The header and the entry after it, without reading on.
pub fn head(path: &Path) -> Result<(Option<Header>, Option<Line>), Error> {
    let mut lines = Lines::open(path)?;
    let mut next = || -> Result<Option<Line>, Error> {
        Ok(lines.next().transpose()?.and_then(LineRead::whole))
    };
    match next()? {
        Some(Line::Header(header)) => Ok((Some(header), next()?)),
        other => Ok((None, other)),
    }
}

/// The error and what caused it, in one line.
fn describe(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Reads one line into `line`, without its end, and returns its length with
/// it; None after the last whole line. Of a line that is too long only the
/// beginning is kept.
fn next_line(source: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    line.clear();
    let mut length = source
        .by_ref()
        .take(LINE_LIMIT as u64)
        .read_until(b'\n', line)? as u64;
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Some(length));
    }
    // Neither the end of the line nor, if it is this long, that of the file.
    while length >= LINE_LIMIT as u64 {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(None);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(chunk.len(), |end| end + 1);
        source.consume(taken);
        length += taken as u64;
        if end.is_some() {
            return Ok(Some(length));
        }
    }
    Ok(None)
}
