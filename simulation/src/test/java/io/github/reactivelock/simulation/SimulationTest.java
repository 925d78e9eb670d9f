package io.github.reactivelock.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A minute of the simulation with fresh seeds, and what makes a seed worth printing. */
@Timeout(value = 20, unit = TimeUnit.MINUTES) // it leaves the processor to what runs beside it
class SimulationTest {

    @Test
    void nothingGoesWrong() throws IOException {
        assertThat(inAnotherProcess("--minutes", System.getProperty("reactivelock.simulation.minutes", "1")))
                .contains("overlaps=0 token_regressions=0 lost_wakeups=0 leaks=0 untold=0 unavailable=0");
    }

    @Test
    void aSeedDoesTheSameInAnotherProcess() throws IOException {
        for (long seed = 1; seed <= 6; seed++) {
            Plan plan = Plan.of(seed);
            String here = Long.toHexString(Run.of(plan, null).trace());

            assertThat(inAnotherProcess("--seed", Long.toString(seed)))
                    .as("%s", plan)
                    .contains("trace=" + here);
        }
    }

    @Test
    void aPlanWithoutFaultsIsTheSmallest() {
        Plan plan = Plan.of(7);

        assertThat(Simulate.shrink(plan, smaller -> true).faults()).isEmpty();
        assertThat(Simulate.shrink(plan, smaller -> false)).isEqualTo(plan);
    }

    @Test
    void aDefectThatIsPlantedIsFound() throws IOException, InterruptedException {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        Planted planted = new Planted(Path.of(".."), new PrintStream(said, true, StandardCharsets.UTF_8));

        assertThat(planted.find(Path.of("planted/11-suspension-unnoticed.txt"), Duration.ofMinutes(5)))
                .as(said.toString(StandardCharsets.UTF_8))
                .isTrue();
        assertThat(said.toString(StandardCharsets.UTF_8))
                .contains("A suspension of the machine is not noticed")
                .doesNotContain("not in");
    }

    /** A quorum's rivals none of which gets a free lock were fine to the oracle once. */
    @Test
    void rivalsThatAreAllTurnedAwayFromAFreeLockAreSeen() throws IOException, InterruptedException {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        Planted planted = new Planted(Path.of(".."), new PrintStream(said, true, StandardCharsets.UTF_8));

        assertThat(planted.find(Path.of("planted/40-split-tries-are-turned-away.txt"), Duration.ofMinutes(5)))
                .isTrue();
        assertThat(said.toString(StandardCharsets.UTF_8)).contains("tried at once for a free lock 0 got it");
    }

    @Test
    void everyPlantedDefectFitsTheCode() throws IOException {
        Planted planted = new Planted(Path.of(".."), System.out);
        File[] files = Path.of("planted").toFile().listFiles();

        assertThat(files).hasSizeGreaterThanOrEqualTo(12);
        for (File file : List.of(files)) {
            planted.tryOut(file.toPath());
        }
    }

    @Test
    void theTableOfTheDocumentNamesEveryPlantedDefect() throws IOException {
        List<String> planted = new ArrayList<>();
        for (File file : List.of(Path.of("planted").toFile().listFiles())) {
            planted.add(Files.readAllLines(file.toPath()).get(0).substring(1).strip());
        }
        List<String> table = Files.readAllLines(Path.of("../docs/soak.md")).stream()
                .dropWhile(line -> !line.startsWith("| planted defect |"))
                .skip(2)
                .takeWhile(line -> line.startsWith("|"))
                .map(line -> line.split("\\|", -1)[1].strip())
                .toList();

        assertThat(table).containsExactlyInAnyOrderElementsOf(planted);
    }

    /** Beside which tests that wait for servers go on: it leaves most of the processor to them. */
    private static String inAnotherProcess(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                "nice",
                "-n",
                "5",
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                Simulate.class.getName()));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
}
