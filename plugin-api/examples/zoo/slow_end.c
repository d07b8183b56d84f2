/* SPDX-License-Identifier: Apache-2.0 */
/* Takes its time to end: it asks for a secret and logs, and is done when it is asked to validate something. */
#include "common.h"
static perfmon_end asked;
static void end(const perfmon_end *request) {
    asked = *request;
    const perfmon_credential_request who = {.size = sizeof(perfmon_credential_request), .host = STR("a"),
                                            .identity = STR("corp")};
    perfmon_credential_lease lease = {.size = sizeof(perfmon_credential_lease)};
    say(host->library, "secret", host->credential_acquire(request->instance, &who, &lease));
    uint32_t id = 0;
    say(host->library, "families", register_one(request->instance, &id));
    say(request->instance, "taking leave", request->reason);
    say(host->library, "left ms", (int64_t)((request->deadline_ns - request->now_ns) / 1000000));
}
static void destroy(uint64_t instance) { say(host->library, "destroyed without a deadline", (int64_t)(instance != 0)); }
static perfmon_status validate(const perfmon_configure *request) {
    (void)request;
    say(host->library, "done", host->destroyed(asked.instance));
    return PERFMON_OK;
}
#define VALIDATE validate
#define DESTROY destroy
#define END end
#include "table.h"
