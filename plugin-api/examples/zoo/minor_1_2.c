/* SPDX-License-Identifier: Apache-2.0 */
/* Is compiled with the header of version 1.2, which stands in header_1_2, and uses all that it has. */
#include "common.h"

_Static_assert(PERFMON_ABI_MINOR == 2, "this is the header of version 1.2");
_Static_assert(sizeof(perfmon_source) == 64, "1.2");
_Static_assert(sizeof(perfmon_configure) == 104, "1.2");
_Static_assert(sizeof(perfmon_run) == 48, "1.2");
_Static_assert(sizeof(perfmon_family) == 152, "1.2");
_Static_assert(sizeof(perfmon_series) == 48, "1.2");
_Static_assert(sizeof(perfmon_completion) == 80, "1.2");
_Static_assert(sizeof(perfmon_event) == 72, "1.2");
_Static_assert(sizeof(perfmon_host) == 160, "1.2");
_Static_assert(sizeof(perfmon_plugin) == 168, "1.2");

static int collections;

static void register_all(uint64_t instance, uint32_t ids[2]) {
    const perfmon_family families[] = {
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_COUNTER, .value_kind = PERFMON_VALUE_U64, .object = STR("Zoo"),
         .item = STR("Mean"), .display = PERFMON_DISPLAY_AVERAGE, .base = STR("base")},
        {.size = sizeof(perfmon_family), .kind = PERFMON_KIND_COUNTER, .value_kind = PERFMON_VALUE_U64, .object = STR("Zoo"),
         .item = STR("Mean"), .part = STR("base"), .display = PERFMON_DISPLAY_BASE},
    };
    const perfmon_array family_rows = ARRAY(families);
    perfmon_verdict verdict[2] = {{0, 0}, {0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(instance, &family_rows, &verdicts, NULL);
    const perfmon_label labels[] = {{STR("name"), STR("a")}};
    const perfmon_series series[] = {
        {.size = sizeof(perfmon_series), .family = verdict[0].id, .labels = ARRAY(labels), .start_time_unix_ns = 5,
         .start_time_kind = PERFMON_START_TIME_INFERRED},
        {.size = sizeof(perfmon_series), .family = verdict[1].id, .labels = ARRAY(labels)},
    };
    const perfmon_array rows = ARRAY(series);
    host->register_series(instance, &rows, &verdicts, NULL);
    ids[0] = verdict[0].id;
    ids[1] = verdict[1].id;
}

static void finish(const perfmon_collect *request, uint32_t outcome) {
    const perfmon_stage stages[] = {{.size = sizeof(perfmon_stage), .stage = PERFMON_STAGE_QUERY, .calls = 2}};
    const perfmon_completion done = {
        .size = sizeof(perfmon_completion), .outcome = outcome, .stages = ARRAY(stages),
        .failure_stage = PERFMON_STAGE_QUERY, .failure_reason = PERFMON_REASON_DECLARED, .message = STR("snoring"),
    };
    say(request->instance, "completed", host->complete(request->instance, request->collection, &done));
}

/* Collects once, and fails for its own reason from then on. */
static perfmon_status collect(const perfmon_collect *request) {
    if (collections++ > 0) {
        finish(request, PERFMON_OUTCOME_FAILED);
        return PERFMON_OK;
    }
    static uint32_t ids[2];
    register_all(request->instance, ids);
    const uint64_t values[] = {6, 2};
    const perfmon_batch batch = {.size = sizeof(perfmon_batch), .value_kind = PERFMON_VALUE_U64, .ids = ARRAY(ids),
                                 .values = ARRAY(values)};
    say(request->instance, "batch", host->batch(request->instance, &batch, NULL));
    const perfmon_label fact = {STR("os.version"), STR("10.0.20348")};
    say(request->instance, "fact", host->fact(request->instance, &fact));
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.escaped"),
                                 .body = STR("An animal is missing.")};
    say(request->instance, "event", host->event(request->instance, &event));
    finish(request, PERFMON_OUTCOME_FULL);
    return PERFMON_OK;
}

/* What is reserved in this version is zero. */
static perfmon_status accept(const perfmon_configure *request) {
    return request->reserved == 0 ? PERFMON_OK : PERFMON_INVALID;
}
static void cancel(uint64_t token) { (void)token; }
static void destroy(uint64_t instance) { host->destroyed(instance); }
static int32_t run(const perfmon_run *request) {
    const perfmon_bytes line = {(const uint8_t *)"roar\n", 5};
    return host->output(request->run, PERFMON_OUTPUT_OUT, &line) == PERFMON_OK && request->terminal_width == 80 ? 0 : 1;
}

static const perfmon_reason reasons[] = {
    {.size = sizeof(perfmon_reason), .word = STR("asleep"), .sentence = STR("It sleeps."), .next_step = STR("Wake it.")},
};
static const perfmon_source sources[] = {
    {.size = sizeof(perfmon_source), .mode = PERFMON_MODE_ASYNC, .name = STR("animal"), .help = STR("Lives in the zoo"),
     .reasons = ARRAY(reasons)},
};
static const perfmon_command commands[] = {
    {.size = sizeof(perfmon_command), .name = STR("roar"), .help = STR("Makes a noise")},
};
static const perfmon_plugin plugin = {
    .size = sizeof(perfmon_plugin), .abi_major = PERFMON_ABI_MAJOR, .abi_minor = PERFMON_ABI_MINOR, .name = STR("zoo"),
    .version = STR("1.2"), .description = STR("From the version before"), .sources = ARRAY(sources),
    .commands = ARRAY(commands), .validate = accept, .create = accept, .reconfigure = accept, .collect = collect,
    .cancel = cancel, .destroy = destroy, .run = run,
};

perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    (void)error_host;
    host = table;
    uint32_t room = plugin_host->size < sizeof(plugin) ? plugin_host->size : (uint32_t)sizeof(plugin);
    memcpy(plugin_host, &plugin, room);
    plugin_host->size = room;
    return PERFMON_OK;
}
