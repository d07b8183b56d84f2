/* A tracker of COM+ whose messages Wine reads and writes. Prints what it is asked and what it answers; the host is
 * invented, and answers each call of a method otherwise than the one before.
 *
 *     server.exe PORT
 *
 * It listens on every address, since Wine's RPC does, and until it is ended. */

#include "made_up.h"
#include "transcript.h"

/* More elements than a fragment holds. */
#define MANY 500

static void answer(ORPCTHAT *that, const char *method)
{
    static ULONG answers;
    that->flags = answers;
    that->extensions = made_up_extents(answers++ % 4);
    print_that(method, that);
}

/* An array without elements comes in both forms that the IDL allows: as NULL, and as an array. */
HRESULT GetContainerData(handle_t binding, ORPCTHIS *orpcthis, ORPCTHAT *orpcthat, DWORD *nContainers,
                         ContainerData **aContainerData)
{
    static const struct {
        DWORD count;
        BOOL is_null;
        HRESULT status;
    } answers[] = {
        {0, TRUE, S_OK},  {0, FALSE, S_OK},    {1, FALSE, S_OK},
        {3, FALSE, S_OK}, {MANY, FALSE, S_OK}, {0, TRUE, E_ACCESSDENIED},
    };
    static size_t calls;
    size_t which = calls++ % LENGTH(answers);

    print_this("GetContainerData", orpcthis);
    answer(orpcthat, "GetContainerData");
    *nContainers = answers[which].count;
    *aContainerData = answers[which].is_null ? NULL : MIDL_user_allocate((*nContainers + 1) * sizeof(**aContainerData));
    for (DWORD i = 0; i < *nContainers; i++) fill_container(&(*aContainerData)[i], i);
    print_array("nContainers", *nContainers, *aContainerData, answers[which].status);
    print_containers(*nContainers, *aContainerData);
    fflush(stdout);
    return answers[which].status;
}

/* The container with the highest number is unknown; each other one has as many components as its number says. */
HRESULT GetComponentDataByContainer(handle_t binding, ORPCTHIS *orpcthis, ORPCTHAT *orpcthat, DWORD idContainer,
                                    DWORD *nComponents, ComponentData **aComponentData)
{
    HRESULT status = idContainer == UNTRACKED ? E_INVALIDARG : S_OK;

    print_this("GetComponentDataByContainer", orpcthis);
    printf("arguments");
    print_number("idContainer", idContainer);
    printf("\n");
    answer(orpcthat, "GetComponentDataByContainer");
    *nComponents = status == S_OK ? idContainer % (MANY + 1) : 0;
    *aComponentData = status == S_OK ? MIDL_user_allocate((*nComponents + 1) * sizeof(**aComponentData)) : NULL;
    for (DWORD i = 0; i < *nComponents; i++) {
        GUID clsid = made_up_guid(i);
        fill_component(&(*aComponentData)[i], &clsid, i);
    }
    print_array("nComponents", *nComponents, *aComponentData, status);
    print_components(*nComponents, *aComponentData);
    fflush(stdout);
    return status;
}

/* Container 0 has no component. */
HRESULT GetComponentDataByContainerAndCLSID(handle_t binding, ORPCTHIS *orpcthis, ORPCTHAT *orpcthat,
                                            DWORD idContainer, GUID clsid, ComponentData **ppComponentData)
{
    HRESULT status = idContainer == 0 ? E_INVALIDARG : S_OK;

    print_this("GetComponentDataByContainerAndCLSID", orpcthis);
    printf("arguments");
    print_number("idContainer", idContainer);
    print_guid("clsid", &clsid);
    printf("\n");
    answer(orpcthat, "GetComponentDataByContainerAndCLSID");
    *ppComponentData = status == S_OK ? MIDL_user_allocate(sizeof(**ppComponentData)) : NULL;
    if (*ppComponentData) fill_component(*ppComponentData, &clsid, idContainer);
    printf("results%s", *ppComponentData ? " component" : " null");
    print_status(status);
    print_components(1, *ppComponentData);
    fflush(stdout);
    return status;
}

