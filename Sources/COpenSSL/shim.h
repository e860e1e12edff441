#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

/* What Swift cannot import: function-like macros, casts and variadic functions. */

static inline STACK_OF(X509) *entitled_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int entitled_x509_stack_push(STACK_OF(X509) *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
/* Frees the stack, not the certificates in it. */
static inline void entitled_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline int entitled_x509_stack_count(const STACK_OF(X509) *stack) {
    return sk_X509_num(stack);
}
static inline X509 *entitled_x509_stack_at(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline EVP_PKEY *entitled_ec_generate(const char *curve) { return EVP_EC_gen(curve); }
static inline long entitled_bio_memory(BIO *bio, char **data) {
    return BIO_get_mem_data(bio, data);
}
static inline void entitled_free(void *pointer) { OPENSSL_free(pointer); }
static inline void entitled_x509v3_context(X509V3_CTX *context, X509 *issuer, X509 *subject) {
    X509V3_set_ctx_nodb(context);
    X509V3_set_ctx(context, issuer, subject, NULL, NULL, 0);
}

/* OSSL_PKEY_PARAM_PUB_KEY is a macro that stands for a string. */
static inline const char *entitled_public_key_name(void) { return OSSL_PKEY_PARAM_PUB_KEY; }

/* Makes the table of multiples of the group's generator. OpenSSL 3 calls the function deprecated
 * and has no other one; a library that has no tables at all does nothing and returns 1. */
static inline int entitled_precompute_multiples(EC_GROUP *group) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    return EC_GROUP_precompute_mult(group, NULL);
#pragma clang diagnostic pop
}

/* SHA-256 in steps, with a state that may be copied: EVP has none without an allocation. OpenSSL 3
 * calls the functions deprecated; they run the same code. */
static inline void entitled_sha256_init(SHA256_CTX *state) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    SHA256_Init(state);
#pragma clang diagnostic pop
}
static inline void entitled_sha256_update(SHA256_CTX *state, const void *bytes, size_t count) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    SHA256_Update(state, bytes, count);
#pragma clang diagnostic pop
}
static inline void entitled_sha256_final(SHA256_CTX *state, unsigned char *digest) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    SHA256_Final(digest, state);
#pragma clang diagnostic pop
}

/* X and Z of a point that stands as (X : Y : Z) with x = X/Z^2. Deprecated as well, for the form in
 * which a group keeps its points is its own matter; all over prime fields give this one. */
static inline int entitled_jacobian_x_z(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
    return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
#pragma clang diagnostic pop
}

/* TLS: settings that are macros over SSL_CTX_ctrl and SSL_ctrl. */
static inline int entitled_tls_set_minimum(SSL_CTX *context, int version) {
    return SSL_CTX_set_min_proto_version(context, version);
}
/* No compression (CRIME), no renegotiation, no legacy handshake, the server's order of ciphers. */
static inline void entitled_tls_harden(SSL_CTX *context) {
    SSL_CTX_set_options(
        context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE
            | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_clear_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
    SSL_CTX_set_mode(
        context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_max_early_data(context, 0);
    SSL_CTX_set_recv_max_early_data(context, 0);
}
static inline int entitled_tls_set_groups(SSL_CTX *context, const char *list) {
    return SSL_CTX_set1_groups_list(context, list);
}
static inline int entitled_tls_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate);
}
static inline int entitled_tls_set_server_name(SSL *tls, const char *name) {
    return SSL_set_tlsext_host_name(tls, name);
}

/* Whether the client's certificate that a ticket carries is still one that a new handshake would
 * take. Only the certificate itself is in the ticket: where it hangs on intermediates that are not
 * in the store, the answer is no, and the client goes through a whole handshake. */
