#define _GNU_SOURCE
#include "CCallCounter.h"

#include <stdlib.h>

// glibc says that it is there in its own headers only.
#if defined(__linux__) && defined(__GLIBC__)

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind {
    ALLOCATIONS, ALLOCATED_BYTES, FREES, READS, WRITES, WAITS, WAIT_CHANGES, SYNCS, FILE_BYTES,
    LOCK_WAITS, KIND_COUNT
};

static const char names[KIND_COUNT][CALL_COUNTER_NAME_BYTES] = {
    "allocations", "allocatedBytes", "frees", "reads", "writes", "waits", "waitChanges", "syncs",
    "fileBytes", "lockWaits",
};

enum { LOOP_ROW, OTHER_ROW, ROW_COUNT };

struct header {
    char magic[8];
    uint32_t kind_count, row_count;
    char padding[CALL_COUNTER_HEADER_BYTES - 16];
    char names[KIND_COUNT][CALL_COUNTER_NAME_BYTES];
    uint64_t counts[ROW_COUNT][KIND_COUNT];
};

static struct header *shared;
// Initial-exec: the other models allocate at a thread's first use, inside malloc.
static __thread int is_loop __attribute__((tls_model("initial-exec")));

static inline void add(enum kind kind, uint64_t count) {
    struct header *target = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (target == NULL) return;
    uint64_t *row = target->counts[is_loop ? LOOP_ROW : OTHER_ROW];
    __atomic_fetch_add(&row[kind], count, __ATOMIC_RELAXED);
}

// Before main: calls of earlier constructors are not counted.
__attribute__((constructor)) static void open_counts(void) {
    const char *path = getenv("CALL_COUNTER_FILE");
    if (path == NULL || *path == 0) return;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) return;
    if (ftruncate(fd, sizeof(struct header)) == 0) {
        void *memory = mmap(
            NULL, sizeof(struct header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (memory != MAP_FAILED) {
            struct header *target = memory;
            memcpy(target->magic, "CALLCNT1", 8);
            target->kind_count = KIND_COUNT;
            target->row_count = ROW_COUNT;
            memcpy(target->names, names, sizeof names);
            __atomic_store_n(&shared, target, __ATOMIC_RELEASE);
        }
    }
    close(fd);
}

// MARK: Memory. glibc exports its own allocator under these names, for exactly this purpose: dlsym
// would allocate before there is an allocator.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static inline void allocated(size_t byte_count) {
    add(ALLOCATIONS, 1);
    add(ALLOCATED_BYTES, byte_count);
}

void *malloc(size_t byte_count) {
    allocated(byte_count);
    return __libc_malloc(byte_count);
}

void *calloc(size_t count, size_t byte_count) {
    allocated(count * byte_count);
    return __libc_calloc(count, byte_count);
}

void *realloc(void *memory, size_t byte_count) {
    allocated(byte_count);
    return __libc_realloc(memory, byte_count);
}

void *memalign(size_t alignment, size_t byte_count) {
    allocated(byte_count);
    return __libc_memalign(alignment, byte_count);
}

void *aligned_alloc(size_t alignment, size_t byte_count) { return memalign(alignment, byte_count); }

int posix_memalign(void **result, size_t alignment, size_t byte_count) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *memory = memalign(alignment, byte_count);
    if (memory == NULL) return ENOMEM;
    *result = memory;
    return 0;
}

void free(void *memory) {
    if (memory != NULL) add(FREES, 1);
    __libc_free(memory);
}

// MARK: Sockets and files. The bare system calls: a measured process is not cancelled.

static inline int is_file(int fd) {
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

static inline ssize_t written(int fd, ssize_t result) {
    int error = errno;
    add(WRITES, 1);
    if (result > 0 && is_file(fd)) add(FILE_BYTES, (uint64_t)result);
    errno = error;
    return result;
}

ssize_t read(int fd, void *buffer, size_t byte_count) {
    add(READS, 1);
    return syscall(SYS_read, fd, buffer, byte_count);
}

ssize_t readv(int fd, const struct iovec *parts, int count) {
    add(READS, 1);
    return syscall(SYS_readv, fd, parts, count);
}

ssize_t recv(int fd, void *buffer, size_t byte_count, int flags) {
    add(READS, 1);
    return syscall(SYS_recvfrom, fd, buffer, byte_count, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    add(READS, 1);
    return syscall(SYS_recvmsg, fd, message, flags);
}

ssize_t write(int fd, const void *buffer, size_t byte_count) {
    return written(fd, syscall(SYS_write, fd, buffer, byte_count));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    return written(fd, syscall(SYS_writev, fd, parts, count));
}

ssize_t send(int fd, const void *buffer, size_t byte_count, int flags) {
    return written(fd, syscall(SYS_sendto, fd, buffer, byte_count, flags, NULL, 0));
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return written(fd, syscall(SYS_sendmsg, fd, message, flags));
}

ssize_t pwrite64(int fd, const void *buffer, size_t byte_count, off64_t offset) {
    return written(fd, syscall(SYS_pwrite64, fd, buffer, byte_count, offset));
}

ssize_t pwrite(int fd, const void *buffer, size_t byte_count, off_t offset) {
    return pwrite64(fd, buffer, byte_count, offset);
}

int fsync(int fd) {
    add(SYNCS, 1);
    return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd) {
    add(SYNCS, 1);
    return (int)syscall(SYS_fdatasync, fd);
}

// MARK: Waiting

int epoll_pwait(
    int fd, struct epoll_event *events, int count, int milliseconds, const sigset_t *mask) {
    add(WAITS, 1);
    return (int)syscall(SYS_epoll_pwait, fd, events, count, milliseconds, mask, _NSIG / 8);
}

int epoll_wait(int fd, struct epoll_event *events, int count, int milliseconds) {
    return epoll_pwait(fd, events, count, milliseconds, NULL);
}

int epoll_ctl(int fd, int operation, int target, struct epoll_event *event) {
    add(WAIT_CHANGES, 1);
    return (int)syscall(SYS_epoll_ctl, fd, operation, target, event);
}

/// A lock that somebody else holds is a wait; one that is free is not.
int pthread_mutex_lock(pthread_mutex_t *mutex) {
    static int (*next)(pthread_mutex_t *);
    if (pthread_mutex_trylock(mutex) == 0) return 0;
    add(LOCK_WAITS, 1);
    int (*lock)(pthread_mutex_t *) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    if (lock == NULL) {
        lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
        __atomic_store_n(&next, lock, __ATOMIC_RELAXED);
    }
    return lock(mutex);
}

int pthread_setname_np(pthread_t thread, const char *name) {
    static int (*next)(pthread_t, const char *);
    if (pthread_equal(thread, pthread_self())) is_loop = strncmp(name, "loop ", 5) == 0;
    if (next == NULL) {
        next = (int (*)(pthread_t, const char *))dlsym(RTLD_NEXT, "pthread_setname_np");
    }
    return next(thread, name);
}

#endif
