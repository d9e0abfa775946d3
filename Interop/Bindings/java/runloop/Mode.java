package runloop;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/// A mode, in which a loop runs and to which timers, sources and observers are added. Modes with equal names are equal.
public final class Mode {
    private static final MethodHandle NAME = Native.function("runloop_mode_name", Native.ADDRESS, Native.ADDRESS);

    /// The mode in which [RunLoop#run()] runs. It is a common mode.
    public static final Mode DEFAULT = of("kCFRunLoopDefaultMode");
    /// Stands for all modes that were declared common. A run in it finishes at once.
    public static final Mode COMMON = of("kCFRunLoopCommonModes");

    private final String name;
    /// In the library's table, for ever: equal names have equal pointers.
    final MemorySegment pointer;

    private Mode(String name, MemorySegment pointer) {
        this.name = name;
        this.pointer = pointer;
    }

    /// The mode of a name. The library keeps each name for ever.
    public static Mode of(String name) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment pointer = Native.get(NAME, arena.allocateFrom(name));
            if (pointer.address() == 0)
                throw new RunLoopException("the mode could not be named", 12);
            return new Mode(name, pointer);
        }
    }

    static Mode of(MemorySegment pointer) {
        return new Mode(pointer.reinterpret(Long.MAX_VALUE).getString(0), pointer);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Mode mode && mode.pointer.address() == pointer.address();
    }

    @Override
    public int hashCode() {
        return Long.hashCode(pointer.address());
    }

    @Override
    public String toString() {
        return name;
    }
}
