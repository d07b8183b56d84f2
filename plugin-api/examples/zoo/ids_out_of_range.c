/* SPDX-License-Identifier: Apache-2.0 */
/* Uses ids that it never got, and goes on using one that it retired. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    uint32_t id = 0;
    register_one(request->instance, &id);
    const uint32_t ids[] = {id, 77}, far[] = {0xffffffffu};
    const double values[] = {1.0, 2.0};
    say(request->instance, "batch", send(request->instance, ids, values, 2));
    say(request->instance, "far batch", send(request->instance, far, values, 1));
    const perfmon_series stray[] = {{.size = sizeof(perfmon_series), .family = 9}};
    const perfmon_array rows = ARRAY(stray);
    perfmon_verdict verdict[1] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_series(request->instance, &rows, &verdicts, NULL);
    say(request->instance, "series", verdict[0].verdict);
    const perfmon_array nobody = ARRAY(far);
    say(request->instance, "retire", host->retire(request->instance, &nobody));
    const perfmon_array own = {&id, 1, sizeof(id), 0};
    host->retire(request->instance, &own);
    say(request->instance, "retired", send(request->instance, &id, values, 1));
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
