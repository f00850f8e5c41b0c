//! The configuration, and what stands in for it while it cannot be used.

use std::fmt;
use std::io;
use std::num::NonZeroU16;
use std::path::PathBuf;

use openclaw_config::environment::Environment;
use openclaw_config::error::Error;
use openclaw_config::paths::Paths;
use openclaw_config::substitute;
use openclaw_config::{parse, write};
use serde_json::Value;

use crate::document::{self, Document};

/// Holds no settings.
const NOTHING: &str = "/dev/null";

/// Which configuration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The file.
    File,
    /// The file as it last was valid.
    LastGood,
    /// No file: the defaults, and what the environment sets.
    Defaults,
}

impl Origin {
    /// The paths with the file that is read.
    pub fn paths(self, paths: Paths) -> Paths {
        let configuration = match self {
            Self::File => paths.configuration,
            Self::LastGood => paths.last_good(),
            Self::Defaults => PathBuf::from(NOTHING),
        };
        Paths {
            configuration,
            ..paths
        }
    }

    /// The environment with which it is read in place of a file that cannot be used;
    /// see [`with_door`].
    pub fn environment(self, environment: &Environment, paths: &Paths) -> Environment {
        match self {
            Self::Defaults => with_door(environment, paths),
            Self::File | Self::LastGood => environment.clone(),
        }
    }

    /// Whether there is something to read.
    pub fn exists(self, paths: &Paths) -> bool {
        self == Self::Defaults || self.paths(paths.clone()).configuration.is_file()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::File => "the configuration",
            Self::LastGood => "the last good configuration",
            Self::Defaults => "the defaults",
        })
    }
}

