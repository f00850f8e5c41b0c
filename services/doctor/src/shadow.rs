//! An installation in a home beside a package: the units of the home come before
//! those of all users, and with them their programs.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openclaw_config::{Environment, Paths};
use openclaw_service_manager::tell;

use crate::check::Check;
use crate::programs::SUITE;
use crate::remedy::{Mend, Shadow};
use crate::units::{SYSTEM_FOLDERS, user_folder};

/// What a package confines the daemons with by a generator, and `packaging/install`
/// by files in the home, which name its programs.
const CONFINING: &str = "50-namespaces.conf";
/// The unit whose file says where the programs are.
const TELLING: &str = "openclaw-gateway.service";
const TARGET: &str = "openclaw.target";
/// What `packaging/install` puts into `bin` beside the programs that others start.
const CALLED: &str = "openclawctl";
/// What it puts beside `bin`, apart from man pages.
const SHARED: [&str; 8] = [
    "share/openclaw/apparmor/openclaw-sandbox",
    "share/openclaw/embedding/static-minilm-256.safetensors",
    "share/openclaw/embedding/vocab.txt",
    "share/openclaw/openclaw.catalog",
    "share/doc/openclaw/README.md",
    "share/bash-completion/completions/openclawctl",
    "share/zsh/site-functions/_openclawctl",
    "share/fish/vendor_completions.d/openclawctl.fish",
];
/// Where its man pages are.
const SECTIONS: [&str; 4] = ["man1", "man5", "man7", "man8"];
/// The units that are restarted, so that the package's programs run.
const DAEMONS: [&str; 4] = [
    "openclaw-memory.service",
    "openclaw-agent-runner.service",
    "openclaw-gateway.service",
    "openclaw-telegram*.service",
];

/// Whether an installation in the home comes before a package.
pub(crate) fn found(paths: &Paths, environment: &Environment) -> Option<Check> {
    let folders = SYSTEM_FOLDERS.map(PathBuf::from);
    let shadow = shadow(paths, environment, &folders)?;
    let (home, package) = (shadow.home.display(), shadow.package.display());
    Some(
        Check::warn(
            "units",
            format!(
                "those of {home} come before those of the package in {package}, and with them the \
                 programs in the home"
            ),
            "openclawctl doctor --fix takes the installation in the home away; \
             conversations and settings stay",
        )
        .mended_by(Mend::Shadow(shadow)),
    )
}

fn shadow(paths: &Paths, environment: &Environment, system: &[PathBuf]) -> Option<Shadow> {
    let home = user_folder(paths, environment)?;
    let package = system.iter().find(|folder| folder.join(TARGET).exists())?;
    home.join(TARGET).exists().then(|| Shadow {
        home,
        package: package.clone(),
    })
}

/// Takes away what `packaging/install` put into the home; what was done.
pub(crate) fn remove(
    shadow: &Shadow,
    paths: &Paths,
    environment: &Environment,
) -> anyhow::Result<String> {
    let prefix = prefix(shadow, paths);
    let count = files(shadow, prefix.as_deref())?;
    relink(shadow)?;
    tell("systemctl", &["--user", "daemon-reload"], environment)?;
    let again = [&["--user", "try-restart"][..], &DAEMONS].concat();
    tell("systemctl", &again, environment)?;
    Ok(format!(
        "removed {count} files of the installation in the home; the package's units and programs \
         are in use (in this shell: hash -r)"
    ))
}

/// The folder above the one that the home's units start programs in.
fn prefix(shadow: &Shadow, paths: &Paths) -> Option<PathBuf> {
    let text = fs::read_to_string(shadow.home.join(TELLING)).ok()?;
    let mut lines = text.lines();
    let started = lines.find_map(|line| line.strip_prefix("ExecStart="))?;
    let program = match started.strip_prefix("%h/") {
        Some(path) => paths.home.as_ref()?.join(path),
        None => PathBuf::from(started),
    };
    let is_ours = program.is_absolute() && !program.starts_with("/usr");
    Some(program.parent()?.parent()?.to_owned()).filter(|_| is_ours)
}

fn files(shadow: &Shadow, prefix: Option<&Path>) -> anyhow::Result<usize> {
    let mut all = Vec::new();
    for name in names(&shadow.package)? {
        all.push(shadow.home.join(name));
    }
    for name in names(&shadow.home)? {
        if name.starts_with("openclaw-") && name.ends_with(".service.d") {
            all.push(shadow.home.join(name).join(CONFINING));
        }
    }
    if let Some(prefix) = prefix {
        all.extend(SUITE.map(|name| prefix.join("bin").join(name)));
        all.push(prefix.join("bin").join(CALLED));
        all.extend(SHARED.map(|name| prefix.join(name)));
        for section in SECTIONS {
            let folder = prefix.join("share/man").join(section);
            let pages = names(&folder)?.into_iter();
            all.extend(pages.map(|name| folder.join(name)));
        }
    }
    let mut count = 0;
    for path in all {
        count +=
            usize::from(gone(&path).with_context(|| format!("cannot remove {}", path.display()))?);
        empty(path.parent());
    }
    Ok(count)
}