HRESULT IsSupported(handle_t binding, ORPCTHIS *orpcthis, ORPCTHAT *orpcthat)
{
    static const HRESULT answers[] = {S_OK, S_FALSE, E_NOTIMPL};
    static size_t calls;
    HRESULT status = answers[calls++ % LENGTH(answers)];

    print_this("IsSupported", orpcthis);
    answer(orpcthat, "IsSupported");
    printf("results");
    print_status(status);
    fflush(stdout);
    return status;
}

/* The file is in the directory. Nothing, in either form, comes back as it is, and an empty text as well. */
HRESULT DumpProcess(handle_t binding, ORPCTHIS *orpcthis, ORPCTHAT *orpcthat, wireBSTR bstrContainerID,
                    wireBSTR bstrDirectory, DWORD dwMaxFiles, wireBSTR *pbstrDumpFile)
{
    static const WCHAR file[] = L"\\web\x00fc_\x65e5\xd834\xdd1e.dmp";
    BOOL is_text = bstrDirectory && bstrDirectory->clSize > 0;
    HRESULT status = is_text ? S_OK : E_INVALIDARG;

    print_this("DumpProcess", orpcthis);
    printf("arguments");
    print_bstr("bstrContainerID", bstrContainerID);
    print_bstr("bstrDirectory", bstrDirectory);
    print_number("dwMaxFiles", dwMaxFiles);
    printf("\n");
    answer(orpcthat, "DumpProcess");
    *pbstrDumpFile = NULL;
    if (is_text) {
        ULONG folder = bstrDirectory->clSize, name = LENGTH(file) - 1;
        *pbstrDumpFile = make_bstr(NULL, 2 * (folder + name));
        memcpy((*pbstrDumpFile)->asData, bstrDirectory->asData, folder * sizeof(WCHAR));
        memcpy((*pbstrDumpFile)->asData + folder, file, name * sizeof(WCHAR));
    } else if (bstrDirectory) {
        *pbstrDumpFile = make_bstr(NULL, bstrDirectory->fFlags);
    }
    printf("results");
    print_bstr("pbstrDumpFile", *pbstrDumpFile);
    print_status(status);
    fflush(stdout);
    return status;
}

static void nobody_calls(void) { RpcRaiseException(RPC_S_PROCNUM_OUT_OF_RANGE); }

void TrackerOpnum0(handle_t binding) { nobody_calls(); }
void TrackerOpnum1(handle_t binding) { nobody_calls(); }
void TrackerOpnum2(handle_t binding) { nobody_calls(); }
void TrackerOpnum3(handle_t binding) { nobody_calls(); }
void DumpOpnum0(handle_t binding) { nobody_calls(); }
void DumpOpnum1(handle_t binding) { nobody_calls(); }
void DumpOpnum2(handle_t binding) { nobody_calls(); }
void DumpOpnum3(handle_t binding) { nobody_calls(); }
void DumpOpnum4(handle_t binding) { nobody_calls(); }
void DumpOpnum5(handle_t binding) { nobody_calls(); }
void DumpOpnum6(handle_t binding) { nobody_calls(); }

int main(int argc, char **argv)
{
    if (argc != 2) return 2;
    begin_transcript();
    check("listen on the port", RpcServerUseProtseqEpA((RPC_CSTR)"ncacn_ip_tcp", RPC_C_PROTSEQ_MAX_REQS_DEFAULT,
                                                       (RPC_CSTR)argv[1], NULL));
    check("register IGetTrackingData", RpcServerRegisterIf(IGetTrackingData_v0_0_s_ifspec, NULL, NULL));
    check("register IProcessDump", RpcServerRegisterIf(IProcessDump_v0_0_s_ifspec, NULL, NULL));
    check("listen", RpcServerListen(1, RPC_C_LISTEN_MAX_CALLS_DEFAULT, TRUE));
    fprintf(stderr, "listening\n");
    check("wait", RpcMgmtWaitServerListen());
    return 0;
}
