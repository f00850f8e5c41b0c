//! The version of the contract, and what happens when the sides differ.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// The version of the contract that this build speaks. It is raised with every
/// change that the other side could misread.
pub const VERSION: u32 = 5;

/// The other side was built with another version of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the programs of this installation do not fit together: this one speaks version {VERSION} of the \
     turn protocol, {side} speaks {}. Install all programs of the suite from one build",
    Stated(*theirs)
)]
pub struct Mismatch {
    side: &'static str,
    theirs: Option<u32>,
}

/// A version that may not have been stated.
struct Stated(Option<u32>);

impl fmt::Display for Stated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "version {version}"),
            None => f.write_str("a version that it does not state"),
        }
    }
}

/// Compares the version that the other side states with ours. `side` names the
/// other side in the error.
///
/// # Errors
/// When it is another one, or none is stated.
pub fn check(side: &'static str, theirs: Option<u32>) -> Result<(), Mismatch> {
    if theirs == Some(VERSION) {
        Ok(())
    } else {
        Err(Mismatch { side, theirs })
    }
}

/// Why a document of the contract cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is of another version.
    #[error(transparent)]
    Version(#[from] Mismatch),
    /// It is not what the contract says.
    #[error("it does not follow the turn protocol")]
    Malformed(#[source] serde_json::Error),
}

/// Reads a document that states its version, which is checked before anything
/// else of it is looked at.
///
/// # Errors
/// When the version is another one, or the document is not as that version has it.
pub fn read<T: DeserializeOwned>(side: &'static str, json: &[u8]) -> Result<T, ReadError> {
    #[derive(Deserialize)]
    struct Versioned {
        #[serde(default)]
        version: Option<u32>,
    }
    let versioned: Versioned = serde_json::from_slice(json).map_err(ReadError::Malformed)?;
    check(side, versioned.version)?;
    serde_json::from_slice(json).map_err(ReadError::Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_ours_is_taken() {
        assert_eq!(check("the agent", Some(VERSION)), Ok(()));
    }

    #[test]
    fn version_of_another_build_is_refused_with_both_versions_and_the_way_out() {
        let error = check("the agent-runner", Some(VERSION + 6)).unwrap_err();
        let text = error.to_string();
        for part in [
            &format!("version {VERSION} ") as &str,
            &format!("the agent-runner speaks version {}", VERSION + 6),
            "from one build",
        ] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn version_that_is_not_stated_is_refused() {
        let text = check("openclaw-agent", None).unwrap_err().to_string();
        assert!(text.contains("does not state"), "{text}");
    }

    #[test]
    fn read_names_the_version_before_anything_that_is_missing() {
        #[derive(Debug, Deserialize)]
        struct Document {
            #[serde(rename = "needed")]
            _needed: String,
        }
        let other = format!(r#"{{"version":{}}}"#, VERSION + 1);
        let ours = format!(r#"{{"version":{VERSION}}}"#);
        for (json, is_version) in [
            (other.as_str(), true),
            ("{}", true),
            (ours.as_str(), false),
            ("[", false),
        ] {
            let error = read::<Document>("the agent-runner", json.as_bytes()).unwrap_err();
            assert_eq!(matches!(error, ReadError::Version(_)), is_version, "{json}");
        }
    }
}
