/* Tries to get to a port, one way a line of the table below. "connect ALL PORT OWN" prints what each
 * way came to: "NAME reached" or "NAME ERROR". OWN is another address of this machine, or "-". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int port;

static struct sockaddr_in ipv4(const char *host)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

static struct sockaddr_in6 ipv6(const char *host)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    inet_pton(AF_INET6, host, &address.sin6_addr);
    return address;
}

/* What connect(2) came to, waited for where it is under way. */
static const char *connected(int fd, const void *address, socklen_t length)
{
    if (connect(fd, address, length) == 0)
        return "reached";
    if (errno != EINPROGRESS)
        return strerrorname_np(errno);
    struct pollfd watched = {.fd = fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    poll(&watched, 1, 10000);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error == 0 && (watched.revents & POLLOUT) ? "reached later" : strerrorname_np(error);
}

static void tell(const char *name, const char *what) { printf("%s %s\n", name, what); }

static void by_ipv4(const char *name, const char *host, int flags)
{
    int fd = socket(AF_INET, SOCK_STREAM | flags, 0);
    struct sockaddr_in address = ipv4(host);
    tell(name, fd < 0 ? strerrorname_np(errno) : connected(fd, &address, sizeof address));
    close(fd);
}

static void by_ipv6(const char *name, const char *host)
{
    int fd = socket(AF_INET6, SOCK_STREAM, 0);
    struct sockaddr_in6 address = ipv6(host);
    tell(name, fd < 0 ? strerrorname_np(errno) : connected(fd, &address, sizeof address));
    close(fd);
}

static void datagram(void)
{
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in address = ipv4("127.0.0.1");
    if (fd < 0)
        return tell("datagram", strerrorname_np(errno));
    long sent = sendto(fd, "x", 1, 0, (void *)&address, sizeof address);
    tell("datagram", sent == 1 ? "reached" : strerrorname_np(errno));
}

static void fast_open(int by_message)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = ipv4("127.0.0.2");
    struct iovec part = {.iov_base = "x", .iov_len = 1};
    struct msghdr message = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &part, .msg_iovlen = 1};
    long sent = by_message ? sendmsg(fd, &message, MSG_FASTOPEN)
                           : sendto(fd, "x", 1, MSG_FASTOPEN, (void *)&address, sizeof address);
    tell(by_message ? "message-fast-open" : "send-fast-open", sent >= 0 ? "reached" : strerrorname_np(errno));
    close(fd);
}

static void option(const char *name, int level, int option, const void *value, socklen_t length)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int set = setsockopt(fd, level, option, value, length);
    tell(name, set == 0 ? "reached" : strerrorname_np(errno));
    close(fd);
}

/* The address is changed as fast as can be while it is looked at. */
static struct sockaddr_in changing;
static volatile int racing = 1;
static volatile unsigned changes;

#define RACES 1000
#define RACE_SECONDS 20
/* As long for each: of two that are written one right after the other, a processor that is
   interrupted, or asked for them, has practically always written both. */
#define STAYS 50

static void set(const char *host)
{
    struct in_addr address;
    inet_pton(AF_INET, host, &address);
    *(volatile unsigned *)&changing.sin_addr.s_addr = address.s_addr;
    for (volatile int i = 0; i < STAYS; i++)
        ;
    changes++;
}

static void *change(void *unused)
{
    while (racing) {
        set("127.0.0.2");
        set("127.0.0.1");
    }
    return unused;
}

/* A round counts when the address changed meanwhile: on a busy machine the other
   thread may not run for long. */
