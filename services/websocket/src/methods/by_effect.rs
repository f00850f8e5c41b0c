//! The scope that something wants by what it does, however it is asked for: a command in a message
//! wants that of the method that does the same, and so does a field of a session.

use openclaw_commands::{Id, Sender, SenderRole};
use openclaw_conversations::storage::begins_anew;
use openclaw_protocol::scope::Scope;
use openclaw_sessions::store::Patch;

use super::Call;

/// The scope of a message: that of talking, or of the command that it is.
pub(super) fn of_message(call: &Call, text: &str, sender: &Sender) -> Scope {
    if sender.role == SenderRole::Program {
        return Scope::Write;
    }
    let settings = call.context.core.configuration.settings();
    if begins_anew(&settings.session, text) {
        return of_command(Id::Reset);
    }
    openclaw_commands::read(text).map_or(Scope::Write, |asked| of_command(asked.command.id))
}

/// The scope of a command, which beside seeing wants that of talking.
fn of_command(id: Id) -> Scope {
    match id {
        Id::New | Id::Reset | Id::Compact => Scope::Admin,
        Id::Help
        | Id::Commands
        | Id::Status
        | Id::Whoami
        | Id::Usage
        | Id::Models
        | Id::Agents
        | Id::Tools
        | Id::Sessions
        | Id::Exec
        | Id::Stop
        | Id::Verbose
        | Id::Reasoning
        | Id::Name
        | Id::Model
        | Id::Think
        | Id::Queue => Scope::Write,
        // Refused in words without its own scope, in which it is answered.
        Id::Approve => Scope::Write,
    }
}

/// The scope of changing a session.
pub(super) fn of_patch(patch: &Patch) -> Scope {
    match patch.spends() {
        Some(_) => Scope::Admin,
        None => Scope::Write,
    }
}

#[cfg(test)]
mod tests {
    use openclaw_commands::COMMANDS;
    use serde_json::json;

    use super::super::{Access, METHODS};
    use super::*;

    /// The method that does what a command does.
    fn method_of(id: Id) -> &'static str {
        match id {
            Id::Help | Id::Commands => "commands.list",
            Id::Status => "status",
            Id::Whoami => "system-presence",
            Id::Usage => "usage.cost",
            Id::Models => "models.list",
            Id::Agents => "agents.list",
            Id::Tools | Id::Exec => "tools.catalog",
            Id::Sessions => "sessions.list",
            Id::New | Id::Reset => "sessions.reset",
            Id::Compact => "sessions.compact",
            Id::Stop => "chat.abort",
            Id::Approve => "exec.approval.resolve",
            Id::Verbose | Id::Reasoning | Id::Name | Id::Model | Id::Think | Id::Queue => {
                "sessions.patch"
            }
        }
    }

    #[test]
    fn commands_want_the_scope_of_the_method_that_does_the_same() {
        for command in COMMANDS {
            let name = method_of(command.id);
            let method = METHODS.iter().find(|method| method.name == name);
            let wanted = match method.expect(name).access {
                // Looked at when it is answered, by `Sender::approves`.
                Access::Needs(Scope::Approvals) => Scope::Write,
                Access::Needs(scope) => scope.max(Scope::Write),
                Access::Looks => Scope::Write,
                Access::Anyone => unreachable!("{name} is for nodes too"),
            };
            assert_eq!(
                of_command(command.id),
                wanted,
                "/{} and {name}",
                command.name
            );
        }
    }

    #[test]
    fn changes_of_what_is_spent_want_admin() {
        for (field, value, scope) in [
            ("limits", json!({"costPerTurn": 9}), Scope::Admin),
            ("limits", json!(null), Scope::Admin),
            ("limits.memoryMax", json!("9G"), Scope::Admin),
            ("limits.steps", json!(null), Scope::Admin),
            ("authProfileOverride", json!("x"), Scope::Admin),
            ("authProfileOverride", json!(null), Scope::Admin),
            ("label", json!("x"), Scope::Write),
            ("queueMode", json!("steer"), Scope::Write),
        ] {
            let mut patch = Patch::default();
            patch.change("label", &json!("Trip")).unwrap();
            patch.change(field, &value).unwrap();
            assert_eq!(of_patch(&patch), scope, "{field}");
        }
    }
}
