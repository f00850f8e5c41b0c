//! `devices`: which WebSocket clients have a token of their own, and which want one.

use std::path::Path;

use clap::{Args, Subcommand};
use openclaw_proto::call::CallError;
use openclaw_proto::device_admin::{Client, Devices as All, Paired, Pending, Profile};
use openclaw_terminal::{Failure, output, question, table, words};

use crate::gateway::now_ms;

/// Characters of a device's id that are shown: enough to tell devices apart.
const SHOWN: usize = 12;

/// Arguments of `devices`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Devices {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    list: List,
}

/// What to do with them.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the devices that wait to be paired, and those that are; as without a command
    List(List),
    /// Pair a device that waits
    Approve(Request),
    /// Do not pair a device that waits
    Reject(Request),
    /// Make a device's tokens invalid, and close its connections; it stays in the list
    Revoke(Revoke),
    /// Forget a device, and close its connections; it may ask to be paired again
    Remove(Device),
}

/// Arguments of `devices list`.
#[derive(Debug, Default, Args)]
struct List {
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Arguments of `devices approve` and `devices reject`.
#[derive(Debug, Args)]
struct Request {
    /// The request's id or the beginning of it [default: the only one that waits; it is shown and
    /// asked about before it is paired]
    #[arg(value_name = "REQUEST")]
    id: Option<String>,
}

/// Arguments of `devices remove`.
#[derive(Debug, Args)]
struct Device {
    /// The device's id or the beginning of it, or its name
    #[arg(value_name = "DEVICE")]
    device: String,
}

/// Arguments of `devices revoke`.
#[derive(Debug, Args)]
struct Revoke {
    #[command(flatten)]
    device: Device,
    /// Only its token for this role [default: all of them]
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
}

impl Devices {
    /// Lists or decides, over the gateway's `socket`.
    ///
    /// # Errors
    /// What the gateway does not do, as `failure` says it; or nothing or too much is
    /// meant.
    pub async fn execute(
        &self,
        socket: &Path,
        failure: &dyn Fn(&CallError) -> Failure,
    ) -> Result<(), Failure> {
        let client = Client::new(socket.to_owned());
        let all = client.list().await.map_err(|error| failure(&error))?;
        match &self.action {
            None => list(&all, self.list.json),
            Some(Action::List(arguments)) => list(&all, arguments.json),
            Some(Action::Approve(request)) => {
                let pending = request.meant(&all.pending)?;
                if request.id().is_empty() {
                    confirm(pending)?;
                }
                let decided = client.decide(&pending.request_id, true).await;
                said(&decided.map_err(|error| failure(&error))?, "is paired")
            }
            Some(Action::Reject(request)) => {
                let id = &request.meant(&all.pending)?.request_id;
                let decided = client.decide(id, false).await;
                said(&decided.map_err(|error| failure(&error))?, "is not paired")
            }
            Some(Action::Revoke(revoke)) => {
                let device = revoke.device.meant(&all.paired)?;
                let role = revoke.role.as_deref().unwrap_or_default();
                let revoked = client.revoke(&device.device_id, role).await;
                revoked.map_err(|error| failure(&error))?;
                let name = name(&device.profile);
                output::stdout_line(&format!("the tokens of {name} are good no more"))
            }
            Some(Action::Remove(one)) => {
                let device = one.meant(&all.paired)?;
                let removed = client.remove(&device.device_id).await;
                removed.map_err(|error| failure(&error))?;
                output::stdout_line(&format!("{} is forgotten", name(&device.profile)))
            }
        }
    }
}

impl Request {
    /// What was said of it; empty: nothing.
    fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default().trim()
    }

