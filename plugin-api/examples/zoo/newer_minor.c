/* SPDX-License-Identifier: Apache-2.0 */
/* Speaks a later minor version: larger structs, values that this host has never heard of. */
#include "common.h"
typedef struct later_source { perfmon_source v1_0; perfmon_str icon; uint64_t colour; } later_source;
typedef struct later_plugin { perfmon_plugin v1_0; void (*dance)(void); } later_plugin;
typedef struct later_family { perfmon_family v1_0; perfmon_str mood; } later_family;
static perfmon_status collect(const perfmon_collect *request) {
    later_family families[] = {
        {.v1_0 = FAMILY("Number", PERFMON_VALUE_F64), .mood = STR("calm")},
        {.v1_0 = FAMILY("Shape", 17), .mood = STR("calm")},
        {.v1_0 = FAMILY("Other", PERFMON_VALUE_U64), .mood = STR("calm")},
    };
    for (size_t i = 0; i < LEN(families); i++)
        families[i].v1_0.size = sizeof(later_family);
    families[2].v1_0.kind = 17;
    const perfmon_array rows = ARRAY(families);
    perfmon_verdict verdict[3] = {{0, 0}};
    const perfmon_array_mut verdicts = ARRAY(verdict);
    host->register_families(request->instance, &rows, &verdicts, NULL);
    say(request->instance, "shape", verdict[1].verdict);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
static perfmon_status accept(const perfmon_configure *request) { (void)request; return PERFMON_OK; }
static void cancel(uint64_t token) { (void)token; }
static void destroy(uint64_t instance) { host->destroyed(instance); }
static void dance(void) {}
static const later_source sources[] = {
    {.v1_0 = {.size = sizeof(later_source), .mode = PERFMON_MODE_ASYNC, .name = STR("bear"), .help = STR("One")}, .icon = STR("b")},
    {.v1_0 = {.size = sizeof(later_source), .mode = PERFMON_MODE_BLOCKING, .name = STR("lynx"), .help = STR("Two")}, .icon = STR("l")},
};
static const later_plugin plugin = {
    .v1_0 = {.size = sizeof(later_plugin), .abi_major = PERFMON_ABI_MAJOR, .abi_minor = PERFMON_ABI_MINOR + 1, .name = STR("later"),
             .version = STR("7"), .description = STR("From the future"), .sources = ARRAY(sources), .validate = accept,
             .create = accept, .reconfigure = accept, .collect = collect, .cancel = cancel, .destroy = destroy},
    .dance = dance,
};
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    (void)error_host;
    host = table;
    uint32_t room = plugin_host->size < sizeof(plugin) ? plugin_host->size : (uint32_t)sizeof(plugin);
    memcpy(plugin_host, &plugin, room);
    plugin_host->size = room;
    return PERFMON_OK;
}
