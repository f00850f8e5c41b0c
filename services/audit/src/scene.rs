//! What is looked at.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;
use openclaw_config::substitute::Missing;
use openclaw_config::{Environment, Paths};
use openclaw_settings::{RunnerSettings, Settings, document};
use openclaw_terminal::Failure;
use serde_json::Value;

use crate::repositories::{self, Repositories};

/// An installation.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) paths: Paths,
    /// The state directory as it is named.
    pub(crate) named_state: PathBuf,
    pub(crate) home: PathBuf,
    /// The configuration with what comes over the file.
    pub(crate) value: Value,
    /// What the files themselves say, with references as they are written.
    pub(crate) written: Value,
    /// Why there is none.
    pub(crate) problem: Option<String>,
    /// The servers of tools of which an agent could choose what they run, and how.
    pub(crate) planted: Vec<String>,
    /// The repositories of git that an agent could have made where nobody expects one.
    pub(crate) repositories: Repositories,
}

impl Scene {
    pub(crate) fn of(environment: &Environment) -> Result<Self, Failure> {
        let paths = Paths::resolve(environment)?;
        let home = environment.get("HOME").unwrap_or("/").to_owned();
        let read = document::load(&paths.configuration, environment, Missing::KeptForOwner);
        let (value, written, problem) = match read {
            Ok(document) => (document.value, document.written, None),
            Err(error) => (Value::Null, Value::Null, Some(Failure::from(error).text())),
        };
        let settings = usable(&paths, &value, environment);
        Ok(Self {
            planted: settings.as_ref().map(planted).unwrap_or_default(),
            repositories: settings
                .as_ref()
                .map(repositories::planted)
                .unwrap_or_default(),
            paths,
            named_state: Paths::named_state(environment)?,
            home: home.into(),
            value,
            written,
            problem,
        })
    }

    /// The value at a key: `gateway.auth.mode`.
    pub(crate) fn at(&self, key: &str) -> &Value {
        at(&self.value, key)
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.at(key).as_str().unwrap_or_default()
    }

    pub(crate) fn is_on(&self, key: &str) -> bool {
        self.at(key).as_bool() == Some(true)
    }

    pub(crate) fn list(&self, key: &str) -> Vec<&str> {
        texts(self.at(key))
    }

    /// A secret that stands in the file itself, as no reference.
    pub(crate) fn writes_secret(&self, key: &str) -> bool {
        let text = at(&self.written, key).as_str().unwrap_or_default();
        !text.is_empty() && !text.contains("${")
    }

    /// Every agent's settings with the key that they stand at, the defaults first.
    pub(crate) fn agents(&self) -> Vec<(String, &Value)> {
        let mut all = vec![("agents.defaults".to_owned(), self.at("agents.defaults"))];
        let list = self.at("agents.list").as_array().into_iter().flatten();
        all.extend(
            list.enumerate()
                .map(|(at, agent)| (format!("agents.list[{at}]"), agent)),
        );
        let entries = self.at("agents.entries").as_object().into_iter().flatten();
        all.extend(entries.map(|(id, agent)| (format!("agents.entries.{id}"), agent)));
        all
    }
}

/// The settings; of a configuration that cannot be used another check tells.
fn usable(paths: &Paths, value: &Value, environment: &Environment) -> Option<RunnerSettings> {
    Settings::assemble(paths.clone(), value.clone(), environment)
        .and_then(|settings| settings.with_credentials(environment, &BTreeMap::new()))
        .ok()
}

/// The servers of tools of which an agent could choose what they run, and are given what it
/// has not.
fn planted(settings: &RunnerSettings) -> Vec<String> {
    let servers = settings.planted_servers().into_iter();
    servers.map(|(key, how)| format!("{key}: {how}")).collect()
}

/// The value at a key of `value`.
pub(crate) fn at<'a>(value: &'a Value, key: &str) -> &'a Value {
    key.split('.').fold(value, |value, name| &value[name])
}

/// The texts of a list.
pub(crate) fn texts(value: &Value) -> Vec<&str> {
    let list = value.as_array().into_iter().flatten();
    list.filter_map(Value::as_str).collect()
}

/// What of a place's mode lets others in.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Lets {
    GroupRead,
    OthersRead,
    GroupWrite,
    OthersWrite,
}

impl Lets {
    fn bits(self) -> u32 {
        match self {
            Self::GroupRead => 0o050,
            Self::OthersRead => 0o005,
            Self::GroupWrite => 0o020,
            Self::OthersWrite => 0o002,
        }
    }

    /// What those that it is about may do with a place of `mode`.
    fn words(self, mode: u32) -> String {
        let (who, read, write) = match self {
            Self::GroupRead | Self::GroupWrite => ("its group", Self::GroupRead, Self::GroupWrite),
            Self::OthersRead | Self::OthersWrite => {
                ("everybody", Self::OthersRead, Self::OthersWrite)
            }
        };
        let may = |what: Self| mode & what.bits() != 0;
        let does = match (may(read), may(write)) {
            (true, true) => "reads and writes",
            (false, true) => "writes",
            _ => "reads",
        };
        format!("{who} {does} it")
    }
}

/// Those of `places` whose mode lets somebody in as one of `lets` says.
pub(crate) fn open<'a>(places: impl IntoIterator<Item = &'a Path>, lets: &[Lets]) -> Vec<String> {
    let mut found = Vec::new();
    for place in places {
        let Ok(metadata) = fs::metadata(place) else {
            continue;
        };
        let mode = metadata.permissions().mode() & 0o777;
        // Of a file that cannot be run the bits to run it say nothing.
        let mode_counts = if metadata.is_dir() {
            mode
        } else {
            mode & 0o666
        };
        let first = lets.iter().find(|it| mode_counts & it.bits() != 0);
        if let Some(first) = first {
            let path = place.display();
            found.push(format!(
                "{path} has mode {mode:03o}: {}",
                first.words(mode_counts)
            ));
        }
    }
    found
}

/// Whether `path` is a symbolic link.
pub(crate) fn link(path: &Path) -> Vec<String> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => {
            vec![format!("{} is a symbolic link", path.display())]
        }
        _ => Vec::new(),
    }
}

/// Those of `places` that belong to somebody else than this user and root.
pub(crate) fn foreign<'a>(places: impl IntoIterator<Item = &'a Path>) -> Vec<String> {
    let own = geteuid().as_raw();
    let mut found = Vec::new();
    for place in places {
        if let Ok(metadata) = fs::metadata(place)
            && ![own, 0].contains(&metadata.uid())
        {
            let (path, user) = (place.display(), metadata.uid());
            found.push(format!("{path} belongs to the user {user}"));
        }
    }
    found
}

/// What lies in `folder`; nothing where it is not there.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    /// More than that is no folder of ours.
    const MOST: usize = 10_000;
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.take(MOST).map(|entry| entry.path()).collect()
}
