/* SPDX-License-Identifier: Apache-2.0 */
/* Was compiled with the header of version 1.1, whose perfmon_family ends at its origin. */
#include "common.h"
typedef struct family_1_1 {
    uint32_t size, kind, value_kind, reserved;
    perfmon_str space, object, item, part, unit, help, origin;
} family_1_1;
static perfmon_status collect(const perfmon_collect *request) {
    const family_1_1 families[] = {FAMILY("Number", PERFMON_VALUE_F64), FAMILY("Other", PERFMON_VALUE_F64)};
    family_1_1 sized[LEN(families)];
    for (size_t i = 0; i < LEN(families); i++) {
        sized[i] = families[i];
        sized[i].size = sizeof(family_1_1);
    }
    const perfmon_array rows = ARRAY(sized);
    perfmon_verdict verdict[LEN(families)] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(request->instance, &rows, &verdicts, NULL);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#define MINOR 1
#include "table.h"
