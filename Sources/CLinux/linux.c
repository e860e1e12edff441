#define _GNU_SOURCE
#include "CLinux.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static int result_of(int result) { return result < 0 ? -errno : result; }

int clinux_poller_create(void) { return result_of(epoll_create1(EPOLL_CLOEXEC)); }

static int control(int poller, int operation, int descriptor, uint32_t token, int with_output) {
    struct epoll_event event = {.events = EPOLLIN | (with_output ? EPOLLOUT : 0)};
    event.data.u32 = token;
    return result_of(epoll_ctl(poller, operation, descriptor, &event));
}

int clinux_poller_add(int poller, int descriptor, uint32_t token, int with_output) {
    return control(poller, EPOLL_CTL_ADD, descriptor, token, with_output);
}

int clinux_poller_change(int poller, int descriptor, uint32_t token, int with_output) {
    return control(poller, EPOLL_CTL_MOD, descriptor, token, with_output);
}

// epoll_wait counts milliseconds, which is too coarse for a schedule of microseconds; the call with
// nanoseconds is as old as Linux 5.11, and where it is missing the wait is rounded down: the caller
// polls again.
static int wait_nanoseconds(int poller, struct epoll_event *events, int count, int64_t time) {
#ifdef SYS_epoll_pwait2
    struct timespec limit = {.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
    int result =
        (int)syscall(SYS_epoll_pwait2, poller, events, count, time < 0 ? NULL : &limit, NULL, 0);
    if (result >= 0 || errno != ENOSYS) return result;
#endif
    return epoll_wait(poller, events, count, time < 0 ? -1 : (int)(time / 1000000));
}

int clinux_poller_wait(
    int poller, struct clinux_event *events, int event_count, int64_t nanoseconds) {
    struct epoll_event found[CLINUX_EVENT_COUNT_MAX];
    int count_max = event_count < CLINUX_EVENT_COUNT_MAX ? event_count : CLINUX_EVENT_COUNT_MAX;
    int count = wait_nanoseconds(poller, found, count_max, nanoseconds);
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int index = 0; index < count; index++) {
        uint32_t bits = found[index].events;
        events[index].token = found[index].data.u32;
        events[index].ready = (bits & (EPOLLIN | EPOLLERR | EPOLLHUP) ? 1u : 0u)
            | (bits & EPOLLOUT ? 2u : 0u);
    }
    return count;
}

static int close_with(int descriptor, int error) {
    close(descriptor);
    return -error;
}

// Connects while the socket still blocks: on loopback that takes no time, and a refusal is seen.
static int connected(int family, const struct sockaddr *address, socklen_t byte_count) {
    int descriptor = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    int on = 1;
    // A Unix socket has no such option, and needs none.
    if (family != AF_UNIX) setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct timeval patience = {.tv_sec = 10};
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    int result;
    do {
        result = connect(descriptor, address, byte_count);
    } while (result < 0 && errno == EINTR);
    if (result < 0) return close_with(descriptor, errno);
    return descriptor;
}

int clinux_connect_ipv4(const char *host, uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, host, &address.sin_addr) != 1) return -EINVAL;
    return connected(AF_INET, (const struct sockaddr *)&address, sizeof address);
}

int clinux_connect_ipv6(const char *host, uint16_t port) {
    struct sockaddr_in6 address = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET6, host, &address.sin6_addr) != 1) return -EINVAL;
    return connected(AF_INET6, (const struct sockaddr *)&address, sizeof address);
}

int clinux_connect_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) return -ENAMETOOLONG;
    strcpy(address.sun_path, path);
    return connected(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
}

int clinux_listen_on_loopback(uint16_t *port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0) return -errno;
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t byte_count = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, byte_count) < 0 || listen(listener, 1024) < 0
        || getsockname(listener, (struct sockaddr *)&address, &byte_count) < 0) {
        return close_with(listener, errno);
    }
    *port = ntohs(address.sin_port);
    return listener;
}

int clinux_accept(int listener) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (descriptor < 0) return -errno;
    int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return descriptor;
}

int64_t clinux_receive(int descriptor, void *target, size_t byte_count) {
    ssize_t count;
    do {
        count = recv(descriptor, target, byte_count, MSG_DONTWAIT);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

int64_t clinux_send(int descriptor, const void *source, size_t byte_count) {
    ssize_t count;
    do {
        count = send(descriptor, source, byte_count, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

void clinux_close(int descriptor) { close(descriptor); }

static uint64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t clinux_now(void) { return read_clock(CLOCK_MONOTONIC); }

uint64_t clinux_thread_time(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }

int64_t clinux_process_time(int process) {
    clockid_t clock;
    struct timespec time;
    // The number of a clock has fewer bits than an int: a process that cannot be is found here.
    if (process != 0 && kill(process, 0) < 0 && errno == ESRCH) return -ESRCH;
    int error = clock_getcpuclockid(process, &clock);
    if (error != 0) return -error;
    if (clock_gettime(clock, &time) < 0) return -errno;
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int clinux_pin_thread(const int *processors, size_t count) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (size_t index = 0; index < count; index++) {
        if (processors[index] < 0 || processors[index] >= CPU_SETSIZE) return -EINVAL;
        CPU_SET(processors[index], &set);
    }
    return result_of(sched_setaffinity(0, sizeof set, &set));
}

int clinux_thread_processors(int *processors, size_t count_max) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0) return -errno;
    int count = 0;
    for (int index = 0; index < CPU_SETSIZE && (size_t)count < count_max; index++) {
        if (CPU_ISSET(index, &set)) processors[count++] = index;
    }
    return count;
}