    /// The request that is meant.
    fn meant<'a>(&self, pending: &'a [Pending]) -> Result<&'a Pending, Failure> {
        let text = self.id();
        let means = |it: &&Pending| it.request_id.starts_with(text);
        let meant: Vec<&Pending> = pending.iter().filter(means).collect();
        match meant.as_slice() {
            [only] => Ok(only),
            [] if text.is_empty() => Err(Failure::new("no device waits to be paired")),
            [] => Err(Failure::new(format!("no request {text:?} waits"))
                .hint("`openclawctl devices list` shows those that wait")),
            several => {
                let lines = several
                    .iter()
                    .map(|it| output::line(&format!("  {}  {}", it.request_id, name(&it.profile))));
                Err(several_are_meant(lines.collect()))
            }
        }
    }
}

impl Device {
    /// The device that is meant.
    fn meant<'a>(&self, paired: &'a [Paired]) -> Result<&'a Paired, Failure> {
        let text = self.device.trim();
        let named = |it: &&Paired| !text.is_empty() && it.profile.name.eq_ignore_ascii_case(text);
        let begun = |it: &&Paired| !text.is_empty() && it.device_id.starts_with(text);
        let mut meant: Vec<&Paired> = paired.iter().filter(begun).collect();
        if meant.is_empty() {
            meant = paired.iter().filter(named).collect();
        }
        match meant.as_slice() {
            [only] => Ok(only),
            [] => {
                let known = paired
                    .iter()
                    .flat_map(|it| [&*it.profile.name, &*it.device_id]);
                Err(Failure::new(format!("there is no device {text:?}")).near(
                    text,
                    known,
                    "`openclawctl devices list` shows them",
                ))
            }
            several => {
                let lines = several
                    .iter()
                    .map(|it| output::line(&format!("  {}  {}", it.device_id, name(&it.profile))));
                Err(several_are_meant(lines.collect()))
            }
        }
    }
}

/// Whoever names no request is shown it first: another device may have asked since
/// the list was looked at.
fn confirm(pending: &Pending) -> Result<(), Failure> {
    let Profile {
        platform, address, ..
    } = &pending.profile;
    let wish = format!(
        "{} ({}) wants to be paired as {}: {}",
        name(&pending.profile),
        output::line(&format!("{platform} {address}")),
        output::line(&pending.role),
        scopes(&pending.scopes)
    );
    let id = &pending.request_id;
    if !question::can_be_asked() {
        let why = "nobody can be asked: standard input is no terminal";
        return Err(Failure::undecided(format!("{wish}; {why}"))
            .hint(format!("openclawctl devices approve {id}")));
    }
    if question::says_yes(&format!("{wish}. Pair it? [y/N] "))? {
        return Ok(());
    }
    Err(Failure::new("it was not paired, and waits on")
        .hint(format!("openclawctl devices reject {id}")))
}

fn several_are_meant(lines: Vec<String>) -> Failure {
    let count = lines.len();
    Failure::usage(format!(
        "{count} may be meant; name one of them:\n{}",
        lines.join("\n")
    ))
}

fn said(request: &Pending, what: &str) -> Result<(), Failure> {
    output::stdout_line(&format!(
        "{} {what} as {} ({})",
        name(&request.profile),
        output::line(&request.role),
        scopes(&request.scopes)
    ))
}

/// What people tell it apart by; it says so itself, and may say anything.
fn name(profile: &Profile) -> String {
    match profile.name.trim() {
        "" => "a device without a name".to_owned(),
        name => output::line(name),
    }
}

fn scopes(scopes: &[String]) -> String {
    match scopes {
        [] => "nothing".to_owned(),
        scopes => output::line(&scopes.join(", ")),
    }
}

fn list(all: &All, json: bool) -> Result<(), Failure> {
    if json {
        return output::document(all);
    }
    if all.pending.is_empty() && all.paired.is_empty() {
        return output::stdout_line("no device is paired, and none waits to be");
    }
    table::print(&rows(all, now_ms()))
}

