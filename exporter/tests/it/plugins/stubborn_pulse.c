/* SPDX-License-Identifier: Apache-2.0 */
/* pulse.c, which says what it is made of and what it is asked to change to, and does not change to what is `stubborn`. */
#include <stdio.h>
#define perfmon_plugin_entry_v1 pulse_entry
#include "../pulse.c"
#undef perfmon_plugin_entry_v1
static void tell(const char *what, const perfmon_configure *request) {
    char text[512];
    const int len = snprintf(text, sizeof(text), "%s %.*s of %.*s", what, (int)request->target.len, request->target.ptr,
                             (int)request->settings.len, request->settings.ptr);
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = PERFMON_LEVEL_INFO, .message = {text, (uint64_t)len}};
    host->log(host->library, &record);
}
static perfmon_status told_create(const perfmon_configure *request) {
    tell("Made", request);
    return create(request);
}
static perfmon_status told_reconfigure(const perfmon_configure *request) {
    tell("Changed", request);
    static const char stubborn[] = "{\"mood\":\"stubborn\"";
    if (request->settings.len >= sizeof(stubborn) - 1 && memcmp(request->settings.ptr, stubborn, sizeof(stubborn) - 1) == 0) {
        static const char message[] = "not in this mood";
        memcpy(request->error_host->ptr, message, sizeof(message) - 1);
        request->error_host->len = sizeof(message) - 1;
        return PERFMON_FAILED;
    }
    return reconfigure(request);
}
__attribute__((visibility("default")))
perfmon_status perfmon_plugin_entry_v1(const perfmon_host *table, perfmon_plugin *plugin_host, perfmon_text *error_host) {
    const perfmon_status status = pulse_entry(table, plugin_host, error_host);
    plugin_host->create = told_create;
    plugin_host->reconfigure = told_reconfigure;
#ifdef KEEPS_FILES
    static perfmon_source keeping[LEN(sources)];
    keeping[0] = sources[0];
    keeping[0].flags = PERFMON_SOURCE_KEEPS_FILES;
    plugin_host->sources = (perfmon_array)ARRAY(keeping);
#endif
    return status;
}
