"""Tries from inside of a unit what its directives forbid: a line `DIRECTIVE held|open` for each.

Arguments: what the same place is outside, as NAME=VALUE.
"""

import ctypes
import errno
import mmap
import os
import signal
import socket
import stat
import sys
import tempfile

outside = dict(word.split("=", 1) for word in sys.argv[1:])
libc = ctypes.CDLL(None, use_errno=True)


def status(field):
    with open("/proc/self/status") as lines:
        return next(line.split()[1] for line in lines if line.startswith(field + ":"))


def refused(call, *numbers):
    """Whether it fails with one of these."""
    try:
        call()
    except OSError as error:
        return error.errno in numbers
    return False


def libc_refused(name, *arguments):
    ctypes.set_errno(0)
    done = getattr(libc, name)(*arguments)
    return done == -1 and ctypes.get_errno() == errno.EPERM


def is_read_only(path):
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)


def namespace(kind):
    return os.readlink("/proc/self/ns/" + kind) != outside[kind]


def in_fork(attempt):
    """Whether it is refused; in a process of its own, which it changes."""
    child = os.fork()
    if child == 0:
        os._exit(0 if attempt() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def set_group_id():
    with tempfile.NamedTemporaryFile() as file:
        return refused(lambda: os.chmod(file.name, 0o2755), errno.EPERM)


def chown():
    with tempfile.NamedTemporaryFile() as file:
        return refused(lambda: os.chown(file.name, os.getuid(), os.getgid()), errno.EPERM)


def other_table():
    """Whether a call of another architecture's table (x32) ends the process."""
    child = os.fork()
    if child == 0:
        libc.syscall(X32 | GETPID)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGSYS


def realtime():
    return in_fork(lambda: refused(lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1)), errno.EPERM))


def address():
    """Whether nothing gets to an address of this machine that is not its loopback's."""
    def attempt():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(b"x", (outside["address"], 9))
    return refused(attempt, errno.EPERM, errno.EAFNOSUPPORT)


def mode_of_new():
    path = os.path.join(tempfile.mkdtemp(), "new")
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
    return os.stat(path).st_mode & 0o7 == 0


def executable_memory():
    def attempt():
        mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    return refused(attempt, errno.EPERM, errno.EACCES)


def family(number, kind=socket.SOCK_STREAM):
    return refused(lambda: socket.socket(number, kind), errno.EAFNOSUPPORT)


CLONE_NEWUSER = 0x10000000
PER_LINUX32 = 0x0008
X32 = 0x40000000
GETPID = 39
checks = {
    "NoNewPrivileges": lambda: status("NoNewPrivs") == "1",
    "CapabilityBoundingSet": lambda: int(status("CapBnd"), 16) == int(outside["capabilities"], 16),
    "CapabilityEffective": lambda: int(status("CapEff"), 16) == int(outside["capabilities"], 16),
    "SystemCallFilter": lambda: status("Seccomp") == "2",
    "SystemCallFilter=~@chown": chown,
    "SystemCallFilter=~@resources": lambda: in_fork(lambda: libc_refused("setpriority", 0, 0, 1)),
    "LockPersonality": lambda: in_fork(lambda: libc_refused("personality", PER_LINUX32)),
    "MemoryDenyWriteExecute": executable_memory,
    "RestrictNamespaces": lambda: in_fork(lambda: libc_refused("unshare", CLONE_NEWUSER)),
    "RestrictRealtime": realtime,
    "RestrictSUIDSGID": set_group_id,
    "SystemCallArchitectures": other_table,
    "IPAddressDeny": address,
    "RestrictAddressFamilies=AF_PACKET": lambda: family(socket.AF_PACKET, socket.SOCK_DGRAM),
    "RestrictAddressFamilies=AF_VSOCK": lambda: family(socket.AF_VSOCK),
    "RestrictAddressFamilies=AF_INET": lambda: family(socket.AF_INET),
    "ProtectSystem": lambda: all(is_read_only(path) for path in ("/", "/usr", "/etc", "/var")),
    "ProtectHome": lambda: refused(lambda: os.listdir("/home"), errno.EACCES) or not os.listdir("/home"),
    "PrivateTmp": lambda: not os.path.exists("/tmp/marker-of-the-machine"),
    "PrivateDevices": lambda: str(os.stat("/dev").st_dev) != outside["dev"],
    "ProtectHostname": lambda: namespace("uts"),
    "PrivateNetwork": lambda: namespace("net"),
    "PrivateMounts": lambda: namespace("mnt"),
    "ProtectControlGroups": lambda: is_read_only("/sys/fs/cgroup"),
    "ProtectKernelTunables": lambda: all(is_read_only(path) for path in ("/sys", "/proc/sys") if os.path.exists(path)),
    "ProtectKernelModules": lambda: refused(lambda: os.listdir("/usr/lib/modules"), errno.EACCES, errno.ENOENT),
    "ProtectKernelLogs": lambda: not os.access("/dev/kmsg", os.R_OK),
    "ProtectProc": lambda: not os.path.exists("/proc/1"),
    "ProcSubset": lambda: not os.path.exists("/proc/meminfo"),
    "UMask": mode_of_new,
    "InaccessiblePaths=/run/dbus": lambda: refused(lambda: os.listdir("/run/dbus"), errno.EACCES),
    "InaccessiblePaths=/run/systemd/private": lambda: stat.S_IMODE(os.stat("/run/systemd/private").st_mode) == 0,
}
for name, check in checks.items():
    try:
        held = check()
    except Exception as error:  # What cannot be tried has not held.
        print(f"{name} open ({error!r})")
        continue
    print(name, "held" if held else "open")
