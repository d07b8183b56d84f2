/* SPDX-License-Identifier: Apache-2.0 */
/* Sends text that is not UTF-8, beside text that is. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    perfmon_family families[] = {FAMILY("Good", PERFMON_VALUE_F64), FAMILY("Bad \xff", PERFMON_VALUE_F64)};
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[2] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(request->instance, &family_rows, &verdicts, NULL);
    say(request->instance, "good", verdict[0].verdict);
    say(request->instance, "bad", verdict[1].verdict);
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = 1, .message = STR("\xc3\x28")};
    say(request->instance, "log", host->log(request->instance, &record));
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#include "table.h"
