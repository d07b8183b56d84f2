/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for a pause with each failure: a short one, none, one without end. */
#include "common.h"
static perfmon_status collect(const perfmon_collect *request) {
    static int collections;
    static const uint64_t pauses_ms[] = {2500, 0, UINT64_MAX};
    const perfmon_completion done = {
        .size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FAILED, .failure_stage = PERFMON_STAGE_QUERY,
        .failure_reason = PERFMON_REASON_BUSY, .retry_after_ms = pauses_ms[collections++ % 3],
    };
    host->complete(request->instance, request->collection, &done);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
