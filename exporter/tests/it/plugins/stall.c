/* SPDX-License-Identifier: Apache-2.0 */
/* Its calls never come back from targets on the host "tomb"; from one other they collect at once. */
#include "common.h"
#include "line.h"
#include <unistd.h>
#define CREATE create
#define COLLECT collect
#define MODE PERFMON_MODE_BLOCKING
#define INSTANCES 64
static uint64_t tombs[INSTANCES];
static perfmon_status create(const perfmon_configure *request) {
    static const char tomb[] = "tomb";
    if (request->host.len == sizeof(tomb) - 1 && memcmp(request->host.ptr, tomb, sizeof(tomb) - 1) == 0)
        for (size_t i = 0; i < INSTANCES; i++)
            if (tombs[i] == 0) {
                tombs[i] = request->instance;
                return PERFMON_OK;
            }
    return PERFMON_OK;
}
static perfmon_status collect(const perfmon_collect *request) {
    for (size_t i = 0; i < INSTANCES; i++)
        while (tombs[i] == request->instance)
            pause();
    static int registered;
    static uint32_t id;
    if (!registered)
        register_one(request->instance, &id);
    registered = 1;
    const double value = 1;
    send(request->instance, &id, &value, 1);
    return complete_full(request->instance, request->collection);
}
#include "table.h"
