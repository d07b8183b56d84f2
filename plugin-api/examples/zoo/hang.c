/* SPDX-License-Identifier: Apache-2.0 */
/* Hangs inside collect when its target's host is the path of a FIFO: until somebody opens that for writing. */
#include "common.h"
#define CREATE create
#define COLLECT collect
#define INSTANCES 64
static struct { uint64_t instance; char path[256]; } cages[INSTANCES];
static perfmon_status create(const perfmon_configure *request) {
    for (size_t i = 0; i < INSTANCES; i++)
        if (cages[i].instance == 0) {
            cages[i].instance = request->instance;
            memcpy(cages[i].path, request->host.ptr, request->host.len);
            return PERFMON_OK;
        }
    return PERFMON_FAILED;
}
static perfmon_status collect(const perfmon_collect *request) {
    for (size_t i = 0; i < INSTANCES; i++)
        if (cages[i].instance == request->instance && cages[i].path[0] == '/') {
            FILE *door = fopen(cages[i].path, "r");
            if (door)
                fclose(door);
        }
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
