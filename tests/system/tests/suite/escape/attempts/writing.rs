//! Changing what is not the agent's.

use crate::escape::attempt::Gap::{Attributes, Landlock};
use crate::escape::attempt::{Attempt, left, seen};

pub(super) const ALL: &[Attempt] = &[
    left(
        "write into the home",
        "echo x >$H/escape-plain-$A",
        "test -e $H/escape-plain-$A",
    ),
    left(
        "write through a link",
        "ln -sfn $H l2; echo x >l2/escape-link-$A",
        "test -e $H/escape-link-$A",
    ),
    left(
        "write through a hard link",
        "ln $H/victims/$A/linked l3; echo hard >>l3",
        "grep -q hard $H/victims/$A/linked",
    ),
    left(
        "write through ..",
        "echo x >$UP/escape-dots-$A",
        "test -e $H/escape-dots-$A",
    ),
    left(
        "write through /proc/self/fd",
        "exec 9<.; echo x >/proc/self/fd/9/$UP/escape-fd-$A",
        "test -e $H/escape-fd-$A",
    ),
    left(
        "write through /proc/self/cwd",
        "echo x >/proc/self/cwd/$UP/escape-cwd-$A",
        "test -e $H/escape-cwd-$A",
    ),
    left(
        "write through /proc/self/root",
        "echo x >/proc/self/root$H/escape-own-root-$A",
        "test -e $H/escape-own-root-$A",
    ),
    left(
        "write through another process's root",
        "echo x >/proc/$WITNESS/root$H/escape-root-$A",
        "test -e $H/escape-root-$A",
    ),
    left(
        "write through another process's folder",
        "echo x >/proc/$WITNESS/cwd/escape-folder-$A",
        "test -e $H/escape-folder-$A",
    ),
    left(
        "write through a file that another process has open",
        "echo through >/proc/$WITNESS/fd/9",
        "grep -q through $H/victims/held && : >$H/victims/held",
    ),
    left(
        "rename out of the workspace",
        "echo x >moving; mv moving $H/escape-moved-$A",
        "test -e $H/escape-moved-$A",
    ),
    left(
        "rename into the workspace",
        "mv $H/victims/$A/movable .",
        "! test -e $H/victims/$A/movable",
    ),
    left(
        "exchange two names",
        "echo swapped >swapped; sys 316 -100 swapped -100 $H/victims/$A/exchanged 2",
        "grep -q swapped $H/victims/$A/exchanged",
    ),
    left(
        "link a file without a name into the home",
        "perl -e '$d = \".\"; $f = syscall(257, -100, $d, 020200002, 0600); $f >= 0 or exit 1; $o = \"/proc/self/fd/$f\"; $n = \"$ENV{H}/escape-tmpfile-$ENV{A}\"; syscall(265, -100, $o, -100, $n, 0x400)'; ln swapped $H/escape-tmpfile-$A",
        "test -e $H/escape-tmpfile-$A",
    ),
    left(
        "open for writing with openat2",
        "perl -e '$p = \"$ENV{H}/escape-openat2-$ENV{A}\"; $h = pack(\"Q3\", 0101, 0600, 0); syscall(437, -100, $p, $h, 24)'",
        "test -e $H/escape-openat2-$A",
    ),
    left(
        "empty a file",
        "perl -e 'truncate(shift, 0)' $H/victims/$A/truncatable",
        "! test -s $H/victims/$A/truncatable",
    ),
    left(
        "empty a file while opening it for reading",
        "perl -e '$p = shift; syscall(257, -100, $p, 01000, 0)' $H/victims/$A/emptied",
        "! test -s $H/victims/$A/emptied",
    )
    .but(&[Landlock(2)]),
    left(
        "remove a file",
        "rm -f $H/victims/$A/removable",
        "! test -e $H/victims/$A/removable",
    ),
    left(
        "remove a folder",
        "rmdir $H/victims/$A/folder",
        "! test -e $H/victims/$A/folder",
    ),
    left(
        "change a file's mode",
        "chmod 777 $H/victims/$A/plain",
        "test \"$(stat -c %a $H/victims/$A/plain)\" = 777",
    )
    .but(&[Attributes]),
    left(
        "change a file's times",
        "touch -d @12345 $H/victims/$A/timed",
        "test \"$(stat -c %Y $H/victims/$A/timed)\" = 12345",
    )
    .but(&[Attributes]),
    left(
        "change a file's attributes",
        "sys 188 $H/victims/$A/plain user.changed yes 3 0",
        "sys 191 $H/victims/$A/plain user.changed xxxxxxxx 8",
    )
    .but(&[Attributes]),
    left(
        "make a FIFO in the home",
        "mkfifo $H/escape-fifo-$A",
        "test -p $H/escape-fifo-$A",
    ),
    left(
        "make a link in the home",
        "ln -s /etc $H/escape-symlink-$A",
        "test -L $H/escape-symlink-$A",
    ),
    left(
        "make a folder in the home",
        "mkdir $H/escape-mkdir-$A",
        "test -d $H/escape-mkdir-$A",
    ),
    left(
        "change the login shell's start",
        "echo \"# escape $A\" >>$H/.bashrc",
        "grep -q \"# escape $A\" $H/.bashrc",
    ),
    left(
        "let another key in",
        "echo \"escape $A\" >>$H/.ssh/authorized_keys",
        "grep -q \"escape $A\" $H/.ssh/authorized_keys",
    ),
    left(
        "change git's configuration",
        "echo \"# escape $A\" >>$H/.gitconfig",
        "grep -q \"# escape $A\" $H/.gitconfig",
    ),
    left(
        "change npm's configuration",
        "echo \"# escape $A\" >>$H/.npmrc",
        "grep -q \"# escape $A\" $H/.npmrc",
    ),
    left(
        "change what the shell's keys do",
        "echo \"# escape $A\" >>$H/.inputrc",
        "grep -q \"# escape $A\" $H/.inputrc",
    ),
    left(
        "change the user's own Claude Code",
        "echo '{}' >$H/.claude/escape-$A.json",
        "test -e $H/.claude/escape-$A.json",
    ),
    left(
        "change the user's own Codex",
        "echo x >$H/.codex/escape-$A.toml",
        "test -e $H/.codex/escape-$A.toml",
    ),
    left(
        "install a user unit",
        "mkdir -p $H/.config/systemd/user; echo x >$H/.config/systemd/user/escape-$A.service",
        "test -e $H/.config/systemd/user/escape-$A.service",
    ),
    left(
        "be started with the desktop",
        "mkdir -p $H/.config/autostart; echo x >$H/.config/autostart/escape-$A.desktop",
        "test -e $H/.config/autostart/escape-$A.desktop",
    ),
    left(
        "replace a program of the suite",
        "mkdir -p $H/.local/bin; echo x >>$H/.local/bin/escape-program-$A",
        "test -e $H/.local/bin/escape-program-$A",
    ),
    left(
        "change the configuration",
        "touch $STATE/escape-configuration-$A",
        "test -e $STATE/escape-configuration-$A",
    ),
    left(
        "change another agent's workspace",
        "echo x >$STATE/other/escape-$A",
        "test -e $STATE/other/escape-$A",
    ),
    left(
        "change another agent's home",
        "echo x >$STATE/agents/main/home/escape-$A",
        "test -e $STATE/agents/main/home/escape-$A",
    ),
    left(
        "add credentials of its own",
        "echo '{}' >$STATE/agents/$A/auth/escape.json",
        "test -e $STATE/agents/$A/auth/escape.json",
    ),
    left(
        "decide a question itself",
        "echo '{}' >$STATE/state/turns/escape-$A.decisions",
        "test -e $STATE/state/turns/escape-$A.decisions",
    ),
    left(
        "steer a turn",
        "echo '{}' >$STATE/state/turns/escape-$A.steering",
        "test -e $STATE/state/turns/escape-$A.steering",
    ),
    left(
        "write history",
        "echo '{}' >$STATE/agents/main/sessions/escape-$A.jsonl",
        "test -e $STATE/agents/main/sessions/escape-$A.jsonl",
    ),
    left(
        "leave something in the runtime folder",
        "echo x >$S/escape-$A",
        "test -e $S/escape-$A",
    ),
    left(
        "leave something in /tmp",
        "echo x >/tmp/escape-tmp-$PORT",
        "test -e /tmp/escape-tmp-$PORT",
    ),
    left(
        "leave something in /var/tmp",
        "echo x >/var/tmp/escape-var-$PORT",
        "test -e /var/tmp/escape-var-$PORT",
    ),
    left(
        "leave something in shared memory",
        "echo x >/dev/shm/escape-shm-$PORT",
        "test -e /dev/shm/escape-shm-$PORT",
    ),
    left(
        "write on another terminal",
        "printf 'typed on %s\\n' $A >/dev/pts/$PTS",
        "grep -q \"typed on $A\\b\" $H/victims/terminal",
    ),
    seen(
        "write kernel settings",
        "v=$(cat /proc/sys/net/ipv4/ip_forward) && { echo $v >/proc/sys/net/ipv4/ip_forward || unshare -Urn sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'; }",
    ),
];
