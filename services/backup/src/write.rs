//! Making a backup.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use jiff::Timestamp;
use openclaw_config::{Paths, state_lock};
use openclaw_folder::ConfiguredFolder;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use tar::{EntryType, Header};

use crate::capture::{self, Captured};
use crate::error::Error;
use crate::excess::Excess;
use crate::layout::{MANIFEST, PERMISSIONS, PRIVATE_FILE, STATE, WORKSPACES};
use crate::manifest::{self, FORMAT, Manifest, Workspace};
use crate::rules::{Rule, Rules};
use crate::seal::Sealing;
use crate::unfinished::{self, Beside, Unfinished};
use crate::walk::{Inventory, Item};
use crate::{check, database, links, member};

/// zstd's own default: text becomes a fifth of it, faster than a disk reads.
const LEVEL: i32 = 3;
/// How often the state is looked through for what came meanwhile: a transcript
/// that is put away gets another name.
const PASSES: usize = 4;
/// Why a file of [`Excess`] is left out.
const EXCESS: &str = "with it, the holes and second names in files of agents say more than 1 GiB beyond what lies on the disk";
/// What it is called until it is whole, in the folder beside it.
const WHOLE: &str = "whole";
/// The daemon that writes transcripts.
const GATEWAY: &str = "openclaw-gateway";

/// What is to be backed up.
#[derive(Debug, Clone)]
pub struct Source {
    /// The state directory and the configuration.
    pub paths: Paths,
    /// Every agent with its workspace.
    pub workspaces: Vec<(String, ConfiguredFolder)>,
    /// Where agents write, workspaces and all.
    pub written: Vec<PathBuf>,
    /// The version of this program.
    pub program: String,
}

/// A backup that was made.
#[derive(Debug)]
pub struct Made {
    /// Bytes of the file.
    pub bytes: u64,
    /// What it holds.
    pub manifest: Manifest,
}

/// Writes a backup of `source` to `target`: whole, checked and on the disk, or
/// not at all. `replace`: a file that is there is replaced. By `unfinished`
/// somebody else may end it.
///
/// # Errors
/// Something of the state cannot be read, the file cannot be written, or it was
/// ended.
pub fn backup(
    source: &Source,
    target: &Path,
    replace: bool,
    unfinished: &Unfinished,
) -> Result<Made, Error> {
    if !replace && target.symlink_metadata().is_ok() {
        return Err(Error::Exists(target.to_owned()));
    }
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let beside = Beside::new(folder, unfinished::BACKUP, unfinished)?;
    let whole = beside.path().join(WHOLE);
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE_FILE)
        .open(&whole)
        .map_err(Error::io("write in", folder))?;
    let manifest = Writer::new(source, folder, beside.path())?.write(source, (&file, &whole))?;
    let written = check::check(&whole)?;
    if written != manifest {
        return Err(Error::unsound(target, "it does not read as it was written"));
    }
    let bytes = file.metadata().map_err(Error::io("look at", target))?;
    unfinished.settle()?;
    persist(&whole, target, replace)?;
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(Error::io("sync the folder", folder))?;
    Ok(Made {
        bytes: bytes.len(),
        manifest,
    })
}

fn persist(whole: &Path, target: &Path, replace: bool) -> Result<(), Error> {
    let persisted = if replace {
        fs::rename(whole, target)
    } else {
        match renameat_with(CWD, whole, CWD, target, RenameFlags::NOREPLACE) {
            // A file system without it; the first name goes with its folder.
            Err(Errno::INVAL | Errno::NOSYS) => fs::hard_link(whole, target),
            renamed => renamed.map_err(io::Error::from),
        }
    };
    persisted.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Error::Exists(target.to_owned()),
        _ => Error::io("write", target)(error),
    })
}

type Body = tar::Builder<zstd::Encoder<'static, File>>;

/// The archive behind the manifest, which says what is in it and comes first.
struct Writer {
    body: Body,
    files: Vec<manifest::File>,
    /// Those that were held before the state was looked through once more.
    before: HashSet<String>,
    /// What the files of agents say beyond what lies on the disk.
    excess: Excess,
    /// A folder for what is between, which is nobody else's.
    staging: PathBuf,
}

