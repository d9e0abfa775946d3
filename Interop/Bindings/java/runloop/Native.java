package runloop;

import java.lang.foreign.AddressLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.ref.WeakReference;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicLong;

/// The border to C: functions of librunloop as method handles, and Java objects as the info of its callbacks.
final class Native {
    private Native() {}

    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;
    static final ValueLayout.OfBoolean BOOL = ValueLayout.JAVA_BOOLEAN;
    static final AddressLayout ADDRESS = ValueLayout.ADDRESS;

    private static final Linker LINKER = Linker.nativeLinker();
    /// The property `runloop.library` names another file.
    private static final SymbolLookup LIBRARY =
        SymbolLookup.libraryLookup(System.getProperty("runloop.library", "librunloop.so.0.1"), Arena.global());

    /// The C function of that name; a null `result` is void.
    static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
        MemorySegment address =
            LIBRARY.find(name).orElseThrow(() -> new UnsatisfiedLinkError("librunloop has no function " + name));
        return LINKER.downcallHandle(address, descriptor(result, arguments));
    }

    /// A C function pointer to a static method of `owner`, valid for ever.
    static MemorySegment callback(MethodHandles.Lookup owner, String name, MemoryLayout... arguments) {
        FunctionDescriptor descriptor = descriptor(null, arguments);
        MethodType type = descriptor.toMethodType();
        try {
            return LINKER.upcallStub(owner.findStatic(owner.lookupClass(), name, type), descriptor, Arena.global());
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    private static FunctionDescriptor descriptor(MemoryLayout result, MemoryLayout... arguments) {
        return result == null ? FunctionDescriptor.ofVoid(arguments) : FunctionDescriptor.of(result, arguments);
    }

    /// What a method handle of a C function never throws.
    static AssertionError impossible(Throwable error) {
        return new AssertionError("a C function has thrown", error);
    }

    // -- Calls, by the types of what they take ---------------------------------------------------------------------------

    static int call(MethodHandle function) {
        try {
            return (int) function.invokeExact();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static int call(MethodHandle function, MemorySegment object) {
        try {
            return (int) function.invokeExact(object);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static int call(MethodHandle function, MemorySegment first, MemorySegment second) {
        try {
            return (int) function.invokeExact(first, second);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static int call(MethodHandle function, MemorySegment first, MemorySegment second, MemorySegment third) {
        try {
            return (int) function.invokeExact(first, second, third);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static int call(MethodHandle function, MemorySegment object, int number) {
        try {
            return (int) function.invokeExact(object, number);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static int call(MethodHandle function, MemorySegment object, long number) {
        try {
            return (int) function.invokeExact(object, number);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static void callVoid(MethodHandle function, MemorySegment object) {
        try {
            function.invokeExact(object);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static boolean ask(MethodHandle function, MemorySegment object) {
        try {
            return (boolean) function.invokeExact(object);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static boolean ask(MethodHandle function, MemorySegment first, MemorySegment second, MemorySegment third) {
        try {
            return (boolean) function.invokeExact(first, second, third);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static MemorySegment get(MethodHandle function) {
        try {
            return (MemorySegment) function.invokeExact();
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    static MemorySegment get(MethodHandle function, MemorySegment object) {
        try {
            return (MemorySegment) function.invokeExact(object);
        } catch (Throwable error) {
            throw impossible(error);
        }
    }

    /// A result of C that is not negative, or an exception that says what could not be done.
    static int check(String what, int result) {
        if (result < 0)
            throw new RunLoopException(what, -result);
        return result;
    }

    // -- Java objects as info --------------------------------------------------------------------------------------------

    private static final ConcurrentMap<Long, Object> objects = new ConcurrentHashMap<>();
    private static final AtomicLong last = new AtomicLong();

    /// A number for `object`, which C has as a pointer, until `forget`.
    static MemorySegment remember(Object object) {
        long number = last.incrementAndGet();
        objects.put(number, object);
        return MemorySegment.ofAddress(number);
    }

    /// The same for an item, which its loops keep alive, and not C.
    static MemorySegment rememberItem(Item item) {
        return remember(new WeakReference<>(item));
    }

    /// The item of that number, null if it is closed.
    static Item findItem(MemorySegment info) {
        return objects.get(info.address()) instanceof WeakReference<?> reference ? (Item) reference.get() : null;
    }

    static Object forget(MemorySegment info) {
        return objects.remove(info.address());
    }

    /// How many objects C has. For tests.
    static int remembered() {
        return objects.size();
    }

    /// What every item begins with: its context. `release` forgets the object.
    static final MemoryLayout CONTEXT = MemoryLayout.structLayout(
        ADDRESS.withName("info"), ADDRESS.withName("retain"), ADDRESS.withName("release"), ADDRESS.withName("describe"));

    private static final MemorySegment RELEASE = callback(MethodHandles.lookup(), "release", ADDRESS);

    /// Of an item that can't be called any more.
    private static void release(MemorySegment info) {
        if (forget(info) instanceof WeakReference<?> reference && reference.get() instanceof Item item)
            item.leave();
    }

    static void setContext(MemorySegment config, MemorySegment info) {
        config.set(ADDRESS, 0, info);
        config.set(ADDRESS, CONTEXT.byteOffset(MemoryLayout.PathElement.groupElement("release")), RELEASE);
    }

    static long offset(MemoryLayout layout, String field) {
        return layout.byteOffset(MemoryLayout.PathElement.groupElement(field));
    }
}
