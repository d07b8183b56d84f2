/* SPDX-License-Identifier: Apache-2.0 */
/* Shows an endpoint in its memory for cells, renames it at each collection, and asks for memory in ways that cannot be. */
#include "common.h"
#include <stdatomic.h>

#define CELL_WORDS 16
static perfmon_cell_memory memory = {.size = sizeof(memory)};

static void ask(const char *what, uint32_t sections, perfmon_cell_memory *room) {
    say(host->library, what, host->cell_memory(host->library, sections, room));
}

/* Writes an active endpoint, `a` to `z`, into the first cell after the header: into the copy that nobody reads. */
static void show_endpoint(char name) {
    _Atomic uint64_t *cell = (_Atomic uint64_t *)memory.words_host + CELL_WORDS;
    const uint64_t sequence = atomic_load(cell);
    /* Kind 1, status 1, protocol sequence 7 (TCP), and a name of one letter. */
    const uint64_t object = 0x0000000100070101 | (uint64_t)(unsigned char)name << 40;
    _Atomic uint64_t *copy = cell + (sequence % 2 == 0 ? 8 : 1);
    atomic_store(copy, object);
    for (int word = 1; word < 7; word++)
        atomic_store(copy + word, 0);
    atomic_store(cell, sequence + 1);
}

static perfmon_status create(const perfmon_configure *request) {
    (void)request;
    perfmon_cell_memory again = {.size = sizeof(again)}, small = {.size = 8};
    ask("memory", 1, &memory);
    say(host->library, "level", memory.level);
    say(host->library, "words", (int64_t)memory.words_len);
    if (memory.words_host == NULL)
        return PERFMON_OK;
    show_endpoint('a');
    ask("again", 0, &again);
    say(host->library, "same", again.words_host == memory.words_host && again.sections == memory.sections);
    ask("three", 3, &again);
    say(host->library, "sections", again.sections);
    ask("fewer", 2, &again);
    say(host->library, "sections left", again.sections);
    ask("too many", UINT32_MAX, &again);
    say(host->library, "all sections", again.sections);
    ask("no room", 1, NULL);
    ask("small room", 1, &small);
    return PERFMON_OK;
}

static perfmon_status collect(const perfmon_collect *request) {
    static char name = 'a';
    static uint32_t id;
    if (name == 'a')
        register_one(request->instance, &id);
    name = name == 'z' ? 'b' : (char)(name + 1);
    const double number = name;
    send(request->instance, &id, &number, 1);
    if (memory.words_host != NULL)
        show_endpoint(name);
    complete_full(request->instance, request->collection);
    return PERFMON_OK;
}

/* The command `memory` says what it gets. */
static int32_t run(const perfmon_run *request) {
    perfmon_cell_memory room = {.size = sizeof(room)};
    char line[32];
    const int len = snprintf(line, sizeof(line), "memory %d\n", (int)host->cell_memory(host->library, 1, &room));
    const perfmon_bytes bytes = {(const uint8_t *)line, (uint64_t)len};
    return host->output(request->run, PERFMON_OUTPUT_OUT, &bytes) == PERFMON_OK ? 0 : 1;
}
static const perfmon_command zoo_commands[] = {
    {.size = sizeof(perfmon_command), .name = STR("memory"), .help = STR("Asks for memory")},
};
#define COMMANDS ARRAY(zoo_commands)
#define RUN run
#define CREATE create
#define COLLECT collect
#include "table.h"
