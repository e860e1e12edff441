#ifndef CCALLCOUNTER_H
#define CCALLCOUNTER_H

// Counts what a process asks of its allocator and of its kernel, while it runs, without a change to
// it: preload this library (LD_PRELOAD) and name a file in CALL_COUNTER_FILE. The process keeps its
// counts in that file, shared, so that another process reads them at any time; they stay when it
// ends. Without CALL_COUNTER_FILE nothing is counted. Linux with glibc only.
//
// The file, all numbers in the byte order of the machine:
//
//   offset  0   8 bytes   "CALLCNT1"
//   offset  8   uint32    K, the number of kinds
//   offset 12   uint32    R, the number of rows
//   offset 64   K * 32    the name of each kind, NUL-padded
//   then        R * K * 8 uint64 counts: row 0 of threads named "loop ...", row 1 of all others
//
// A thread is one of the loops from the moment it gets its name.

/// Bytes before the names of the kinds.
#define CALL_COUNTER_HEADER_BYTES 64
/// Bytes of one name.
#define CALL_COUNTER_NAME_BYTES 32

#endif
