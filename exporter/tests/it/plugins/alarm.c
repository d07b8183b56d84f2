/* SPDX-License-Identifier: Apache-2.0 */
/* Has an alert as the file "alarm" in the folder of the program says: `f` fires, `c` is over, `m` is three of one name that fire,
   anything else is no news. */
#include "common.h"
#define NAME STR("alarm")
#define COLLECT collect
#define MODE PERFMON_MODE_BLOCKING

static int alarm_state(void) {
    FILE *file = fopen("alarm", "r");
    const int state = file == NULL ? 'n' : fgetc(file);
    if (file != NULL)
        fclose(file);
    return state;
}

static perfmon_status collect(const perfmon_collect *request) {
    const int state = alarm_state();
    const perfmon_label disk[] = {{STR("disk"), STR("C:\\ \"{{system}}\" é\n")}}, left[] = {{STR("free.percent"), STR("4")}};
    const perfmon_alert alert = {.size = sizeof(alert), .state = state == 'f' ? PERFMON_ALERT_OPENED : PERFMON_ALERT_CLOSED,
                                 .id = STR("low disk"), .labels = ARRAY(disk)};
    const perfmon_event event = {.size = sizeof(event), .level = PERFMON_LEVEL_ERROR, .name = STR("alarm.disk"),
                                 .body = STR("The disk is nearly full."), .fields = ARRAY(left), .alert = &alert};
    if (state == 'f' || state == 'c')
        host->event(request->instance, &event);
    const perfmon_label names[] = {{STR("alert"), STR("Low disk")}};
    const perfmon_str ids[] = {STR("low disk/C:"), STR("low disk/D:"), STR("low disk/E:")};
    for (int each = 0; state == 'm' && each < 3; each++) {
        const perfmon_alert other = {.size = sizeof(other), .state = PERFMON_ALERT_OPENED, .id = ids[each], .labels = ARRAY(names)};
        perfmon_event one = event;
        one.fields = (perfmon_array){NULL, 0, sizeof(perfmon_label), 0};
        one.alert = &other;
        host->event(request->instance, &one);
    }
    say(request->instance, "Collected", state);
    return complete_full(request->instance, request->collection);
}
#include "table.h"
