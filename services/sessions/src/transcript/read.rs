//! Reading a transcript from its beginning.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

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

/// Reads every whole line of `path`. An unfinished last line is an append that
/// is under way, or that never was acknowledged, and is left out.
pub fn read(path: &Path) -> Result<Reading, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut source = BufReader::new(file);
    let mut reading = Reading::default();
    let mut line = Vec::new();
    let (mut number, mut offset) = (0, 0);
    while next_line(&mut source, &mut line).map_err(Error::io("read", path))? {
        number += 1;
        match Line::parse(&line) {
            Ok(parsed) => reading.lines.push(parsed),
            Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
            Err(error) => reading.corrupt.push(CorruptLine {
                number,
                offset,
                reason: describe(&error),
            }),
        }
        offset += line.len() as u64 + 1;
    }
    Ok(reading)
}

/// The header and the entry after it, without reading on.
pub fn head(path: &Path) -> Result<(Option<Header>, Option<Line>), Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let mut source = BufReader::new(file);
    let mut next = || -> Result<Option<Line>, Error> {
        let mut line = Vec::new();
        let there = next_line(&mut source, &mut line).map_err(Error::io("read", path))?;
        Ok(there.then(|| Line::parse(&line).ok()).flatten())
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

/// Reads one line into `line`, without its end; false at the last whole line.
fn next_line(source: &mut BufReader<File>, line: &mut Vec<u8>) -> std::io::Result<bool> {
    line.clear();
    source
        .by_ref()
        .take(LINE_LIMIT as u64 + 1)
        .read_until(b'\n', line)?;
    Ok(line.pop() == Some(b'\n'))
}
