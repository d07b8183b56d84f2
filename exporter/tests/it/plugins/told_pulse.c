/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.c, whose targets say what they run. */
#define perfmon_plugin_entry_v1 pulse_entry
#include "../pulse.c"
#undef perfmon_plugin_entry_v1
static perfmon_status tell_and_collect(const perfmon_collect *request) {
    const perfmon_label system = {STR("os.type"), STR("windows")};
    host->fact(request->instance, &system);
    return collect(request);
}
__attribute__((visibility("default")))
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    const perfmon_status status = pulse_entry(table, plugin_host, error_host);
    plugin_host->collect = tell_and_collect;
    return status;
}
