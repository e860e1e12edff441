#ifndef CPROCESSOR_H
#define CPROCESSOR_H

// What a processor can be told and Swift has no words for.

/// Starts to bring the cache line at `address` close, to be read soon. Never faults.
static inline void cprocessor_prefetch(const void *address) {
    __builtin_prefetch(address, 0, 3);
}

/// The same for a line that will be written.
static inline void cprocessor_prefetch_for_write(const void *address) {
    __builtin_prefetch(address, 1, 3);
}

#endif
