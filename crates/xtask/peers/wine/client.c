/* A client of a tracker of COM+ whose messages Wine writes and reads. Prints what it asks and what it is answered.
 *
 *     client.exe ADDRESS PORT */

#include "made_up.h"
#include "transcript.h"

/* The methods of both interfaces are called as those of one object. */
#define OBJECT "5ca1ab1e-0506-0708-090a-0b0c0d0e0f10"

static handle_t binding;

/* Each call has flags, a causality and extents of its own. */
static ORPCTHIS *begin_call(const char *method)
{
    static ULONG calls;
    ORPCTHIS *this = MIDL_user_allocate(sizeof(*this));
    this->version.MajorVersion = 5;
    this->version.MinorVersion = 7;
    this->flags = calls;
    this->cid = made_up_guid(0x7000 + calls);
    this->extensions = made_up_extents(calls++ % 4);
    print_this(method, this);
    return this;
}

static void get_container_data(void)
{
    ORPCTHIS *this = begin_call("GetContainerData");
    ORPCTHAT that = {0};
    DWORD count = 0;
    ContainerData *containers = NULL;
    HRESULT status = GetContainerData(binding, this, &that, &count, &containers);
    print_that("GetContainerData", &that);
    print_array("nContainers", count, containers, status);
    print_containers(count, containers);
}

static void get_components(DWORD container)
{
    ORPCTHIS *this = begin_call("GetComponentDataByContainer");
    ORPCTHAT that = {0};
    DWORD count = 0;
    ComponentData *components = NULL;
    printf("arguments");
    print_number("idContainer", container);
    printf("\n");
    HRESULT status = GetComponentDataByContainer(binding, this, &that, container, &count, &components);
    print_that("GetComponentDataByContainer", &that);
    print_array("nComponents", count, components, status);
    print_components(count, components);
}

static void get_component(DWORD container, GUID clsid)
{
    ORPCTHIS *this = begin_call("GetComponentDataByContainerAndCLSID");
    ORPCTHAT that = {0};
    ComponentData *component = NULL;
    printf("arguments");
    print_number("idContainer", container);
    print_guid("clsid", &clsid);
    printf("\n");
    HRESULT status = GetComponentDataByContainerAndCLSID(binding, this, &that, container, clsid, &component);
    print_that("GetComponentDataByContainerAndCLSID", &that);
    printf("results%s", component ? " component" : " null");
    print_status(status);
    print_components(1, component);
}

static void is_supported(void)
{
    ORPCTHIS *this = begin_call("IsSupported");
    ORPCTHAT that = {0};
    HRESULT status = IsSupported(binding, this, &that);
    print_that("IsSupported", &that);
    printf("results");
    print_status(status);
}

static void dump_process(wireBSTR container, wireBSTR directory, DWORD files)
{
    ORPCTHIS *this = begin_call("DumpProcess");
    ORPCTHAT that = {0};
    wireBSTR file = NULL;
    printf("arguments");
    print_bstr("bstrContainerID", container);
    print_bstr("bstrDirectory", directory);
    print_number("dwMaxFiles", files);
    printf("\n");
    HRESULT status = DumpProcess(binding, this, &that, container, directory, files, &file);
    print_that("DumpProcess", &that);
    printf("results");
    print_bstr("pbstrDumpFile", file);
    print_status(status);
}

/* A text without the NUL behind it. */
#define TEXT_OF(literal) make_bstr(literal, sizeof(literal) - sizeof(WCHAR))

/* A directory that needs more than one fragment. */
static wireBSTR long_directory(void)
{
    wireBSTR directory = make_bstr(NULL, 2 * 4001);
    for (ULONG i = 0; i < directory->clSize; i++) directory->asData[i] = (WCHAR)(0x4e00 + i);
    return directory;
}

/* A response that Wine cannot read, or a fault, raises an exception. */
static LONG WINAPI end_on_exception(EXCEPTION_POINTERS *raised)
{
    fprintf(stderr, "a call raised exception %lu\n", (unsigned long)raised->ExceptionRecord->ExceptionCode);
    fflush(stdout);
    _exit(1);
}

static void bind_object(const char *address, const char *port)
{
    RPC_CSTR text;
    check("compose a binding", RpcStringBindingComposeA((RPC_CSTR)OBJECT, (RPC_CSTR)"ncacn_ip_tcp", (RPC_CSTR)address,
                                                        (RPC_CSTR)port, NULL, &text));
    check("bind", RpcBindingFromStringBindingA(text, &binding));
    check("free the binding's text", RpcStringFreeA(&text));
}

int main(int argc, char **argv)
{
    static const GUID all_ones = {0xffffffff, 0xffff, 0xffff, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
    wireBSTR container, directory;

    if (argc != 3) return 2;
    begin_transcript();
    SetUnhandledExceptionFilter(end_on_exception);
    bind_object(argv[1], argv[2]);
    container = TEXT_OF(L"{01020304-0506-0708-090A-0B0C0D0E0F10}");
    directory = TEXT_OF(L"C:\\Gr\x00f6\x00df" L"e\\\x65e5\x672c\\\xd834\xdd1e");

    for (int i = 0; i < 6; i++) get_container_data();
    get_components(0);
    get_components(1);
    get_components(3);
    get_components(500);
    get_components(UNTRACKED);
    get_component(0, GUID_NULL);
    get_component(1, made_up_guid(9));
    get_component(UNTRACKED, all_ones);
    for (int i = 0; i < 3; i++) is_supported();
    dump_process(container, directory, 0);
    dump_process(container, make_bstr(NULL, UNTRACKED), UNTRACKED);
    dump_process(NULL, NULL, 1);
    dump_process(container, TEXT_OF(L""), 2);
    dump_process(container, make_bstr(L"od", 3), 3);
    dump_process(container, long_directory(), 4);
    return 0;
}
