package runloop;

/// Why a run ended.
public enum RunResult {
    /// Nothing can ever happen in the mode.
    FINISHED,
    /// The run was stopped.
    STOPPED,
    /// The limit was reached.
    TIMED_OUT,
    /// A source was handled, and the caller had asked to return then.
    HANDLED_SOURCE;

    private static final RunResult[] RESULTS = values();

    static RunResult of(int value) {
        return RESULTS[value - 1];
    }
}
