#include <curl/curl.h>

/* What Swift cannot import: curl_easy_setopt and curl_easy_getinfo are variadic, and the options
   are no enumerators that Swift sees. Each function sets what belongs together. */

/* First failure wins: the steps behind it are skipped. */
#define ENTITLED_CURL_SET(handle, option, value) \
    if (code == CURLE_OK) code = curl_easy_setopt(handle, option, value)

/* What never changes in the life of a handle. `roots` may be NULL. */
static inline CURLcode entitled_curl_configure(
    CURL *handle, const char *agent, const void *roots, size_t roots_length) {
    CURLcode code = CURLE_OK;
    ENTITLED_CURL_SET(handle, CURLOPT_NOSIGNAL, 1L);
    ENTITLED_CURL_SET(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    ENTITLED_CURL_SET(handle, CURLOPT_FOLLOWLOCATION, 0L);
    ENTITLED_CURL_SET(handle, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    ENTITLED_CURL_SET(handle, CURLOPT_HTTP09_ALLOWED, 0L);
    ENTITLED_CURL_SET(handle, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    ENTITLED_CURL_SET(handle, CURLOPT_SSL_VERIFYPEER, 1L);
    ENTITLED_CURL_SET(handle, CURLOPT_SSL_VERIFYHOST, 2L);
    ENTITLED_CURL_SET(handle, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    ENTITLED_CURL_SET(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    /* Without it a transfer that is given up waits for a resolver that does not answer. */
    ENTITLED_CURL_SET(handle, CURLOPT_QUICK_EXIT, 1L);
    ENTITLED_CURL_SET(handle, CURLOPT_USERAGENT, agent);
    if (roots != NULL) {
        struct curl_blob blob = {(void *)roots, roots_length, CURL_BLOB_COPY};
        ENTITLED_CURL_SET(handle, CURLOPT_CAINFO_BLOB, &blob);
    }
    return code;
}

/* The request. `body` is not copied: it must live until the transfer has ended. */
static inline CURLcode entitled_curl_set_request(
    CURL *handle, const char *url, const char *method, struct curl_slist *fields, const void *body,
    size_t body_length) {
    CURLcode code = CURLE_OK;
    ENTITLED_CURL_SET(handle, CURLOPT_URL, url);
    ENTITLED_CURL_SET(handle, CURLOPT_HTTPHEADER, fields);
    if (body != NULL) {
        ENTITLED_CURL_SET(handle, CURLOPT_POST, 1L);
        ENTITLED_CURL_SET(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body_length);
        ENTITLED_CURL_SET(handle, CURLOPT_POSTFIELDS, body);
    } else {
        ENTITLED_CURL_SET(handle, CURLOPT_HTTPGET, 1L);
    }
    ENTITLED_CURL_SET(handle, CURLOPT_CUSTOMREQUEST, method);
    return code;
}

/* An answer to HEAD has no body, whatever its Content-Length says. */
static inline CURLcode entitled_curl_set_bodiless(CURL *handle) {
    CURLcode code = CURLE_OK;
    ENTITLED_CURL_SET(handle, CURLOPT_NOBODY, 1L);
    return code;
}

static inline CURLcode entitled_curl_set_limits(
    CURL *handle, long connect_ms, long total_ms, size_t body_max) {
    CURLcode code = CURLE_OK;
    ENTITLED_CURL_SET(handle, CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
    ENTITLED_CURL_SET(handle, CURLOPT_TIMEOUT_MS, total_ms);
    ENTITLED_CURL_SET(handle, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)body_max);
    return code;
}

typedef size_t (*entitled_curl_sink)(char *bytes, size_t size, size_t count, void *context);
typedef int (*entitled_curl_progress)(
    void *context, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

static inline CURLcode entitled_curl_set_sinks(
    CURL *handle, entitled_curl_sink body, entitled_curl_sink field,
    entitled_curl_progress progress, void *context, char *error_text) {
    CURLcode code = CURLE_OK;
    ENTITLED_CURL_SET(handle, CURLOPT_WRITEFUNCTION, body);
    ENTITLED_CURL_SET(handle, CURLOPT_WRITEDATA, context);
    ENTITLED_CURL_SET(handle, CURLOPT_HEADERFUNCTION, field);
    ENTITLED_CURL_SET(handle, CURLOPT_HEADERDATA, context);
    ENTITLED_CURL_SET(handle, CURLOPT_XFERINFOFUNCTION, progress);
    ENTITLED_CURL_SET(handle, CURLOPT_XFERINFODATA, context);
    ENTITLED_CURL_SET(handle, CURLOPT_NOPROGRESS, 0L);
    ENTITLED_CURL_SET(handle, CURLOPT_ERRORBUFFER, error_text);
    return code;
}

static inline long entitled_curl_status(CURL *handle) {
    long status = 0;
    curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

/* How many connections the last transfer opened; 0 = it used one that was open. */
static inline long entitled_curl_connections(CURL *handle) {
    long count = 0;
    curl_easy_getinfo(handle, CURLINFO_NUM_CONNECTS, &count);
    return count;
}

/* After a transfer: what it delivered to may go. */
static inline void entitled_curl_clear_sinks(CURL *handle) {
    curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(handle, CURLOPT_WRITEDATA, NULL);
    curl_easy_setopt(handle, CURLOPT_HEADERDATA, NULL);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, NULL);
}
