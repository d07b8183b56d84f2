/* SPDX-License-Identifier: Apache-2.0 */
/* Was compiled with the header of version 1.0, whose perfmon_series ends at its start time. */
#include "common.h"
typedef struct series_1_0 { uint32_t size; uint32_t family; perfmon_array labels; int64_t start_time_unix_ns; } series_1_0;
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_family families[] = {FAMILY("Number", PERFMON_VALUE_F64)};
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[2] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(request->instance, &family_rows, &verdicts, NULL);
    const perfmon_label a[] = {{STR("name"), STR("a")}}, b[] = {{STR("name"), STR("b")}};
    const series_1_0 series[] = {{.size = sizeof(series_1_0), .labels = ARRAY(a), .start_time_unix_ns = 5},
                                 {.size = sizeof(series_1_0), .labels = ARRAY(b)}};
    const perfmon_array rows = ARRAY(series);
    host->register_series(request->instance, &rows, &verdicts, NULL);
    const uint32_t ids[] = {verdict[0].id, verdict[1].id};
    const double values[] = {1.0, 2.0};
    send(request->instance, ids, values, 2);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#define MINOR 0
#include "table.h"
