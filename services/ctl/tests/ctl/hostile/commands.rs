//! Every command line that is tried.

use std::path::Path;

use super::HOSTILE;

/// Every command that talks to a daemon or reads a file, in each of its ways to
/// print.
pub(super) fn commands(folder: &Path) -> Vec<Vec<String>> {
    let folder = folder.display().to_string();
    let source = format!("{folder}/source");
    let export = format!("{folder}/export");
    let lines = [
        "message hello",
        "message hello --no-stream --verbose",
        "message hello --verbose",
        "message hello --json",
        "message hello --json --no-stream",
        "message fails",
        "message refused",
        "status --wait 1",
        "status --wait 1 --json --verbose",
        "sessions list --preview",
        "sessions list --json",
        "sessions show X",
        "sessions show X --json",
        "sessions show X --transcript",
        "sessions show X --transcript --json",
        "sessions find X",
        "sessions find X --json",
        "sessions patch X --label l",
        "sessions reset X",
        "sessions delete X",
        "sessions archive X",
        "sessions compact X --summary s",
        "turns",
        "turns --json",
        "cancel",
        "cancel --all",
        "cancel fails",
        "approvals",
        "approvals list --decided 9",
        "approvals list --decided 9 --json",
        "approvals allow X",
        "approvals allow fails",
        "approvals deny X",
        "approvals revoke X",
        "memory search X",
        "memory search X --json --explain",
        "memory get X",
        "memory get X --json",
        "memory add X",
        "memory forget X.md --yes",
        "memory forget hostile words",
        "memory forget hostile words --json",
        "memory forget --everywhere --yes hostile words",
        "memory export",
        "memory index",
        "memory status",
        "memory status --json",
        "token",
        "token --json",
        "doctor",
        "doctor --json",
        "doctor --fix",
        "doctor --fix --json",
        "config get agents",
        "config get agents.list.0.name",
        "config validate",
        "config validate --json",
        "config get X",
        "import --from SOURCE --dry-run",
        "import --from SOURCE --json",
        "export EXPORT",
        "frobnicate X",
    ];
    let word = |word: &str| match word {
        "X" => HOSTILE.to_owned(),
        "SOURCE" => source.clone(),
        "EXPORT" => export.clone(),
        word => word.to_owned(),
    };
    lines.map(|line| line.split(' ').map(word).collect()).into()
}
