/* What both programs make up: figures, names and extents. They mean nothing, and differ from each other. */

#include <stdlib.h>
#include <string.h>

#include "tracker.h"

/* [MS-COMT] 2.2.4: the host does not track the figure. The same number of bytes makes a BSTR nothing. */
#define UNTRACKED 0xffffffff
#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

void *__RPC_USER MIDL_user_allocate(SIZE_T size) { return calloc(1, size); }
void __RPC_USER MIDL_user_free(void *memory) { free(memory); }

/* A text, or data, of that many bytes; without units it is memory of zeros. */
static wireBSTR make_bstr(const WCHAR *units, ULONG bytes)
{
    ULONG count = bytes == UNTRACKED ? 0 : (bytes + 1) / 2;
    wireBSTR text = MIDL_user_allocate(sizeof(*text) + count * sizeof(WCHAR));
    text->fFlags = bytes;
    text->clSize = count;
    if (units) memcpy(text->asData, units, count * sizeof(WCHAR));
    return text;
}

static GUID made_up_guid(DWORD number)
{
    GUID guid = {0x01020304, 0x0506, 0x0708, {0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0}};
    guid.Data1 += number;
    guid.Data4[7] = (unsigned char)number;
    return guid;
}

/* Extents of 0, 5, 10 … bytes; none without a number. */
static ORPC_EXTENT_ARRAY *made_up_extents(ULONG count)
{
    if (count == 0) return NULL;
    ORPC_EXTENT_ARRAY *extensions = MIDL_user_allocate(sizeof(*extensions));
    extensions->size = count;
    extensions->extent = MIDL_user_allocate(((count + 1) & ~1u) * sizeof(*extensions->extent));
    for (ULONG i = 0; i < count; i++) {
        ULONG size = 5 * i;
        ORPC_EXTENT *extent = MIDL_user_allocate(offsetof(ORPC_EXTENT, data) + ((size + 7) & ~7u) + 1);
        extent->id = made_up_guid(0x40 + i);
        extent->size = size;
        for (ULONG at = 0; at < size; at++) extent->data[at] = (byte)(0xa0 + at);
        extensions->extent[i] = extent;
    }
    return extensions;
}

/* Figures that differ from each other, and some that are not tracked. */
static DWORD figure(DWORD element, DWORD field)
{
    return (element + field) % 5 == 0 ? UNTRACKED : 1000 * element + field;
}

/* The BOM and all that is not ASCII are units like any other. */
static void fill_container(ContainerData *container, DWORD element)
{
    GUID application = made_up_guid(element);
    StringFromGUID2(&application, container->wszApplicationIdentifier, 40);
    container->wszApplicationIdentifier[39] = (WCHAR)(0xfeff - element);
    container->dwLegacyId = figure(element, 1);
    container->dwProcessId = figure(element, 2);
    container->statistics.cCalls = figure(element, 3);
    container->statistics.cComponentInstances = figure(element, 4);
    container->statistics.cComponents = figure(element, 5);
    container->statistics.cCallsPerSecond = figure(element, 6);
}

static void fill_component(ComponentData *component, const GUID *clsid, DWORD element)
{
    component->clsid = *clsid;
    component->cTotalReferences = figure(element, 1);
    component->cBoundReferences = figure(element, 2);
    component->cPooledInstances = figure(element, 3);
    component->cInstancesInCall = figure(element, 4);
    component->dwResponseTime = figure(element, 5);
    component->cCallsCompleted = figure(element, 6);
    component->cCallsFailed = figure(element, 7);
}
