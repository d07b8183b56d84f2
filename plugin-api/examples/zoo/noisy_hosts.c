/* SPDX-License-Identifier: Apache-2.0 */
/* Logs about hosts beside its instances, and about something else. */
#include "common.h"
#define COLLECT collect
static void log_about(perfmon_label about, const char *what) {
    char text[1000];
    memset(text, 'x', sizeof(text));
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = PERFMON_LEVEL_INFO, .message = {text, sizeof(text)},
                                .fields = {&about, 1, sizeof(about), 0}};
    int64_t taken = 0;
    for (int i = 0; i < 10; i++)
        taken += host->log(host->library, &record) == PERFMON_OK;
    say(host->library, what, taken);
}
static perfmon_status collect(const perfmon_collect *request) {
    log_about((perfmon_label){STR("target"), STR("loud")}, "target");
    log_about((perfmon_label){STR("host"), STR("calm")}, "host");
    log_about((perfmon_label){STR("set"), STR("loud")}, "set");
    return complete_full(request->instance, request->collection);
}
#include "table.h"
