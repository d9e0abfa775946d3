// runloop_descriptor.hpp — descriptors that are owned, and those that are lent. Part of runloop_linux.hpp.
// SPDX-License-Identifier: Apache-2.0
#ifndef RUNLOOP_DESCRIPTOR_HPP
#define RUNLOOP_DESCRIPTOR_HPP
#include <unistd.h>
#include <utility>

namespace run_loop {

/// A descriptor of one's own, which is closed at the end. Move-only; moved from, it holds no descriptor.
class descriptor {
  public:
    descriptor() noexcept = default;
    explicit descriptor(int number) noexcept : number_(number) {}
    descriptor(descriptor &&other) noexcept : number_(other.release()) {}
    descriptor &operator=(descriptor &&other) noexcept {
        reset(other.release());
        return *this;
    }
    ~descriptor() { reset(); }
    int get() const noexcept { return number_; }
    explicit operator bool() const noexcept { return number_ >= 0; }
    /// Leaves the number to the caller, which closes it.
    int release() noexcept { return std::exchange(number_, -1); }
    /// Closes it, and owns another one.
    void reset(int number = -1) noexcept {
        if (number_ >= 0)
            close(number_);
        number_ = number;
    }
    /// Where a C function writes one that is to be owned.
    int *out() noexcept {
        reset();
        return &number_;
    }

  private:
    int number_ = -1;
};

/// What an object is made for: a number, which is lent to it and closed by its owner after the object's end, or a descriptor, which is the
/// object's from its creation on.
class lent_or_given {
  public:
    lent_or_given(int lent) noexcept : number_(lent) {}
    lent_or_given(descriptor &&given) noexcept : number_(given.get()), given_(&given) {}
    int number() const noexcept { return number_; }
    bool is_given() const noexcept { return given_ != nullptr; }
    /// After the creation.
    void taken() const noexcept {
        if (given_)
            given_->release();
    }

  private:
    int number_;
    descriptor *given_ = nullptr;
};

} // namespace run_loop
#endif // RUNLOOP_DESCRIPTOR_HPP