static inline int entitled_tls_ticket_holds(SSL *tls, SSL_SESSION *session) {
    if (!(SSL_get_verify_mode(tls) & SSL_VERIFY_PEER)) return 1;
    X509 *peer = SSL_SESSION_get0_peer(session);
    if (peer == NULL) return 0;
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    if (check == NULL) return 0;
    X509_STORE *store = SSL_CTX_get_cert_store(SSL_get_SSL_CTX(tls));
    int holds = X509_STORE_CTX_init(check, store, peer, NULL) == 1
        && X509_STORE_CTX_set_default(check, "ssl_client") == 1 && X509_verify_cert(check) == 1;
    X509_STORE_CTX_free(check);
    ERR_clear_error();
    return holds;
}

static inline SSL_TICKET_RETURN entitled_tls_ticket_opened(
    SSL *tls, SSL_SESSION *session, const unsigned char *name, size_t count,
    SSL_TICKET_STATUS status, void *unused) {
    (void)name;
    (void)count;
    (void)unused;
    switch (status) {
        case SSL_TICKET_SUCCESS:
        case SSL_TICKET_SUCCESS_RENEW:
            if (!entitled_tls_ticket_holds(tls, session)) return SSL_TICKET_RETURN_IGNORE_RENEW;
            return status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE
                                                : SSL_TICKET_RETURN_USE_RENEW;
        default: return SSL_TICKET_RETURN_IGNORE_RENEW;
    }
}
static inline int entitled_tls_recheck_tickets(SSL_CTX *context) {
    return SSL_CTX_set_session_ticket_cb(context, NULL, entitled_tls_ticket_opened, NULL);
}

/* The one protocol that is spoken here, as ALPN writes it: a client that names others came to the
 * wrong door, and one that names none is taken (RFC 7301 3.2). */
static const unsigned char entitled_tls_protocol[] = "\x0a" "entitled/1";

static inline int entitled_tls_choose_protocol(
    SSL *tls, const unsigned char **chosen, unsigned char *chosen_count,
    const unsigned char *offered, unsigned int offered_count, void *unused) {
    (void)tls;
    (void)unused;
    unsigned char *found;
    if (SSL_select_next_proto(&found, chosen_count, entitled_tls_protocol,
            sizeof entitled_tls_protocol - 1, offered, offered_count) != OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}
static inline void entitled_tls_insist_on_protocol(SSL_CTX *context) {
    SSL_CTX_set_alpn_select_cb(context, entitled_tls_choose_protocol, NULL);
}
/* Returns 1 for success, unlike the function under it. */
static inline int entitled_tls_offer_protocol(SSL_CTX *context) {
    return SSL_CTX_set_alpn_protos(
        context, entitled_tls_protocol, sizeof entitled_tls_protocol - 1) == 0;
}

/* A BIO over memory that is not the library's: what arrives is read from where it lies. */
static inline void entitled_bio_wants_more(BIO *bio) {
    BIO_clear_retry_flags(bio);
    BIO_set_retry_read(bio);
}
static inline void entitled_bio_is_content(BIO *bio) { BIO_clear_retry_flags(bio); }

/* The names in a certificate: how many, and one of them. `kind` is GEN_DNS, GEN_URI, GEN_EMAIL or
 * another GEN_ number, whose text is NULL. */
static inline GENERAL_NAMES *entitled_alternative_names(X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int entitled_alternative_names_count(const GENERAL_NAMES *names) {
    return sk_GENERAL_NAME_num(names);
}
static inline const ASN1_STRING *entitled_alternative_name(
    const GENERAL_NAMES *names, int index, int *kind) {
    GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    *kind = name->type;
    switch (name->type) {
        case GEN_DNS: return name->d.dNSName;
        case GEN_URI: return name->d.uniformResourceIdentifier;
        case GEN_EMAIL: return name->d.rfc822Name;
        default: return NULL;
    }
}
static inline void entitled_alternative_names_free(GENERAL_NAMES *names) {
    GENERAL_NAMES_free(names);
}

/* Whether reading certificates stopped because there are no more. */
static inline int entitled_is_end_of_pem(unsigned long code) {
    return ERR_GET_LIB(code) == ERR_LIB_PEM && ERR_GET_REASON(code) == PEM_R_NO_START_LINE;
}
