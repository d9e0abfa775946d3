package runloop;

import java.util.EnumSet;
import java.util.Set;

/// Conditions of a descriptor.
public enum Readiness {
    /// There is something to read or to accept, or the end has been reached.
    READABLE(0x1),
    /// There is something urgent to read.
    PRIORITY(0x2),
    /// Something can be written.
    WRITABLE(0x4),
    /// An error: reported in any case.
    ERROR(0x8),
    /// The peer is gone: reported in any case. Waiting for it adds "the peer has shut down its half".
    HANG_UP(0x10);

    final int bit;

    Readiness(int bit) {
        this.bit = bit;
    }

    static int bits(Set<Readiness> conditions) {
        return conditions.stream().mapToInt(condition -> condition.bit).sum();
    }

    static Set<Readiness> of(int bits) {
        EnumSet<Readiness> conditions = EnumSet.noneOf(Readiness.class);
        for (Readiness condition : values()) {
            if ((bits & condition.bit) != 0)
                conditions.add(condition);
        }
        return conditions;
    }
}
