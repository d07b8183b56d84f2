/* SPDX-License-Identifier: Apache-2.0 */
/* Is compiled with the header of version 1.3, which stands in header_1_3, and uses all that this version added. */
#include "common.h"

_Static_assert(PERFMON_ABI_MINOR == 3, "this is the header of version 1.3");
_Static_assert(sizeof(perfmon_setting) == 104, "1.3");
_Static_assert(sizeof(perfmon_transport) == 64, "1.3");
_Static_assert(sizeof(perfmon_source) == 112, "1.3");
_Static_assert(sizeof(perfmon_configure) == 112, "1.3");
_Static_assert(sizeof(perfmon_end) == 32, "1.3");
_Static_assert(sizeof(perfmon_run) == 72, "1.3");
_Static_assert(sizeof(perfmon_family) == 176, "1.3");
_Static_assert(sizeof(perfmon_histogram_batch) == 128, "1.3");
_Static_assert(sizeof(perfmon_completion) == 88, "1.3");
_Static_assert(sizeof(perfmon_event) == 96, "1.3");
_Static_assert(sizeof(perfmon_host) == 192, "1.3");
_Static_assert(sizeof(perfmon_plugin) == 192, "1.3");

static uint32_t register_waits(uint64_t instance, uint32_t *family) {
    static const double bounds[] = {0.1, 1};
    const perfmon_family families[] = {
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_HISTOGRAM, .value_kind = PERFMON_VALUE_HISTOGRAM,
         .object = STR("Zoo"), .item = STR("Waits"), .unit = STR("seconds"), .bounds = ARRAY(bounds)},
    };
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[1] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(instance, &family_rows, &verdicts, NULL);
    *family = verdict[0].id;
    const perfmon_series series[] = {{.size = sizeof(perfmon_series), .family = *family}};
    const perfmon_array rows = ARRAY(series);
    host->register_series(instance, &rows, &verdicts, NULL);
    return verdict[0].id;
}

static perfmon_status collect(const perfmon_collect *request) {
    const uint64_t instance = request->instance;
    uint32_t family = 0;
    const uint32_t ids[] = {register_waits(instance, &family)};
    const uint64_t counts[] = {1, 2, 3};
    const double sums[] = {9.5};
    const perfmon_histogram_batch batch = {.size = sizeof(perfmon_histogram_batch), .family = family, .ids = ARRAY(ids),
                                           .counts = ARRAY(counts), .sums = ARRAY(sums)};
    say(instance, "histograms", host->histograms(instance, &batch, NULL));
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.escaped"),
                                 .alert_state = PERFMON_ALERT_OPENED, .alert = STR("bear")};
    say(instance, "alert", host->event(instance, &event));
    say(instance, "interval", host->min_interval(instance, 60000));
    const perfmon_str name = STR("events");
    int32_t descriptor = -1;
    say(instance, "socket", host->listening_socket(host->library, &name, &descriptor));
    const perfmon_completion done = {
        .size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FAILED, .failure_stage = PERFMON_STAGE_QUERY,
        .failure_reason = PERFMON_REASON_BUSY, .message = STR("asleep"), .retry_after_ms = 4000,
    };
    host->complete(instance, request->collection, &done);
    return PERFMON_OK;
}

static perfmon_status configure(const perfmon_configure *request) {
    say(host->library, "configured", request->source == PERFMON_SOURCE_LIBRARY);
    return PERFMON_OK;
}
static perfmon_status selects(const perfmon_configure *request) {
    return request->family->item.len == 5 ? PERFMON_OK : PERFMON_UNSUPPORTED;
}
static void end(const perfmon_end *request) {
    say(host->library, "ended", request->reason);
    host->destroyed(request->instance);
}

static const perfmon_setting settings[] = {
    {.size = sizeof(perfmon_setting), .kind = PERFMON_SETTING_KIND_PORT, .flags = PERFMON_SETTING_SHOWN, .key = STR("port"),
     .help = STR("The port."), .default_value = STR("4711")},
};
static const perfmon_transport transports[] = {
    {.size = sizeof(perfmon_transport), .kind = STR("cable"), .help = STR("Over a cable"), .settings = ARRAY(settings)},
};
static const perfmon_str shown[] = {STR("food")};
#define COLLECT collect
#define CONFIGURE configure
#define SELECTS selects
#define END end
#define TRANSPORTS ARRAY(transports)
#define SHOWN_KEYS ARRAY(shown)
#include "table.h"
