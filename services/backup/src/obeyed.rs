//! Places where files are run or obeyed by themselves, at a login, at a command's name, by this
//! suite. A backup may come from anybody: no workspace of it is put there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use openclaw_config::Paths;
use openclaw_config::guarded::Guarded;
use openclaw_config::launch::real;

/// Folders of the kernel.
const KERNEL: [&str; 3] = ["/dev", "/proc", "/sys"];

/// What of a machine a backup may not write.
pub(crate) struct Obeyed {
    guarded: Guarded,
    state: PathBuf,
}

impl Obeyed {
    pub(crate) fn of(paths: &Paths) -> Self {
        Self {
            guarded: Guarded::of(paths),
            state: real(&paths.state),
        }
    }

    /// Why no workspace is put at `place`; None where it may be.
    pub(crate) fn why(&self, place: &Path) -> Option<String> {
        let place = &*real(place);
        if let Some(kernel) = KERNEL.iter().find(|it| place.starts_with(it)) {
            return Some(format!("{kernel} is the kernel's"));
        }
        let below = self.guarded.in_a_home(place).unwrap_or(Path::new(""));
        let is_hidden = |name: &&OsStr| name.as_encoded_bytes().starts_with(b".");
        if !place.starts_with(&self.state)
            && let Some(name) = below.iter().find(is_hidden)
        {
            let name = name.to_string_lossy();
            return Some(format!("what lies in {name} may be run by itself"));
        }
        self.guarded.written(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_is_put_where_nothing_runs_by_itself() {
        let variables = [("HOME", "/home/u")].into_iter().collect();
        let obeyed = Obeyed::of(&Paths::resolve(&variables).unwrap());
        for place in [
            "/home/u/.config/autostart",
            "/home/u/.config/openclaw",
            "/home/u/.ssh",
            "/home/u/a/.git",
            "/home/u/bin",
            "/home/u/bin/x",
            "/home/u",
            "/home",
            "/home/u/.openclaw",
            "/home/u/.openclaw/credentials",
            "/home/other/.config/autostart",
            "/root/.ssh",
            "/etc/cron.d",
            "/usr/local/bin",
        ] {
            assert!(obeyed.why(Path::new(place)).is_some(), "{place}");
        }
        for place in [
            "/home/u/notes",
            "/srv/work",
            "/home/u/work/bin",
            "/tmp/x/notes",
        ] {
            assert_eq!(obeyed.why(Path::new(place)), None, "{place}");
        }
    }
}
