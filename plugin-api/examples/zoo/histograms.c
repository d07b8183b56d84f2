/* SPDX-License-Identifier: Apache-2.0 */
/* Sends histograms; most of its families, and some of its rows, cannot be. */
#include "common.h"
#include <math.h>
#include <stdint.h>
#define SPREAD(name, kind_is, value_is, numbers, count) \
    {.size = sizeof(perfmon_family), .kind = kind_is, .value_kind = value_is, .object = STR("Zoo"), .item = STR(name), \
     .unit = STR("seconds"), .display = PERFMON_DISPLAY_AVERAGE, .bounds = {numbers, count, sizeof(double), 0}}
#define HISTOGRAM(name, array) SPREAD(name, PERFMON_KIND_HISTOGRAM, PERFMON_VALUE_HISTOGRAM, array, LEN(array))
static const double waits[] = {0.1, 1, 10}, drifts[] = {-1, 0, 1}, falling[] = {1, 0.1}, twice[] = {1, 1};
static const double endless[] = {1, INFINITY}, none[] = {0, NAN};
static double many[PERFMON_HISTOGRAM_BOUNDS_MAX + 1];

static void register_all(uint64_t it, uint32_t families[2], uint32_t series[3]) {
    for (size_t i = 0; i < LEN(many); i++)
        many[i] = (double)i;
    perfmon_family rows[] = {
        HISTOGRAM("Waits", waits),
        HISTOGRAM("Drifts", drifts),
        SPREAD("Height", PERFMON_KIND_GAUGE, PERFMON_VALUE_F64, falling, LEN(falling)),
        SPREAD("No bounds", PERFMON_KIND_HISTOGRAM, PERFMON_VALUE_HISTOGRAM, NULL, 0),
        HISTOGRAM("Falling", falling),
        HISTOGRAM("Twice", twice),
        HISTOGRAM("Endless", endless),
        HISTOGRAM("None", none),
        HISTOGRAM("Many", many),
        SPREAD("Level", PERFMON_KIND_GAUGE, PERFMON_VALUE_HISTOGRAM, waits, LEN(waits)),
        SPREAD("Single", PERFMON_KIND_HISTOGRAM, PERFMON_VALUE_U64, waits, LEN(waits)),
        SPREAD("Later", 17, PERFMON_VALUE_HISTOGRAM, waits, LEN(waits)),
        HISTOGRAM("Older", waits),
    };
    rows[2].display = PERFMON_DISPLAY_NONE;
    rows[LEN(rows) - 1].size = offsetof(perfmon_family, bounds);
    const perfmon_array family_rows = ARRAY(rows);
    perfmon_verdict verdict[LEN(rows)] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(it, &family_rows, &verdicts, NULL);
    for (size_t i = 0; i < LEN(rows); i++) {
        char what[32] = {0};
        memcpy(what, rows[i].item.ptr, rows[i].item.len);
        say(it, what, verdict[i].verdict);
    }
    families[0] = verdict[0].id;
    families[1] = verdict[1].id;
    const perfmon_label a[] = {{STR("name"), STR("a")}}, b[] = {{STR("name"), STR("b")}};
    const perfmon_series defs[] = {
        {.size = sizeof(perfmon_series), .family = families[0], .labels = ARRAY(a), .start_time_unix_ns = 5},
        {.size = sizeof(perfmon_series), .family = families[0], .labels = ARRAY(b)},
        {.size = sizeof(perfmon_series), .family = families[1], .labels = ARRAY(a)},
    };
    const perfmon_array series_rows = ARRAY(defs);
    host->register_series(it, &series_rows, &verdicts, NULL);
    for (int i = 0; i < 3; i++)
        series[i] = verdict[i].id;
}

static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t it = request->instance;
    uint32_t families[2], series[3];
    register_all(it, families, series);
    /* The one in the middle is of the other family; neighbours of rows that cannot be stay. */
    const uint32_t ids[] = {series[0], series[1], series[2], series[1], series[1], series[1]};
    const uint64_t counts[][4] = {{1, 2, 3, 4}, {0, 7, 0, 0}, {1, 1, 1, 1}, {UINT64_MAX, 1, 0, 0}, {0, 0, 0, 1}, {9, 9, 9, 9}};
    const double sums[] = {50.5, 3.5, 1, 1, NAN, -1};
    const int64_t starts[] = {0, 77, 0, 0, 0, 0};
    perfmon_histogram_batch batch = {.size = sizeof(batch), .family = families[0], .ids = ARRAY(ids),
                                     .counts = {counts, 24, sizeof(uint64_t), 0}, .sums = ARRAY(sums), .start_times = ARRAY(starts)};
    uint64_t taken = 99;
    say(it, "batch", host->histograms(it, &batch, &taken));
    say(it, "taken", (int64_t)taken);
    const double below[] = {-4};
    perfmon_histogram_batch drift = {.size = sizeof(batch), .family = families[1], .ids = {&series[2], 1, sizeof(uint32_t), 0},
                                     .counts = {counts[0], 4, sizeof(uint64_t), 0}, .sums = ARRAY(below)};
    say(it, "below zero", host->histograms(it, &drift, NULL));
    drift.family = 2;
    say(it, "of a gauge", host->histograms(it, &drift, NULL));
    drift.family = 99;
    say(it, "of nothing", host->histograms(it, &drift, NULL));
    batch.counts.len = 23;
    say(it, "a bucket short", host->histograms(it, &batch, NULL));
    batch.ids.len = UINT64_MAX / 4 + 2; /* times four buckets that is 4 again */
    batch.sums.len = batch.ids.len;
    batch.start_times.len = batch.ids.len;
    batch.counts.len = 4;
    say(it, "around the corner", host->histograms(it, &batch, NULL));
    batch.size = 8;
    say(it, "size", host->histograms(it, &batch, NULL));
    say(it, "no struct", host->histograms(it, NULL, NULL));
    const uint32_t far[] = {series[0], 99};
    const perfmon_histogram_batch away = {.size = sizeof(batch), .family = families[0], .ids = ARRAY(far),
                                          .counts = {counts, 8, sizeof(uint64_t), 0}, .sums = {sums, 2, sizeof(double), 0}};
    say(it, "far", host->histograms(it, &away, NULL));
    const double number[] = {1};
    say(it, "number", send(it, series, number, 1));
    complete_full(it, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
