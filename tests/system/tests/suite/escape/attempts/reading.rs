//! Reading what is not the agent's.

use crate::escape::attempt::Gap::{Granted, Names, Network};
use crate::escape::attempt::{Attempt, seen};

pub(super) const ALL: &[Attempt] = &[
    seen(
        "read the gateway token",
        "grep -q ESCAPE-GATEWAY $STATE/openclaw.json",
    ),
    seen(
        "read the runner's environment file",
        "grep -q sk-system $H/.config/openclaw/env",
    ),
    seen(
        "read the auth profiles",
        "grep -rq ESCAPE-AUTH $STATE/agents/main/agent",
    ),
    seen(
        "read another session's transcript",
        "grep -rq ESCAPE-TRANSCRIPT $STATE/agents/main/sessions",
    ),
    seen("read ~/.ssh", "grep -q ESCAPE-SSH $H/.ssh/id_ed25519"),
    seen(
        "read the login of Claude Code",
        "grep -q ESCAPE-LOGIN $H/.claude/.credentials.json",
    ),
    seen(
        "read the login of Codex",
        "grep -q ESCAPE-LOGIN $H/.codex/auth.json",
    ),
    seen(
        "read another program's token",
        "grep -q ESCAPE-TOKEN $H/.config/gh/hosts.yml",
    ),
    seen(
        "read the shell's history",
        "grep -q ESCAPE-HISTORY $H/.bash_history",
    ),
    seen(
        "read another agent's workspace",
        "grep -q ESCAPE-OTHER $STATE/other/notes",
    ),
    seen(
        "read another agent's home",
        "grep -q ESCAPE-HOME $STATE/agents/main/home/notes",
    ),
    seen(
        "read what is kept of its own credentials",
        "grep -q kept $STATE/agents/$A/auth/kept.txt",
    ),
    seen("list the home", "ls $H/.ssh"),
    seen("look at a file's size", "stat $H/.ssh/id_ed25519").but(&[Names]),
    seen("read where a link leads", "readlink $H/pointer").but(&[Names]),
    seen(
        "read a file's attribute",
        "sys 191 $H/.ssh/id_ed25519 user.escape 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx' 32",
    )
    .but(&[Names]),
    seen(
        "watch the home for changes",
        "perl -e '$i = syscall(253); $p = \"$ENV{H}/.ssh\"; exit(syscall(254, $i, $p, 0x100) < 0)'",
    )
    .but(&[Names]),
    seen(
        "lock a file of the user's",
        "flock -n $H/victims/$A/locked true",
    ),
    seen(
        "read the run ledger",
        "head -c 16 $STATE/state/ledger.sqlite | grep -q SQLite",
    ),
    seen("list the spools of turns", "ls $STATE/state/turns/*.events"),
    seen(
        "read the spools of turns",
        "cat $STATE/state/turns/*.events | grep -q .",
    ),
    seen("list the runtime folder", "ls $S/gateway.sock").but(&[Names]),
    seen("list the state directory", "ls $STATE/agents"),
    seen("read the journal", "journalctl -q -n 1 | grep -q ."),
    seen(
        "read through a link in the workspace",
        "ln -sfn $H/.ssh l1 && grep -q ESCAPE-SSH l1/id_ed25519",
    ),
    seen("read through ..", "grep -q ESCAPE-SSH $UP/.ssh/id_ed25519"),
    seen(
        "read with openat2",
        "perl -e '$p = \"$ENV{H}/.ssh/id_ed25519\"; $h = pack(\"Q3\", 0, 0, 0); $f = syscall(437, -100, $p, $h, 24); $f >= 0 or exit 1; open(F, \"<&=\", $f); exit !(<F> =~ /ESCAPE-SSH/)'",
    ),
    seen(
        "reopen a path descriptor",
        "perl -e '$p = \"$ENV{H}/.ssh/id_ed25519\"; $f = syscall(257, -100, $p, 0x200000, 0); $f >= 0 or exit 1; open(F, \"<\", \"/proc/self/fd/$f\") or exit 1; exit !(<F> =~ /ESCAPE-SSH/)'",
    ),
    seen(
        "read through a hard link",
        "ln -f $H/.ssh/id_ed25519 l9 && grep -q ESCAPE-SSH l9",
    ),
    seen(
        "copy between descriptors",
        "dd if=$H/.ssh/id_ed25519 status=none | grep -q ESCAPE-SSH",
    ),
    seen(
        "run a program of the user's",
        "test \"$($H/private-bin/tool)\" = ESCAPE-TOOL",
    ),
    seen(
        "read through another process's root",
        "cat /proc/[0-9]*/root$H/.ssh/id_ed25519 | grep -q ESCAPE-SSH",
    ),
    seen(
        "read through another process's folder",
        "grep -q ESCAPE-SSH /proc/$WITNESS/cwd/.ssh/id_ed25519",
    ),
    seen(
        "read a file that another process has open",
        "grep -q ESCAPE-SSH /proc/$WITNESS/fd/0",
    ),
    seen(
        "read another process's mappings",
        "grep -q . /proc/$WITNESS/maps",
    ),
    seen(
        "read another process's mounts",
        "grep -q . /proc/$WITNESS/mountinfo",
    )
    .but(&[Names]),
    seen(
        "find the key in files",
        "grep -rqs sk-system-t $STATE $H/.config",
    ),
    seen(
        "find the key in environments",
        "cat /proc/[0-9]*/environ | grep -aq \"${KEY}test\"",
    ),
    seen("find the key in another process's memory", "memory $RUNNER"),
    seen(
        "read another process's arguments",
        "grep -q openclaw-gateway /proc/$GATEWAY/cmdline",
    )
    .but(&[Names]),
    seen(
        "see the machine's sockets",
        "grep -q gateway.sock /proc/net/unix",
    )
    .but(&[Names, Network]),
    // What a server of tools must not have of its agent.
    seen(
        "read the agent's workspace",
        "grep -q ESCAPE-WORKSPACE $WORK/notes",
    )
    .but(&[Granted]),
    seen("read the agent's home", "ls $STATE/agents/$A/home").but(&[Granted]),
    seen("read the turn's folder", "ls $STATE/agents/$A/tmp/*/").but(&[Granted]),
];
