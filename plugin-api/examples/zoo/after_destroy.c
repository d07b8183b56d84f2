/* SPDX-License-Identifier: Apache-2.0 */
/* Goes on to use its instance from a thread of its own, while it is being destroyed and after that. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"
#include <pthread.h>
#define COLLECT collect
#define DESTROY destroy
static uint64_t gone;
static uint32_t id;
static double value = 1.0;
static perfmon_status collect(const perfmon_collect *request) {
    register_one(request->instance, &id);
    say(host->library, "alive", send(request->instance, &id, &value, 1));
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}
static void *haunt(void *unused) {
    say(host->library, "stopped", send(gone, &id, &value, 1));
    host->destroyed(gone);
    uint32_t other = 0;
    say(host->library, "stale batch", send(gone, &id, &value, 1));
    say(host->library, "stale series", register_one(gone, &other));
    say(host->library, "stale completion", complete_full(gone, 1));
    say(host->library, "stale destroyed", host->destroyed(gone));
    return unused;
}
static void destroy(uint64_t instance) {
    pthread_t thread;
    gone = instance;
    if (pthread_create(&thread, NULL, haunt, NULL) == 0)
        pthread_detach(thread);
}
#include "table.h"
