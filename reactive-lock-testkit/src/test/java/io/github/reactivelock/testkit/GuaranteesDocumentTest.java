package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/**
 * The tests that docs/guarantees.md, docs/peers.md and defects/README.md name are there, so that no promise and no
 * defect outlives what shows it; docs/versions.md and the README name the versions of the build; every link leads
 * somewhere; every page can be found; and no page about the design is too long to be read at once.
 */
class GuaranteesDocumentTest {

    static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Pattern COMMENT = Pattern.compile("<!--.*?-->", Pattern.DOTALL);
    private static final Pattern NAMED = Pattern.compile("`(\\w+(?:Test|IT|Cases|Contract))(?:#(\\w+))?`");

    /** A model, or a defect that is planted for the simulation to find, and the directories that have them. */
    private static final Pattern CHECKED = Pattern.compile("`(\\w+\\.cfg|[0-9]{2}-[a-z-]+\\.txt)`");

    private static final List<Path> CHECKS = List.of(ROOT.resolve("models"), ROOT.resolve("simulation/planted"));

    /** A server and its versions, as config/servers-met reads them. */
    private static final Pattern SERVER = Pattern.compile("(?m)^\\| ([a-z]+) \\| ([0-9][0-9., ]*) \\|");

    /** What stands before a version in docs/versions.md, and the property of the build that has it. */
    private static final Map<String, String> VERSIONS = Map.ofEntries(
            Map.entry("Netty | ", "netty"),
            Map.entry("Lettuce | ", "lettuce"),
            Map.entry("Vert.x | ", "vertx"),
            Map.entry("Redis client ", "vertx-redis"),
            Map.entry("jetcd | ", "jetcd"),
            Map.entry("gRPC ", "grpc"),
            Map.entry("ZooKeeper | ", "zookeeper"),
            Map.entry("Curator ", "curator"),
            Map.entry("r2dbc-postgresql ", "r2dbc-postgresql"),
            Map.entry("r2dbc-mariadb ", "r2dbc-mariadb"),
            Map.entry("r2dbc-mysql ", "r2dbc-mysql"),
            Map.entry("r2dbc-h2 ", "r2dbc-h2"),
            Map.entry("SPI ", "r2dbc-spi"),
            Map.entry("r2dbc-pool ", "r2dbc-pool"),
            Map.entry("reactor-pool ", "reactor-pool"));

    /** What was wrong, in a few words at least, and the tests. */
    private static final Pattern ROW = Pattern.compile("\\| [^|]{20,} \\| " + NAMED + "(?:, " + NAMED + ")* \\|");

    private static final Pattern CODE = Pattern.compile("^```.*?^```|`[^`\\n]*`", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#\\s]*)(?:#([^)\\s]*))?\\)");
    private static final Pattern HEADING = Pattern.compile("^#+ (.+)$", Pattern.MULTILINE);

    /** A file outside docs/ that is a page of the site, and its name there. */
    private static final Pattern REWRITE = Pattern.compile("'([\\w/]+\\.md)': '(\\w+)\\.md'");

    /** An entry of the site's sidebar; {@code /} is docs/README.md. */
    private static final Pattern ENTRY = Pattern.compile("link: '(/[^']*)'");

    /** What a user of Spring reads first; each says that a method can have a lock by its annotation. */
    private static final List<String> DOORS_OF_SPRING = List.of(
            "README.md",
            "docs/README.md",
            "docs/getting-started.md",
            "docs/spring-boot.md",
            "docs/jobs.md",
            "docs/migrating/redisson.md",
            "docs/migrating/shedlock.md",
            "docs/migrating/spring-integration.md");

    /** A row of the table of packages: the package, what it has, and the module. */
    private static final Pattern PACKAGE = Pattern.compile(
            "^\\| `(io\\.github\\.reactivelock[a-z0-9.]*)` \\| (.*) \\| `(reactive-lock-[a-z0-9-]+)`.* \\|$",
            Pattern.MULTILINE);

    private static final Pattern TYPE = Pattern.compile("`([A-Z]\\w+)`");
    private static final Pattern ARTIFACT = Pattern.compile("<artifactId>(reactive-lock-[a-z0-9-]+)</artifactId>");

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        assertAllExist(Files.readString(ROOT.resolve("docs/guarantees.md"))
                + Files.readString(ROOT.resolve("docs/versions.md")));
        assertAllExist(Files.readString(ROOT.resolve("docs/peers.md")));
    }

    @Test
    void everyPromiseNamesATestASimulationOrAModelThatShowsIt() throws IOException {
        assertThat(evidence("docs/guarantees.md"))
                .hasSizeGreaterThan(80)
                .allSatisfy(GuaranteesDocumentTest::assertNamesWhatShowsIt);
        assertThat(evidence("docs/peers.md"))
                .hasSizeGreaterThan(20)
                .allSatisfy(GuaranteesDocumentTest::assertNamesWhatShowsIt);
    }

