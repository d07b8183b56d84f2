/* SPDX-License-Identifier: Apache-2.0 */
/* A transport with a port, for targets whose port is to be told. Included behind common.h. */
static const perfmon_setting line_settings[] = {
    {.size = sizeof(perfmon_setting), .kind = PERFMON_SETTING_KIND_PORT, .key = STR("port"), .help = STR("The port"),
     .default_value = STR("445")},
};
static const perfmon_transport line_transports[] = {
    {.size = sizeof(perfmon_transport), .kind = STR("line"), .help = STR("Over a line"), .settings = ARRAY(line_settings)},
};
#define TRANSPORTS ARRAY(line_transports)
