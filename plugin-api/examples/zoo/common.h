/* SPDX-License-Identifier: Apache-2.0
 *
 * What the broken plugins of this folder share. Each includes this first, defines what it does wrong (COLLECT, CREATE,
 * DESTROY, CANCEL, VALIDATE, NAME, SOURCE_NAME, MODE, MAJOR, MINOR), and includes table.h at its end, which does the rest right.
 */
#include "perfmon_plugin.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define STR(literal) {literal, sizeof(literal) - 1}
#define LEN(array) (sizeof(array) / sizeof((array)[0]))
#define ARRAY(array) {array, LEN(array), sizeof((array)[0]), 0}
#define FAMILY(name, kind_of_value) \
    {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_GAUGE, .value_kind = kind_of_value, .object = STR("Zoo"), \
     .item = STR(name), .help = STR("A number.")}
#define UNUSED __attribute__((unused))

static const perfmon_host *host;

UNUSED static perfmon_status complete_full(uint64_t instance, uint64_t collection) {
    const perfmon_completion done = {.size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FULL};
    return host->complete(instance, collection, &done);
}

/* A family of doubles with one series; answers the status of the last call. */
UNUSED static perfmon_status register_one(uint64_t instance, uint32_t *series_id) {
    const perfmon_family families[] = {FAMILY("Number", PERFMON_VALUE_F64)};
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[1] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(instance, &family_rows, &verdicts, NULL);
    const perfmon_series series[] = {{.size = sizeof(perfmon_series), .family = verdict[0].id}};
    const perfmon_array series_rows = ARRAY(series);
    perfmon_status status = host->register_series(instance, &series_rows, &verdicts, NULL);
    *series_id = verdict[0].id;
    return status;
}

UNUSED static perfmon_status send(uint64_t instance, const uint32_t *ids, const double *values, uint64_t rows) {
    const perfmon_batch batch = {.size = sizeof(perfmon_batch), .value_kind = PERFMON_VALUE_F64,
                                 .ids = {ids, rows, sizeof(uint32_t), 0}, .values = {values, rows, sizeof(double), 0}};
    return host->batch(instance, &batch, NULL);
}

/* Says what a call answered, so that a test hears it. */
UNUSED static void say(uint64_t owner, const char *what, int64_t number) {
    char text[128];
    int len = snprintf(text, sizeof(text), "%s %lld", what, (long long)number);
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = PERFMON_LEVEL_INFO,
                                .message = {text, (uint64_t)len}};
    host->log(owner, &record);
}

UNUSED static void fail_with(perfmon_text *error_host, const char *message) {
    size_t len = strlen(message);
    memcpy(error_host->ptr, message, len);
    error_host->len = len;
}