/// The names of ours in a folder; none where it is not there.
fn names(folder: &Path) -> anyhow::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("cannot read {}", folder.display()))?,
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    Ok(names.filter(|name| name.starts_with("openclaw")).collect())
}

/// Removes a file; whether it was there.
fn gone(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(false)
        }
        // Drop-ins' folders have the names of units, too.
        Ok(found) if found.is_dir() => Ok(false),
        _ => fs::remove_file(path).map(|()| true),
    }
}

/// Removes folders that have become empty and are named after the suite.
fn empty(mut folder: Option<&Path>) {
    let is_ours = |folder: &Path| {
        let names = folder.components().rev().take(2);
        let mut names = names.filter_map(|it| it.as_os_str().to_str());
        names.any(|name| name.starts_with("openclaw"))
    };
    while let Some(path) = folder.filter(|path| is_ours(path)) {
        if fs::remove_dir(path).is_err() {
            return;
        }
        folder = path.parent();
    }
}

/// What was enabled stays so: links to files of the home lead to the package's.
fn relink(shadow: &Shadow) -> anyhow::Result<()> {
    for wants in ["default.target.wants", "openclaw.target.wants"] {
        let folder = shadow.home.join(wants);
        for name in names(&folder)? {
            let link = folder.join(&name);
            let Ok(to) = fs::read_link(&link) else {
                continue;
            };
            let Some(file) = to.file_name().filter(|_| !link.exists()) else {
                continue;
            };
            let aside = folder.join(format!(".{name}.new"));
            let replaced = std::os::unix::fs::symlink(shadow.package.join(file), &aside)
                .and_then(|()| fs::rename(&aside, &link));
            replaced.with_context(|| format!("cannot change {}", link.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::units::UNITS;

    #[test]
    fn installation_of_the_home_is_told_from_the_package_and_taken_away() {
        let root = tempfile::tempdir().unwrap();
        let home = root.path().join("home");
        let package = root.path().join("usr/lib/systemd/user");
        let units = home.join(".config/systemd/user");
        let own = home.join(".local");
        let text = home.to_str().unwrap();
        let environment: Environment = [("HOME", text)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let look = || shadow(&paths, &environment, std::slice::from_ref(&package));
        for unit in UNITS {
            write(package.join(unit), "");
        }
        assert_eq!(look(), None, "there is the package alone");
        for unit in UNITS {
            write(
                units.join(unit),
                "ExecStart=%h/.local/bin/openclaw-gateway\n",
            );
        }
        let kept = [
            units.join("openclaw-gateway.service.d/60-mine.conf"),
            units.join("openclaw-memory.service.d/50-openclaw.conf"),
            units.join("other.service"),
            own.join("bin/claude"),
            own.join("share/man/man1/other.1"),
        ];
        let removed = [
            units.join("openclaw-gateway.service.d").join(CONFINING),
            units.join("openclaw-telegram.service.d").join(CONFINING),
            own.join("bin/openclawctl"),
            own.join("share/openclaw/embedding/vocab.txt"),
            own.join("share/man/man1/openclawctl.1"),
        ];
        for path in kept.iter().chain(&removed) {
            write(path.clone(), "");
        }
        let wants = units.join("default.target.wants");
        fs::create_dir_all(&wants).unwrap();
        symlink(units.join(TARGET), wants.join(TARGET)).unwrap();

        let shadow = look().unwrap();
        let prefix = prefix(&shadow, &paths);
        assert_eq!(prefix.as_ref(), Some(&own));
        let count = files(&shadow, prefix.as_deref()).unwrap();
        relink(&shadow).unwrap();
        assert_eq!(count, UNITS.len() + removed.len());
        assert_eq!(look(), None);
        for path in &kept {
            assert!(path.exists(), "{}", path.display());
        }
        for path in &removed {
            assert!(!path.exists(), "{}", path.display());
        }
        assert!(!own.join("share/openclaw").exists(), "it is empty");
        assert!(!units.join("openclaw-telegram.service.d").exists());
        let link = fs::read_link(wants.join(TARGET)).unwrap();
        assert_eq!(link, package.join(TARGET));
        assert_eq!(files(&shadow, Some(&own)).unwrap(), 0, "done already");
    }
}