impl Writer {
    fn new(source: &Source, folder: &Path, staging: &Path) -> Result<Self, Error> {
        let failed = || Error::io("write in", folder);
        if !source.paths.state.is_dir() {
            return Err(Error::NoState(source.paths.state.clone()));
        }
        let file = tempfile::tempfile_in(staging).map_err(failed())?;
        let mut encoder = zstd::Encoder::new(file, LEVEL).map_err(failed())?;
        encoder.include_checksum(true).map_err(failed())?;
        Ok(Self {
            body: tar::Builder::new(encoder),
            files: Vec::new(),
            before: HashSet::new(),
            excess: Excess::default(),
            staging: staging.to_owned(),
        })
    }

    fn write(mut self, source: &Source, target: (&File, &Path)) -> Result<Manifest, Error> {
        let begun = Timestamp::now();
        let running = state_lock::holder(&source.paths, GATEWAY).is_some();
        let rules = Rules::new(&source.paths, &source.written, running);
        let mut found = Inventory::default();
        for _ in 0..PASSES {
            found.state(&source.paths.state, &rules)?;
            let items = std::mem::take(&mut found.items);
            let is_settled = items.iter().all(|item| item.is_agents);
            self.items(items, &mut found, begun)?;
            self.before = self.files.iter().map(|file| file.path.clone()).collect();
            if is_settled {
                break;
            }
        }
        let configuration = self.configuration(source, &mut found, begun)?;
        let workspaces = self.workspaces(source, &rules, &mut found, begun)?;
        let mut manifest = Manifest {
            format: FORMAT,
            program: source.program.clone(),
            made: begun.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            made_ms: begun.as_millisecond(),
            host: host(),
            running,
            home: source.paths.home.clone(),
            state: source.paths.state.clone(),
            configuration,
            workspaces,
            folders: found.folders,
            files: std::mem::take(&mut self.files),
            links: found.links,
            left_out: found.left_out,
        };
        links::leave_out(&mut manifest);
        self.finish(&manifest, target)?;
        Ok(manifest)
    }

    /// Databases first: what they know is in the transcripts that are read after.
    fn items(
        &mut self,
        mut items: Vec<Item>,
        found: &mut Inventory,
        begun: Timestamp,
    ) -> Result<(), Error> {
        items.sort_by_key(|item| item.rule != Rule::Database);
        for item in items {
            if !self.is_put_away(&item.name) {
                self.item(&item, found, begun)?;
            }
        }
        Ok(())
    }

    /// Whether it is the archive of a transcript that is held already: it was put
    /// away meanwhile.
    fn is_put_away(&self, name: &str) -> bool {
        let live = name
            .split_once(".jsonl.")
            .map(|(id, _)| format!("{id}.jsonl"));
        let is_archive = name.contains(".jsonl.deleted.") || name.contains(".jsonl.reset.");
        is_archive && live.is_some_and(|live| self.before.contains(&live))
    }

