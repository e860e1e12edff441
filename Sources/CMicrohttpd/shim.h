#include <microhttpd.h>
#include <string.h>

/* What Swift cannot import: MHD_start_daemon is variadic. */

struct entitled_mhd_settings {
    int listen_socket;
    int is_ipv6;
    unsigned int connection_max;
    unsigned int idle_seconds;
    unsigned int thread_count;
    size_t connection_memory_max;
    /* PEM, or both NULL for plain text. They must live as long as the daemon. */
    const char *certificate;
    const char *key;
    /* First argument of every callback. */
    void *context;
    MHD_AcceptPolicyCallback accepts;
    MHD_NotifyConnectionCallback connection_changed;
    void *(*request_began)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_AccessHandlerCallback received;
    MHD_RequestCompletedCallback request_ended;
};

/* Targets are decoded in Swift: here a decoded NUL would end the text. */
static inline size_t entitled_mhd_keep_escaped(
    void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/* NULL on failure. Without MHD_USE_ERROR_LOG the library writes nothing anywhere. */
static inline struct MHD_Daemon *entitled_mhd_start(const struct entitled_mhd_settings *settings) {
    struct MHD_OptionItem options[16];
    int count = 0;
    /* Not epoll: in its edge-triggered use of it release 0.9.75 does not see an end of input that
       comes together with data, and keeps such connections until their time-out. */
    unsigned int flags = MHD_ALLOW_SUSPEND_RESUME | MHD_USE_POLL_INTERNAL_THREAD;
    if (settings->is_ipv6) flags |= MHD_USE_IPv6;

#define ENTITLED_MHD_OPTION(name, number, pointer) \
    options[count++] = (struct MHD_OptionItem){name, (intptr_t)(number), (void *)(pointer)}
    ENTITLED_MHD_OPTION(MHD_OPTION_LISTEN_SOCKET, settings->listen_socket, NULL);
    ENTITLED_MHD_OPTION(MHD_OPTION_CONNECTION_LIMIT, settings->connection_max, NULL);
    ENTITLED_MHD_OPTION(MHD_OPTION_CONNECTION_TIMEOUT, settings->idle_seconds, NULL);
    ENTITLED_MHD_OPTION(
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, settings->connection_memory_max, NULL);
    /* Its refusal of a request without Host goes out with two heads, so Swift refuses those. */
    ENTITLED_MHD_OPTION(MHD_OPTION_STRICT_FOR_CLIENT, 0, NULL);
    ENTITLED_MHD_OPTION(MHD_OPTION_UNESCAPE_CALLBACK, entitled_mhd_keep_escaped, NULL);
    ENTITLED_MHD_OPTION(
        MHD_OPTION_NOTIFY_CONNECTION, settings->connection_changed, settings->context);
    ENTITLED_MHD_OPTION(
        MHD_OPTION_URI_LOG_CALLBACK, settings->request_began, settings->context);
    ENTITLED_MHD_OPTION(
        MHD_OPTION_NOTIFY_COMPLETED, settings->request_ended, settings->context);
    if (settings->thread_count > 1)
        ENTITLED_MHD_OPTION(MHD_OPTION_THREAD_POOL_SIZE, settings->thread_count, NULL);
    if (settings->certificate != NULL) {
        flags |= MHD_USE_TLS;
        ENTITLED_MHD_OPTION(MHD_OPTION_HTTPS_MEM_CERT, 0, settings->certificate);
        ENTITLED_MHD_OPTION(MHD_OPTION_HTTPS_MEM_KEY, 0, settings->key);
        /* Forward secrecy and authenticated encryption only, as on the other listeners. */
        ENTITLED_MHD_OPTION(
            MHD_OPTION_HTTPS_PRIORITIES, 0,
            "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA"
            ":-CIPHER-ALL:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305");
    }
    ENTITLED_MHD_OPTION(MHD_OPTION_END, 0, NULL);
#undef ENTITLED_MHD_OPTION

    return MHD_start_daemon(
        flags, 0, settings->accepts, settings->context, settings->received, settings->context,
        MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* How many connections are open. */
static inline unsigned int entitled_mhd_connection_count(struct MHD_Daemon *daemon) {
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

/* The connection's context as `connection_changed` left it. */
static inline void *entitled_mhd_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

static inline int entitled_mhd_descriptor(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : (int)info->connect_fd;
}

static inline const struct sockaddr *entitled_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}
