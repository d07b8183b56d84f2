/* SPDX-License-Identifier: Apache-2.0
 *
 * pulse.c: a whole plugin in C. Its source counts heartbeats and draws a sawtooth; the settings are not looked at.
 *
 *   cc -std=c11 -shared -fPIC -fvisibility=hidden -I../abi/include -o libplugin_pulse.so pulse.c
 *   perfmon-exporter plugin check libplugin_pulse.so
 */
#include "perfmon_plugin.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#define STR(literal) {literal, sizeof(literal) - 1}
#define LEN(array) (sizeof(array) / sizeof((array)[0]))
#define ARRAY(array) {array, LEN(array), sizeof((array)[0]), 0}
#define INSTANCES_MAX 1024

static const perfmon_host *host;

/* One heart per instance. The host calls one instance at a time, but several instances at once. */
typedef struct heart {
    _Atomic uint64_t instance; /* 0: this place is free */
    uint64_t beats;
    int registered;
    perfmon_verdict beats_series, height_series;
} heart;

static heart hearts[INSTANCES_MAX];

static heart *find(uint64_t instance) {
    for (size_t i = 0; i < INSTANCES_MAX; i++)
        if (atomic_load(&hearts[i].instance) == instance)
            return &hearts[i];
    return NULL;
}

static perfmon_status validate(const perfmon_configure *request) {
    (void)request;
    return PERFMON_OK;
}

static perfmon_status create(const perfmon_configure *request) {
    for (size_t i = 0; i < INSTANCES_MAX; i++) {
        uint64_t nobody = 0;
        if (atomic_compare_exchange_strong(&hearts[i].instance, &nobody, request->instance)) {
            hearts[i].beats = 0;
            hearts[i].registered = 0;
            return PERFMON_OK;
        }
    }
    static const char full[] = "no room for another instance";
    memcpy(request->error_host->ptr, full, sizeof(full) - 1);
    request->error_host->len = sizeof(full) - 1;
    return PERFMON_FAILED;
}

static perfmon_status reconfigure(const perfmon_configure *request) {
    return find(request->instance) ? PERFMON_OK : PERFMON_STALE;
}

/* Families and series are registered once; after that only their ids are sent. */
static void register_all(uint64_t instance, heart *it) {
    static const perfmon_family families[] = {
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_COUNTER, .value_kind = PERFMON_VALUE_U64,
         .object = STR("Pulse"), .item = STR("Beats"), .help = STR("Collections of this instance so far."),
         .origin = STR("pulse.c"), .display = PERFMON_DISPLAY_RATE},
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_GAUGE, .value_kind = PERFMON_VALUE_F64,
         .object = STR("Pulse"), .item = STR("Height"), .unit = STR("ratio"),
         .help = STR("A sawtooth that falls with every tenth beat."), .origin = STR("pulse.c"), .display = PERFMON_DISPLAY_PERCENT},
    };
    static const perfmon_label labels[] = {{STR("counter_instance"), STR("left chamber")}};
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict ids[LEN(families)] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(ids);
    if (host->register_families(instance, &family_rows, &verdicts, NULL) != PERFMON_OK)
        return;
    perfmon_series series[LEN(families)];
    for (size_t i = 0; i < LEN(families); i++) {
        series[i] = (perfmon_series){.size = sizeof(perfmon_series), .family = ids[i].id, .labels = ARRAY(labels)};
        if (ids[i].verdict != PERFMON_ACCEPTED)
            return;
    }
    const perfmon_array series_rows = ARRAY(series);
    if (host->register_series(instance, &series_rows, &verdicts, NULL) != PERFMON_OK)
        return;
    it->beats_series = ids[0];
    it->height_series = ids[1];
    it->registered = 1;
}

static perfmon_status collect(const perfmon_collect *request) {
    heart *it = find(request->instance);
    if (!it)
        return PERFMON_STALE;
    const uint64_t start_ns = host->now_ns();
    if (!it->registered)
        register_all(request->instance, it);
    it->beats++;
    const double height = (double)(it->beats % 10) / 10.0;
    if (it->registered && it->beats_series.verdict == PERFMON_ACCEPTED) {
        const perfmon_batch beats = {.size = sizeof(perfmon_batch), .value_kind = PERFMON_VALUE_U64,
                                     .ids = {&it->beats_series.id, 1, sizeof(uint32_t), 0},
                                     .values = {&it->beats, 1, sizeof(uint64_t), 0}};
        host->batch(request->instance, &beats, NULL);
    }
    if (it->registered && it->height_series.verdict == PERFMON_ACCEPTED) {
        const perfmon_batch heights = {.size = sizeof(perfmon_batch), .value_kind = PERFMON_VALUE_F64,
                                       .ids = {&it->height_series.id, 1, sizeof(uint32_t), 0},
                                       .values = {&height, 1, sizeof(double), 0}};
        host->batch(request->instance, &heights, NULL);
    }
    const perfmon_stage stages[] = {{.size = sizeof(perfmon_stage), .stage = PERFMON_STAGE_PLUGIN,
                                     .start_ns = start_ns, .duration_ns = host->now_ns() - start_ns, .calls = 1}};
    const perfmon_completion done = {.size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FULL,
                                     .stages = ARRAY(stages)};
    host->complete(request->instance, request->collection, &done);
    return PERFMON_OK;
}

/* A collection is over before the host could cancel it. */
static void cancel(uint64_t token) { (void)token; }

static void destroy(uint64_t instance) {
    heart *it = find(instance);
    if (it) {
        atomic_store(&it->instance, 0);
        host->destroyed(instance);
    }
}

static const perfmon_source sources[] = {
    {.size = sizeof(perfmon_source), .mode = PERFMON_MODE_ASYNC, .name = STR("pulse"), .help = STR("Beats and a sawtooth")},
};

static const perfmon_plugin plugin = {
    .size = sizeof(perfmon_plugin),
    .abi_major = PERFMON_ABI_MAJOR,
    .abi_minor = PERFMON_ABI_MINOR,
    .name = STR("pulse"),
    .version = STR("1.0"),
    .description = STR("An example in C"),
    .sources = ARRAY(sources),
    .validate = validate,
    .create = create,
    .reconfigure = reconfigure,
    .collect = collect,
    .cancel = cancel,
    .destroy = destroy,
};

perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    (void)error_host;
    if (table->abi_major != PERFMON_ABI_MAJOR)
        return PERFMON_VERSION;
    host = table;
    uint32_t room = plugin_host->size < sizeof(plugin) ? plugin_host->size : (uint32_t)sizeof(plugin);
    memcpy(plugin_host, &plugin, room);
    plugin_host->size = room;
    return PERFMON_OK;
}
