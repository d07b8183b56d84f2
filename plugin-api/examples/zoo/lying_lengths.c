/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of different lengths, lengths without memory, columns that begin between two numbers, sizes too small. */
#include "common.h"
#define COLLECT collect
static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t it = request->instance;
    uint32_t id = 0;
    register_one(it, &id);
    const uint32_t ids[4] = {0, 0, 0, 0};
    const double values[4] = {1.0, 2.0, 3.0, 4.0};
    perfmon_batch batch = {.size = sizeof(perfmon_batch), .value_kind = PERFMON_VALUE_F64,
                           .ids = {ids, 4, sizeof(uint32_t), 0}, .values = {values, 2, sizeof(double), 0}};
    say(it, "mismatch", host->batch(it, &batch, NULL));
    batch.values = (perfmon_array){NULL, 4, sizeof(double), 0};
    say(it, "null", host->batch(it, &batch, NULL));
    batch.values = (perfmon_array){(const char *)values + 1, 3, sizeof(double), 0};
    batch.ids.len = 3;
    say(it, "misaligned", host->batch(it, &batch, NULL));
    batch.values = (perfmon_array){values, 3, sizeof(float), 0};
    say(it, "element", host->batch(it, &batch, NULL));
    batch.values = (perfmon_array){values, 3, sizeof(double), 0};
    batch.value_kind = 99;
    say(it, "kind", host->batch(it, &batch, NULL));
    batch.size = 8;
    say(it, "size", host->batch(it, &batch, NULL));
    say(it, "no struct", host->batch(it, NULL, NULL));
    const perfmon_series series[] = {{.size = sizeof(perfmon_series), .family = 0, .labels = {values, UINT64_MAX, sizeof(perfmon_label), 0}}};
    const perfmon_array rows = ARRAY(series);
    perfmon_verdict verdict[1] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_series(it, &rows, &verdicts, NULL);
    say(it, "labels", verdict[0].verdict);
    const perfmon_array_mut no_room = {verdict, 0, sizeof(perfmon_verdict), 0};
    say(it, "no room", host->register_series(it, &rows, &no_room, NULL));
    complete_full(it, request->collection);
    return PERFMON_OK;
}
#include "table.h"
