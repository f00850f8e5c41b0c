//! Renewing a login: where its provider gives new tokens, and how what it gave
//! is kept in the file of the profile.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::fcntl::{Flock, FlockArg};
use serde_json::{Map, Value};

use super::Profile;
use crate::lock_file;
use crate::parse;
use crate::secret::Secret;
use crate::write;

/// How long before its end a token is renewed: OpenClaw's five minutes.
pub const MARGIN_MS: u64 = 5 * 60 * 1000;

/// How much earlier than the provider says OpenClaw has a token of Anthropic's
/// end.
const ANTHROPIC_SKEW_MS: u64 = 5 * 60 * 1000;

/// The names of a profile's fields, in the shape of seed 003 and in OpenClaw's.
const ACCESS: [&str; 2] = ["accessToken", "access"];
const REFRESH: [&str; 2] = ["refreshToken", "refresh"];
const EXPIRES: [&str; 2] = ["expiresAt", "expires"];

/// The body of a request for new tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// As RFC 6749 has it: `application/x-www-form-urlencoded`.
    Fields,
}

/// Who gives new tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The token endpoint (RFC 6749, 3.2).
    pub url: String,
    /// The program that the login was made with, as the provider knows it.
    pub client_id: String,
    /// The form of the request.
    pub form: Form,
    /// How much before the end that the provider names a token counts as ended.
    pub skew_ms: u64,
}

impl Endpoint {
    /// The endpoint of a provider's logins, as OpenClaw's own files have it.
    fn known(provider: &str) -> Option<Self> {
        let (url, client_id, form, skew_ms) = match provider {
            "anthropic" => (
                "https://platform.claude.com/v1/oauth/token",
                "9d1c250a-e61b-44d9-88ed-5944d1962f5e",
                Form::Json,
                ANTHROPIC_SKEW_MS,
            ),
            "openai" | "openai-codex" => (
                "https://auth.openai.com/oauth/token",
                "app_EMoamEEZ73f0CkXaXp7hrann",
                Form::Fields,
                0,
            ),
            _ => return None,
        };
        Some(Self {
            url: url.to_owned(),
            client_id: client_id.to_owned(),
            form,
            skew_ms,
        })
    }

    /// What the profile itself says (`tokenUrl`, `clientId`), else what is known
    /// of its provider. A refresh token goes over TLS, or stays on this machine.
    pub(super) fn of(
        provider: &str,
        url: Option<String>,
        client_id: Option<String>,
    ) -> Option<Self> {
        let known = Self::known(provider);
        let Some(url) = url else {
            return Some(Self {
                client_id: client_id.or(known.as_ref().map(|it| it.client_id.clone()))?,
                ..known?
            });
        };
        let is_private = url.starts_with("https://") || is_loopback(&url);
        is_private.then_some(())?;
        let (form, skew_ms) = known
            .as_ref()
            .map_or((Form::Fields, 0), |known| (known.form, known.skew_ms));
        Some(Self {
            url,
            client_id: client_id.or(known.map(|known| known.client_id))?,
            form,
            skew_ms,
        })
    }
}

fn is_loopback(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else {
        return false;
    };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit());
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|host| {
        let after = authority.strip_prefix(host);
        after.is_some_and(|after| after.is_empty() || after.strip_prefix(':').is_some_and(is_port))
    })
}

/// A login that can be renewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renewable {
    /// The profile.
    pub id: String,
    /// The file that it is in.
    pub file: PathBuf,
    /// Who gives new tokens.
    pub endpoint: Endpoint,
}

/// The tokens of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokens {
    /// Sent with requests.
    pub access: Secret,
    /// Gets the next ones; it may be good for one request only.
    pub refresh: Secret,
    /// When `access` ends, in milliseconds since 1970; `None`: it is not known.
    pub expires_ms: Option<u64>,
}

