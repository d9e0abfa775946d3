import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;

/// Writes the classes of java.lang.foreign from the Java that runs it into a folder, in the format of Java 17, so that a compiler of
/// Java 17 knows them: it compiles against this interface, and nothing of it is run.
public class Signatures {
    private static final byte VERSION_17 = 61;

    public static void main(String[] arguments) throws IOException {
        Path target = Files.createDirectories(Path.of(arguments[0], "java/lang/foreign"));
        Path source = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("modules/java.base/java/lang/foreign");
        try (var classes = Files.list(source)) {
            for (Path path : (Iterable<Path>) classes::iterator) {
                byte[] bytes = Files.readAllBytes(path);
                bytes[4] = 0; // the minor version
                bytes[5] = 0;
                bytes[6] = 0; // the major one
                bytes[7] = VERSION_17;
                Files.write(target.resolve(path.getFileName().toString()), bytes);
            }
        }
    }
}
