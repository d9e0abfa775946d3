// qt.cc — the window in Qt 6.
#include <QtWidgets>
#include <memory>
#include <toolkit.h>

namespace {

class Window : public QWidget {
  public:
    long frames = 0;

  protected:
    void paintEvent(QPaintEvent *) override {
        frames++;
        QPainter(this).fillRect(rect(), QColor(static_cast<int>(frames % 60) * 4, 128, 128));
    }
};

int argument_count = 1;
char program[] = "qt";
char *arguments[] = {program, nullptr};
std::unique_ptr<QApplication> application;
std::unique_ptr<Window> window;
std::unique_ptr<QTimer> animation;
QEventLoop *nested;
QDialog *dialog;

} // namespace

void toolkit_open() {
    application = std::make_unique<QApplication>(argument_count, arguments);
    window = std::make_unique<Window>();
    animation = std::make_unique<QTimer>();
    animation->setTimerType(Qt::PreciseTimer);
    QObject::connect(animation.get(), &QTimer::timeout, window.get(), [] { window->update(); });
    window->resize(200, 120);
    window->show();
}

void toolkit_animate(bool animates) {
    if (animates)
        animation->start(16);
    else
        animation->stop();
}

long toolkit_get_frames() {
    return window->frames;
}

void toolkit_run() {
    application->exec();
    // While there is still everything that they need.
    animation.reset();
    window.reset();
    application.reset();
}

void toolkit_close() {
    window->close();
}

void toolkit_run_nested() {
    QEventLoop loop;
    nested = &loop;
    loop.exec();
    nested = nullptr;
}

void toolkit_run_dialog() {
    QMessageBox box(QMessageBox::Question, "Qt", "Save?", QMessageBox::Ok, window.get());
    dialog = &box;
    box.exec();
    dialog = nullptr;
}

void toolkit_quit_nested() {
    if (dialog)
        dialog->accept();
    else if (nested)
        nested->quit();
}

void toolkit_repeat(int milliseconds, void (*call)()) {
    auto *timer = new QTimer(application.get());
    timer->setTimerType(Qt::PreciseTimer);
    QObject::connect(timer, &QTimer::timeout, timer, [call] { call(); });
    timer->start(milliseconds);
}

void toolkit_call(void (*call)()) {
    QTimer::singleShot(1, application.get(), [call] { call(); });
}

void toolkit_set_wait(void (*)(long long)) {}
