// stress.cc — threads with loops that come and go, and others that post, move, pause and end what is in them, for as many seconds as
// the argument says. In the end every closure was destroyed, and every post was performed or discarded.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <random>
#include <runloop.hpp>
#include <thread>
#include <vector>

using namespace std::chrono_literals;
using namespace run_loop;

static std::atomic<int64_t> closures, posts, performed, fired, read_bytes, generations;

/// Each closure of the stress has one.
struct counted {
    counted() { ++closures; }
    counted(const counted &) { ++closures; }
    ~counted() { --closures; }
};

/// The loops that others may post to, which may have ended meanwhile.
static std::mutex lock;
static std::vector<loop> loops;

static void publish(const loop &loop) {
    std::lock_guard<std::mutex> guard(lock);
    loops.push_back(loop);
    if (loops.size() > 6)
        loops.erase(loops.begin());
}

static loop any_loop(std::minstd_rand &random) {
    std::lock_guard<std::mutex> guard(lock);
    return loops[random() % loops.size()];
}

/// A thread with a loop that has one of everything, runs for some milliseconds, nested for a part of it, and ends.
static void live(unsigned seed) {
    loop_scope scope;
    const mode inner("inner");
    const auto loop = loop::current();
    int ends[2];
    if (pipe(ends) != 0)
        return;
    {
        descriptor_source reader(ends[0], readiness::readable, [&, kept = counted()](descriptor_source_ref it, readiness) {
            char bytes[64];
            read_bytes += read(ends[0], bytes, sizeof bytes);
            it.set_events(readiness::none);
        });
        signalled_source marked([&, kept = counted()] { reader.set_events(readiness::readable); });
        auto writer = timer::every(100us, [&, kept = counted()] {
            ++fired;
            if (write(ends[1], "x", 1) == 1)
                marked.signal();
        });
        auto nest = timer::every(std::chrono::microseconds(700 + seed % 500), [kept = counted(), inner] { run(inner, 300us); });
        observer watch(activity::all, [kept = counted()] {});
        for (const auto mode : {default_mode, inner})
            loop.add(reader, mode), loop.add(marked, mode), loop.add(writer, mode), loop.add(watch, mode);
        loop.add(nest);
        publish(loop);
        run(default_mode, std::chrono::milliseconds(2 + seed % 10));
        if (!(loop == run_loop::loop::main()))
            std::move(writer).detach(); // ends with the loop, which runs no more
        loop.remove(reader);
    }
    close(ends[0]), close(ends[1]);
    ++generations;
}

static void disturb(unsigned seed, const std::atomic<bool> &over) {
    std::minstd_rand random(seed);
    while (!over) {
        const auto loop = any_loop(random);
        try {
            ++posts;
            const std::shared_ptr<void> witness(nullptr, [kept = counted()](void *) { ++performed; }); // or discarded
            loop.post([witness] {}, random() % 2 ? default_mode : mode("inner"));
            auto late = timer::after(1h, [kept = counted()] {});
            loop.add(late);
            late.set_fire_date(from_now(50us));
            if (random() % 64 == 0)
                loop.stop();
            if (random() % 16 == 0)
                std::move(late).detach();
        } catch (const std::system_error &error) {
            if (error.code().value() != ESHUTDOWN)
                throw;
        }
    }
}

int main(int count, char **arguments) {
    const auto end = run_loop::clock::now() + std::chrono::seconds(count > 1 ? atoi(arguments[1]) : 1);
    publish(loop::current());
    std::atomic<bool> over{false};
    std::vector<std::thread> disturbers;
    for (unsigned i = 0; i < 3; i++)
        disturbers.emplace_back(disturb, i + 1, std::cref(over));
    for (unsigned seed = 0; run_loop::clock::now() < end; seed += 2) {
        std::thread other(live, seed);
        live(seed + 1); // on the initial thread, whose loop does not end
        other.join();
    }
    over = true;
    for (auto &thread : disturbers)
        thread.join();
    loops.clear();
    // The initial thread's loop still has what was detached and posted to it last.
    signalled_source keep([] {});
    loop::current().add(keep, mode("inner"));
    while (run(default_mode, 0s) != result::finished || performed < posts)
        run(mode("inner"), 0s);
    printf("%lld generations, %lld posts, %lld fires, %lld bytes, %lld closures left\n", (long long)generations, (long long)posts,
           (long long)fired, (long long)read_bytes, (long long)closures);
    return closures == 0 && performed == posts && fired > 0 && read_bytes > 0 ? 0 : 1;
}
