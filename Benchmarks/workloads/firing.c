#include "../bench.h"
void firing_measure(const struct bench_cell *cell) {
    (void)cell;
    bench_skip("later");
}
void lateness_measure(const struct bench_cell *cell) {
    (void)cell;
    bench_skip("later");
}
void memory_measure(const struct bench_cell *cell) {
    (void)cell;
    bench_skip("later");
}
void startup_measure(const struct bench_cell *cell) {
    (void)cell;
    bench_skip("later");
}
void main_queue_measure(const struct bench_cell *cell) {
    (void)cell;
    bench_skip("later");
}
