#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>
#ifdef __linux__
#include <sys/eventfd.h>
#include <sys/syscall.h>
#endif

// What Swift cannot import: calls whose arguments are a transparent union in glibc (bind, connect,
// getsockname), calls that differ between Linux and Darwin, and calls that report by errno.
// Every function returns a value >= 0, or a libuv error code (< 0).

static inline int cuv_result(int result) { return result < 0 ? -errno : result; }

/// A non-blocking stream socket that no child process inherits.
static inline int cuv_stream_socket(int family) {
#ifdef SOCK_CLOEXEC
    return cuv_result(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
#else
    int fd = socket(family, SOCK_STREAM, 0);
    if (fd < 0) return -errno;
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0) {
        int error = errno;
        close(fd);
        return -error;
    }
    return fd;
#endif
}

/// Sets SO_REUSEADDR and, when asked, SO_REUSEPORT.
static inline int cuv_allow_reuse(int fd, int port_too) {
    int on = 1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0) return -errno;
    if (!port_too) return 0;
    return cuv_result(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on));
}

/// An IPv6 socket that leaves the IPv4 port of the same number alone.
static inline int cuv_only_ipv6(int fd) {
    int on = 1;
    return cuv_result(setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on));
}

static inline int cuv_bind_ipv4(int fd, const struct sockaddr_in *address) {
    return cuv_result(bind(fd, (const struct sockaddr *)address, sizeof *address));
}

static inline int cuv_bind_ipv6(int fd, const struct sockaddr_in6 *address) {
    return cuv_result(bind(fd, (const struct sockaddr *)address, sizeof *address));
}

/// Fills `address`; refuses a path that the kernel would cut.
static inline int cuv_unix_address(
    const char *path, size_t byte_count, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (byte_count == 0) return -EINVAL;
    if (byte_count >= sizeof address->sun_path) return -ENAMETOOLONG;
    memcpy(address->sun_path, path, byte_count);
    return 0;
}

static inline int cuv_bind_unix(int fd, const char *path, size_t byte_count) {
    struct sockaddr_un address;
    int result = cuv_unix_address(path, byte_count, &address);
    if (result < 0) return result;
    return cuv_result(bind(fd, (const struct sockaddr *)&address, sizeof address));
}

/// 0 when somebody listens at `path`, -ECONNREFUSED when only a stale file is there.
static inline int cuv_probe_unix(const char *path, size_t byte_count) {
    struct sockaddr_un address;
    int result = cuv_unix_address(path, byte_count, &address);
    if (result < 0) return result;
    int fd = cuv_stream_socket(AF_UNIX);
    if (fd < 0) return fd;
    result = cuv_result(connect(fd, (const struct sockaddr *)&address, sizeof address));
    close(fd);
    // A full backlog means that the socket has an owner.
    return result == -EAGAIN || result == -EINPROGRESS ? 0 : result;
}

static inline int cuv_listen(int fd, int backlog) { return cuv_result(listen(fd, backlog)); }

/// The port that the kernel gave, in host byte order.
static inline int cuv_bound_port(int fd) {
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0) return -errno;
    if (address.ss_family == AF_INET) return ntohs(((struct sockaddr_in *)&address)->sin_port);
    if (address.ss_family == AF_INET6) return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
    return -EAFNOSUPPORT;
}

/// Where a TCP connection came from: its text (at least INET6_ADDRSTRLEN bytes) and the part of it
/// that one host or one home has, as 16 bytes: an IPv4 address whole and mapped, of IPv6 the first
/// 64 bits.
static inline int cuv_peer(const uv_tcp_t *connection, char *text, unsigned char network[16]) {
    struct sockaddr_storage address;
    int length = sizeof address;
    int result = uv_tcp_getpeername(connection, (struct sockaddr *)&address, &length);
    if (result < 0) return result;
    memset(network, 0, 16);
    if (address.ss_family == AF_INET) {
        const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)&address;
        network[10] = network[11] = 0xFF;
        memcpy(network + 12, &ipv4->sin_addr, 4);
        return uv_ip4_name(ipv4, text, INET6_ADDRSTRLEN);
    }
    if (address.ss_family != AF_INET6) return UV_EAFNOSUPPORT;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)&address;
    memcpy(network, &ipv6->sin6_addr, IN6_IS_ADDR_V4MAPPED(&ipv6->sin6_addr) ? 16 : 8);
    return uv_ip6_name(ipv6, text, INET6_ADDRSTRLEN);
}

static inline int cuv_duplicate(int fd) { return cuv_result(fcntl(fd, F_DUPFD_CLOEXEC, 3)); }

static inline void cuv_close(int fd) { close(fd); }

/// 1 when `path` names a socket (device and inode are then set), 0 when it names something else.
static inline int cuv_socket_file(
    const char *path, unsigned long long *device, unsigned long long *inode) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    *device = (unsigned long long)status.st_dev;
    *inode = (unsigned long long)status.st_ino;
    return S_ISSOCK(status.st_mode) ? 1 : 0;
}

static inline int cuv_unlink(const char *path) { return cuv_result(unlink(path)); }