fn rows(all: &All, now_ms: i64) -> Vec<Vec<String>> {
    let waiting = all.pending.iter().map(|it| {
        vec![
            output::line(&it.request_id),
            name(&it.profile),
            output::line(&format!("{} {}", it.profile.platform, it.profile.address)),
            output::line(&it.role),
            scopes(&it.scopes),
            format!("waits, asked {}", words::ago(it.created_ms, now_ms)),
        ]
    });
    let paired = all.paired.iter().flat_map(|device| {
        device.roles.iter().map(move |role| {
            let id: String = device.device_id.chars().take(SHOWN).collect();
            let used = match (role.revoked_ms, role.last_used_ms) {
                (Some(at_ms), _) => format!("revoked {}", words::ago(at_ms, now_ms)),
                (None, Some(at_ms)) => format!("used {}", words::ago(at_ms, now_ms)),
                (None, None) => format!("paired {}", words::ago(device.approved_ms, now_ms)),
            };
            let Profile {
                platform, address, ..
            } = &device.profile;
            vec![
                output::line(&id),
                name(&device.profile),
                output::line(&format!("{platform} {address}")),
                output::line(&role.role),
                scopes(&role.scopes),
                used,
            ]
        })
    });
    waiting.chain(paired).collect()
}

#[cfg(test)]
mod tests {
    use openclaw_proto::device_admin::Role;

    use super::*;

    fn paired(id: &str, name: &str) -> Paired {
        Paired {
            device_id: id.to_owned(),
            profile: Profile {
                name: name.to_owned(),
                ..Profile::default()
            },
            approved_ms: 1,
            roles: vec![Role {
                role: "operator".to_owned(),
                ..Role::default()
            }],
        }
    }

    #[test]
    fn device_is_meant_by_the_beginning_of_its_id_or_its_name() {
        let all = [
            paired("ab12", "Phone"),
            paired("ab34", "phone"),
            paired("cd", "ab"),
        ];
        let meant = |text: &str| {
            let device = Device {
                device: text.to_owned(),
            };
            let meant = device.meant(&all).map(|it| it.device_id.clone());
            meant.map_err(|failure| failure.text())
        };
        assert_eq!(meant("ab1").as_deref(), Ok("ab12"));
        assert_eq!(meant("cd").as_deref(), Ok("cd"));
        assert!(meant("ab").unwrap_err().starts_with("2 may be meant"));
        assert!(meant("PHONE").unwrap_err().starts_with("2 may be meant"));
        assert!(meant("").unwrap_err().starts_with("there is no device"));
    }

    #[test]
    fn request_may_be_left_out_when_one_waits() {
        let request = |id: &str| Pending {
            request_id: id.to_owned(),
            ..Pending::default()
        };
        let meant = |id: Option<&str>, pending: &[Pending]| {
            let wanted = Request {
                id: id.map(str::to_owned),
            };
            let meant = wanted.meant(pending).map(|it| it.request_id.clone());
            meant.map_err(|failure| failure.text())
        };
        let one = [request("a1")];
        let two = [request("a1"), request("b2")];
        assert_eq!(meant(None, &one).as_deref(), Ok("a1"));
        assert_eq!(meant(Some("b"), &two).as_deref(), Ok("b2"));
        assert!(meant(None, &two).is_err() && meant(None, &[]).is_err());
        assert!(meant(Some("c"), &two).unwrap_err().contains("no request"));
    }

    #[test]
    fn rows_say_what_became_of_a_token_and_let_no_name_act() {
        let mut device = paired("0123456789abcdef", "a\u{1b}[2Jb");
        device.roles[0].revoked_ms = Some(1_000);
        let all = All {
            pending: Vec::new(),
            paired: vec![device],
        };
        let rows = rows(&all, 61_000);
        assert_eq!(rows[0][0], "0123456789ab");
        assert!(!rows[0][1].contains('\u{1b}'), "{rows:?}");
        assert!(rows[0][5].starts_with("revoked 1 min"), "{rows:?}");
    }
}