    private static void assertNamesWhatShowsIt(String cell) {
        assertThat(cell)
                .matches(
                        named -> NAMED.matcher(named).find()
                                || CHECKED.matcher(named).find(),
                        "names what shows it");
    }

    /** What stands in the columns "shown by". */
    private static List<String> evidence(String page) throws IOException {
        List<String> evidence = new ArrayList<>();
        int column = 0;
        for (String line : Files.readAllLines(ROOT.resolve(page))) {
            List<String> cells = List.of(line.split(" *\\| *"));
            if (!line.startsWith("|")) {
                column = 0;
            } else if (cells.contains("shown by")) {
                column = cells.indexOf("shown by");
            } else if (column > 0 && !line.startsWith("|---")) {
                evidence.add(cells.get(column));
            }
        }
        return evidence;
    }

    @Test
    void theModelsAndPlantedDefectsThatAreNamedExist() throws IOException {
        List<String> named = CHECKED.matcher(Files.readString(ROOT.resolve("docs/guarantees.md")))
                .results()
                .map(name -> name.group(1))
                .toList();

        assertThat(named)
                .hasSizeGreaterThan(15)
                .allMatch(name -> CHECKS.stream().anyMatch(directory -> Files.exists(directory.resolve(name))));
    }

    @Test
    void everyDefectHasATestThatExists() throws IOException {
        String defects = Files.readString(ROOT.resolve("defects/README.md"));
        List<String> rows = defects.lines()
                .dropWhile(line -> !line.startsWith("|---"))
                .skip(1)
                .toList();

        assertAllExist(defects);
        assertThat(rows)
                .hasSizeGreaterThan(100)
                .allMatch(row -> ROW.matcher(row).matches());
        assertThat(rows).extracting(row -> row.split(" \\| ", 2)[0]).doesNotHaveDuplicates();
    }

    @Test
    void theVersionsAreThoseOfTheBuild() throws IOException {
        String table = Files.readString(ROOT.resolve("docs/versions.md"));
        String pom = Files.readString(ROOT.resolve("pom.xml"));

        VERSIONS.forEach((before, property) ->
                assertThat(table).containsPattern(Pattern.quote(before + version(pom, property)) + "[^.0-9]"));
        for (String library : List.of("Lettuce", "Reactor", "Netty", "ZooKeeper")) {
            String oldest = version(pom, "oldest." + library.toLowerCase(Locale.ROOT));
            assertThat(table).containsPattern("\\| " + library + " \\| [^|]*\\| " + Pattern.quote(oldest) + "[^.0-9]");
        }
        assertThat(table).contains("Spring Boot " + version(pom, "oldest.spring-boot"));
        assertThat(table).contains("Reactor | " + Flux.class.getPackage().getImplementationVersion() + " ");
    }

    /** The build compares the table with what ran: config/servers-met. */
    @Test
    void theReadmeNamesTheServersOfTheTable() throws IOException {
        String servers = SERVER.matcher(Files.readString(ROOT.resolve("docs/versions.md")))
                .results()
                .map(row -> row.group(1) + " " + row.group(2))
                .collect(Collectors.joining("; "));

        assertThat(servers).contains("redis", "postgresql");
        assertThat(Files.readString(ROOT.resolve("README.md"))).contains("meet: " + servers + ".");
    }

    @Test
    void whatIsToBeCopiedIntoABuildHasTheVersionOfTheProject() throws IOException {
        String pom = Files.readString(ROOT.resolve("pom.xml"));
        String version = pom.substring(pom.indexOf("<version>") + 9, pom.indexOf("</version>"));

        for (String page : List.of("README.md", "docs/getting-started.md")) {
            assertThat(Files.readString(ROOT.resolve(page)))
                    .as(page)
                    .contains("<version>" + version + "</version>", "reactive-lock-bom:" + version + "\"");
        }
        assertThat(Files.readString(ROOT.resolve("docs/kotlin.md"))).contains("reactive-lock-bom:" + version + "\"");
        for (String page : List.of("README.md", "docs/getting-started.md", "docs/kotlin.md")) {
            // Gradle does not look there by itself, and a snapshot is nowhere else.
            String text = Files.readString(ROOT.resolve(page));
            assertThat(!version.endsWith("-SNAPSHOT") || text.contains("mavenLocal()"))
                    .as(page)
                    .isTrue();
        }
        int netty = pom.indexOf("<netty.version>") + "<netty.version>".length();
        assertThat(Files.readString(ROOT.resolve("docs/getting-started.md")))
                .contains("<version>" + pom.substring(netty, pom.indexOf('<', netty)) + "</version>");
    }

