//! State is its owner's alone: directories 0700, secrets 0600 (seed 003 §1).

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use nix::sys::stat::SFlag;
use nix::unistd::geteuid;
use openclaw_config::error::Error;
use openclaw_config::paths::Paths;
use openclaw_config::pipeline::{dot_env, merge};
use openclaw_folder::PinnedFile;
use openclaw_settings::Origin;

/// The permission bits of a mode.
const PERMISSIONS: u32 = 0o777;
/// The most agents that are looked at; each has a handful of directories.
const AGENTS_LIMIT: usize = 1000;

/// A mode that was too wide and is not any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// The file or directory.
    pub path: PathBuf,
    /// The mode it had.
    pub from: u32,
    /// The mode it has.
    pub to: u32,
}

/// Makes the state directory when it is not there, and takes away what others
/// may do with it and with the secrets in it. What cannot be repaired, because
/// it is somebody else's, is an error that says what to do.
pub fn secure(paths: &Paths) -> Result<Vec<Repair>, Error> {
    create(&paths.state)?;
    let mut repairs = Vec::new();
    for path in directories(paths).into_iter().chain(secrets(paths)) {
        repairs.extend(repair(&path)?);
    }
    Ok(repairs)
}

/// What [`secure`] would take away, as far as it can be looked at; nothing is
/// changed.
#[must_use]
pub fn too_open(paths: &Paths) -> Vec<Repair> {
    let all = directories(paths).into_iter().chain(secrets(paths));
    let mut repairs: Vec<Repair> = all
        .filter_map(|path| Some(wanted(&path).ok()??.0))
        .collect();
    repairs.dedup_by(|a, b| a.path == b.path);
    repairs
}

fn create(state: &Path) -> Result<(), Error> {
    let made = DirBuilder::new()
        .recursive(true)
        .mode(openclaw_modes::current().folder)
        .create(state);
    made.map_err(|error| {
        let user = state.parent().unwrap_or(state).display().to_string();
        Error::Permissions {
            path: state.to_owned(),
            problem: format!("cannot be made: {error}"),
            fix: format!("make {user} writable for you, or set OPENCLAW_STATE_DIR"),
        }
    })
}

/// The directories of seed 003 §1.1, those that are there.
fn directories(paths: &Paths) -> Vec<PathBuf> {
    let mut all = vec![paths.state.clone()];
    let folders = ["agents", "credentials", "memory", "sessions", "state"];
    all.extend(folders.map(|name| paths.state.join(name)));
    all.push(merge::folder(&paths.configuration));
    for agent in entries(&paths.state.join("agents")) {
        all.extend(["agent", "auth", "sessions"].map(|name| agent.join(name)));
        all.push(agent);
    }
    all
}

/// Files that hold secrets or may.
fn secrets(paths: &Paths) -> Vec<PathBuf> {
    let file = &paths.configuration;
    let mut all = vec![
        file.clone(),
        openclaw_settings::file::backup(file),
        Origin::LastGood.paths(paths.clone()).configuration,
        dot_env::place(file),
        paths.state.join("auth.json"),
    ];
    all.extend(entries(&paths.state.join("credentials")));
    all.extend(entries(&merge::folder(file)));
    for agent in entries(&paths.state.join("agents")) {
        all.extend(entries(&agent.join("auth")));
        all.push(agent.join("agent").join("auth-profiles.json"));
        all.push(agent.join("models.json"));
    }
    all
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .take(AGENTS_LIMIT)
        .collect()
}

fn repair(path: &Path) -> Result<Option<Repair>, Error> {
    let Some((repair, held)) = wanted(path)? else {
        return Ok(None);
    };
    let attempt = held.set_mode(repair.to);
    outcome(repair, attempt)
}

/// What is to be taken away of the mode of `path`, and of what lies there.
fn wanted(path: &Path) -> Result<Option<(Repair, PinnedFile)>, Error> {
    let looked = PinnedFile::open(path).and_then(|held| Ok((held.status()?, held)));
    let (found, held) = match looked {
        Ok(looked) => looked,
        Err(error) if is_absent(&error) => return Ok(None),
        Err(error) => return Err(refused(path, &format!("cannot be looked at: {error}"), "")),
    };
    let kind = SFlag::from_bits_truncate(found.st_mode) & SFlag::S_IFMT;
    let own = geteuid().as_raw();
    // A link has no mode; where it leads is kept by whoever made it. What is
    // another user's without being open is theirs: an agent's, for instance.
    let foreign = openclaw_modes::current().foreign;
    let open = found.st_mode & foreign != 0;
    if !open || !matches!(kind, SFlag::S_IFDIR | SFlag::S_IFREG) {
        return Ok(None);
    }
    if found.st_uid != own {
        let problem = format!("belongs to the user {} and you are {own}", found.st_uid);
        return Err(refused(
            path,
            &problem,
            &format!("chown {own} {}", path.display()),
        ));
    }
    let from = found.st_mode & PERMISSIONS;
    let repair = Repair {
        path: path.to_owned(),
        from,
        to: from & !foreign,
    };
    Ok(Some((repair, held)))
}

/// What came of the attempt to make `repair`.
fn outcome(repair: Repair, attempt: io::Result<()>) -> Result<Option<Repair>, Error> {
    match attempt {
        Ok(()) => Ok(Some(repair)),
        // A daemon whose unit lets it only read this is not the one to mend it.
        Err(error) if error.kind() == ErrorKind::ReadOnlyFilesystem => Ok(None),
        Err(error) => {
            let Repair { path, from, to } = repair;
            let problem = format!("has mode {from:03o}, which lets others in: {error}");
            let command = format!("chmod {to:o} {}", path.display());
            Err(refused(&path, &problem, &command))
        }
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn refused(path: &Path, problem: &str, command: &str) -> Error {
    Error::Permissions {
        path: path.to_owned(),
        problem: problem.to_owned(),
        fix: match command {
            "" => "make it accessible to you".to_owned(),
            command => format!("mend it with: {command}"),
        },
    }
}

#[cfg(test)]
mod tests;
