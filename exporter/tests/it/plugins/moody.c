/* SPDX-License-Identifier: Apache-2.0 */
/* Collects as the file "mood" in the folder of the program says: `f` fails, `s` takes a second, `h` hangs until there
   is a file "go", anything else is well. Its one number is how many collections there were, over all targets. */
#include "common.h"
#include <unistd.h>
#define COLLECT collect
#define MODE PERFMON_MODE_BLOCKING
#define INSTANCES 64
static struct {
    uint64_t instance;
    uint32_t id;
} known[INSTANCES];
static int collections;

static int mood(void) {
    FILE *file = fopen("mood", "r");
    int mood = file == NULL ? 'g' : fgetc(file);
    if (file != NULL)
        fclose(file);
    return mood;
}

/* Instances are made and ended one after the other in these tests; two that register at once find two places. */
static uint32_t series_of(uint64_t instance) {
    for (size_t i = 0; i < INSTANCES; i++) {
        uint64_t nobody = 0;
        if (known[i].instance == instance)
            return known[i].id;
        if (__atomic_compare_exchange_n(&known[i].instance, &nobody, instance, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
            register_one(instance, &known[i].id);
            return known[i].id;
        }
    }
    return 0;
}

static perfmon_status collect(const perfmon_collect *request) {
    const int now = mood();
    say(request->instance, "Collecting", now);
    if (now == 'f') {
        const perfmon_completion failed = {.size = sizeof(perfmon_completion), .outcome = PERFMON_OUTCOME_FAILED,
                                           .failure_stage = PERFMON_STAGE_QUERY,
                                           .failure_reason = PERFMON_REASON_ACCESS_DENIED, .message = STR("not today")};
        return host->complete(request->instance, request->collection, &failed);
    }
    if (now == 's')
        sleep(1);
    while (now == 'h' && access("go", F_OK) != 0)
        sleep(1);
    const double value = __atomic_add_fetch(&collections, 1, __ATOMIC_SEQ_CST);
    const uint32_t id = series_of(request->instance);
    send(request->instance, &id, &value, 1);
    return complete_full(request->instance, request->collection);
}
#include "table.h"
