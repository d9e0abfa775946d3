import CGtk
import Glibc

// A GTK program on whose main thread our loop is hosted: a timer of ours, a task on the main actor, a task elsewhere, and GTK's own
// callbacks all change one window. GTK's loop owns the thread; nothing is polled.

@main struct Main {
    @MainActor
    static func main() {
        let application = gtk_application_new("runloopkit.window", G_APPLICATION_NON_UNIQUE)
        connect(application, "activate") { Window.shared.open(in: application) }
        exit(g_application_run(cast(application), 0, nil))
    }
}
