//! Logins and settings of the agent CLIs.

use super::Plant;

/// As files of the agent's own.
pub(super) const FILES: &[Plant] = &[
    Plant {
        name: "a login of Claude Code",
        line: "mkdir -p ~/.claude && echo '{\"claudeAiOauth\":{\"accessToken\":\"PLANTED-CLAUDE\",\"expiresAt\":99999999999999}}' >~/.claude/.credentials.json",
        careless: "mv $AH/.claude/.credentials.json $STATE/agents/$A/auth/claude-credentials.json",
        harm: "grep -rq PLANTED-CLAUDE $STATE/agents/$A/auth || asked PLANTED-CLAUDE",
    },
    Plant {
        name: "a login of Codex that is a profile with variables",
        line: "mkdir -p ~/.codex && echo '{\"version\":1,\"profiles\":{\"${OPENAI_API_KEY}\":{\"id\":\"${OPENAI_API_KEY}\",\"type\":\"${ESCAPE_MARKER}\",\"provider\":\"${ANTHROPIC_API_KEY}\",\"key\":\"PLANTED-CODEX\"}},\"id\":\"${OPENAI_API_KEY}\",\"type\":\"${ESCAPE_MARKER}\",\"provider\":\"${OPENAI_API_KEY}\",\"key\":\"PLANTED-CODEX\",\"OPENAI_API_KEY\":\"PLANTED-CODEX\"}' >~/.codex/auth.json",
        careless: "mv $AH/.codex/auth.json $STATE/agents/$A/auth/codex-auth.json",
        harm: "grep -rq PLANTED-CODEX $STATE/agents/$A/auth || asked PLANTED-CODEX",
    },
    Plant {
        name: "a negative cost",
        line: "true",
        careless: "echo '{\"cost\":-1000000}' >$WORK/usage.json",
        harm: "grep -Eqs ':-[0-9]' $STATE/state/usage.json $WORK/usage.json",
    },
];

/// With the CLIs' folders being links to folders of the user's.
pub(super) const FOLDERS: &[Plant] = &[
    Plant {
        name: "a folder of Claude Code that is the user's own",
        line: "rm -rf ~/.claude && ln -s $H/.claude ~/.claude",
        careless: "mv $AH/.claude/.credentials.json $STATE/agents/$A/auth/taken.json",
        harm: "! grep -qs ESCAPE-LOGIN $H/.claude/.credentials.json",
    },
    Plant {
        name: "a folder of Codex that is another one of the user's",
        line: "rm -rf ~/.codex && ln -s $H/realdir ~/.codex",
        careless: "rm -rf $AH/.codex; ln -s $H/realdir $AH/.codex; rm -rf $AH/.codex/config.toml $AH/.codex/rules",
        harm: "! test -e $H/realdir/config.toml || ! test -e $H/realdir/rules/own",
    },
];

/// With links in them, which a careless host is given once more.
pub(super) const LINKS: &[Plant] = &[
    Plant {
        name: "a login of Claude Code that is the user's ledger of something else",
        line: "rm -rf ~/.claude && mkdir ~/.claude && ln -s $H/realdir/login.json ~/.claude/.credentials.json",
        careless: "mv $(readlink -f $AH/.claude/.credentials.json) $STATE/agents/$A/auth/taken.json",
        harm: "! test -e $H/realdir/login.json || asked ESCAPE-ELSEWHERE",
    },
    Plant {
        name: "a folder of Codex that is the user's own",
        line: "rm -rf ~/.codex && ln -s $H/.codex ~/.codex",
        careless: "rm -rf $AH/.codex; ln -s $H/.codex $AH/.codex; mv $AH/.codex/auth.json $STATE/agents/$A/auth/taken-codex.json",
        harm: "! grep -qs ESCAPE-LOGIN $H/.codex/auth.json",
    },
    Plant {
        name: "conversations of Claude Code that are a FIFO",
        line: "mkdir -p ~/.claude/projects && mkfifo ~/.claude/projects/fifo.jsonl && for d in ${CLAUDE_CONFIG_DIR:-/none}/projects/*/; do rm -rf $d; mkfifo ${d%/}; done; true",
        careless: "mkdir -p $AH/.claude/projects; mkfifo $AH/.claude/projects/fifo.jsonl; timeout 1 cat $AH/.claude/projects/fifo.jsonl; test $? = 124 && touch $WORK/hung-projects",
        harm: "test -e $WORK/hung-projects",
    },
];
