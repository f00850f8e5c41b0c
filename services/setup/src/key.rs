//! A provider's key, kept as an auth profile that only its owner can read.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use openclaw_config::secret::Secret;
use openclaw_config::{Paths, write};
use openclaw_credentials as credentials;
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
}

/// Where the key of `provider` is kept for `agent_id`.
pub fn place(paths: &Paths, agent_id: &str, provider: Provider) -> PathBuf {
    credentials::folder(paths, agent_id).join(format!("{}.json", provider.id()))
}

/// The name that the profile of `provider`'s key has.
pub fn id(provider: Provider) -> String {
    format!("{}:default", provider.id())
}

/// Keeps `key`; whether that changed anything. `replace`: also in place of
/// another one.
///
/// # Errors
/// When it is no key, is not to replace the one there is, or cannot be written.
pub fn keep(
    key: &Secret,
    provider: Provider,
    paths: &Paths,
    agent_id: &str,
    replace: bool,
) -> Result<bool, Error> {
    let text = key.reveal().trim();
    let is_plain = |c: char| c.is_ascii_graphic();
    if !LENGTH.contains(&text.len()) || !text.chars().all(is_plain) {
        return Err(Error::NoKey);
    }
    if text.contains("${") {
        return Err(Error::Variable);
    }
    let path = place(paths, agent_id, provider);
    let document = json!({
        "id": id(provider),
        "provider": provider.id(),
        "credential": {"type": "api-key", "apiKey": text},
    });
    let failed = |source| Error::Write {
        path: path.clone(),
        source,
    };
    match fs::read_to_string(&path) {
        Ok(old) if parsed(&old) == Some(document.clone()) => return Ok(false),
        Ok(_) if !replace => return Err(Error::Other(path)),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let folder = credentials::folder(paths, agent_id);
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(FOLDER_MODE);
    builder.create(&folder).map_err(failed)?;
    let text = format!("{document:#}\n");
    write::atomic(&path, text.as_bytes()).map_err(failed)?;
    Ok(true)
}

fn parsed(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use openclaw_config::Environment;

    use super::*;

    #[test]
    fn key_is_kept_as_a_profile_of_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let key = Secret::new("sk-ant-made-up-1\n");
        let keep = |key: &Secret, replace| keep(key, Provider::Anthropic, &paths, "main", replace);
        assert!(keep(&key, false).unwrap());
        assert!(!keep(&key, false).unwrap(), "it is there");
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
        assert!(keep(&other, true).unwrap());
    }

    #[test]
    fn key_that_is_none_is_refused_without_a_word_of_it() {
        let paths = Paths::resolve(
            &[("OPENCLAW_STATE_DIR", "/nonexistent")]
                .into_iter()
                .collect(),
        )
        .unwrap();
        for text in [
            "",
            "short",
            "two words here",
            "a\u{1b}[2Jbcdefgh",
            "schlüssel-schlüssel",
            "sk-${HOME}-x",
        ] {
            let refused =
                keep(&Secret::new(text), Provider::OpenAi, &paths, "main", true).unwrap_err();
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