    @Test
    void everyLinkLeadsToAFileAndAHeading() throws IOException {
        List<Path> pages = pages();
        List<String> dead = new ArrayList<>();
        for (Path page : pages) {
            String text = CODE.matcher(Files.readString(page)).replaceAll("");
            for (MatchResult link : LINK.matcher(text).results().toList()) {
                String file = link.group(1);
                Path target = file.isEmpty() ? page : page.resolveSibling(file).normalize();
                if (!file.contains("://") && !(Files.exists(target) && hasHeading(target, link.group(2)))) {
                    dead.add(ROOT.relativize(page) + " " + link.group());
                }
            }
        }

        assertThat(pages).hasSizeGreaterThan(20);
        assertThat(dead).isEmpty();
    }

    /** The site has all pages but the README: its front page is docs/README.md. */
    @Test
    void noPageOfTheSiteLinksAPageThatIsNotOnIt() throws IOException {
        List<Path> onSite = new ArrayList<>(pages());
        onSite.remove(ROOT.resolve("README.md"));

        assertThat(onSite)
                .allSatisfy(page -> assertThat(linkedFrom(page))
                        .as(ROOT.relativize(page).toString())
                        .isSubsetOf(onSite));
    }

    @Test
    void everyPageIsAtMostTwoLinksFromTheReadme() throws IOException {
        Set<Path> found = new LinkedHashSet<>(List.of(ROOT.resolve("README.md")));
        for (int links = 0; links < 2; links++) {
            for (Path page : List.copyOf(found)) {
                found.addAll(linkedFrom(page));
            }
        }

        assertThat(pages()).isSubsetOf(found);
    }

    @Test
    void theReadmeLinksEveryPageAboutHowToUseIt() throws IOException {
        String front = Files.readString(ROOT.resolve("docs/README.md"));
        Set<Path> linked = linkedFrom(ROOT.resolve("README.md"));
        String use = front.substring(front.indexOf("## Start"), front.indexOf("## Look behind it"));

        assertThat(linked).contains(ROOT.resolve("docs/README.md")).containsAll(links(use, "docs"));
    }

    @Test
    void everyPageIsInTheSidebar() throws IOException {
        String site = Files.readString(ROOT.resolve("docs/site/.vitepress/config.mjs"));
        String sidebar = site.substring(site.indexOf("const sidebar"), site.indexOf("const rewrites"));
        List<String> pages = new ArrayList<>();
        REWRITE.matcher(site)
                .results()
                .filter(page -> Files.exists(ROOT.resolve(page.group(1))))
                .forEach(page -> pages.add(page.group(1).equals("docs/README.md") ? "/" : "/" + page.group(2)));
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            docs.filter(GuaranteesDocumentTest::isPage)
                    .map(page -> ROOT.resolve("docs").relativize(page).toString())
                    .filter(page -> !page.equals("README.md"))
                    .forEach(page -> pages.add("/" + page.replaceAll("\\.md$", "")));
        }

