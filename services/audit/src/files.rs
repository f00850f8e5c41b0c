//! Files: whose they are, and who else reads and writes them.

use std::path::{Path, PathBuf};

use crate::check::{Check, Severity};
use crate::scene::{Lets, Scene, entries, foreign, link, open};

use Lets::{GroupRead, GroupWrite, OthersRead, OthersWrite};
use Severity::{Critical, Info, Warn};

const CHMOD_FOLDER: &str = "chmod 700 the folder; openclawctl doctor --fix does it";
const CHMOD_FILE: &str = "chmod 600 the file; openclawctl doctor --fix does it";

/// Folders that are copied to other machines.
const SYNCED: [&str; 8] = [
    "Dropbox",
    "OneDrive",
    "Google Drive",
    "GoogleDrive",
    "Nextcloud",
    "ownCloud",
    "Syncthing",
    "iCloud",
];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "fs.state_dir.perms_world_writable",
        severity: Critical,
        remedy: CHMOD_FOLDER,
        find: |it| open(one(&it.paths.state), &[OthersWrite]),
    },
    Check {
        id: "fs.state_dir.perms_group_writable",
        severity: Warn,
        remedy: CHMOD_FOLDER,
        find: |it| open(one(&it.paths.state), &[GroupWrite]),
    },
    Check {
        id: "fs.state_dir.perms_readable",
        severity: Warn,
        remedy: CHMOD_FOLDER,
        find: |it| open(one(&it.paths.state), &[OthersRead, GroupRead]),
    },
    Check {
        id: "fs.state_dir.symlink",
        severity: Warn,
        remedy: "name the place itself with OPENCLAW_STATE_DIR; whoever owns a link's folder can lead it elsewhere",
        find: |it| link(&it.named_state),
    },
    Check {
        id: "fs.state_dir.owner",
        severity: Critical,
        remedy: "chown it to the user that the suite runs as",
        find: |it| foreign(one(&it.paths.state)),
    },
    Check {
        id: "fs.config.perms_writable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(one(&it.paths.configuration), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.config.perms_world_readable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(one(&it.paths.configuration), &[OthersRead]),
    },
    Check {
        id: "fs.config.perms_group_readable",
        severity: Warn,
        remedy: CHMOD_FILE,
        find: |it| open(one(&it.paths.configuration), &[GroupRead]),
    },
    Check {
        id: "fs.config.symlink",
        severity: Warn,
        remedy: "put the file itself there, or name its place with OPENCLAW_CONFIG_PATH",
        find: |it| link(&it.paths.configuration),
    },
    Check {
        id: "fs.config_include.perms_writable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(paths(&dropins(it)), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.config_include.perms_world_readable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(paths(&dropins(it)), &[OthersRead]),
    },
    Check {
        id: "fs.config_include.perms_group_readable",
        severity: Warn,
        remedy: CHMOD_FILE,
        find: |it| open(paths(&dropins(it)), &[GroupRead]),
    },
    Check {
        id: "fs.auth_profiles.perms_writable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(paths(&profiles(it)), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.auth_profiles.perms_readable",
        severity: Critical,
        remedy: CHMOD_FILE,
        find: |it| open(paths(&profiles(it)), &[OthersRead, GroupRead]),
    },
    Check {
        id: "fs.credentials_dir.perms_writable",
        severity: Critical,
        remedy: "chmod 700 the folder, 600 its files",
        find: |it| open(paths(&credentials(it)), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.credentials_dir.perms_readable",
        severity: Warn,
        remedy: "chmod 700 the folder, 600 its files",
        find: |it| open(paths(&credentials(it)), &[OthersRead, GroupRead]),
    },
    Check {
        id: "fs.token_file.perms",
        severity: Critical,
        remedy: "chmod 600 the file, then make another token: openclawctl token rotate",
        find: |it| {
            let token = it.paths.state.join("auth.json");
            open(
                one(&token),
                &[OthersRead, GroupRead, OthersWrite, GroupWrite],
            )
        },
    },
    Check {
        id: "fs.sessions_store.perms_readable",
        severity: Warn,
        remedy: CHMOD_FOLDER,
        find: |it| open(paths(&sessions(it)), &[OthersRead, GroupRead]),
    },
    Check {
        id: "fs.log_file.perms_readable",
        severity: Warn,
        remedy: CHMOD_FOLDER,
        find: |it| {
            let mut logs = entries(&it.paths.state.join("logs"));
            logs.push(it.paths.state.join("logs"));
            open(paths(&logs), &[OthersRead, GroupRead])
        },
    },
    Check {
        id: "fs.backup.perms_readable",
        severity: Critical,
        remedy: "chmod 600 the backup: it has every key and conversation",
        find: |it| open(paths(&backups(it)), &[OthersRead, GroupRead]),
    },
    Check {
        id: "fs.environment_file.perms_readable",
        severity: Critical,
        remedy: "chmod 600 ~/.config/openclaw/env",
        find: |it| {
            open(
                one(&it.home.join(".config/openclaw/env")),
                &[OthersRead, OthersWrite, GroupRead, GroupWrite],
            )
        },
    },
    Check {
        id: "fs.runtime_dir.perms",
        severity: Critical,
        remedy: "chmod 700 the folder, and start the suite again",
        find: |it| {
            open(
                one(&it.paths.runtime),
                &[OthersRead, GroupRead, OthersWrite, GroupWrite],
            )
        },
    },
    Check {
        id: "fs.control_sockets.perms",
        severity: Warn,
        remedy: "SocketMode=0600 in the socket units, unless gateway.control.channelUids needs more",
        find: |it| {
            let [a, b, c, d] = [
                it.paths.gateway_socket(),
                it.paths.channel_socket(),
                it.paths.runner_socket(),
                it.paths.memory_socket(),
            ];
            open([a.as_path(), &b, &c, &d], &[OthersWrite, GroupWrite])
        },
    },
    Check {
        id: "fs.workspace.bare_repository",
        severity: Warn,
        remedy: "look into its file config, and remove the folder unless it is yours; git config --global safe.bareRepository explicit has git obey none",
        find: |it| it.repositories.found.clone(),
    },
    Check {
        id: "fs.workspace.not_searched",
        severity: Info,
        remedy: "git config --global safe.bareRepository explicit has git obey no repository that hides there",
        find: |it| it.repositories.unseen.clone(),
    },
    Check {
        id: "fs.programs.perms_writable",
        severity: Critical,
        remedy: "chmod 755 the programs, and their folder",
        find: |it| open(paths(&programs(it)), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.units.perms_writable",
        severity: Critical,
        remedy: "chmod 644 the units: systemd runs what they say",
        find: |it| open(paths(&units(it)), &[OthersWrite, GroupWrite]),
    },
    Check {
        id: "fs.synced_dir",
        severity: Warn,
        remedy: "put the state elsewhere (OPENCLAW_STATE_DIR): keys and conversations are copied from there, and databases break",
        find: |it| {
            let path = it.paths.state.display().to_string();
            let name = SYNCED.iter().find(|name| path.contains(*name));
            name.map(|name| format!("{path} is in a folder of {name}"))
                .into_iter()
                .collect()
        },
    },
];

fn one(path: &Path) -> [&Path; 1] {
    [path]
}

fn paths(all: &[PathBuf]) -> impl Iterator<Item = &Path> {
    all.iter().map(PathBuf::as_path)
}

fn dropins(scene: &Scene) -> Vec<PathBuf> {
    let mut folder = scene.paths.configuration.clone().into_os_string();
    folder.push(".d");
    entries(Path::new(&folder))
}

/// The folders of agents.
fn agents(scene: &Scene) -> Vec<PathBuf> {
    entries(&scene.paths.agents())
}

fn profiles(scene: &Scene) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for agent in agents(scene) {
        all.extend(entries(&agent.join("auth")));
        all.push(agent.join("agent/auth-profiles.json"));
        all.extend(entries(&agent.join("logins")));
    }
    all
}