/// The environment with what a file that cannot be used says of the gateway's door and
/// that can be read all the same: its port, and the secret that lets in. The defaults
/// would have the door elsewhere, and open it to who has an earlier secret.
fn with_door(environment: &Environment, paths: &Paths) -> Environment {
    let Ok(mut written) = document::written(&paths.configuration) else {
        return environment.clone();
    };
    let variables = written.pointer("/env/vars").and_then(Value::as_object);
    let variables = variables.into_iter().flatten();
    let variables: Vec<_> = variables
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    // What is not set stays as it is, which is not a secret.
    let _ = substitute::apply(&mut written, &environment.with_fallback(variables));
    let text = |place: &str| match written.pointer(place)? {
        Value::String(text) if !text.trim().is_empty() && !text.contains("${") => {
            Some(text.clone())
        }
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let port = text("/gateway/port").filter(|it| it.parse::<NonZeroU16>().is_ok());
    let token = text("/gateway/auth/token");
    let password = text("/gateway/auth/password");
    let mode = text("/gateway/auth/mode").filter(|mode| match mode.as_str() {
        "token" => token.is_some(),
        "password" => password.is_some(),
        _ => false,
    });
    let door = [
        ("OPENCLAW_GATEWAY_PORT", port),
        ("OPENCLAW_GATEWAY_TOKEN", token),
        ("OPENCLAW_GATEWAY_PASSWORD", password),
        ("OPENCLAW__GATEWAY__AUTH__MODE", mode),
    ];
    let door = door.into_iter();
    environment.with_fallback(door.filter_map(|(name, text)| Some((name.to_owned(), text?))))
}

/// Keeps `document`, which is valid, as the last good configuration of `paths`.
/// Does nothing when it is kept already. One process may do this, the gateway.
pub fn keep(paths: &Paths, document: &Document) -> Result<(), Error> {
    let path = paths.last_good();
    let text = self_contained(document);
    let failed = |source: io::Error| Error::Write {
        path: path.clone(),
        source,
    };
    let absent = document.sources.iter().all(|source| source.text.is_empty());
    // An empty file is one that is about to be written.
    if absent && (!path.exists() || paths.configuration.is_file()) {
        return Ok(());
    }
    match parse::read(&path) {
        Ok(kept) if kept == text => Ok(()),
        _ => write::atomic(&path, text.as_bytes()).map_err(failed),
    }
}

/// The text of a single file, else what its parts and overlays amount to.
fn self_contained(document: &Document) -> String {
    match document.sources.as_slice() {
        [only] => only.text.clone(),
        _ => format!("{:#}\n", document.written),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;
    use crate::document;
    use openclaw_config::environment::Environment;
    use openclaw_config::substitute::Missing;

    #[test]
    fn origin_what_is_kept_stands_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("HOME", "/h")]
            .into_iter()
            .collect();
        let paths = Paths::resolve(&environment).unwrap();
        let load = || document::load(&paths.configuration, &environment, Missing::Refused).unwrap();
        keep(&paths, &load()).unwrap();
        assert!(!paths.last_good().exists(), "nothing to keep");

        let text = "{ // mine\n logging: { level: 'warn' } }";
        fs::write(&paths.configuration, text).unwrap();
        keep(&paths, &load()).unwrap();
        assert_eq!(fs::read_to_string(paths.last_good()).unwrap(), text);

        for (written, is_emptied) in [("", true), (" \n", true), ("{}", false), ("// no", false)] {
            fs::write(&paths.configuration, written).unwrap();
            let refused = crate::load(&environment).is_err();
            assert_eq!(refused, is_emptied, "{written:?}");
            let refused = crate::load_and_keep(&environment, Origin::File).is_err();
            assert_eq!(refused, is_emptied, "{written:?}");
            let refused = crate::file::validate(&paths, &environment).is_err();
            assert_eq!(refused, is_emptied, "{written:?}");
            fs::write(paths.last_good(), text).unwrap();
        }
        fs::write(&paths.configuration, "").unwrap();
        keep(&paths, &load()).unwrap();
        assert_eq!(fs::read_to_string(paths.last_good()).unwrap(), text);
        fs::write(&paths.configuration, text).unwrap();
        assert_eq!(
            fs::metadata(paths.last_good()).unwrap().mode() & 0o777,
            0o600
        );

        fs::write(&paths.configuration, "{ $include: 'a.json' }").unwrap();
        fs::write(
            folder.path().join("a.json"),
            "{ logging: { level: 'error' } }",
        )
        .unwrap();
        keep(&paths, &load()).unwrap();
        fs::remove_file(folder.path().join("a.json")).unwrap();
        let settings = crate::load_from(&environment, Origin::LastGood).unwrap();
        assert_eq!(settings.log_level.name(), "error");
        let settings = crate::load_from(&environment, Origin::Defaults).unwrap();
        assert_eq!(settings.log_level.name(), "info");
        assert!(crate::load(&environment).is_err());
    }

    #[test]
    fn origin_what_is_kept_already_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let load = || document::load(&paths.configuration, &environment, Missing::Refused).unwrap();
        let inode = || fs::metadata(paths.last_good()).unwrap().ino();
        fs::write(&paths.configuration, "{}").unwrap();
        keep(&paths, &load()).unwrap();
        // An open file keeps its number from being given to another one.
        let _open = fs::File::open(paths.last_good()).unwrap();
        let first = inode();
        keep(&paths, &load()).unwrap();
        assert_eq!(inode(), first);
        fs::write(&paths.configuration, "{ }").unwrap();
        keep(&paths, &load()).unwrap();
        assert_ne!(inode(), first);
        fs::remove_file(&paths.configuration).unwrap();
        keep(&paths, &load()).unwrap();
        assert_eq!(fs::read_to_string(paths.last_good()).unwrap(), "");
    }

    #[test]
    fn origin_has_its_file_and_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let all = [Origin::File, Origin::LastGood, Origin::Defaults];
        let exist = || all.map(|origin| origin.exists(&paths));
        assert_eq!(exist(), [false, false, true]);
        fs::write(&paths.configuration, "").unwrap();
        assert_eq!(exist(), [true, false, true]);
        fs::write(paths.last_good(), "").unwrap();
        assert_eq!(exist(), [true, true, true]);
        let names = all.map(|origin| origin.to_string());
        let expected = [
            "the configuration",
            "the last good configuration",
            "the defaults",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn broken_environment_is_told_where_a_broken_file_is_stood_in_for() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let with = |port: &str| -> Environment {
            let variables = [
                ("OPENCLAW_STATE_DIR", state),
                ("OPENCLAW_GATEWAY_PORT", port),
            ];
            variables.into_iter().collect()
        };
        let paths = Paths::resolve(&with("1")).unwrap();
        fs::write(&paths.configuration, "{").unwrap();
        assert_eq!(
            crate::load_usable(&with("19000")).unwrap().gateway.port,
            19000
        );
        fs::write(paths.last_good(), "{logging: {level: 'warn'}}").unwrap();
        let kept = crate::load_usable(&with("19000")).unwrap();
        assert_eq!(kept.log_level.name(), "warn");
        fs::write(&paths.configuration, "{}").unwrap();
        let error = crate::load_usable(&with("x")).unwrap_err();
        assert!(error.is_beyond_file(), "{error}");
    }

    #[test]
    fn door_of_a_file_that_cannot_be_used_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let with = |text: &str, more: &[(&str, &str)]| {
            std::fs::write(folder.path().join("openclaw.json"), text).unwrap();
            let variables = [("OPENCLAW_STATE_DIR", state)].into_iter();
            let environment = variables.chain(more.iter().copied()).collect();
            let paths = Paths::resolve(&environment).unwrap();
            let environment = with_door(&environment, &paths);
            let door = ["PORT", "TOKEN", "PASSWORD"].map(|it| format!("OPENCLAW_GATEWAY_{it}"));
            let said = door.map(|name| environment.get(&name).unwrap_or("-").to_owned());
            let none = std::collections::BTreeMap::new();
            let settings = crate::load_from(&environment, Origin::Defaults).unwrap();
            let gateway = settings
                .with_gateway_secrets(&environment, &none)
                .unwrap()
                .gateway;
            (said.join(" "), gateway.port, gateway.mode)
        };
        use crate::settings::gateway::AuthMode::{Password, Token};
        let text = "{ agnets: {}, gateway: { port: 19123, auth: { token: '${T}' } }, \
                    env: { vars: { T: 'secret' } } }";
        assert_eq!(with(text, &[]), ("19123 secret -".to_owned(), 19123, Token));
        let both = "{ a: 1, gateway: { port: 70000, auth: { mode: 'password', token: 't', \
                    password: 'p' } } }";
        assert_eq!(with(both, &[]), ("- t p".to_owned(), 18789, Password));
        // What cannot be known opens nothing.
        let unknown = "{ a: 1, gateway: { auth: { mode: 'password', password: '${NOPE}' } } }";
        assert_eq!(with(unknown, &[]), ("- - -".to_owned(), 18789, Token));
        let none = "{ a: 1, gateway: { auth: { mode: 'none' } } }";
        assert_eq!(with(none, &[]), ("- - -".to_owned(), 18789, Token));
        assert_eq!(with("{", &[]), ("- - -".to_owned(), 18789, Token));
        let given = with(text, &[("OPENCLAW_GATEWAY_PORT", "19000")]);
        assert_eq!(given, ("19000 secret -".to_owned(), 19000, Token));
    }
}
