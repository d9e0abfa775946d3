// Ticks three times, while another thread posts.
#include <iostream>
#include <runloop.hpp>
#include <thread>
using namespace std::chrono_literals;

int main() {
    auto loop = run_loop::loop::current();
    int ticks = 0;
    auto timer = run_loop::timer::every(10ms, [&] {
        std::cout << "tick " << ++ticks << "\n";
        if (ticks == 3)
            loop.stop();
    });
    loop.add(timer);
    std::thread other([loop] { loop.post([] { std::cout << "posted\n"; }); });
    other.join();
    return run_loop::run() == run_loop::result::stopped ? 0 : 1;
}
