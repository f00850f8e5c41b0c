//! The secrets of an account that the configuration itself has, its token and what
//! its webhook is known by: handed to the account's daemon as files in that daemon's
//! own folder, which is all that it sees of the state.

use openclaw_folder::{ConfiguredFolder, Error};
use openclaw_proto::channel::AccountName;
use openclaw_settings::Settings;
use openclaw_settings::channels::{DEFAULT_ACCOUNT, state_folder};

/// The token's name, as the daemon looks for it (`telegram/src/token.rs`).
const TOKEN: &str = "token";
/// That of the webhook's secret (`telegram/src/webhook.rs`).
const WEBHOOK_SECRET: &str = "webhook-secret-set";
/// Only for its owner.
const MODE: u32 = 0o600;
/// A token has some 46 bytes, a secret at most 256.
const LIMIT: u64 = 4096;

/// Gives the daemon of `account` its secrets as `settings` have them, and takes back those that
/// they have no more. The folder is the daemon's: nothing in it is followed.
pub(super) fn hand_over(settings: &Settings, account: &AccountName) -> Result<(), Error> {
    let channels = &settings.channels;
    let AccountName { channel, account } = account;
    let found = channels.account(channel, account);
    let named = found.map(|(name, _)| (channel.clone(), name.to_owned()));
    let name: &str = if account.is_empty() {
        DEFAULT_ACCOUNT
    } else {
        account
    };
    let place = settings.folder(state_folder(&settings.paths, channel, name));
    for (file, all) in [
        (TOKEN, &channels.tokens),
        (WEBHOOK_SECRET, &channels.webhook_secrets),
    ] {
        let secret = named.as_ref().and_then(|named| all.get(named));
        write(&place, file, secret.map(|secret| secret.reveal()))?;
    }
    Ok(())
}

fn write(place: &ConfiguredFolder, file: &str, secret: Option<&str>) -> Result<(), Error> {
    let Some(secret) = secret else {
        if let Some(folder) = place.open()? {
            folder.remove(file)?;
        }
        return Ok(());
    };
    let folder = place.open_or_create()?;
    let is_there = folder.read(file, LIMIT)?.as_deref() == Some(secret.as_bytes());
    if is_there {
        return Ok(());
    }
    folder.write_durably(file, secret.as_bytes(), MODE)
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
        write(&place.clone().into(), TOKEN, None).unwrap();
        assert!(!place.exists());
        for token in ["1:a", "1:a", "2:b"] {
            write(&place.clone().into(), TOKEN, Some(token)).unwrap();
            let file = place.join(TOKEN);
            assert_eq!(fs::read_to_string(&file).unwrap(), token);
            assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, MODE);
        }
        write(&place.clone().into(), TOKEN, None).unwrap();
        assert!(!place.join(TOKEN).exists());
    }

    #[test]
    fn token_is_written_through_no_link() {
        let root = tempfile::tempdir().unwrap();
        let other = root.path().join("other");
        fs::write(&other, "mine").unwrap();
        symlink(&other, root.path().join(TOKEN)).unwrap();
        // It is refused, or the link is replaced.
        let _ = write(&root.path().into(), TOKEN, Some("1:a"));
        assert_eq!(fs::read_to_string(&other).unwrap(), "mine");
    }
}
