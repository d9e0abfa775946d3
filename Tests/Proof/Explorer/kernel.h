// kernel.h — the kernel's calls (kernel.c), by what stands for those of the libc (calls.c). Results are those of the kernel: an error is a
// negative errno.
#ifndef RUNLOOP_EXPLORER_KERNEL_H
#define RUNLOOP_EXPLORER_KERNEL_H

#include "internal.h"

struct epoll_event;

enum { FIRST_DESCRIPTOR = 1000 };
enum kind { NO_FILE, SET, COUNTER, TIMER };

int kernel_open(enum kind kind);
int kernel_close(int descriptor);
bool kernel_has(int descriptor);
int kernel_write(int descriptor, const void *code);
int kernel_read(int descriptor, uint64_t *value);
/// EPOLLIN and the like, as they are now.
uint32_t kernel_level(int descriptor);
int kernel_control(int descriptor, int operation, int target, const struct epoll_event *event);
int kernel_wait(int descriptor, struct epoll_event *events, int capacity, int64_t timeout_ns);
int64_t kernel_read_clock(void);
int kernel_arm(int descriptor, int64_t instant_ns);
int kernel_futex_wait(const void *word, uint32_t value, int64_t wake_ns);
int kernel_futex_wake(const void *word, uint32_t count);

#endif // RUNLOOP_EXPLORER_KERNEL_H
