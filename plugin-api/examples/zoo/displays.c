/* SPDX-License-Identifier: Apache-2.0 */
/* Says how its families are shown, now and then by a rule that nobody knows or by a base that cannot be. */
#include "common.h"
#define SHOWN(name, of_part, rule, of_base) \
    {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_COUNTER, .value_kind = PERFMON_VALUE_F64, \
     .object = STR("Zoo"), .item = STR(name), .part = STR(of_part), .display = rule, .base = STR(of_base)}
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_family families[] = {
        SHOWN("Idle", "inactive", PERFMON_DISPLAY_PERCENT_NOT_OF_TIME, ""),
        SHOWN("Mean", "", PERFMON_DISPLAY_AVERAGE, "base"),
        SHOWN("Mean", "base", PERFMON_DISPLAY_BASE, ""),
        SHOWN("Later", "", 4711, "base"),
        SHOWN("Unused", "", PERFMON_DISPLAY_RATE, "base"),
        SHOWN("Without", "", PERFMON_DISPLAY_AVERAGE, ""),
        SHOWN("Itself", "base", PERFMON_DISPLAY_PERCENT_OF_BASE, "base"),
    };
    const perfmon_array rows = ARRAY(families);
    perfmon_verdict verdict[LEN(families)] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(request->instance, &rows, &verdicts, NULL);
    say(request->instance, "without", verdict[5].verdict);
    say(request->instance, "itself", verdict[6].verdict);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
