/* SPDX-License-Identifier: Apache-2.0 */
/* Is reached over a cable, whose settings it declares; says what it was made of, and what its command was told. */
#include "common.h"
#define NAME STR("cable")
#define CREATE create
#define RUN run
static const perfmon_str moods[] = {STR("calm"), STR("wild")};
#define SETTING(name, what, ...) \
    {.size = sizeof(perfmon_setting), .key = STR(name), .help = STR("A setting"), .kind = what, __VA_ARGS__}
static const perfmon_setting settings[] = {
    SETTING("mood", PERFMON_SETTING_KIND_WORD, .words = ARRAY(moods), .default_value = STR("\"calm\""),
            .flags = PERFMON_SETTING_SHOWN),
    SETTING("long_nap", PERFMON_SETTING_KIND_DURATION, .min = 10, .max = 60000, .default_value = STR("250"),
            .flags = PERFMON_SETTING_SHOWN),
    SETTING("pin", PERFMON_SETTING_KIND_TEXT, .reserved = 0),
    SETTING("port", PERFMON_SETTING_KIND_PORT, .default_value = STR("4711"), .flags = PERFMON_SETTING_SHOWN),
};
static const perfmon_transport transports[] = {
    {.size = sizeof(perfmon_transport), .kind = STR("cable"), .help = STR("Over a cable"), .settings = ARRAY(settings)},
};
static const perfmon_str shown[] = {STR("animals")};
#define OPTION(text) {.size = sizeof(perfmon_option), .name = STR(text), .value_name = STR("X"), .help = STR("An option")}
static const perfmon_option options[] = {
    OPTION("target"), OPTION("port"), OPTION("cable-mood"), OPTION("cable-long-nap"),
};
static const perfmon_command zoo_commands[] = {
    {.size = sizeof(perfmon_command), .name = STR("look"), .help = STR("Looks"), .options = ARRAY(options)},
};
#define COMMANDS ARRAY(zoo_commands)
#define SHOWN_KEYS ARRAY(shown)
#define TRANSPORTS ARRAY(transports)
static perfmon_status create(const perfmon_configure *request) {
    char text[256];
    int len = snprintf(text, sizeof(text), "Made for port %u of %.*s", request->port, (int)request->settings.len,
                       request->settings.ptr);
    const perfmon_log record = {.size = sizeof(perfmon_log), .level = PERFMON_LEVEL_INFO, .message = {text, (uint64_t)len}};
    host->log(host->library, &record);
    return PERFMON_OK;
}
static int32_t run(const perfmon_run *request) {
    const char *at = request->args.ptr;
    for (uint64_t i = 0; i < request->args.len; i++, at += request->args.element_size) {
        const perfmon_str *word = (const perfmon_str *)(const void *)at;
        const perfmon_bytes bytes = {(const uint8_t *)word->ptr, word->len}, line = {(const uint8_t *)"\n", 1};
        host->output(request->run, PERFMON_OUTPUT_OUT, &bytes);
        host->output(request->run, PERFMON_OUTPUT_OUT, &line);
    }
    return 0;
}
#include "table.h"
