/* SPDX-License-Identifier: Apache-2.0
 *
 * A plugin that waits, and counts for how long: with each collection the same four waits come to a histogram, so that
 * readers know what to expect of it: its counts are 1, 2, 0 and 1 and its sum is 12.5, each times the number of the
 * collection. One target only: what it counts is static.
 */
#include "common.h"

#define NAME STR("waits")
#define COLLECT collect

static const double bounds[] = {0.25, 1, 10};
static const uint64_t waits[] = {1, 2, 0, 1};

static uint32_t registered(uint64_t instance, uint32_t *family) {
    const perfmon_family families[] = {
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_HISTOGRAM, .value_kind = PERFMON_VALUE_HISTOGRAM,
         .space = STR("zoo"), .object = STR("Queue"), .item = STR("Wait"), .unit = STR("seconds"),
         .help = STR("How long animals wait."), .bounds = ARRAY(bounds)},
    };
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[1] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(instance, &family_rows, &verdicts, NULL);
    *family = verdict[0].id;
    const perfmon_label labels[] = {{STR("gate"), STR("a \"b\" \\c")}};
    const perfmon_series series[] = {{.size = sizeof(perfmon_series), .family = *family, .labels = ARRAY(labels),
                                      .start_time_unix_ns = 1700000000120000000, .start_time_kind = PERFMON_START_TIME_KNOWN}};
    const perfmon_array series_rows = ARRAY(series);
    host->register_series(instance, &series_rows, &verdicts, NULL);
    return verdict[0].id;
}

static perfmon_status collect(const perfmon_collect *request) {
    static uint64_t number, instance;
    static uint32_t family, id;
    if (instance != request->instance) {
        instance = request->instance;
        id = registered(instance, &family);
    }
    number++;
    uint64_t counts[LEN(waits)];
    for (size_t i = 0; i < LEN(waits); i++)
        counts[i] = number * waits[i];
    const double sum = 12.5 * (double)number;
    const perfmon_histogram_batch batch = {
        .size = sizeof(batch), .family = family, .ids = {&id, 1, sizeof(id), 0}, .counts = ARRAY(counts),
        .sums = {&sum, 1, sizeof(sum), 0}};
    host->histograms(request->instance, &batch, NULL);
    return complete_full(request->instance, request->collection);
}
#include "table.h"
