//! The token of an account that the configuration itself has: handed to the
//! account's daemon as a file in that daemon's own folder, which is all that it
//! sees of the state.

use openclaw_folder::{ConfiguredFolder, Error};
use openclaw_proto::channel::AccountName;
use openclaw_settings::Settings;
use openclaw_settings::channels::{DEFAULT_ACCOUNT, state_folder};

/// Its name, as the daemon looks for it (`telegram/src/token.rs`).
const NAME: &str = "token";
/// Only for its owner.
const MODE: u32 = 0o600;
/// A token has some 46 bytes.
const LIMIT: u64 = 4096;

/// Gives the daemon of `account` its token as `settings` have it, and takes back
/// one that they have no more. The folder is the daemon's: nothing in it is
/// followed.
pub(super) fn hand_over(settings: &Settings, account: &AccountName) -> Result<(), Error> {
    let channels = &settings.channels;
    let AccountName { channel, account } = account;
    let found = channels.account(channel, account);
    let token =
        found.and_then(|(name, _)| channels.tokens.get(&(channel.clone(), name.to_owned())));
    let name: &str = if account.is_empty() {
        DEFAULT_ACCOUNT
    } else {
        account
    };
    let place = settings.folder(state_folder(&settings.paths, channel, name));
    write(&place, token.map(|token| token.reveal()))
}

fn write(place: &ConfiguredFolder, token: Option<&str>) -> Result<(), Error> {
    let Some(token) = token else {
        if let Some(folder) = place.open()? {
            folder.remove(NAME)?;
        }
        return Ok(());
    };
    let folder = place.open_or_create()?;
    let is_there = folder.read(NAME, LIMIT)?.as_deref() == Some(token.as_bytes());
    if is_there {
        return Ok(());
    }
    folder.write_durably(NAME, token.as_bytes(), MODE)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    use super::*;

    #[test]
    fn token_is_there_as_long_as_it_is_configured() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("telegram/default");
        write(&place.clone().into(), None).unwrap();
        assert!(!place.exists());
        for token in ["1:a", "1:a", "2:b"] {
            write(&place.clone().into(), Some(token)).unwrap();
            let file = place.join(NAME);
            assert_eq!(fs::read_to_string(&file).unwrap(), token);
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, MODE);
        }
        write(&place.clone().into(), None).unwrap();
        assert!(!place.join(NAME).exists());
    }

    #[test]
    fn token_is_written_through_no_link() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("other");
        fs::write(&other, "mine").unwrap();
        symlink(&other, root.path().join(NAME)).unwrap();
        // It is refused, or the link is replaced.
        let _ = write(&root.path().into(), Some("1:a"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    }
}
