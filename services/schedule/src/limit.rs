//! Limits of runs, in words for whoever has the job: nobody talks there, and what was
//! too little is the job's.

use openclaw_proto::event::{GO_ON, limit_of_session};

/// Has `why` name `own` where it names that limit of an agent or of a session.
pub(crate) fn renamed(why: &str, limit: &str, own: &str) -> String {
    let session = limit_of_session(limit);
    let agents = ["agents.defaults.limits.", "agents.defaults."];
    let agents = agents.map(|section| format!("{section}{limit}"));
    let names = std::iter::once(&session).chain(&agents);
    names.fold(why.to_owned(), |why, name| why.replace(name.as_str(), own))
}

/// The same without what somebody may say there.
pub(crate) fn unspoken(why: &str) -> String {
    let why = why.replace(&format!("{GO_ON}, or "), "");
    why.replace(&format!(", then {GO_ON}"), "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_named_as_the_jobs_whoever_had_it() {
        for had in [
            "agents.defaults.limits.costPerTurn".to_owned(),
            "agents.defaults.costPerTurn".to_owned(),
            limit_of_session("costPerTurn"),
        ] {
            let why = format!("it cost $2; {GO_ON}, or raise {had}");
            let said = renamed(&unspoken(&why), "costPerTurn", "the budget");
            assert_eq!(said, "it cost $2; raise the budget");
        }
    }
}
