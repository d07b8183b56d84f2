/* SPDX-License-Identifier: Apache-2.0 */
/* A host that needs seven seconds for its first collection: with less it is too late, and says how much it was given. */
#include "common.h"
#include "line.h"
#define COLLECT collect
#define NEEDS_NS 7000000000
static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t given_ns = request->deadline_ns - request->now_ns;
    /* The moment between the order and this call is no second. */
    const uint64_t given_s = (given_ns + 500000000) / 1000000000;
    if (given_s * 1000000000 >= NEEDS_NS) {
        uint32_t id;
        register_one(request->instance, &id);
        const double value = 1;
        send(request->instance, &id, &value, 1);
        return complete_full(request->instance, request->collection);
    }
    char text[64];
    const int length = snprintf(text, sizeof(text), "only %llu s were given", (unsigned long long)given_s);
    const perfmon_completion late = {.size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FAILED,
                                     .failure_stage = PERFMON_STAGE_QUERY, .failure_reason = PERFMON_REASON_TIMEOUT,
                                     .message = {text, (uint64_t)length}};
    return host->complete(request->instance, request->collection, &late);
}
#include "table.h"