fn credentials(scene: &Scene) -> Vec<PathBuf> {
    let folder = scene.paths.state.join("credentials");
    let mut all = entries(&folder);
    all.push(folder);
    all
}

fn sessions(scene: &Scene) -> Vec<PathBuf> {
    let folders = agents(scene)
        .into_iter()
        .map(|agent| agent.join("sessions"));
    let mut all: Vec<PathBuf> = folders.collect();
    let files: Vec<PathBuf> = all.iter().flat_map(|folder| entries(folder)).collect();
    all.extend(files);
    all
}

fn backups(scene: &Scene) -> Vec<PathBuf> {
    let mut all = entries(&scene.home);
    all.extend(entries(&scene.paths.state));
    all.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("openclaw-backup-"))
    });
    all
}

fn programs(scene: &Scene) -> Vec<PathBuf> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent).map(Path::to_owned);
    let folders = [beside, Some(scene.home.join(".local/bin"))];
    let mut all: Vec<PathBuf> = folders
        .iter()
        .flatten()
        .flat_map(|it| entries(it))
        .collect();
    all.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("openclaw") && !name.contains('.'))
    });
    all.sort();
    all.dedup();
    all
}

fn units(scene: &Scene) -> Vec<PathBuf> {
    let mut all = entries(&scene.home.join(".config/systemd/user"));
    all.retain(|path| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.starts_with("openclaw"))
    });
    let inside: Vec<PathBuf> = all.iter().flat_map(|path| entries(path)).collect();
    all.extend(inside);
    all
}
