//! Places where files are run or obeyed by themselves, at a login, at a command's name, by this
//! suite. A backup may come from anybody: no workspace of it is put there.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use openclaw_config::Paths;
use openclaw_config::guarded::Guarded;
use openclaw_config::launch::real;

/// Folders of the system.
const SYSTEM: [&str; 12] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/spool",
];
/// Folders of programs in a home that a login may have on its PATH.
const PROGRAMS: [&str; 2] = ["bin", "sbin"];

/// What of a machine a backup may not write.
pub(crate) struct Obeyed {
    guarded: Guarded,
    state: PathBuf,
    home: Option<PathBuf>,
}

impl Obeyed {
    pub(crate) fn of(paths: &Paths) -> Self {
        Self {
            guarded: Guarded::of(paths),
            state: real(&paths.state),
            home: paths.home.as_deref().map(real),
        }
    }

    /// Why no workspace is put at `place`; None where it may be.
    pub(crate) fn why(&self, place: &Path) -> Option<String> {
        let place = &*real(place);
        if let Some(system) = SYSTEM.iter().find(|it| place.starts_with(it)) {
            return Some(format!("{system} is the system's"));
        }
        let below = self.in_a_home(place).unwrap_or(Path::new(""));
        let is_hidden = |name: &&OsStr| name.as_encoded_bytes().starts_with(b".");
        if !place.starts_with(&self.state)
            && let Some(name) = below.iter().find(is_hidden)
        {
            let name = name.to_string_lossy();
            return Some(format!("what lies in {name} may be run by itself"));
        }
        let first = below.iter().next();
        if first.is_some_and(|name| PROGRAMS.iter().any(|it| name == *it)) {
            return Some("what lies there may be run by its name".to_owned());
        }
        self.guarded.written(place)
    }

    /// The path of `place` in the home that it lies in, this user's or another's.
    fn in_a_home<'a>(&self, place: &'a Path) -> Option<&'a Path> {
        let of_others = place.strip_prefix("/home").ok().and_then(|below| {
            let name = below.iter().next()?;
            below.strip_prefix(name).ok()
        });
        let home = self.home.as_ref();
        let own = home.and_then(|home| place.strip_prefix(home).ok());
        own.or(of_others)
            .or_else(|| place.strip_prefix("/root").ok())
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