static void race(void)
{
    pthread_t thread;
    int elsewhere = 0, reached = 0;
    time_t end = time(NULL) + RACE_SECONDS;
    changing = ipv4("127.0.0.1");
    pthread_create(&thread, NULL, change, NULL);
    for (int round = 0; round < RACES && !elsewhere && time(NULL) < end;) {
        unsigned before = changes;
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(fd, (void *)&changing, sizeof changing) == 0) {
            struct sockaddr_in peer;
            socklen_t size = sizeof peer;
            getpeername(fd, (void *)&peer, &size);
            reached++;
            elsewhere += peer.sin_addr.s_addr != htonl(INADDR_LOOPBACK);
        }
        close(fd);
        round += changes != before;
    }
    racing = 0;
    pthread_join(thread, NULL);
    printf("race %s\n", elsewhere ? "elsewhere" : reached ? "door alone" : "nowhere");
}

static void many(void)
{
    /* More at once than the supervisor waits for. */
    int reached = 0;
    for (int child = 0; child < 100; child++)
        if (fork() == 0) {
            int fd = socket(AF_INET, SOCK_STREAM, 0);
            struct sockaddr_in address = ipv4("127.0.0.1");
            _exit(connect(fd, (void *)&address, sizeof address) == 0 ? 0 : 1);
        }
    for (int status; wait(&status) > 0;)
        reached += status == 0;
    printf("many %d\n", reached);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    port = atoi(arguments[1]);
    const char *own = arguments[2];
    by_ipv4("door", "127.0.0.1", 0);
    by_ipv4("door-later", "127.0.0.1", SOCK_NONBLOCK);
    by_ipv6("door-mapped", "::ffff:127.0.0.1");
    by_ipv4("other-loopback", "127.0.0.2", 0);
    by_ipv4("other-loopback-later", "127.0.0.2", SOCK_NONBLOCK);
    by_ipv4("any-address", "0.0.0.0", 0);
    by_ipv4("outside", "192.0.2.1", SOCK_NONBLOCK);
    if (strcmp(own, "-"))
        by_ipv4("own-address", own, 0);
    by_ipv6("ipv6", "::1");
    by_ipv6("other-mapped", "::ffff:127.0.0.2");
    datagram();
    fast_open(0);
    fast_open(1);
    tell("ring", syscall(SYS_io_uring_setup, 1, (char[120]){0}) >= 0 ? "reached" : strerrorname_np(errno));
    /* By way of another host: a loose source route. */
    unsigned char route[] = {131, 7, 4, 192, 0, 2, 1, 0};
    option("source-route", IPPROTO_IP, IP_OPTIONS, route, sizeof route);
    option("interface", SOL_SOCKET, SO_BINDTODEVICE, "lo", 3);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    tell("listen", listen(fd, 1) == 0 ? "reached" : strerrorname_np(errno));
    close(fd);
    /* What is no socket, none at all, and no address. */
    struct sockaddr_in address = ipv4("127.0.0.1");
    int null = open("/dev/null", O_RDONLY);
    tell("file", connected(null, &address, sizeof address));
    close(null);
    tell("no-descriptor", connected(-1, &address, sizeof address));
    fd = socket(AF_INET, SOCK_STREAM, 0);
    tell("no-address", connected(fd, (void *)8, sizeof address));
    tell("short", connected(fd, &address, 4));
    /* Connected, once more, not any more, and again. */
    tell("first", connected(fd, &address, sizeof address));
    tell("second", connected(fd, &address, sizeof address));
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    tell("disconnect", connected(fd, &none, sizeof none));
    struct sockaddr_in other = ipv4("127.0.0.2");
    tell("then-other", connected(fd, &other, sizeof other));
    tell("then-door", connected(fd, &address, sizeof address));
    close(fd);
    /* A pair of Unix sockets is connected, and stays. */
    int pair[2];
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "listener"};
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    tell("unix", connected(pair[0], &path, sizeof path));
    tell("unix-to-door", connected(pair[0], &address, sizeof address));
    race();
    many();
    /* No descriptor of the supervisor's is left here. */
    int left = 0;
    for (int number = 3; number < 1024; number++)
        left += number != fd && number != pair[0] && number != pair[1] && fcntl(number, F_GETFD) >= 0;
    printf("left %d\n", left);
    return 0;
}