        assertThat(ENTRY.matcher(sidebar).results().map(entry -> entry.group(1)))
                .containsExactlyInAnyOrderElementsOf(pages);
    }

    @Test
    void noPageAboutTheDesignHasMoreThan2500Words() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("docs/design.md")));
        try (Stream<Path> rooms = Files.walk(ROOT.resolve("docs/design"))) {
            rooms.filter(GuaranteesDocumentTest::isPage).forEach(pages::add);
        }

        assertThat(pages).hasSizeGreaterThan(10);
        for (Path page : pages) {
            assertThat(Files.readString(page).strip().split("\\s+", -1))
                    .as(ROOT.relativize(page).toString())
                    .hasSizeLessThanOrEqualTo(2_500);
        }
    }

    @Test
    void everyPageThatSpringsUsersReadFirstLinksTheAnnotation() {
        assertThat(DOORS_OF_SPRING)
                .allSatisfy(
                        page -> assertThat(linkedFrom(ROOT.resolve(page))).contains(ROOT.resolve("docs/with-lock.md")));
    }

    @Test
    void theTableOfPackagesHasEveryPublishedPackageAndPublicTypesOnly() throws IOException {
        List<MatchResult> rows = PACKAGE.matcher(Files.readString(ROOT.resolve("docs/getting-started.md")))
                .results()
                .toList();
        List<String> wrong = new ArrayList<>();
        for (MatchResult row : rows) {
            for (MatchResult type : TYPE.matcher(row.group(2)).results().toList()) {
                if (!isPublic(row.group(3), row.group(1), type.group(1))) {
                    wrong.add(row.group(1) + "." + type.group(1));
                }
            }
        }

        assertThat(wrong).isEmpty();
        assertThat(rows).extracting(row -> row.group(3) + " " + row.group(1)).containsAll(publishedPackages());
    }

    private static boolean isPublic(String module, String inPackage, String type) throws IOException {
        for (String language : List.of("java", "kotlin")) {
            Path file = ROOT.resolve(module + "/src/main/" + language + "/" + inPackage.replace('.', '/') + "/" + type
                    + (language.equals("java") ? ".java" : ".kt"));
            if (Files.exists(file)) {
                return Pattern.compile("^public [^(=]*\\b" + type + "\\b", Pattern.MULTILINE)
                        .matcher(Files.readString(file))
                        .find();
            }
        }
        return false;
    }

    /** Each as module and package; of a module that says what it exports, these. */
    private static List<String> publishedPackages() throws IOException {
        List<String> packages = new ArrayList<>();
        String bom = Files.readString(ROOT.resolve("reactive-lock-bom/pom.xml"));
        String managed = bom.substring(bom.indexOf("<dependencyManagement>"));
        for (MatchResult artifact : ARTIFACT.matcher(managed).results().toList()) {
            Path sources = ROOT.resolve(artifact.group(1) + "/src/main");
            Path moduleInfo = sources.resolve("module/module-info.java");
            String exports = Files.exists(moduleInfo) ? Files.readString(moduleInfo) : "";
            try (Stream<Path> files = Files.walk(sources)) {
                files.filter(file -> file.endsWith("package-info.java")
                                || file.toString().endsWith(".kt"))
                        .map(file -> file.getParent().toString().replaceAll(".*/src/main/(?:java|kotlin)/", ""))
                        .map(folder -> folder.replace('/', '.'))
                        .filter(named -> exports.isEmpty() || exports.contains("exports " + named + ";"))
                        .map(named -> artifact.group(1) + " " + named)
                        .distinct()
                        .forEach(packages::add);
            }
        }
        assertThat(packages).hasSizeGreaterThan(15);
        return packages;
    }

    private static Set<Path> linkedFrom(Path page) throws IOException {
        return links(Files.readString(page), ROOT.relativize(page).toString().replaceAll("/?[^/]*$", ""));
    }

    private static Set<Path> links(String text, String directory) {
        return LINK.matcher(CODE.matcher(text).replaceAll(""))
                .results()
                .map(link -> link.group(1))
                .filter(file -> file.endsWith(".md"))
                .filter(file -> !file.contains("://"))
                .map(file -> ROOT.resolve(directory).resolve(file).normalize())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static boolean isPage(Path file) {
        return file.toString().endsWith(".md") && !file.startsWith(ROOT.resolve("docs/site"));
    }

    static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        for (String page :
                List.of("README", "CHANGELOG", "CONTRIBUTING", "SECURITY", "defects/README", "models/README")) {
            pages.add(ROOT.resolve(page + ".md"));
        }
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            docs.filter(GuaranteesDocumentTest::isPage).forEach(pages::add);
        }
        return pages;
    }

    /** As forges name headings: lower case, hyphens for spaces, and no other signs. */
    private static boolean hasHeading(Path page, String anchor) throws IOException {
        return anchor == null
                || HEADING.matcher(Files.readString(page))
                        .results()
                        .map(heading -> heading.group(1).toLowerCase(Locale.ROOT))
                        .map(heading ->
                                heading.replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-'))
                        .anyMatch(anchor::equals);
    }

    private static String version(String pom, String property) {
        Matcher version = Pattern.compile("<" + Pattern.quote(property) + "\\.version>([0-9.]*[0-9])")
                .matcher(pom);
        assertThat(version.find()).as(property).isTrue();
        return version.group(1);
    }

    private static void assertAllExist(String page) throws IOException {
        String document = COMMENT.matcher(page).replaceAll("");
        List<MatchResult> named = NAMED.matcher(document).results().toList();
        List<String> missing = new ArrayList<>();
        for (MatchResult test : named) {
            if (!exists(test.group(1), test.group(2))) {
                missing.add(test.group());
            }
        }

        assertThat(named).hasSizeGreaterThan(15);
        assertThat(missing).isEmpty();
    }

    private static boolean exists(String test, String method) throws IOException {
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module :
                    modules.filter(dir -> Files.isDirectory(dir.resolve("src"))).toList()) {
                if (existsIn(module.resolve("src"), test + ".java", "void", method)
                        || existsIn(module.resolve("src"), test + ".kt", "fun", method)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean existsIn(Path sources, String file, String kind, String method) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            for (Path found : files.filter(path -> path.endsWith(file)).toList()) {
                if (method == null || Files.readString(found).contains(kind + " " + method + "(")) {
                    return true;
                }
            }
        }
        return false;
    }
}
