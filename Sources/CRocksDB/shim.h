#define _GNU_SOURCE 1
#include <rocksdb/c.h>
