package runloop;

import java.util.Set;

/// The activities of which a loop notifies its observers.
public enum Activity {
    /// A run begins, nested or not.
    ENTRY(1),
    /// An iteration begins, which may serve due timers.
    BEFORE_TIMERS(1 << 1),
    /// Signalled sources are performed next.
    BEFORE_SOURCES(1 << 2),
    /// The loop is about to sleep, if it has nothing to do.
    BEFORE_WAITING(1 << 5),
    /// The wait has ended, and what ended it has not been served yet.
    AFTER_WAITING(1 << 6),
    /// A run ends, nested or not.
    EXIT(1 << 7);

    final int bit;

    Activity(int bit) {
        this.bit = bit;
    }

    static int bits(Set<Activity> activities) {
        return activities.stream().mapToInt(activity -> activity.bit).sum();
    }

    static Activity of(int bit) {
        for (Activity activity : values()) {
            if (activity.bit == bit)
                return activity;
        }
        throw new IllegalArgumentException("an unknown activity: " + bit);
    }
}
