/* SPDX-License-Identifier: Apache-2.0 */
/* Its command asks what the configuration has for its target, and for names of metrics, also in ways that cannot be. */
#include "common.h"
static void ask(const perfmon_run *request, const char *what, uint32_t module, uint64_t capacity) {
    const perfmon_family family = FAMILY("Number", PERFMON_VALUE_F64);
    char room[64] = "";
    perfmon_text name = {.size = sizeof(perfmon_text), .ptr = room, .capacity = capacity};
    char line[128];
    perfmon_status status = host->metric_name(request->run, module, &family, &name);
    int len = snprintf(line, sizeof(line), "%s: %d %d %s\n", what, (int)status, (int)name.len, room);
    const perfmon_bytes bytes = {(const uint8_t *)line, (uint64_t)len};
    host->output(request->run, PERFMON_OUTPUT_OUT, &bytes);
}
static int32_t run(const perfmon_run *request) {
    const char *at = request->configured.ptr;
    for (uint64_t i = 0; i < request->configured.len; i++, at += request->configured.element_size) {
        const perfmon_configure *row = (const perfmon_configure *)(const void *)at;
        char line[256];
        int len = snprintf(line, sizeof(line), "source %u of %.*s: %.*s\n", row->source, (int)row->host.len, row->host.ptr,
                           (int)row->settings.len, row->settings.ptr);
        const perfmon_bytes bytes = {(const uint8_t *)line, (uint64_t)len};
        host->output(request->run, PERFMON_OUTPUT_OUT, &bytes);
    }
    ask(request, "of all", PERFMON_NO_MODULE, 64);
    ask(request, "of the first", 0, 64);
    ask(request, "dropped", 1, 64);
    ask(request, "no room", PERFMON_NO_MODULE, 5);
    ask(request, "of none", 2, 64);
    perfmon_text name = {.size = sizeof(perfmon_text)};
    say(host->library, "no family", host->metric_name(request->run, 0, NULL, &name));
    return 0;
}
static const perfmon_command zoo_commands[] = {
    {.size = sizeof(perfmon_command), .name = STR("names"), .help = STR("Says names")},
};
#define COMMANDS ARRAY(zoo_commands)
#define RUN run
#include "table.h"
