//! The folder that a turn's CLI reads and must not write: what it is told of itself, and the FIFOs
//! to our tools. It is the host's, and granted read-only: whatever the CLI or what it started
//! before does, these names mean these files, for the CLI and for whoever writes them.

use std::io;
use std::path::{Path, PathBuf};

use nix::sys::stat::{Mode, fchmod};
use openclaw_folder::Folder;
use openclaw_handoff::order::{REQUEST_PIPE, RESPONSE_PIPE};
use openclaw_sandbox::Plan;

use crate::places::Places;

/// Bytes of one of its files, when it is compared with another start's.
const FILE_LIMIT: u64 = 16 << 20;

/// The FIFOs in it.
const FIFOS: [&str; 2] = [REQUEST_PIPE, RESPONSE_PIPE];

/// The modes of the folder, its files and its FIFOs, where the CLI is the same user.
const OWN: [u32; 3] = [0o700, 0o600, 0o600];
/// The same where it is another user. The folder around is closed to everybody.
const FOREIGN: [u32; 3] = [0o755, 0o644, 0o666];

/// The folder that a CLI is given.
#[derive(Debug)]
pub struct InputFolder {
    folder: Folder,
    file_mode: u32,
}

impl InputFolder {
    /// Makes the folder at `path`, with the FIFOs in it. Those that are there,
    /// of the process that stands ready for this turn, stay.
    pub fn make(path: &Path, places: &Places) -> io::Result<Self> {
        let [folder_mode, file_mode, fifo_mode] = match places.identity {
            Some(_) => FOREIGN,
            None => OWN,
        };
        let folder = Folder::open_or_create(path)?;
        fchmod(&folder, Mode::from_bits_truncate(folder_mode))?;
        for name in FIFOS {
            folder.create_fifo(name, fifo_mode)?;
        }
        Ok(Self { folder, file_mode })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Puts a file into it, and says where that is.
    pub(crate) fn write(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        self.folder.write(name, text.as_bytes(), self.file_mode)?;
        Ok(self.path().join(name))
    }

    /// The contents that were written to a file of it.
    pub fn read(&self, name: &str) -> io::Result<String> {
        let found = self.folder.read(name, FILE_LIMIT)?;
        let bytes = found.ok_or(io::ErrorKind::NotFound)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    /// Lets the agent of `plan` read it, and write to the FIFOs.
    pub fn grant(&self, plan: &mut Plan) {
        plan.read_only.push(self.path().to_owned());
        let fifos = FIFOS.map(|name| self.path().join(name));
        plan.devices.extend(fifos);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use openclaw_sandbox::identity::Identity;

    use super::*;

    fn places(folder: &Path, identity: Option<Identity>) -> Places {
        Places {
            workspace: folder.join("workspace").into(),
            home: folder.join("home"),
            temporary: folder.join("tmp"),
            identity,
        }
    }

    /// At level `off` a CLI that stands ready can write there after all.
    #[test]
    fn link_in_the_place_of_a_file_is_replaced_and_its_target_stays() {
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("bashrc");
        fs::write(&users, "mine").unwrap();
        let path = folder.path().join("given");
        let places = places(folder.path(), None);
        let given = InputFolder::make(&path, &places).unwrap();
        symlink(&users, path.join("system-prompt.md")).unwrap();
        let again = InputFolder::make(&path, &places).unwrap();
        again.write("system-prompt.md", "chosen").unwrap();
        assert_eq!(fs::read_to_string(&users).unwrap(), "mine");
        assert_eq!(again.read("system-prompt.md").unwrap(), "chosen");
        symlink(&users, path.join("mcp.json")).unwrap();
        assert!(again.read("mcp.json").is_err());
        for name in FIFOS {
            fs::remove_file(path.join(name)).unwrap();
            symlink(&users, path.join(name)).unwrap();
            assert!(InputFolder::make(&path, &places).is_err(), "{name}");
            fs::remove_file(path.join(name)).unwrap();
            InputFolder::make(&path, &places).unwrap();
        }
        assert!(given.path().is_dir());
    }

    #[test]
    fn input_folder_another_user_reads_it_and_writes_to_the_fifos_alone() {
        let folder = tempfile::tempdir().unwrap();
        let identity = Identity {
            name: "other".to_owned(),
            uid: 1234.into(),
            gid: 1234.into(),
        };
        let path = folder.path().join("given");
        let places = places(folder.path(), Some(identity));
        let given = InputFolder::make(&path, &places).unwrap();
        given.write("file", "text").unwrap();
        let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(path.join("file")), 0o644);
        assert_eq!(mode(path.join("request")), 0o666);
        assert_eq!(mode(path.clone()), 0o755);
        let mut plan = Plan::new("run", "main", &places.workspace);
        given.grant(&mut plan);
        assert!(plan.read_only.contains(&path) && plan.read_write.is_empty());
        assert!(plan.devices.contains(&path.join("response")));
    }
}
