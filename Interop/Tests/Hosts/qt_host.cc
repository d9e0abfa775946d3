// qt_host.cc — Qt's event loop as the host, by Interop/Hosts/qt.h. Each thread that runs scenes has an event loop of its own.
#include "../../Hosts/qt.h"

#include <QCoreApplication>
#include <QEventLoop>
#include <QTimer>

#include "other_language.h"

namespace {
/// Posts itself an event whenever it has received one.
class Repeated : public QObject {
  public:
    explicit Repeated(int turns[HOST_TURNS]) : turns_(turns), timers_{startTimer(1, Qt::PreciseTimer), startTimer(0)} {
        post();
    }
    bool event(QEvent *event) override {
        if (event->type() == QEvent::UpdateRequest) {
            turns_[0]++;
            post();
        } else if (event->type() == QEvent::Timer) {
            turns_[static_cast<QTimerEvent *>(event)->timerId() == timers_[0] ? 1 : 2]++;
        }
        return true;
    }

  private:
    void post() {
        QCoreApplication::postEvent(this, new QEvent(QEvent::UpdateRequest));
    }
    int *turns_;
    int timers_[2];
};
} // namespace

static thread_local std::unique_ptr<Repeated> repeated;
static thread_local std::unique_ptr<RunLoopHost> host;

/// Made by the test's process, not before it was forked.
static void make_application() {
    static int count = 1;
    static char name[] = "scenes";
    static char *arguments[] = {name, nullptr};
    if (!QCoreApplication::instance())
        new QCoreApplication(count, arguments);
}

void host_attach(const char *mode) {
    make_application();
    host = std::make_unique<RunLoopHost>(mode);
    if (host->result() != 0)
        qFatal("The hosted run did not begin: %d", host->result());
}

void host_detach() {
    host.reset();
}

void host_attach_until_end(const char *mode, int *outcome) {
    make_application();
    const auto captured = std::make_shared<int>();
    host = std::make_unique<RunLoopHost>(mode, [outcome, captured](int) {
        int *told = outcome;
        const std::weak_ptr<int> watched = captured;
        host_detach();
        *told = watched.expired() ? -1 : 1;
    });
}

void host_begin_turns(int turns[HOST_TURNS]) {
    repeated = std::make_unique<Repeated>(turns);
}

void host_end_turns() {
    repeated.reset();
}

void host_iterate(int64_t limit_ns) {
    QEventLoop loop;
    QTimer limit;
    limit.setSingleShot(true);
    limit.setTimerType(Qt::PreciseTimer);
    limit.start(int((limit_ns + 999999) / 1000000));
    loop.processEvents(QEventLoop::WaitForMoreEvents);
}
