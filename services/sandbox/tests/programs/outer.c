/* Starts a program as a container does: "outer deny PROGRAM ARGUMENT..." in one whose filter refuses
 * pidfd_getfd(2), "outer busy PROGRAM ARGUMENT..." in one that has a listener for calls already. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    int busy = strcmp(arguments[1], "busy") == 0;
    struct sock_filter denying[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, busy ? -1u : SYS_pidfd_getfd, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = 4, .filter = denying};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    int flags = busy ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
    long listener = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    if (listener < 0)
        return perror("seccomp"), 3;
    /* Whoever holds the listener is no process of the program's, and lasts as long as that. */
    int program_itself = busy ? syscall(SYS_pidfd_open, getpid(), 0) : -1;
    if (busy && fork() == 0) {
        if (fork() != 0)
            _exit(0);
        for (int number = 0; number < 3; number++)
            close(number);
        struct pollfd watched = {.fd = program_itself, .events = POLLIN};
        poll(&watched, 1, -1);
        _exit(0);
    }
    if (busy)
        wait(NULL), close(listener), close(program_itself);
    execv(arguments[2], arguments + 2);
    return perror("execv"), 4;
}
