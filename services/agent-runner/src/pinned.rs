//! The auth profile that a session chose for its turns.

use std::sync::Arc;

use openclaw_proto::runner::Turn;
use openclaw_settings::RunnerSettings;

/// The settings of the turn with the profile of its session, and why there is
/// no turn when the agent has none of that name.
pub(crate) fn settings(
    all: Arc<RunnerSettings>,
    turn: &Turn,
) -> (Arc<RunnerSettings>, Option<String>) {
    let Some(wanted) = &turn.auth_profile else {
        return (all, None);
    };
    let mut settings = RunnerSettings::clone(&all);
    if settings.pin(&turn.agent_id, &wanted.id, wanted.is_only) {
        return (Arc::new(settings), None);
    }
    let known = match all.profile_ids(&turn.agent_id).join(", ") {
        ids if ids.is_empty() => "there is none".to_owned(),
        ids => format!("there are {ids}"),
    };
    let why = format!(
        "the session wants the auth profile {:?}, which agent {} does not have ({known}); choose \
         another, or none, with `openclawctl sessions patch SESSION --set authProfileOverride=`",
        wanted.id, turn.agent_id
    );
    (all, Some(why))
}
