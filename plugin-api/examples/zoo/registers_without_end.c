/* SPDX-License-Identifier: Apache-2.0 */
/* Registers series until the host has refused a whole call, and then some. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    static char names[1000][16];
    static perfmon_label labels[1000];
    static perfmon_series series[1000];
    static perfmon_verdict verdict[1000];
    uint32_t first = 0, accepted = 0, number = 0, refused_calls = 0;
    register_one(request->instance, &first);
    const perfmon_array rows = ARRAY(series);
    const perfmon_array_mut verdicts = ARRAY(verdict);
    while (refused_calls < 50) {
        for (size_t i = 0; i < LEN(series); i++) {
            int len = snprintf(names[i], sizeof(names[i]), "%u", number++);
            labels[i] = (perfmon_label){STR("n"), {names[i], (uint64_t)len}};
            series[i] = (perfmon_series){.size = sizeof(perfmon_series), .family = 0, .labels = {&labels[i], 1, sizeof(perfmon_label), 0}};
        }
        if (host->register_series(request->instance, &rows, &verdicts, NULL) != PERFMON_OK)
            break;
        uint32_t before = accepted;
        for (size_t i = 0; i < LEN(series); i++)
            accepted += verdict[i].verdict == PERFMON_ACCEPTED;
        refused_calls += accepted == before;
    }
    say(request->instance, "accepted", accepted);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
