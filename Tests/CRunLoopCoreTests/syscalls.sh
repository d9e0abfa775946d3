#!/bin/bash
# syscalls.sh — counts the system calls of the scenes in syscalls.c with strace. One line per expectation; fails if any fails.
#
#   BUILD=directory with the built test file `syscalls`; without it: build/c-tests, where Tests/bin/c-tests puts it.
set -u
BUILD=${BUILD:-$(dirname "$0")/../../build/c-tests}
program=$BUILD/syscalls
command -v strace >/dev/null || {
    echo "syscalls.sh: strace is not installed, so nobody counted the system calls (apt-get install strace)."
    exit 1
}
[ -x "$program" ] || {
    echo "syscalls.sh: there is no $program; build it first."
    exit 1
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0

# expect NAME COUNT OPERATOR LIMIT
expect() {
    if [ "$2" -"$3" "$4" ]; then
        echo "ok   $1 ($2)"
    else
        echo "FAIL $1: $2, expected -$3 $4"
        failures=$((failures + 1))
    fi
}

# watch SCENE TEST: runs the test under strace; leaves one line "thread call" for each call begun between the marks, and `marker`,
# the thread that set them.
watch() {
    if ! strace -f -o "$work/log" "$program" "$2" >"$work/output" 2>&1; then
        echo "FAIL the scene $1 does not work under strace:"
        cat "$work/output"
        failures=$((failures + 1))
        return 1
    fi
    awk -v scene="$1" '
        index($0, "write(-1, \"begin " scene "\"") { on = 1; print "marker", $1; next }
        index($0, "write(-1, \"end " scene "\"") { on = 0; ended = 1 }
        on && $2 ~ /^[a-z_0-9]+\(/ { call = $2; sub(/\(.*/, "", call); print $1, call }
        END { if (!ended) print "unended" }' "$work/log" >"$work/calls"
    if ! grep -q '^marker' "$work/calls" || grep -q '^unended' "$work/calls"; then
        echo "FAIL the marks of the scene $1 are not in the trace"
        failures=$((failures + 1))
        return 1
    fi
    marker=$(sed -n 's/^marker //p' "$work/calls")
    sed -i '/^marker/d' "$work/calls"
}

# count PATTERN: how many lines of the scene match.
count() {
    grep -cE "$1" "$work/calls"
}

waits='(epoll_p?wait2?|ppoll|poll|select|pselect6)$'

if watch wake-ups "R50 each wake-up"; then
    expect "one wait call for each of 200 wake-ups of a sleeping loop" "$(count "^$marker $waits")" eq 200
    expect "and at most one more call each" "$(count "^$marker ")" le 400
fi
if watch busy "R64 R103"; then
    expect "no system call in 1000 iterations with signalled sources and posts only" "$(count "^$marker ")" eq 0
fi
if watch idle "R41 an idle"; then
    expect "no system call of a loop that is idle for five seconds" "$(grep -vcE "^$marker " "$work/calls")" eq 0
fi
if watch ping-pong "R104 a round trip"; then
    expect "at most two writes per round trip, 200 times" "$(count ' (write|writev|pwrite64|eventfd_write)$')" le 400
    expect "at most two waits per round trip, 200 times" "$(count " $waits")" le 402
    expect "no other call in a round trip, but for locks" "$(grep -vcE " (write|futex|sched_yield|$waits)" "$work/calls")" le 4
fi
[ $failures -eq 0 ]
