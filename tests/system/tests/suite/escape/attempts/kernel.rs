//! Parts of the kernel that no agent needs. `answers` succeeds when the kernel itself answers a call, whatever it says
//! but that it may not; the arguments are such that nothing happens.

use crate::escape::attempt::{Attempt, seen};

pub(super) const ALL: &[Attempt] = &[
    // Namespaces.
    seen("make a user namespace", "unshare -U true"),
    seen("make a mount namespace", "unshare -Ur -m true"),
    seen("make a network namespace", "unshare -Ur -n true"),
    seen("make a process namespace", "unshare -Ur -p --fork true"),
    seen(
        "clone into a user namespace",
        "perl -e '$p = syscall(56, 0x10000011, 0, 0, 0, 0); exit 1 if $p < 0; exit 0'",
    ),
    seen(
        "clone3 into a user namespace",
        "perl -e '$a = pack(\"Q11\", 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0); $p = syscall(435, $a, 88); exit($p < 0)'",
    ),
    seen("clone3", "answers 435 0 0"),
    seen("unshare", "answers 272 1"),
    seen("join a namespace", "answers 308 -1 0"),
    // Mounts.
    seen("mount", "unshare -Ur -m mount -t tmpfs none /mnt"),
    seen("change the root", "unshare -r chroot / true"),
    seen("ask for a root", "answers 161 /nonexistent"),
    seen("ask for a mount", "answers 165 none /nonexistent none 0 0"),
    seen("ask for an unmount", "answers 166 / 65536"),
    seen("take a mount as a descriptor", "sys 428 -100 /etc 0"),
    seen(
        "clone a mount",
        "unshare -Ur -m perl -e '$p = \"/etc\"; exit(syscall(428, -100, $p, 1) < 0)'",
    ),
    seen(
        "move a mount",
        "unshare -Ur -m perl -e '($p, $e, $t) = (\"/etc\", \"\", \"/mnt\"); $f = syscall(428, -100, $p, 1); exit($f < 0 || syscall(429, $f, $e, -100, $t, 4) < 0)'",
    ),
    seen(
        "take a mount with other attributes",
        "perl -e '$p = \"/etc\"; exit(syscall(467, -100, $p, 0, 0, 0) < 0)'",
    ),
    seen("change a mount's attributes", "answers 442 -100 / 0 0 0"),
    seen(
        "open a file system",
        "unshare -Ur -m perl -e '$n = \"tmpfs\"; exit(syscall(430, $n, 0) < 0)'",
    ),
    seen("configure a file system", "answers 431 -1 0 0 0 0"),
    seen("ask for quotas", "answers 179 255 0 0 0"),
    seen("ask for quotas by descriptor", "answers 443 -1 0 0 0"),
    seen("open by handle", "answers 304 -100 1 0"),
    // The machine.
    seen("set the clock", "answers 164 1 0"),
    seen("set another clock", "answers 227 99 0"),
    seen("adjust the clock", "answers 159 1"),
    seen("adjust another clock", "answers 305 99 0"),
    seen("set a terminal's input", "type-ahead"),
    seen("paste on the console", "answers 16 0 0x541c 0"),
    seen(
        "type ahead where there is no terminal",
        "answers 16 0 0x5412 0",
    ),
    // What the kernel runs for others.
    seen("load a program into the kernel", "answers 321 9999 0 0"),
    seen("measure others", "answers 298 0 0 -1 -1 0xffff"),
    seen("handle page faults", "sys 323 1"),
    seen("watch a file system", "sys 300 0x200 0"),
    seen(
        "use io_uring",
        "perl -e '$p = \"\\0\" x 256; exit(syscall(425, 4, $p) < 0)'",
    ),
    seen("enter io_uring", "answers 426 -1 0 0 0 0 0"),
    seen("register with io_uring", "answers 427 -1 0 0 0"),
    // Keys.
    seen("find a keyring", "sys 250 0 -3 0 0 0"),
    seen(
        "add a key",
        "perl -e '($t, $d, $p) = (\"user\", \"escape\", \"x\"); exit(syscall(248, $t, $d, $p, 1, -3) < 0)'",
    ),
    seen("ask for a key", "answers 249 1 1 0 0"),
    // Other processes' memory.
    seen("advise another process", "answers 440 -1 0 0 0 0"),
    seen("read another process", "answers 310 1 0 0 0 0 1"),
    seen("write into another process", "answers 311 1 0 0 0 0 1"),
    seen("take a descriptor", "answers 438 -1 0 0"),
    // Other tables of calls.
    seen("call through int 0x80", "int80"),
    seen("call through the x32 table", "answers 0x40000027"),
    seen(
        "make a namespace through the x32 table",
        "answers 0x40000110 1",
    ),
    // The processor.
    seen("reach ports", "answers 172 9").where_it_is(),
    seen("reach some ports", "answers 173 -1 1 1").where_it_is(),
    seen("change descriptor tables", "sys 154 0 0 0"),
    seen("make memory predictable", "sys 135 0x40000"),
    // Rights.
    // Only root can read how old the password may get.
    seen("run a setuid program", "passwd -S | grep -q 99999"),
    seen(
        "be free to gain privileges",
        "grep -q 'NoNewPrivs:.0' /proc/self/status",
    ),
    seen("have no filter", "grep -q 'Seccomp:.0' /proc/self/status"),
];
