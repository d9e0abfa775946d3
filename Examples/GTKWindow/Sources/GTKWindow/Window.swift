import CGtk
import RunLoopKit
import RunLoopKitGLib

/// The window: four lines, each changed by somebody else, and a button.
@MainActor
final class Window {
    static let shared = Window()

    private var labels: [String: UnsafeMutablePointer<GtkWidget>] = [:]
    /// For a test, which can't read the window.
    private let printsChanges = CommandLine.arguments.contains("--print")
    private var ticks = 0
    private var clicks = 0

    func open(in application: UnsafeMutablePointer<GtkApplication>?) {
        let window = gtk_application_window_new(application)!
        let box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12)!
        for name in ["timer", "task", "thread", "button"] {
            let label = gtk_label_new("\(name): –")!
            gtk_label_set_xalign(cast(label), 0)
            labels[name] = label
            gtk_box_append(cast(box), label)
        }
        let button = gtk_button_new_with_label("Click")!
        gtk_widget_set_vexpand(button, 1)
        connect(button, "clicked") { [self] in clicked() }
        gtk_box_append(cast(box), button)
        for set in [
            gtk_widget_set_margin_top, gtk_widget_set_margin_bottom, gtk_widget_set_margin_start,
            gtk_widget_set_margin_end,
        ] {
            set(box, 24)
        }
        gtk_window_set_title(cast(window), "RunLoopKit in GTK")
        gtk_window_set_default_size(cast(window), 360, 240)
        gtk_window_set_child(cast(window), box)
        gtk_window_present(cast(window))
        start()
    }

    /// Everything here runs on GTK's thread, in GTK's loop.
    private func start() {
        // A timer of our loop.
        let timer = RunLoop.Timer(
            every: .milliseconds(100),
            RunLoop.onMainActor { [self] _ in
                ticks += 1
                show("timer", "\(ticks) ticks of a timer of ours")
            })
        do {
            try RunLoop.GLibHost()
            try RunLoop.main.add(timer, forMode: .common)
        } catch {
            fatalError("The run loop cannot be hosted: \(error)")
        }
        // A task on the main actor.
        Task {
            for count in 1... {
                try await Task.sleep(for: .milliseconds(150))
                show("task", "\(count) steps of a task on the main actor")
            }
        }
        // A task on another thread, which reports here.
        Task.detached {
            for count in 1... {
                try await Task.sleep(for: .milliseconds(200))
                await Window.shared.show("thread", "\(count) visits of a task from elsewhere")
            }
        }
    }

    /// A callback of GTK's, which performs a closure on our loop.
    private func clicked() {
        clicks += 1
        let clicks = clicks
        RunLoop.main.perform {
            MainActor.assumeIsolated { Window.shared.show("button", "\(clicks) clicks, shown by our loop") }
        }
    }

    func show(_ name: String, _ text: String) {
        gtk_label_set_text(cast(labels[name]), text)
        if printsChanges { print(text) }
    }
}
