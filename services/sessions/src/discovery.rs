//! Finding the conversations that have to do with a project (seed 001).
//!
//! Sessions are kept by agent, not by project, so every transcript is looked
//! at: its header says where the agent worked, and where that tells nothing the
//! first things the user said do.

mod digest;
mod matching;
mod range;

use std::fs;
use std::path::{Path, PathBuf};

use crate::disk;
use crate::error::Error;
use crate::store::is_transcript;
use crate::transcript::{Line, LineRead, Lines, Message};

pub use digest::Digest;
pub use matching::Project;
pub use range::Range;

/// Lines in which the first user messages are looked for. Before them there
/// are a few entries of state.
const HEAD_LINES: usize = 200;

/// User messages that are looked at: what a conversation is about is said at its beginning.
const HEAD_MESSAGES: usize = 5;

/// Where to look.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// The folder with a folder for each agent.
    pub agents: PathBuf,
    /// Only this agent's.
    pub agent: Option<String>,
    /// Working directories that say nothing of a project: the agents' own workspaces.
    pub workspaces: Vec<PathBuf>,
    /// Most transcripts to return.
    pub limit: usize,
}

/// What was found.
#[derive(Debug, Default)]
pub struct Findings {
    /// The best first, of equals the latest.
    pub found: Vec<Digest>,
    /// Transcripts that were looked at.
    pub searched: usize,
    /// What could not be read.
    pub problems: Vec<Error>,
}

/// What of a transcript matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched {
    /// Where the agent worked.
    Cwd,
    /// What the user said first.
    Message,
    /// When something was said; no project was asked for.
    Time,
}

struct Candidate {
    agent: String,
    path: PathBuf,
    score: u32,
    matched: Matched,
    modified_ms: i64,
}

/// The transcripts that have to do with `project`, or with anything, and in
/// which something was said in `range`. What cannot be read is passed over and
/// named.
pub fn find(project: Option<&Project>, range: &Range, scope: &Scope) -> Result<Findings, Error> {
    let mut findings = Findings::default();
    let mut candidates = Vec::new();
    for agent in agents(scope)? {
        let sessions = scope.agents.join(&agent).join("sessions");
        for path in transcripts(&sessions, &mut findings.problems) {
            findings.searched += 1;
            match look(project, range, scope, &path) {
                Ok(Some((score, matched))) => candidates.push(Candidate {
                    agent: agent.clone(),
                    modified_ms: digest::modified(&path),
                    path,
                    score,
                    matched,
                }),
                Ok(None) => {}
                Err(error) => findings.problems.push(error),
            }
        }
    }
    candidates.sort_by_key(|found| std::cmp::Reverse((found.score, found.modified_ms)));
    for candidate in candidates.into_iter().take(scope.limit) {
        match Digest::of(&candidate.agent, &candidate.path, candidate.matched) {
            Ok(digest) => findings.found.push(digest),
            Err(error) => findings.problems.push(error),
        }
    }
    Ok(findings)
}

/// The transcript of the session `id` of any agent, also when no index has it.
pub fn locate(agents_folder: &Path, id: &str) -> Result<Option<(String, PathBuf)>, Error> {
    let name = format!("{id}.jsonl");
    if id.is_empty() || !is_transcript(&name) || id.contains('/') {
        return Ok(None);
    }
    let scope = Scope {
        agents: agents_folder.to_owned(),
        ..Scope::default()
    };
    let found = agents(&scope)?.into_iter().find_map(|agent| {
        let path = agents_folder.join(&agent).join("sessions").join(&name);
        path.is_file().then_some((agent, path))
    });
    Ok(found)
}

fn agents(scope: &Scope) -> Result<Vec<String>, Error> {
    if let Some(agent) = &scope.agent {
        return Ok(vec![agent.clone()]);
    }
    let Some(listing) =
        disk::if_there(fs::read_dir(&scope.agents)).map_err(Error::io("list", &scope.agents))?
    else {
        return Ok(Vec::new());
    };
    let names = listing
        .flatten()
        .filter(|folder| folder.path().join("sessions").is_dir())
        .filter_map(|folder| folder.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

fn transcripts(sessions: &Path, problems: &mut Vec<Error>) -> Vec<PathBuf> {
    let listing = match disk::if_there(fs::read_dir(sessions)) {
        Ok(Some(listing)) => listing,
        Ok(None) => return Vec::new(),
        Err(error) => {
            problems.push(Error::io("list", sessions)(error));
            return Vec::new();
        }
    };
    let files = listing.flatten();
    let named = files.filter(|file| file.file_name().to_str().is_some_and(is_transcript));
    named.map(|file| file.path()).collect()
}

/// How well a transcript matches, and by what.
fn look(
    project: Option<&Project>,
    range: &Range,
    scope: &Scope,
    path: &Path,
) -> Result<Option<(u32, Matched)>, Error> {
    let matched = match project {
        Some(project) => about(project, scope, path)?,
        None => Some((0, Matched::Time)),
    };
    match matched {
        Some(matched) if range.is_said_in(path)? => Ok(Some(matched)),
        _ => Ok(None),
    }
}

/// How well a transcript matches the project, and by what.
fn about(project: &Project, scope: &Scope, path: &Path) -> Result<Option<(u32, Matched)>, Error> {
    let mut lines = Lines::open(path)?;
    let mut first = match lines.next().transpose()? {
        Some(LineRead::Whole(Line::Header(header))) if says_something(&header.cwd, scope) => {
            let score = project.in_path(&header.cwd);
            return Ok(score.map(|score| (score, Matched::Cwd)));
        }
        Some(line) => line.whole(),
        None => return Ok(None),
    };
    let mut messages = 0;
    for _ in 0..HEAD_LINES {
        if let Some(Line::Message(entry)) = &first
            && let Message::User(user) = &entry.message
        {
            messages += 1;
            if let Some(score) = project.in_text(&user.content.to_text()) {
                return Ok(Some((score, Matched::Message)));
            }
        }
        if messages >= HEAD_MESSAGES {
            break;
        }
        first = match lines.next().transpose()? {
            Some(line) => line.whole(),
            None => break,
        };
    }
    Ok(None)
}

fn says_something(cwd: &str, scope: &Scope) -> bool {
    !cwd.trim().is_empty() && !scope.workspaces.iter().any(|own| own == Path::new(cwd))
}