static inline void cuv_name_thread(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    // Behind _GNU_SOURCE in glibc's header; defining that here would make this module's fd_set
    // another type than the one of Swift's Glibc module.
    extern int pthread_setname_np(pthread_t, const char *);
    pthread_setname_np(pthread_self(), name);
#endif
}

/// Ignores SIGPIPE unless the process has chosen something else already.
static inline void cuv_ignore_broken_pipes(void) {
    struct sigaction current;
    if (sigaction(SIGPIPE, NULL, &current) == 0 && !(current.sa_flags & SA_SIGINFO)
        && current.sa_handler == SIG_DFL) {
        signal(SIGPIPE, SIG_IGN);
    }
}

/// Makes the next close of a TCP stream send a reset and drop what is queued.
static inline void cuv_linger_nothing(uv_stream_t *stream) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    uv_os_fd_t fd;
    if (uv_fileno((const uv_handle_t *)stream, &fd) == 0) {
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
    }
}

/// After an end of stream: 0 when it is one, an error code when the peer has in truth reset the
/// connection. libuv 1.44 reports an end for a reset that arrives together with data.
static inline int cuv_end_of_stream(uv_stream_t *stream) {
    uv_os_fd_t fd;
    char byte;
    int result = uv_fileno((const uv_handle_t *)stream, &fd);
    if (result < 0) return result;
    result = cuv_result((int)recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT));
    return result == -EAGAIN || result > 0 ? 0 : result;
}

/// Raises the limit of open descriptors towards `wanted`, never lowers it; returns what holds then.
static inline long long cuv_raise_descriptor_limit(unsigned long long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
    if (limit.rlim_cur < wanted) {
        rlim_t before = limit.rlim_cur;
        limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : (rlim_t)wanted;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) limit.rlim_cur = before;
    }
    return limit.rlim_cur > 1LL << 40 ? 1LL << 40 : (long long)limit.rlim_cur;
}

/// What wakes a loop: ends[0] is polled and emptied, ends[1] is written to; on Linux they are one.
static inline int cuv_wakeup_open(int ends[2]) {
#ifdef __linux__
    ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ends[0] < 0 ? -errno : 0;
#else
    if (pipe(ends) < 0) return -errno;
    for (int index = 0; index < 2; index++) {
        (void)fcntl(ends[index], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[index], F_SETFL, O_NONBLOCK);
    }
    return 0;
#endif
}

/// Makes ends[0] readable. Where nothing more fits, it is.
static inline void cuv_wakeup_send(int fd) {
    uint64_t one = 1;
    while (write(fd, &one, sizeof one) < 0 && errno == EINTR) {}
}

/// Makes ends[0] unreadable until the next send.
static inline void cuv_wakeup_empty(int fd) {
#ifdef __linux__
    uint64_t count;
    (void)!read(fd, &count, sizeof count);
#else
    char bytes[1024];
    while (read(fd, bytes, sizeof bytes) > 0) {}
#endif
}

static inline void cuv_wakeup_close(const int ends[2]) {
    close(ends[0]);
    if (ends[1] != ends[0]) close(ends[1]);
}

/// Lets another thread run that is ready on this core; comes back at once when there is none.
static inline void cuv_yield(void) { (void)sched_yield(); }

/// Lets other threads go first when cores are short: 19 = all of them. Linux only: elsewhere it
/// would be the process.
static inline void cuv_set_thread_niceness(int niceness) {
#ifdef __linux__
    // Who 0 is the calling thread on Linux. A failure costs fairness and nothing else.
    (void)setpriority(PRIO_PROCESS, 0, niceness);
#endif
}

#if defined(__linux__) && defined(SYS_sched_setattr)
/// As the kernel defines it in its first version; Debian 12's libc does not.
struct cuv_thread_attributes {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime;
    uint64_t deadline;
    uint64_t period;
};
#endif

/// How long the calling thread runs when others are waiting, in microseconds; 0 = not known.
static inline uint64_t cuv_thread_slice(void) {
#if defined(__linux__) && defined(SYS_sched_setattr)
    struct cuv_thread_attributes attributes;
    memset(&attributes, 0, sizeof attributes);
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) < 0) return 0;
    return attributes.policy == SCHED_OTHER ? attributes.runtime / 1000 : 0;
#else
    return 0;
#endif
}

/// Asks for turns of so many microseconds, and in return for one at once after waking. Takes no
/// privilege and changes no share of the processor. Linux since 6.12; nothing happens elsewhere,
/// nor where somebody chose another policy for the process.
static inline void cuv_set_thread_slice(uint64_t microseconds) {
#if defined(__linux__) && defined(SYS_sched_setattr)
    struct cuv_thread_attributes attributes;
    memset(&attributes, 0, sizeof attributes);
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) < 0) return;
    if (attributes.policy != SCHED_OTHER) return;
    attributes.size = sizeof attributes;
    attributes.runtime = microseconds * 1000;
    (void)syscall(SYS_sched_setattr, 0, &attributes, 0);
#else
    (void)microseconds;
#endif
}
