/* SPDX-License-Identifier: Apache-2.0 */
/* Says which of its settings may be shown and how it is reached; compiled with -DSETTING=..., in a way that cannot be. */
#include "common.h"

#define SETTING_OF(name, what, ...) \
    {.size = sizeof(perfmon_setting), .key = STR(name), .help = STR("A setting."), .kind = what, __VA_ARGS__}
#ifndef SETTING
#define SETTING SETTING_OF("retries", PERFMON_SETTING_KIND_INTEGER, .max = 9, .default_value = STR("3"))
#endif
#ifndef TRANSPORT
#define TRANSPORT STR("cable")
#endif

static const perfmon_str calm[] = {STR("calm"), STR("wild")};
static const perfmon_setting settings[] = {
    SETTING_OF("port", PERFMON_SETTING_KIND_PORT, .default_value = STR("4711"), .flags = PERFMON_SETTING_SHOWN),
    SETTING_OF("mood", PERFMON_SETTING_KIND_WORD, .words = ARRAY(calm), .default_value = STR("\"calm\"")),
    SETTING_OF("nap", PERFMON_SETTING_KIND_DURATION, .min = 1, .max = 60000),
    SETTING_OF("secret", PERFMON_SETTING_KIND_TEXT, .reserved = 0),
    SETTING,
};
static const perfmon_transport transports[] = {
    {.size = sizeof(perfmon_transport), .kind = TRANSPORT, .help = STR("Over a cable"), .settings = ARRAY(settings)},
    {.size = sizeof(perfmon_transport), .kind = STR("air"), .help = STR("Through the air")},
};
static const perfmon_str shown[] = {STR("food"), STR("cages")};
#define SHOWN_KEYS ARRAY(shown)
#define TRANSPORTS ARRAY(transports)
#include "table.h"
