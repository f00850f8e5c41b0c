//! Which of a provider's credentials is taken, and what becomes of them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_config::auth::Usage;
use openclaw_config::auth::usage::{self, Failure};
use openclaw_config::provider::{Access, Provider};
use reqwest::StatusCode;

/// How old the kept time of the last use may be: it only orders profiles, and
/// a write with every request would be a disk flush each.
const KEPT_MS: u64 = 60_000;

/// The use of all credentials. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keyring(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    usage: Mutex<BTreeMap<Name, Usage>>,
    /// Held while a file is written, so that the last state is what stays.
    writing: Mutex<()>,
}

/// Where the use is kept, and the profile; without a file nothing is kept.
type Name = (Option<PathBuf>, String);

impl Keyring {
    /// The credentials to try, in this order. Those that failed lately are
    /// left out, unless there is no other.
    pub(crate) fn order(&self, provider: &Provider) -> Vec<Access> {
        let now = now_ms();
        let mut usages = self.usages();
        let mut cooling = Vec::new();
        let mut order = Vec::new();
        for access in &provider.access {
            let usage = usages.entry(name(access)).or_insert_with(|| known(access));
            match usage.is_cooling(now) {
                true => cooling.push((usage.cooldown_until, access)),
                false => order.push(access.clone()),
            }
        }
        if order.is_empty() {
            let first = cooling.into_iter().min_by_key(|(until, _)| *until);
            order.extend(first.map(|(_, access)| access.clone()));
        }
        order
    }

    /// Notes how a request with `access` was answered; the failure, when that
    /// was the credential's.
    pub(crate) fn answered(&self, access: &Access, status: StatusCode) -> Option<Failure> {
        let failure = failure(status);
        let now = now_ms();
        let worth_keeping = {
            let mut usages = self.usages();
            let usage = usages.entry(name(access)).or_insert_with(|| known(access));
            let before = usage.clone();
            match failure {
                Some(failure) => usage.failed(failure, now),
                None if status.is_success() => usage.succeeded(now),
                None => return None,
            }
            let last = before.last_used.unwrap_or(0);
            before.failure_count != usage.failure_count || last.saturating_add(KEPT_MS) < now
        };
        if let (Some(file), true) = (&access.usage_file, worth_keeping) {
            self.keep(file.clone(), access.id.clone());
        }
        failure
    }

    fn keep(&self, file: PathBuf, id: String) {
        let inner = Arc::clone(&self.0);
        tokio::task::spawn_blocking(move || {
            let _writing = inner.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let usages = inner.usage.lock().unwrap_or_else(PoisonError::into_inner);
            let key = (Some(file), id);
            let usage = usages.get(&key).cloned().unwrap_or_default();
            drop(usages);
            let (Some(file), id) = key else { return };
            if let Err(error) = usage::keep(&file, &id, usage) {
                tracing::warn!(%error, path = %file.display(), "the use of credentials is not kept");
            }
        });
    }

    fn usages(&self) -> MutexGuard<'_, BTreeMap<Name, Usage>> {
        self.0.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(access: &Access) -> Name {
    (access.usage_file.clone(), access.id.clone())
}

/// What is known when a credential is first thought of: other turns may have
/// used it since the configuration was read.
fn known(access: &Access) -> Usage {
    let kept = access.usage_file.as_deref().map(usage::read);
    kept.and_then(|mut kept| kept.remove(&access.id))
        .unwrap_or_else(|| access.usage.clone())
}

/// Whether the status is the credential's fault.
fn failure(status: StatusCode) -> Option<Failure> {
    match status.as_u16() {
        401..=403 => Some(Failure::Refused),
        // 529: Anthropic's "overloaded".
        429 | 503 | 529 => Some(Failure::Busy),
        _ => None,
    }
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = since.unwrap_or_default().as_millis();
    u64::try_from(milliseconds).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(profiles: &str) -> (tempfile::TempDir, openclaw_config::Settings) {
        let folder = tempfile::tempdir().unwrap();
        let auth = folder.path().join("agents/main/auth");
        std::fs::create_dir_all(&auth).unwrap();
        std::fs::write(auth.join("profiles.json"), profiles).unwrap();
        let state = folder.path().to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state), ("ANTHROPIC_API_KEY", "env")];
        let environment = variables.into_iter().collect();
        let settings = crate::settings::load(&environment, openclaw_config::Origin::File).unwrap();
        (folder, settings)
    }

    fn secrets(keyring: &Keyring, provider: &Provider) -> Vec<String> {
        let order = keyring.order(provider);
        order
            .iter()
            .map(|access| access.secret.reveal().to_owned())
            .collect()
    }

    #[tokio::test]
    async fn the_next_credential_is_taken_and_pauses_outlive_the_process() {
        let profiles = "[
            {id: 'a', provider: 'anthropic', credential: {type: 'api-key', apiKey: 'key'}},
            {id: 'b', provider: 'anthropic', credential: {type: 'token', token: 'token'}},
            {id: 'c', provider: 'anthropic', credential: {type: 'oauth', accessToken: 'old', expiresAt: 1}},
        ]";
        let (_folder, settings) = scene(profiles);
        let provider = settings.provider("main", "anthropic").unwrap();
        let keyring = Keyring::default();
        assert_eq!(secrets(&keyring, &provider), ["token", "key", "env"]);

        let first = keyring.order(&provider).remove(0);
        assert_eq!(
            keyring.answered(&first, StatusCode::TOO_MANY_REQUESTS),
            Some(Failure::Busy)
        );
        assert_eq!(secrets(&keyring, &provider), ["key", "env"]);
        let file = usage::file(&settings.paths, "main");
        let mut kept = usage::read(&file);
        while kept.is_empty() {
            tokio::task::yield_now().await;
            kept = usage::read(&file);
        }
        assert_eq!(kept["b"].failure_count, 1);

        let later = crate::settings::load(&settings.environment, openclaw_config::Origin::File);
        let provider = later.unwrap().provider("main", "anthropic").unwrap();
        let another = Keyring::default();
        assert_eq!(secrets(&another, &provider), ["key", "env"]);
        for access in another.order(&provider) {
            assert_eq!(
                another.answered(&access, StatusCode::UNAUTHORIZED),
                Some(Failure::Refused)
            );
        }
        // Nothing else is left: the one whose pause ends first.
        assert_eq!(secrets(&another, &provider), ["token"]);
        assert_eq!(another.answered(&first, StatusCode::OK), None);
        assert_eq!(another.answered(&first, StatusCode::BAD_REQUEST), None);
    }

    #[test]
    fn the_order_of_the_configuration_comes_first() {
        let profiles = "{profiles: {
            'anthropic:a': {type: 'api_key', key: 'one'}, 'anthropic:b': {type: 'token', token: 'two'}}}";
        let (folder, settings) = scene(profiles);
        let file = "{ auth: { order: { anthropic: ['anthropic:a'] } } }";
        std::fs::write(folder.path().join("openclaw.json"), file).unwrap();
        let settings =
            crate::settings::load(&settings.environment, openclaw_config::Origin::File).unwrap();
        let provider = settings.provider("main", "anthropic").unwrap();
        let order = secrets(&Keyring::default(), &provider);
        assert_eq!(order, ["one", "two", "env"]);
    }
}
