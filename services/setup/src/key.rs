//! A provider's key, kept as an auth profile that only its owner can read.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use openclaw_config::secret::Secret;
use openclaw_config::{Environment, Paths, write};
use openclaw_credentials as credentials;
use openclaw_sealed::{Store, Unsealed};
use serde_json::{Value, json};

/// Only its owner: the folder of profiles.
const FOLDER_MODE: u32 = 0o700;
/// Bytes of a key; none has so many.
const LENGTH: std::ops::RangeInclusive<usize> = 8..=4096;
/// What Anthropic's keys begin with.
const ANTHROPIC: &str = "sk-ant-";

/// Whose key it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI.
    OpenAi,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Anthropic, Self::OpenAi];

    /// As the configuration names it.
    pub fn id(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
        }
    }

    /// As people name it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
        }
    }

    /// Whose key this is, as far as it says so itself.
    pub fn of(key: &Secret) -> Option<Self> {
        key.reveal()
            .trim()
            .starts_with(ANTHROPIC)
            .then_some(Self::Anthropic)
    }
}

/// Why a key was not kept. Nothing of it is said.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is none.
    #[error("that is no key: a key has {} to {} characters without spaces", LENGTH.start(), LENGTH.end())]
    NoKey,
    /// A variable of this name would be put in its place.
    #[error("the key has \"${{\" in it, which stands for a variable in auth profiles")]
    Variable,
    /// There is another key of this name.
    #[error("{0} holds another key")]
    Other(PathBuf),
    /// It could not be written.
    #[error("cannot write {path}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The one that lies encrypted stays.
    #[error("the encrypted key stays")]
    Sealed(#[source] Unsealed),
}

/// Where the key of `provider` is kept for `agent_id`.
pub fn place(paths: &Paths, agent_id: &str, provider: Provider) -> PathBuf {
    credentials::folder(paths, agent_id).join(format!("{}.json", provider.id()))
}

/// The name that the profile of `provider`'s key has.
pub fn id(provider: Provider) -> String {
    format!("{}:default", provider.id())
}

/// Whose key is kept, and how.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// Where the state is.
    pub paths: &'a Paths,
    /// The agent's.
    pub agent_id: &'a str,
    /// The user's.
    pub environment: &'a Environment,
    /// Also in place of another one.
    pub replace: bool,
    /// In a file, also where the service manager would keep it encrypted.
    pub plain: bool,
}

/// A key that is kept.
#[derive(Debug)]
pub struct KeptKey {
    /// Whether that changed anything.
    pub changed: bool,
    /// Where it is.
    pub place: PathBuf,
    /// Whether it lies there encrypted.
    is_encrypted: bool,
    /// Why it does not.
    unsealed: Option<Unsealed>,
}

impl KeptKey {
    fn encrypted(place: PathBuf, changed: bool) -> Self {
        Self {
            changed,
            place,
            is_encrypted: true,
            unsealed: None,
        }
    }

    /// Where it is, and how.
    #[must_use]
    pub fn words(&self) -> String {
        let place = self.place.display();
        match &self.unsealed {
            _ if self.is_encrypted => {
                format!("{place}, encrypted for you on this machine")
            }
            Some(why) => {
                format!("{place}, which you alone can read (it is not encrypted: {why})")
            }
            None => format!("{place}, which you alone can read (it is not encrypted)"),
        }
    }
}

/// Keeps `key`: encrypted where the service manager can decrypt it for the agent-runner,
/// else in a file of its owner's alone.
///
/// # Errors
/// When it is no key, is not to replace the one there is, or cannot be written.
pub fn keep(key: &Secret, provider: Provider, wanted: Wanted<'_>) -> Result<KeptKey, Error> {
    let document = document(key, provider)?;
    let store = Store::of(wanted.paths, wanted.environment);
    let sealed = store.as_ref().and_then(|store| {
        let mut all = store.list().into_iter();
        all.find(|it| it.agent == wanted.agent_id && it.provider == provider.id())
    });
    if let (Some(store), Some(sealed)) = (&store, &sealed) {
        let old = store.read(sealed).and_then(|old| parsed(&old));
        let is_same = old.as_ref() == Some(&document);
        if !is_same && !wanted.replace {
            return Err(Error::Other(sealed.file.clone()));
        }
        if is_same && !wanted.plain {
            return Ok(KeptKey::encrypted(sealed.file.clone(), false));
        }
    }
    let path = place(wanted.paths, wanted.agent_id, provider);
    let is_there = is_there(&path, &document, wanted.replace)?;
    let mut unsealed = None;
    if let (Some(store), false) = (&store, wanted.plain) {
        let text = document.to_string();
        match store.keep(wanted.paths, wanted.agent_id, provider.id(), &text) {
            Ok(file) => {
                remove(&path)?;
                return Ok(KeptKey::encrypted(file, true));
            }
            Err(why) => unsealed = Some(why),
        }
    }
    if !is_there {
        write_alone(&path, &document)?;
    }
    // It would be taken before the file.
    if let (Some(store), Some(sealed)) = (&store, &sealed) {
        store.remove(sealed).map_err(Error::Sealed)?;
    }
    Ok(KeptKey {
        changed: !is_there || sealed.is_some(),
        place: path,
        is_encrypted: false,
        unsealed,
    })
}

