/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes alerts, twice, without a name, and too many. */
#include "common.h"
static void tell(const perfmon_collect *request, const char *what, uint32_t state, perfmon_str alert) {
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.alert"),
                                 .body = STR("An animal is missing."), .alert_state = state, .alert = alert};
    say(request->instance, what, host->event(request->instance, &event));
}
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_str bear = STR("bear"), lynx = STR("lynx"), wolf = STR("wolf"), lines = STR("two\nlines");
    tell(request, "none", PERFMON_ALERT_NONE, lines);
    tell(request, "opened", PERFMON_ALERT_OPENED, bear);
    tell(request, "opened again", PERFMON_ALERT_OPENED, bear);
    tell(request, "still", PERFMON_ALERT_OPEN, lynx);
    tell(request, "too many", PERFMON_ALERT_OPENED, wolf);
    tell(request, "closed", PERFMON_ALERT_CLOSED, bear);
    tell(request, "room", PERFMON_ALERT_OPENED, wolf);
    tell(request, "closed unseen", PERFMON_ALERT_CLOSED, bear);
    tell(request, "later", 17, bear);
    tell(request, "lines", PERFMON_ALERT_OPENED, lines);
    tell(request, "nameless", PERFMON_ALERT_OPENED, (perfmon_str){NULL, 0});
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
