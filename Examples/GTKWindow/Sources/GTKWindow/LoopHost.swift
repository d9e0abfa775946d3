import CGtk
import RunLoopKit

/// A hosted run of the main loop under GLib's: copy this file into a GTK program.
@MainActor
final class LoopHost {
    private let run: RunLoop.HostedRun
    private var source: guint = 0

    init() throws(RunLoop.Error) {
        run = try RunLoop.HostedRun()
        source = g_unix_fd_add(
            run.fileDescriptor, G_IO_IN,
            { _, _, host in
                MainActor.assumeIsolated { Unmanaged<LoopHost>.fromOpaque(host!).takeUnretainedValue().serve() }
            }, Unmanaged.passUnretained(self).toOpaque())
        // A dialog that GTK runs inside a closure of ours goes on serving our loop.
        g_source_set_can_recurse(g_main_context_find_source_by_id(nil, source), 1)
    }

    /// True as long as GLib is to call again.
    private func serve() -> gboolean {
        // After so much GTK has its turn.
        if case .ended = run.iterate(for: .milliseconds(1)) {
            source = 0
            return 0
        }
        return 1
    }

    isolated deinit {
        if source != 0 { g_source_remove(source) }
        run.end()
    }
}