/// The profile that `key` is in.
fn document(key: &Secret, provider: Provider) -> Result<Value, Error> {
    let text = key.reveal().trim();
    let is_plain = |c: char| c.is_ascii_graphic();
    if !LENGTH.contains(&text.len()) || !text.chars().all(is_plain) {
        return Err(Error::NoKey);
    }
    if text.contains("${") {
        return Err(Error::Variable);
    }
    Ok(json!({
        "id": id(provider),
        "provider": provider.id(),
        "credential": {"type": "api-key", "apiKey": text},
    }))
}

/// Whether the file has `document`; another one only where it is to be replaced.
fn is_there(path: &Path, document: &Value, replace: bool) -> Result<bool, Error> {
    match fs::read_to_string(path) {
        Ok(old) if parsed(&old).as_ref() == Some(document) => Ok(true),
        Ok(_) if !replace => Err(Error::Other(path.to_owned())),
        Ok(_) => Ok(false),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(written(path, source)),
    }
}

fn write_alone(path: &Path, document: &Value) -> Result<(), Error> {
    let mut folder = DirBuilder::new();
    folder.recursive(true).mode(FOLDER_MODE);
    let place = path.parent().unwrap_or(Path::new("."));
    folder
        .create(place)
        .and_then(|()| write::atomic(path, format!("{document:#}\n").as_bytes()))
        .map_err(|source| written(path, source))
}

/// Takes away what lies there unencrypted.
fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(written(path, source)),
        _ => Ok(()),
    }
}

fn written(path: &Path, source: io::Error) -> Error {
    Error::Write {
        path: path.to_owned(),
        source,
    }
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn key_is_kept_as_a_profile_of_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("HOME", state)]
            .into_iter()
            .collect();
        let paths = Paths::resolve(&environment).unwrap();
        let key = Secret::new("sk-ant-made-up-1\n");
        let keep = |key: &Secret, replace| {
            let wanted = Wanted {
                paths: &paths,
                agent_id: "main",
                environment: &environment,
                replace,
                plain: false,
            };
            keep(key, Provider::Anthropic, wanted)
        };
        assert!(keep(&key, false).unwrap().changed);
        let again = keep(&key, false).unwrap();
        assert!(!again.changed, "it is there");
        assert!(again.words().contains("not encrypted"), "{again:?}");
        let path = place(&paths, "main", Provider::Anthropic);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let found = credentials::read(&paths, "main", &environment);
        assert_eq!(found.warnings, Vec::<String>::new());
        let [profile] = &found.list[..] else {
            panic!("{found:?}");
        };
        let (secret, _) = profile.credential.secret().unwrap();
        assert_eq!(
            (secret.reveal(), profile.provider.as_str()),
            ("sk-ant-made-up-1", "anthropic")
        );

        let other = Secret::new("sk-ant-made-up-2");
        let refused = keep(&other, false).unwrap_err().to_string();
        assert!(
            refused.contains("anthropic.json") && !refused.contains("made-up"),
            "{refused}"
        );
        assert!(keep(&other, true).unwrap().changed);
    }

    #[test]
    fn key_that_is_none_is_refused_without_a_word_of_it() {
        let environment: Environment = [("OPENCLAW_STATE_DIR", "/nonexistent")]
            .into_iter()
            .collect();
        let paths = Paths::resolve(&environment).unwrap();
        let wanted = Wanted {
            paths: &paths,
            agent_id: "main",
            environment: &environment,
            replace: true,
            plain: false,
        };
        for text in [
            "",
            "short",
            "two words here",
            "a\u{1b}[2Jbcdefgh",
            "schlüssel-schlüssel",
            "sk-${HOME}-x",
        ] {
            let refused = keep(&Secret::new(text), Provider::OpenAi, wanted).unwrap_err();
            let said = refused.to_string();
            assert!(text.is_empty() || !said.contains(text), "{said}");
        }
        assert_eq!(
            Provider::of(&Secret::new("sk-ant-x")),
            Some(Provider::Anthropic)
        );
        assert_eq!(Provider::of(&Secret::new("sk-proj-x")), None);
    }
}
