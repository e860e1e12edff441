// A bare echo: the least that a server of one thread on epoll can do for the frames of entitled.
//
//   echo PORT ANSWER_BYTE_COUNT
//
// Reads frames (a 4-byte big-endian byte count, and as many bytes) and answers each with the same
// frame of ANSWER_BYTE_COUNT bytes, count included: no look-up, no decoding, nothing to allocate.
// One read and one write for everything that a client has sent, as entitled does it; so what is
// left between the two is what entitled does with a request. Listens on loopback.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    frame_byte_count_max = 4096,  // of a request; CheckAccess takes about a hundred
    read_byte_count_max = 65536,
    answers_byte_count_max = 1 << 20,
    event_count_max = 256,
};

// A client, and the beginning of a frame whose end has not come yet.
struct client {
    int descriptor;
    size_t kept_byte_count;
    uint8_t kept[frame_byte_count_max];
};

// One thread: one place to read into, and one row of answers to write from.
static uint8_t input[frame_byte_count_max + read_byte_count_max];
static uint8_t answers[answers_byte_count_max];

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static size_t announced_byte_count(const uint8_t *frame) {
    return (size_t)frame[0] << 24 | (size_t)frame[1] << 16 | (size_t)frame[2] << 8 | frame[3];
}

// The answer over and over; its filling is what the generator expects to see.
static void prepare_answers(size_t answer_byte_count) {
    memset(answers, 'e', sizeof answers);
    uint32_t announced = htonl((uint32_t)answer_byte_count - 4);
    for (size_t at = 0; at + answer_byte_count <= sizeof answers; at += answer_byte_count)
        memcpy(answers + at, &announced, sizeof announced);
}

static int listen_on_loopback(uint16_t port) {
    int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;
    if (descriptor < 0) fail("socket");
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_port = htons(port),
        .sin_addr = {htonl(INADDR_LOOPBACK)},
    };
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) != 0) fail("bind");
    if (listen(descriptor, 1024) != 0) fail("listen");
    return descriptor;
}

static void accept_client(int epoll, int listener) {
    int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
    if (descriptor < 0) return;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL) fail("calloc");
    client->descriptor = descriptor;
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
}

// Writes everything, waiting for a client that does not read; false when it is gone.
static bool write_all(int descriptor, size_t byte_count) {
    for (size_t written = 0; written < byte_count;) {
        ssize_t result =
            send(descriptor, answers + written, byte_count - written, MSG_NOSIGNAL);
        if (result > 0) {
            written += (size_t)result;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = descriptor, .events = POLLOUT};
            poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

// Answers every whole frame of what a client has sent; false when it is to be let go.
static bool serve(struct client *client, size_t answer_byte_count) {
    memcpy(input, client->kept, client->kept_byte_count);
    ssize_t received =
        read(client->descriptor, input + client->kept_byte_count, read_byte_count_max);
    if (received < 0) return errno == EAGAIN || errno == EINTR;
    if (received == 0) return false;

    size_t available = client->kept_byte_count + (size_t)received, at = 0, answer_count = 0;
    while (available - at >= 4) {
        size_t byte_count = announced_byte_count(input + at);
        if (byte_count > frame_byte_count_max - 4) return false;
        if (available - at - 4 < byte_count) break;
        at += 4 + byte_count;
        answer_count += 1;
    }
    client->kept_byte_count = available - at;
    memcpy(client->kept, input + at, client->kept_byte_count);

    size_t row_count = answers_byte_count_max / answer_byte_count;
    while (answer_count > 0) {
        size_t count = answer_count < row_count ? answer_count : row_count;
        if (!write_all(client->descriptor, count * answer_byte_count)) return false;
        answer_count -= count;
    }
    return true;
}

int main(int argument_count, char **arguments) {
    long port = argument_count == 3 ? strtol(arguments[1], NULL, 10) : 0;
    long answer_byte_count = argument_count == 3 ? strtol(arguments[2], NULL, 10) : 0;
    if (port < 1 || port > 65535 || answer_byte_count < 5 || answer_byte_count > 65536) {
        fprintf(stderr, "usage: echo PORT ANSWER_BYTE_COUNT (5 to 65536)\n");
        return 64;
    }
    prepare_answers((size_t)answer_byte_count);
    int listener = listen_on_loopback((uint16_t)port);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    // The listener is the one without a client.
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL}, events[event_count_max];
    if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) != 0) fail("epoll");

    for (;;) {
        int count = epoll_wait(epoll, events, event_count_max, -1);
        if (count < 0 && errno != EINTR) fail("epoll_wait");
        for (int index = 0; index < count; index++) {
            struct client *client = events[index].data.ptr;
            if (client == NULL) {
                accept_client(epoll, listener);
            } else if (!serve(client, (size_t)answer_byte_count)) {
                close(client->descriptor);
                free(client);
            }
        }
    }
}
