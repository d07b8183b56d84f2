/* SPDX-License-Identifier: Apache-2.0 */
/* Says how long the settings are that it was made of, and takes no others. */
#include "common.h"
#define CREATE create
#ifndef RECONFIGURE
#define RECONFIGURE refuse
static perfmon_status refuse(const perfmon_configure *request) {
    fail_with(request->error_host, "as I am, or not at all");
    return PERFMON_FAILED;
}
#endif
static perfmon_status create(const perfmon_configure *request) {
    say(request->instance, "Made of", (int64_t)request->settings.len);
    return PERFMON_OK;
}
#include "table.h"
