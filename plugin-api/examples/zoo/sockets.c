/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for sockets, one of which there is, and says at which port that listens. */
#define _POSIX_C_SOURCE 200809L
/* The system has a send of its own. */
#define send zoo_send
#include "common.h"
#undef send
#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
static void ask(const char *what, const perfmon_str *name, int32_t *descriptor) {
    say(host->library, what, host->listening_socket(host->library, name, descriptor));
}
static perfmon_status create(const perfmon_configure *request) {
    (void)request;
    const perfmon_str events = STR("events"), others = STR("others"), path = STR("../events"), nothing = {NULL, 0};
    int32_t descriptor = -1;
    ask("events", &events, &descriptor);
    struct sockaddr_in address;
    socklen_t len = sizeof(address);
    if (getsockname(descriptor, (struct sockaddr *)&address, &len) == 0)
        say(host->library, "port", ntohs(address.sin_port));
    say(host->library, "closed on exec", (fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
    close(descriptor);
    ask("again", &events, &descriptor);
    close(descriptor);
    descriptor = -1;
    ask("others", &others, &descriptor);
    ask("path", &path, &descriptor);
    ask("nothing", &nothing, &descriptor);
    ask("no name", NULL, &descriptor);
    ask("no room", &events, NULL);
    say(host->library, "left", descriptor);
    return PERFMON_OK;
}
#define CREATE create
#include "table.h"
