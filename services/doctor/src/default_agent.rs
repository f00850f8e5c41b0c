//! Conversations of the main agent, where another one answers messages that name none.

use std::fs;

use openclaw_settings::Settings;

use crate::check::Check;

const NAME: &str = "default agent";
const MAIN: &str = "main";

/// Tells where they are: the file does not mention the main agent, and had it answer as
/// long as the first of the list was no default agent by that alone.
pub(crate) fn left_behind(settings: &Settings) -> Option<Check> {
    let list = &settings.stated.agents.list;
    let is_said = list.iter().any(|it| it.default || it.id == MAIN);
    let default = &settings.default_agent;
    if default == MAIN || is_said || !has_conversations(settings) {
        return None;
    }
    let detail = format!(
        "messages that name no agent go to {default:?}, the first of agents.list; those of \"main\" \
         are kept, and go on with: openclawctl message --session agent:main:main"
    );
    let fix = format!(
        "to have \"main\" answer, add {{\"id\": \"main\", \"default\": true}} to agents.list; to \
         have this no longer said, mark {default:?} with \"default\": true"
    );
    Some(Check::warn(NAME, detail, fix))
}

fn has_conversations(settings: &Settings) -> bool {
    let files = fs::read_dir(settings.paths.sessions(MAIN))
        .into_iter()
        .flatten();
    files.flatten().any(|entry| {
        let path = entry.path();
        path.extension().is_some_and(|it| it == "jsonl")
    })
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn conversations_of_the_main_agent_are_named_where_another_answers() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
        let found = |list: Value| {
            let paths = Paths::resolve(&environment).unwrap();
            let document = json!({"agents": {"list": list}});
            left_behind(&Settings::assemble(paths, document, &environment).unwrap())
        };
        let solo = json!([{"id": "solo"}]);
        assert!(found(solo.clone()).is_none());
        let sessions = Paths::resolve(&environment).unwrap().sessions(MAIN);
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("a.jsonl"), "").unwrap();
        let said = format!("{:?}", found(solo).unwrap());
        for words in ["go to \\\"solo\\\"", "--session agent:main:main"] {
            assert!(said.contains(words), "{said}");
        }
        for list in [
            json!([]),
            json!([{"id": "main"}]),
            json!([{"id": "solo"}, {"id": "main"}]),
            json!([{"id": "solo", "default": true}]),
        ] {
            assert!(found(list.clone()).is_none(), "{list}");
        }
    }
}
