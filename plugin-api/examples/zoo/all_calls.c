/* SPDX-License-Identifier: Apache-2.0 */
/* Does nothing wrong, and makes each call in a collection that reaches the sink. */
#include "common.h"

static const double bounds[] = {1};

static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t it = request->instance;
    const perfmon_family families[] = {
        FAMILY("Number", PERFMON_VALUE_F64),
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_HISTOGRAM, .value_kind = PERFMON_VALUE_HISTOGRAM,
         .object = STR("Zoo"), .item = STR("Waits"), .help = STR("Waits."), .bounds = ARRAY(bounds)},
    };
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[2] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(it, &family_rows, &verdicts, NULL);
    const uint32_t waits = verdict[1].id;
    const perfmon_series series[] = {
        {.size = sizeof(perfmon_series), .family = verdict[0].id},
        {.size = sizeof(perfmon_series), .family = waits},
    };
    const perfmon_array series_rows = ARRAY(series);
    host->register_series(it, &series_rows, &verdicts, NULL);
    const uint32_t ids[] = {verdict[0].id}, histogram_ids[] = {verdict[1].id};
    const double values[] = {7}, sums[] = {3};
    send(it, ids, values, 1);
    const uint64_t counts[] = {1, 2};
    const perfmon_histogram_batch batch = {.size = sizeof(batch), .family = waits, .ids = ARRAY(histogram_ids),
                                           .counts = ARRAY(counts), .sums = ARRAY(sums)};
    host->histograms(it, &batch, NULL);
    const perfmon_label fact = {STR("os.type"), STR("zoo")};
    host->fact(it, &fact);
    const perfmon_alert alert = {.size = sizeof(alert), .state = PERFMON_ALERT_OPENED, .id = STR("bear")};
    const perfmon_event event = {.size = sizeof(event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.alert"),
                                 .body = STR("An animal is missing."), .alert = &alert};
    host->event(it, &event);
    host->log_enabled(it, PERFMON_LEVEL_INFO);
    say(it, "made", 1);
    const perfmon_array retired = ARRAY(histogram_ids);
    host->retire(it, &retired);
    complete_full(it, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
