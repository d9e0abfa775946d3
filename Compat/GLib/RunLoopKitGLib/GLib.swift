#if os(Linux)
internal import RunLoopKitCLibrary

/// GLib's functions that a host calls. They are found in the process, because a program whose loop is GLib's has linked that: so the product
/// builds without GLib's headers, and a package can depend on it wherever it is built. Holding them is safe, since a library that was loaded stays; a call is as safe as in C.
@safe struct GLib {
    typealias Context = OpaquePointer
    typealias Source = OpaquePointer
    typealias Boolean = CInt
    typealias Info = UnsafeMutableRawPointer?
    typealias FDSourceFunction = @convention(c) (CInt, CUnsignedInt, Info) -> Boolean
    typealias SourceFunction = @convention(c) (Info) -> Boolean
    typealias PollFunction = @convention(c) (UnsafeMutablePointer<pollfd>?, CUnsignedInt, CInt) -> CInt
    typealias DestroyNotify = @convention(c) (Info) -> Void

    static let isReadable: CUnsignedInt = 1  // G_IO_IN

    let mainContextCheck: @convention(c) (Context, CInt, UnsafeMutablePointer<pollfd>?, CInt) -> Boolean
    let mainContextDefault: @convention(c) () -> Context
    let mainContextDispatch: @convention(c) (Context) -> Void
    let mainContextGetPollFunc: @convention(c) (Context) -> PollFunction?
    let mainContextGetThreadDefault: @convention(c) () -> Context?
    let mainContextPrepare: @convention(c) (Context, UnsafeMutablePointer<CInt>) -> Boolean
    let mainContextQuery:
        @convention(c) (Context, CInt, UnsafeMutablePointer<CInt>, UnsafeMutablePointer<pollfd>?, CInt) -> CInt
    let mainContextSetPollFunc: @convention(c) (Context, PollFunction?) -> Void
    let sourceAttach: @convention(c) (Source, Context) -> CUnsignedInt
    let sourceDestroy: @convention(c) (Source) -> Void
    let sourceNew: @convention(c) (UnsafeRawPointer, CUnsignedInt) -> Source
    let sourceSetCallback: @convention(c) (Source, SourceFunction, Info, DestroyNotify?) -> Void
    let sourceSetCanRecurse: @convention(c) (Source, Boolean) -> Void
    let sourceSetName: @convention(c) (Source, UnsafePointer<CChar>) -> Void
    let sourceSetPriority: @convention(c) (Source, CInt) -> Void
    let sourceUnref: @convention(c) (Source) -> Void
    let unixFDSourceNew: @convention(c) (CInt, CUnsignedInt) -> Source

    /// `nil` before the process has loaded GLib.
    init?() {
        // Loaded for a plug-in's sake, its names may be hidden from everybody else. Linked into the program, it is no library.
        let library = unsafe dlopen("libglib-2.0.so.0", RTLD_LAZY | RTLD_NOLOAD)
        guard unsafe dlsym(library, "g_unix_fd_source_new") != nil else { return nil }
        func find<Function>(_ name: String) -> Function {
            guard let address = unsafe dlsym(library, name) else {
                preconditionFailure("GLib has no function \(name).")
            }
            return unsafe unsafeBitCast(address, to: Function.self)
        }
        unsafe mainContextCheck = find("g_main_context_check")
        unsafe mainContextDefault = find("g_main_context_default")
        unsafe mainContextDispatch = find("g_main_context_dispatch")
        unsafe mainContextGetPollFunc = find("g_main_context_get_poll_func")
        unsafe mainContextGetThreadDefault = find("g_main_context_get_thread_default")
        unsafe mainContextPrepare = find("g_main_context_prepare")
        unsafe mainContextQuery = find("g_main_context_query")
        unsafe mainContextSetPollFunc = find("g_main_context_set_poll_func")
        unsafe sourceAttach = find("g_source_attach")
        unsafe sourceDestroy = find("g_source_destroy")
        unsafe sourceNew = find("g_source_new")
        unsafe sourceSetCallback = find("g_source_set_callback")
        unsafe sourceSetCanRecurse = find("g_source_set_can_recurse")
        unsafe sourceSetName = find("g_source_set_name")
        unsafe sourceSetPriority = find("g_source_set_priority")
        unsafe sourceUnref = find("g_source_unref")
        unsafe unixFDSourceNew = find("g_unix_fd_source_new")
    }
}
#endif
