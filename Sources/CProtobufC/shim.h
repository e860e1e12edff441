#define _GNU_SOURCE 1
#include <protobuf-c/protobuf-c.h>
