/* What both programs print of a call: a line for its request, one for its reply, and one for each structure in them.
 * The example `com_plus_tracker` of the package dcom prints the same in the same words, so that a word that
 * differs is a field that did not arrive. */

#include <fcntl.h>
#include <io.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracker.h"

static void begin_transcript(void) { _setmode(_fileno(stdout), _O_BINARY); }

/* Ends the program where the RPC run time refuses something. */
static void check(const char *what, RPC_STATUS status)
{
    if (status == RPC_S_OK) return;
    fprintf(stderr, "%s: RPC status %ld\n", what, (long)status);
    exit(1);
}

/* The same where a field that must be zero is not. */
static void expect_zero(const char *name, unsigned long number)
{
    if (number == 0) return;
    fprintf(stderr, "%s is %lu, 0 is expected\n", name, number);
    exit(1);
}

static void print_number(const char *name, unsigned long number) { printf(" %s=%lu", name, number); }

static void print_status(HRESULT status) { printf(" status=%08lx\n", (unsigned long)status); }

static void print_guid(const char *name, const GUID *guid)
{
    const unsigned char *d = guid->Data4;
    printf(" %s=%08lx-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x", name, (unsigned long)guid->Data1, guid->Data2,
           guid->Data3, d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7]);
}

static void print_units(const char *name, const WCHAR *units, size_t count)
{
    printf(" %s=", name);
    for (size_t i = 0; i < count; i++) printf("%04x", units[i]);
}

/* A text or data, or a form of nothing: its bytes, and all units; or a NULL pointer. */
static void print_bstr(const char *name, wireBSTR text)
{
    if (text) {
        print_number(name, text->fFlags);
        print_units("asData", text->asData, text->clSize);
    } else {
        printf(" %s=null", name);
    }
}

static void print_extents(const ORPC_EXTENT_ARRAY *extensions)
{
    if (!extensions) return;
    print_number("size", extensions->size);
    expect_zero("reserved", extensions->reserved);
    for (ULONG i = 0; i < ((extensions->size + 1) & ~1u); i++) {
        const ORPC_EXTENT *extent = extensions->extent[i];
        if (!extent) {
            printf("\nextent null");
            continue;
        }
        printf("\nextent");
        print_guid("id", &extent->id);
        print_number("size", extent->size);
        printf(" data=");
        for (ULONG at = 0; at < ((extent->size + 7) & ~7u); at++) printf("%02x", extent->data[at]);
    }
}

static void print_this(const char *method, const ORPCTHIS *this)
{
    printf("request %s version=%u.%u", method, this->version.MajorVersion, this->version.MinorVersion);
    expect_zero("reserved1", this->reserved1);
    print_number("flags", this->flags);
    print_guid("cid", &this->cid);
    print_extents(this->extensions);
    printf("\n");
}

static void print_that(const char *method, const ORPCTHAT *that)
{
    printf("reply %s", method);
    print_number("flags", that->flags);
    print_extents(that->extensions);
    printf("\n");
}

static void print_containers(DWORD count, const ContainerData *containers)
{
    for (DWORD i = 0; containers && i < count; i++) {
        const ContainerData *container = &containers[i];
        printf("container");
        print_number("dwLegacyId", container->dwLegacyId);
        print_units("wszApplicationIdentifier", container->wszApplicationIdentifier, 40);
        print_number("dwProcessId", container->dwProcessId);
        print_number("cCalls", container->statistics.cCalls);
        print_number("cComponentInstances", container->statistics.cComponentInstances);
        print_number("cComponents", container->statistics.cComponents);
        print_number("cCallsPerSecond", container->statistics.cCallsPerSecond);
        printf("\n");
    }
}

static void print_components(DWORD count, const ComponentData *components)
{
    for (DWORD i = 0; components && i < count; i++) {
        const ComponentData *component = &components[i];
        printf("component");
        print_guid("clsid", &component->clsid);
        print_number("cTotalReferences", component->cTotalReferences);
        print_number("cBoundReferences", component->cBoundReferences);
        print_number("cPooledInstances", component->cPooledInstances);
        print_number("cInstancesInCall", component->cInstancesInCall);
        print_number("dwResponseTime", component->dwResponseTime);
        print_number("cCallsCompleted", component->cCallsCompleted);
        print_number("cCallsFailed", component->cCallsFailed);
        printf("\n");
    }
}

/* An array of a reply: how many elements it says that it has, and whether there is one. */
static void print_array(const char *name, DWORD count, const void *array, HRESULT status)
{
    printf("results");
    print_number(name, count);
    printf(array ? " array" : " null");
    print_status(status);
}