    fn item(&mut self, item: &Item, found: &mut Inventory, begun: Timestamp) -> Result<(), Error> {
        let staging = self.staging.clone();
        if item.rule == Rule::Database {
            let path = item.path();
            if !path.exists() {
                return Ok(());
            }
            let mut copied = database::copy(&path, &staging)?;
            let captured = capture::file(&mut copied, u64::MAX, &staging);
            let captured = captured.map_err(Error::io("copy", &path))?;
            // Up to this moment everything of the transcripts is in it.
            let at = u64::try_from(begun.as_second()).unwrap_or_default();
            return self.add(&item.name, PRIVATE_FILE, at, captured);
        }
        let mut file = match item.open() {
            Ok(Some(file)) => file,
            // It is gone by now.
            Ok(None) => return Ok(()),
            Err(_) if item.is_agents => {
                found.leave_out(item.name.clone(), "it cannot be read");
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let mut most = u64::MAX;
        if item.is_agents {
            let taken = self.excess.takes(&file);
            most = match taken.map_err(Error::io("look at", &item.path()))? {
                Some(bytes) => bytes,
                None => {
                    found.leave_out(item.name.clone(), EXCESS);
                    return Ok(());
                }
            };
        }
        self.file(&item.name, &mut file, (item.rule, most))
            .map_err(Error::io("read", &item.path()))?
    }

    fn file(
        &mut self,
        name: &str,
        file: &mut File,
        (rule, most): (Rule, u64),
    ) -> io::Result<Result<(), Error>> {
        use std::os::unix::fs::MetadataExt as _;
        let found = file.metadata()?;
        let modified = found.modified()?.duration_since(UNIX_EPOCH);
        let modified = modified.map_or(0, |it| it.as_secs());
        let capture = match rule {
            Rule::Lines => capture::lines,
            _ => capture::file,
        };
        let captured = capture(file, most, &self.staging)?;
        Ok(self.add(name, found.mode() & PERMISSIONS, modified, captured))
    }

    /// A configuration that lies elsewhere is held as if it lay in the state
    /// directory.
    fn configuration(
        &mut self,
        source: &Source,
        found: &mut Inventory,
        begun: Timestamp,
    ) -> Result<Option<PathBuf>, Error> {
        let path = &source.paths.configuration;
        if path.starts_with(&source.paths.state) {
            return Ok(None);
        }
        let name = format!("{STATE}/openclaw.json");
        if self.files.iter().any(|file| file.path == name) {
            found.leave_out(
                path.display().to_string(),
                "the state directory has a configuration of its own, which is not in use",
            );
            return Ok(Some(path.clone()));
        }
        let captured = match File::open(path) {
            Ok(mut file) => capture::file(&mut file, u64::MAX, &self.staging),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => Err(error),
        };
        let captured = captured.map_err(Error::io("read", path))?;
        let at = u64::try_from(begun.as_second()).unwrap_or_default();
        self.add(&name, PRIVATE_FILE, at, captured)?;
        Ok(Some(path.clone()))
    }

    fn workspaces(
        &mut self,
        source: &Source,
        rules: &Rules,
        found: &mut Inventory,
        begun: Timestamp,
    ) -> Result<Vec<Workspace>, Error> {
        let mut workspaces: Vec<Workspace> = Vec::new();
        for (agent, place) in &source.workspaces {
            if place.starts_with(&source.paths.state) {
                continue;
            }
            if let Some(known) = workspaces.iter_mut().find(|it| it.place == **place) {
                known.agents.push(agent.clone());
                continue;
            }
            let name = format!("{WORKSPACES}/{}", workspaces.len());
            if !found.workspace(&name, place, rules)? {
                continue;
            }
            let items = std::mem::take(&mut found.items);
            self.items(items, found, begun)?;
            workspaces.push(Workspace {
                name,
                place: place.to_path_buf(),
                agents: vec![agent.clone()],
            });
        }
        Ok(workspaces)
    }

    fn add(
        &mut self,
        name: &str,
        mode: u32,
        modified: u64,
        mut captured: Captured,
    ) -> Result<(), Error> {
        let mut header = member::header(mode, modified, captured.size);
        header.set_entry_type(EntryType::Regular);
        self.body
            .append_data(&mut header, name, &mut captured.content)
            .map_err(Error::io("write the backup of", Path::new(name)))?;
        self.files.push(manifest::File {
            path: name.to_owned(),
            mode,
            modified,
            size: captured.size,
            sha256: captured.sha256,
        });
        Ok(())
    }

    fn finish(self, manifest: &Manifest, (target, path): (&File, &Path)) -> Result<(), Error> {
        let finished = self.body.into_inner().and_then(zstd::Encoder::finish);
        let put = |mut body: File| {
            body.rewind()?;
            let mut sealing = Sealing::new(target);
            first(manifest, &mut sealing)?;
            io::copy(&mut body, &mut sealing)?;
            sealing.finish()?.sync_all()
        };
        finished.and_then(put).map_err(Error::io("write", path))
    }
}

/// The manifest, in a frame of its own.
fn first(manifest: &Manifest, sink: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_vec_pretty(manifest)?;
    let mut header: Header = member::header(
        PRIVATE_FILE,
        u64::try_from(manifest.made_ms / 1000).unwrap_or_default(),
        text.len() as u64,
    );
    header.set_entry_type(EntryType::Regular);
    header.set_path(MANIFEST)?;
    header.set_cksum();
    let mut encoder = zstd::Encoder::new(sink, LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(header.as_bytes())?;
    encoder.write_all(&text)?;
    let padding = member::padding(text.len() as u64);
    io::copy(&mut io::repeat(0).take(padding), &mut encoder)?;
    encoder.finish().map(drop)
}

fn host() -> String {
    let name = nix::unistd::gethostname();
    name.map_or_else(
        |_| String::new(),
        |name| name.to_string_lossy().into_owned(),
    )
}
