package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.json.JsonParserFactory;

/** The page on Spring Boot says what the starter has. */
class SpringBootPageTest {

    private static final Path PAGE = Path.of("../docs/spring-boot.md");

    /** What IDEs complete: of each property its default and description. */
    private static List<Map<?, ?>> properties() throws Exception {
        Path classes = Path.of(ReactiveLockAutoConfiguration.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
        String metadata = Files.readString(classes.resolve("META-INF/spring-configuration-metadata.json"));
        List<?> all =
                (List<?>) JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");
        return all.stream().<Map<?, ?>>map(property -> (Map<?, ?>) property).toList();
    }

    private static String cell(Object value) {
        return value == null ? "" : value.toString();
    }

    @Test
    void theTableHasEveryPropertyWithItsDefaultAndWhatItIs() throws Exception {
        Map<String, String> written = new TreeMap<>();
        String page = Files.readString(PAGE);
        page.substring(page.indexOf("## Properties"), page.indexOf("## Beans"))
                .lines()
                .filter(line -> line.startsWith("| `"))
                .map(line -> line.split(" *\\| *", -1))
                .forEach(cells -> written.put(cells[1].replace("`", ""), cells[2] + "; " + cells[3]));
        Map<String, String> expected = properties().stream()
                .collect(Collectors.toMap(
                        property -> cell(property.get("name")),
                        property -> cell(property.get("defaultValue")) + "; " + cell(property.get("description")),
                        (one, other) -> one,
                        TreeMap::new));

        assertThat(written).containsKey("reactive-lock.lease");
        assertThat(written).isEqualTo(expected);
    }

    @Test
    void everyPropertyOfTheLibraryHasADescription() throws Exception {
        assertThat(properties())
                .hasSizeGreaterThan(10)
                .allSatisfy(property -> assertThat(property.get("description")).isNotNull());
    }

    @Test
    void theClassForBoot35IsTheOneOfTheProject() throws IOException {
        String source = Files.readString(
                Path.of("src/test/projects/boot-3.5/src/main/java/com/example/old/LockConfiguration.java"));

        assertThat(Files.readString(PAGE)).contains(source.substring(source.indexOf("@Configuration")));
    }
}
