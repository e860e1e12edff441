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
