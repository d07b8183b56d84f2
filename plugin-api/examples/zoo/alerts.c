/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes alerts, twice, without a name, too many, and with numbers. */
#include "common.h"
static void report(const perfmon_collect *request, const char *what, const perfmon_alert *alert) {
    const perfmon_event event = {.size = sizeof(perfmon_event), .level = PERFMON_LEVEL_WARN, .name = STR("zoo.alert"),
                                 .body = STR("An animal is missing."), .alert = alert};
    say(request->instance, what, host->event(request->instance, &event));
}
static void tell(const perfmon_collect *request, const char *what, uint32_t state, perfmon_str id) {
    const perfmon_alert alert = {.size = sizeof(perfmon_alert), .state = state, .id = id};
    report(request, what, &alert);
}
static void compare(const perfmon_collect *request, uint32_t comparison, double value, double threshold) {
    const perfmon_alert alert = {.size = sizeof(perfmon_alert), .state = PERFMON_ALERT_CLOSED, .id = STR("food"),
                                 .comparison = comparison, .value = value, .threshold = threshold};
    report(request, "compared", &alert);
}
static perfmon_status collect(const perfmon_collect *request) {
    const perfmon_str bear = STR("bear"), lynx = STR("lynx"), wolf = STR("wolf"), lines = STR("two\nlines");
    report(request, "none", NULL);
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
    const perfmon_alert shorter = {.size = 8, .state = PERFMON_ALERT_OPENED, .id = bear};
    report(request, "shorter", &shorter);
    compare(request, PERFMON_COMPARISON_BELOW, 3.5, 4);
    compare(request, PERFMON_COMPARISON_ABOVE, 0.0 / 0.0, -4);
    compare(request, PERFMON_COMPARISON_ABOVE, 3, 1e300 * 1e300);
    compare(request, PERFMON_COMPARISON_NONE, 3, 4);
    compare(request, 17, 3, 4);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
#define COLLECT collect
#include "table.h"
