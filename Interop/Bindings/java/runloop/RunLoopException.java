package runloop;

/// What could not be done, and why: the errno of the C library.
public final class RunLoopException extends RuntimeException {
    private static final long serialVersionUID = 1;
    private final int errno;

    RunLoopException(String what, int errno) {
        super(what + ": " + name(errno));
        this.errno = errno;
    }

    /// The error's number: 16 is EBUSY.
    public int errno() {
        return errno;
    }

    private static String name(int errno) {
        return switch (errno) {
            case 1 -> "EPERM: it is not permitted";
            case 9 -> "EBADF: the descriptor is not open";
            case 10 -> "ECHILD: the loop is that of a parent process";
            case 12 -> "ENOMEM: out of memory";
            case 16 -> "EBUSY: it is in use";
            case 17 -> "EEXIST: it is there already";
            case 22 -> "EINVAL: an argument or an invalid item";
            case 24 -> "EMFILE: out of descriptors";
            case 28 -> "ENOSPC: out of watches";
            case 108 -> "ESHUTDOWN: the loop's thread has ended";
            default -> "errno " + errno;
        };
    }
}
