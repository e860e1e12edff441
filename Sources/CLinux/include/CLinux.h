#ifndef CLINUX_H
#define CLINUX_H

#include <stddef.h>
#include <stdint.h>

// Calls of Linux that Swift's module of the C library does not show, or shows with arguments that
// Swift cannot write (transparent unions, sets of bits behind macros). No header of the system is
// included here: with _GNU_SOURCE their types would be others than those of Swift's own module.
//
// Every function returns a value >= 0, or -errno.

/// What a poller reports of one descriptor.
struct clinux_event {
    /// What the descriptor was added with.
    uint32_t token;
    /// Bits: 1 readable or ended, 2 writable.
    uint32_t ready;
};

/// The most events that one wait reports.
#define CLINUX_EVENT_COUNT_MAX 256

/// A set of descriptors to wait for.
int clinux_poller_create(void);

/// Watches `descriptor` for input, and for room for output when `with_output` is 1.
int clinux_poller_add(int poller, int descriptor, uint32_t token, int with_output);

/// Changes what an added descriptor is watched for.
int clinux_poller_change(int poller, int descriptor, uint32_t token, int with_output);

/// Waits until something is ready or `nanoseconds` are over; < 0 waits for ever. How many events
/// were written; 0 also after a signal.
int clinux_poller_wait(
    int poller, struct clinux_event *events, int event_count, int64_t nanoseconds);

/// A connected, non-blocking stream that delays nothing. `host` is a literal address.
int clinux_connect_ipv4(const char *host, uint16_t port);
int clinux_connect_ipv6(const char *host, uint16_t port);
int clinux_connect_unix(const char *path);

/// A non-blocking socket that listens at a free port of 127.0.0.1.
int clinux_listen_on_loopback(uint16_t *port);

/// The next connection, non-blocking and delaying nothing; -EAGAIN when none waits.
int clinux_accept(int listener);

/// Reads and writes what can be at once; -EAGAIN when that is nothing. 0 read is the end.
int64_t clinux_receive(int descriptor, void *target, size_t byte_count);
int64_t clinux_send(int descriptor, const void *source, size_t byte_count);

void clinux_close(int descriptor);

/// Nanoseconds since an arbitrary start; never goes back.
uint64_t clinux_now(void);

/// Nanoseconds of a processor that the calling thread has used.
uint64_t clinux_thread_time(void);

/// Nanoseconds of a processor that every thread of process `process` has used; 0 = this one.
int64_t clinux_process_time(int process);

/// Lets the calling thread, and what it starts from now on, run on these processors only.
int clinux_pin_thread(const int *processors, size_t count);

/// The processors that the calling thread may run on, ascending; how many were written.
int clinux_thread_processors(int *processors, size_t count_max);

#endif