/// Why tokens cannot be read or kept. It says nothing of what the file holds.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The lock of the file.
    #[error("lock {file}")]
    Lock {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The file.
    #[error("read {0}")]
    Read(PathBuf),
    /// The profile is not there any more, or has no refresh token of its own.
    #[error("find a refresh token in {0}")]
    Missing(PathBuf),
    /// The file.
    #[error("write {file}")]
    Write {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// The right to renew the logins of one file, against all other processes.
#[derive(Debug)]
pub struct Turn {
    renewable: Renewable,
    _lock: Flock<fs::File>,
}

impl Turn {
    /// Waits for it.
    pub fn wait(renewable: &Renewable) -> Result<Self, Error> {
        let failed = |source| Error::Lock {
            file: renewable.file.clone(),
            source,
        };
        let file = lock_file::open(&lock_path(&renewable.file)).map_err(failed)?;
        let lock = Flock::lock(file, FlockArg::LockExclusive);
        let lock = lock.map_err(|(_, errno)| failed(errno.into()))?;
        Ok(Self {
            renewable: renewable.clone(),
            _lock: lock,
        })
    }

    /// The tokens as the file has them now: somebody else may have renewed them.
    pub fn stored(&self) -> Result<Tokens, Error> {
        let mut document = self.document()?;
        let missing = || Error::Missing(self.renewable.file.clone());
        let fields = fields(&mut document, &self.renewable.id).ok_or_else(missing)?;
        // A variable is filled in elsewhere, and cannot be written back.
        let text = |names: [&str; 2]| {
            let text = names.iter().find_map(|name| fields.get(*name))?.as_str()?;
            (!text.is_empty() && !text.contains("${")).then(|| Secret::new(text))
        };
        let expires = EXPIRES.iter().find_map(|name| fields.get(*name));
        Ok(Tokens {
            access: text(ACCESS).ok_or_else(missing)?,
            refresh: text(REFRESH).ok_or_else(missing)?,
            expires_ms: expires.and_then(Value::as_u64),
        })
    }

    /// Writes the file as it is: what cannot be kept is not to be asked for,
    /// because asking uses up the refresh token.
    pub fn rehearse(&self) -> Result<(), Error> {
        let file = &self.renewable.file;
        let bytes = fs::read(file).map_err(|_| Error::Read(file.clone()))?;
        self.write(&bytes)
    }

    /// Puts the tokens into the file, and leaves all else in it as it is.
    pub fn keep(&self, tokens: &Tokens) -> Result<(), Error> {
        let mut document = self.document()?;
        let fields = fields(&mut document, &self.renewable.id);
        let fields = fields.ok_or_else(|| Error::Missing(self.renewable.file.clone()))?;
        put(fields, ACCESS, tokens.access.reveal().into());
        put(fields, REFRESH, tokens.refresh.reveal().into());
        match tokens.expires_ms {
            Some(expires) => put(fields, EXPIRES, expires.into()),
            // That of the token before says nothing of this one.
            None => fields.retain(|name, _| !EXPIRES.contains(&name.as_str())),
        }
        let mut text = format!("{document:#}");
        text.push('\n');
        self.write(text.as_bytes())
    }

    fn document(&self) -> Result<Value, Error> {
        let file = &self.renewable.file;
        let read = || Error::Read(file.clone());
        let text = parse::read_existing(file).map_err(|_| read())?;
        let document = parse::parse_value(file, &text).map_err(|_| read())?;
        document.ok_or_else(read)
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        let file = &self.renewable.file;
        write::atomic(file, bytes).map_err(|source| Error::Write {
            file: file.clone(),
            source,
        })
    }
}

/// Beside the file. OpenClaw takes a name with `.lock` alone for a lock of its
/// own that somebody holds.
fn lock_path(file: &Path) -> PathBuf {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    file.with_file_name(format!(".{name}.renewal-lock"))
}

/// The object with the fields of the profile's credential, in any of the shapes
/// that a file may have.
fn fields<'a>(document: &'a mut Value, id: &str) -> Option<&'a mut Map<String, Value>> {
    if document.get("profiles").is_none() {
        return match document {
            Value::Array(items) => items.iter_mut().find_map(|item| in_seed(item, id)),
            document => in_seed(document, id),
        };
    }
    match document.get_mut("profiles")? {
        Value::Object(profiles) => profiles.get_mut(id)?.as_object_mut(),
        Value::Array(items) => items.iter_mut().find_map(|item| in_seed(item, id)),
        _ => None,
    }
}

fn in_seed<'a>(item: &'a mut Value, id: &str) -> Option<&'a mut Map<String, Value>> {
    if item.get("id").and_then(Value::as_str) != Some(id) {
        return None;
    }
    item.get_mut("credential")?.as_object_mut()
}

/// Under the name that is there, else under the first: that of the seed.
fn put(fields: &mut Map<String, Value>, names: [&str; 2], value: Value) {
    let is_openclaws = names == EXPIRES && fields.contains_key(ACCESS[1]);
    let first = if is_openclaws { names[1] } else { names[0] };
    let name = names.into_iter().find(|name| fields.contains_key(*name));
    fields.insert(name.unwrap_or(first).to_owned(), value);
}

