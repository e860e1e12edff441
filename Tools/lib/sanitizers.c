/* Linked into every program of a build with a sanitizer (Tools/test --sanitize): what the runtime
 * of the sanitizer asks at the start, so that programs started by tests follow it too. */

#define EXPORTED __attribute__((visibility("default"), used))

/* Swift keeps what it made once; the end of the process gives it back. */
EXPORTED const char *__asan_default_options(void) {
    return "detect_leaks=0:detect_stack_use_after_return=0";
}

EXPORTED const char *__ubsan_default_options(void) {
    return "print_stacktrace=1:halt_on_error=1";
}

EXPORTED const char *__tsan_default_options(void) { return "second_deadlock_stack=1"; }
