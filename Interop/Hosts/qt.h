// qt.h — a run loop under Qt's event loop. Copy it into a program. Header only; needs Qt 5.15 or 6 and no moc.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_QT_H
#define RUNLOOP_QT_H

#include <QSocketNotifier>
#include <cerrno>
#include <functional>
#include <memory>
#include <runloop.h>

/// While it lives, the run loop of the thread that made it is served in `mode` by that thread's Qt event loop, dialogs included. Destroyed on
/// that thread, and not in a callback of the run loop, where runloop_stop ends the run.
class RunLoopHost {
  public:
    /// `ended` is called when the run ends by itself, with a runloop_result or a negative errno, and may destroy the host.
    explicit RunLoopHost(const char *mode, std::function<void(int)> ended = nullptr)
        : result_(runloop_hosted_begin(mode)), ended_(std::move(ended)) {
        if (result_ != 0)
            return;
        notifier_ = std::make_unique<QSocketNotifier>(runloop_hosted_descriptor(), QSocketNotifier::Read);
        QObject::connect(notifier_.get(), &QSocketNotifier::activated, notifier_.get(), [this] { iterate(); });
    }
    RunLoopHost(const RunLoopHost &) = delete;
    RunLoopHost &operator=(const RunLoopHost &) = delete;
    ~RunLoopHost() {
        if (notifier_ && result_ == 0)
            runloop_hosted_end();
    }

    /// 0 while the run goes on; else a runloop_result or a negative errno.
    int result() const {
        return result_;
    }

  private:
    void iterate() {
        const int64_t budget_ns = 1000000; // then other events have their turn
        int result = runloop_hosted_iterate(budget_ns);
        if (result == 0 || result == -EAGAIN)
            return;
        result_ = result;
        notifier_->setEnabled(false);
        if (const auto ended = std::move(ended_))
            ended(result);
    }

    int result_;
    std::function<void(int)> ended_;
    std::unique_ptr<QSocketNotifier> notifier_;
};

#endif // RUNLOOP_QT_H