impl Profile {
    /// How it is renewed, when it is a login that can be.
    pub fn renewable(&self) -> Option<Renewable> {
        self.credential.refresh()?;
        Some(Renewable {
            id: self.id.clone(),
            file: self.file.clone()?,
            endpoint: self.endpoint.clone()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::environment::Environment;
    use crate::paths::Paths;

    /// Bytes of a file's name.
    const NAME_MAX: usize = 255;

    fn turn(folder: &Path, id: &str, document: &Value) -> Turn {
        let file = folder.join("auth-profiles.json");
        fs::write(&file, document.to_string()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        Turn::wait(&Renewable {
            id: id.to_owned(),
            file,
            endpoint: Endpoint::known("anthropic").unwrap(),
        })
        .unwrap()
    }

    fn tokens() -> Tokens {
        Tokens {
            access: Secret::new("new-access"),
            refresh: Secret::new("new-refresh"),
            expires_ms: Some(99),
        }
    }

    #[test]
    fn tokens_are_kept_under_their_names_and_nothing_else_changes() {
        let login = json!({"type": "oauth", "provider": "anthropic", "access": "a", "refresh": "r",
            "expires": 1, "email": "me@example.org", "later": {"x": [1]}});
        let other = json!({"type": "api_key", "provider": "openai", "key": "k"});
        let mut store = json!({"version": 1, "profiles": {"a:b": login, "o:d": other},
            "order": {"anthropic": ["a:b"]}, "usageStats": {"a:b": {"lastUsed": 7}}});
        let folder = tempfile::tempdir().unwrap();
        let turn = turn(folder.path(), "a:b", &store);
        assert_eq!(turn.stored().unwrap().refresh.reveal(), "r");
        turn.rehearse().unwrap();
        turn.keep(&tokens()).unwrap();
        let file = folder.path().join("auth-profiles.json");
        let kept: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let fields = &mut store["profiles"]["a:b"];
        fields["access"] = json!("new-access");
        fields["refresh"] = json!("new-refresh");
        fields["expires"] = json!(99);
        assert_eq!(kept, store);
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
        assert_eq!(turn.stored().unwrap(), tokens());
    }

    #[test]
    fn every_shape_of_a_file_is_written() {
        let seed = |id: &str| {
            json!({"id": id, "provider": "anthropic",
            "credential": {"type": "oauth", "accessToken": "a", "refreshToken": "r"}})
        };
        for document in [
            seed("me"),
            json!([seed("you"), seed("me")]),
            json!({"profiles": [seed("me")]}),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let turn = turn(folder.path(), "me", &document);
            turn.keep(&tokens()).unwrap();
            let file = folder.path().join("auth-profiles.json");
            let kept = fs::read_to_string(file).unwrap();
            assert_eq!(turn.stored().unwrap(), tokens(), "{kept}");
            assert!(kept.contains("\"expiresAt\": 99"), "{kept}");
            assert!(!kept.contains("you") || kept.contains("\"refreshToken\": \"r\""));
        }
    }

    #[test]
    fn second_waits_for_the_first_and_sees_what_it_kept() {
        let folder = tempfile::tempdir().unwrap();
        let login = json!({"type": "oauth", "access": "a", "refresh": "r"});
        let first = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
        let renewable = first.renewable.clone();
        let (began, begun) = mpsc::channel();
        thread::scope(|scope| {
            let second = scope.spawn(move || {
                began.send(()).unwrap();
                Turn::wait(&renewable).unwrap().stored().unwrap()
            });
            begun.recv().unwrap();
            while !is_waited_for(&lock_path(&first.renewable.file)) {
                assert!(!second.is_finished(), "it did not wait");
                thread::yield_now();
            }
            first.keep(&tokens()).unwrap();
            drop(first);
            assert_eq!(second.join().unwrap(), tokens());
        });
    }

    /// Whether somebody waits for the lock on a file.
    fn is_waited_for(path: &Path) -> bool {
        let inode = format!(":{} ", fs::metadata(path).unwrap().ino());
        let locks = fs::read_to_string("/proc/locks").unwrap();
        let mut lines = locks.lines();
        lines.any(|line| line.contains("-> FLOCK") && line.contains(&inode))
    }

    #[test]
    fn file_that_cannot_be_written_is_named_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let login = json!({"type": "oauth", "access": "a", "refresh": "r"});
        let mut turn = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
        // Too long a name for the temporary file beside it: that holds for root too.
        let long = folder.path().join("x".repeat(NAME_MAX));
        fs::rename(&turn.renewable.file, &long).unwrap();
        turn.renewable.file.clone_from(&long);
        for failed in [turn.rehearse(), turn.keep(&tokens())] {
            let words = failed.unwrap_err().to_string();
            assert_eq!(words, format!("write {}", long.display()));
        }
        assert_eq!(turn.stored().unwrap().refresh.reveal(), "r");
        let names = fs::read_dir(folder.path()).unwrap();
        assert_eq!(names.count(), 2, "the file and its lock");
    }

    /// Names the folder for the process that is killed.
    const FOLDER: &str = "OPENCLAW_TEST_RENEWAL_FOLDER";
    /// The test that is this process.
    const KEEPER: &str = "auth::renewal::tests::tokens_are_kept_until_the_process_is_killed";
    /// Killed at so many different moments.
    const KILLS: u32 = 40;
    /// Bytes of a field that is not ours: little, so that most of the time goes
    /// into writing.
    const BALLAST: usize = 4096;

    fn state(folder: &Path) -> Paths {
        let state = folder.to_str().unwrap();
        Paths::resolve(&[("OPENCLAW_STATE_DIR", state)].into_iter().collect()).unwrap()
    }

    /// A login in the folder that is searched for profiles.
    fn kept_in(folder: &Path) -> Renewable {
        Renewable {
            id: "a:b".to_owned(),
            file: super::super::folder(&state(folder), "main").join("mine.json"),
            endpoint: Endpoint::known("anthropic").unwrap(),
        }
    }

    #[test]
    #[ignore = "the process that is killed by the next test"]
    fn tokens_are_kept_until_the_process_is_killed() {
        let folder = std::env::var_os(FOLDER).unwrap();
        let turn = Turn::wait(&kept_in(Path::new(&folder))).unwrap();
        for number in 1.. {
            let tokens = Tokens {
                access: Secret::new(format!("access-{number}")),
                refresh: Secret::new(format!("refresh-{number}")),
                expires_ms: Some(number),
            };
            turn.keep(&tokens).unwrap();
            if number == 1 {
                println!("kept");
            }
        }
    }

    #[expect(clippy::disallowed_methods, reason = "this program, to be killed")]
    #[test]
    fn process_that_is_killed_leaves_the_old_tokens_or_the_new_ones() {
        let folder = tempfile::tempdir().unwrap();
        let renewable = kept_in(folder.path());
        let place = renewable.file.parent().unwrap();
        fs::create_dir_all(place).unwrap();
        let login = json!({"type": "oauth", "provider": "anthropic", "access": "access-0",
            "refresh": "refresh-0", "expires": 0, "later": "x".repeat(BALLAST)});
        let document = json!({"version": 1, "profiles": {"a:b": login}});
        fs::write(&renewable.file, document.to_string()).unwrap();
        for kill in 0..KILLS {
            let mut child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", KEEPER, "--ignored", "--nocapture"])
                .env(FOLDER, folder.path())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            lines
                .map(Result::unwrap)
                .find(|line| line.contains("kept"))
                .unwrap();
            // At another moment of the next write each time.
            thread::sleep(Duration::from_micros(u64::from(kill) * 137));
            child.kill().unwrap();
            child.wait().unwrap();

            let stored = Turn::wait(&renewable).unwrap().stored().unwrap();
            let number = stored.expires_ms.unwrap();
            assert_eq!(stored.access.reveal(), format!("access-{number}"));
            assert_eq!(stored.refresh.reveal(), format!("refresh-{number}"));
            let none = Environment::default();
            let profiles = super::super::read(&state(folder.path()), "main", &none);
            assert_eq!(profiles.warnings, [""; 0]);
            let [profile] = profiles.list.as_slice() else {
                panic!("{profiles:?}");
            };
            assert_eq!(profile.credential.secret().unwrap().0, &stored.access);
        }
        let names = fs::read_dir(place).unwrap();
        assert!(names.count() > 2, "no process was killed while it wrote");
    }

    #[test]
    fn what_a_variable_holds_cannot_be_renewed() {
        let login = json!({"type": "oauth", "access": "a", "refresh": "${REFRESH}"});
        let folder = tempfile::tempdir().unwrap();
        let turn = turn(folder.path(), "a:b", &json!({"profiles": {"a:b": login}}));
        assert!(matches!(turn.stored(), Err(Error::Missing(_))));
    }

    #[test]
    fn refresh_tokens_go_over_tls_or_stay_here() {
        let of = |url: &str| Endpoint::of("mine", Some(url.to_owned()), Some("c".to_owned()));
        for url in [
            "https://x.example/token",
            "http://127.0.0.1:9/t",
            "http://localhost/t",
            "http://[::1]:9",
        ] {
            assert!(of(url).is_some(), "{url}");
        }
        for url in [
            "http://x.example/token",
            "http://127.0.0.1.example/t",
            "http://localhost:9@x.example/t",
            "ftp://127.0.0.1",
        ] {
            assert!(of(url).is_none(), "{url}");
        }
        assert!(Endpoint::of("mine", None, Some("c".to_owned())).is_none());
        assert_eq!(
            Endpoint::of("anthropic", None, None),
            Endpoint::known("anthropic")
        );
    }
}
