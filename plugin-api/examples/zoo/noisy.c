/* SPDX-License-Identifier: Apache-2.0 */
/* Logs without end. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    char text[1000];
    memset(text, 'x', sizeof(text));
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = PERFMON_LEVEL_INFO, .message = {text, sizeof(text)}};
    int64_t taken = 0;
    for (int i = 0; i < 1000; i++)
        taken += host->log(request->instance, &record) == PERFMON_OK;
    say(host->library, "taken", taken);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
