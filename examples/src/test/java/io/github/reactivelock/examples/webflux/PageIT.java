package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page in a real Chromium, against the service as processes of its own. All tests share them, so each says what its own
 * orders change.
 */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageIT {

    @TempDir
    private static Path profile;

    private static Process service;
    private static Shopper shopper;

    @BeforeAll
    static void openThePage() throws IOException {
        // Long enough for a busy browser to look while an item is held.
        service = RunningExample.command(WebFlux.class, "--port", "0", "--packing", "2500")
                .start();
        shopper = new Shopper(profile);
        BufferedReader said = service.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        while (line != null && !line.startsWith("The page: http://")) {
            line = said.readLine();
        }
        assertThat(line).as("the service opens").isNotNull();
        shopper.open(line.substring("The page: ".length()));
    }

    @AfterAll
    static void closeBoth() throws InterruptedException {
        if (shopper != null) {
            shopper.close();
        }
        service.destroy();
        assertThat(service.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anOrderShowsItsTillAsTheHolderAndThenTheItemAsFree() {
        int sold = sold("bread");
        shopper.press("bread", "Order at till 1");

        shopper.untilText("bread", ".holder", "held by till-1");
        shopper.untilText("bread", ".sold", Integer.toString(sold + 1));
        shopper.untilText("bread", ".holder", "free");
        assertThat(shopper.column("bread", 5).get(0)).isEqualTo("done");
    }

    @Test
    void twoOrdersForOneItemAreServedOneAfterTheOtherWithARisingToken() {
        int sold = sold("apples");
        shopper.press("apples", "Order at till 1");
        shopper.untilText("apples", ".holder", "held by till-1");
        long first = Long.parseLong(shopper.text("apples", ".token"));
        shopper.press("apples", "Order at till 2");
        shopper.until("the second waits while the first holds", page -> {
            String lane = shopper.text("apples", "");
            return lane.contains("held by till-1") && lane.contains("till-2");
        });

        shopper.untilText("apples", ".holder", "held by till-2");

        assertThat(Long.parseLong(shopper.text("apples", ".token"))).isGreaterThan(first);
        shopper.untilText("apples", ".sold", Integer.toString(sold + 2));
        shopper.until("the hand-over is measured", page -> shopper.column("apples", 4).get(0).matches("\\d+\\.\\d ms"));
        assertThat(shopper.column("apples", 2)).startsWith("till-2", "till-1");
    }

    @Test
    void sixOrdersAtOnceAreAllSoldTheirTokensRiseAndTheNumbersTell() {
        int sold = sold("coffee");
        long acquired = number("till-1", ".acquired") + number("till-2", ".acquired");
        shopper.press("coffee", "Six at once");
        shopper.until("some wait", page -> shopper.all("coffee", ".waiting li").size() >= 2);

        shopper.untilText("coffee", ".sold", Integer.toString(sold + 6));

        List<Long> tokens =
                shopper.column("coffee", 3).stream().map(Long::valueOf).toList();
        assertThat(tokens).hasSize(6).isSortedAccordingTo((one, other) -> Long.compare(other, one));
        assertThat(shopper.text("coffee", ".waiting")).isEmpty();
        shopper.until(
                "the metrics count them",
                page -> number("till-1", ".acquired") + number("till-2", ".acquired") >= acquired + 6);
    }

    @Test
    void theLockOfATillThatIsKilledIsFreeWhenItsLeaseIsOver() {
        shopper.press("bread", "Order at till 1");
        shopper.untilText("bread", ".holder", "held by till-1");
        shopper.press("till-1", "Kill till-1");

        shopper.untilText("bread", ".holder", "till-1 was killed; free when its lease is over");
        shopper.press("bread", "Order at till 2");
        shopper.untilText("bread", ".holder", "held by till-2");
        assertThat(shopper.column("bread", 5).get(1)).isEqualTo("killed");
        shopper.press("bread", "Order at till 1");
        shopper.untilText("#problem", "till-1 is closed; start it");

        shopper.press("till-1", "Start till-1");
        shopper.untilText("till-1", ".state", "open");
        shopper.untilText("bread", ".holder", "free");
    }

    @Test
    void aLockThatIsTakenAwayIsLostAndCounted() {
        long lost = number("till-2", ".lost");
        int sold = sold("coffee");
        shopper.untilText("coffee", ".holder", "free");
        shopper.press("coffee", "Order at till 2");
        shopper.untilText("coffee", ".holder", "held by till-2");
        shopper.press("coffee", "Take the lock away");

        shopper.until("it is lost", page -> shopper.column("coffee", 5)
                .get(0)
                .equals("lost: it was released by force"));
        shopper.until("the metrics count it", page -> number("till-2", ".lost") == lost + 1);
        assertThat(sold("coffee")).isEqualTo(sold);
    }

    @Test
    void aRedisThatHangsPutsAHoldAtRisk() {
        long risks = number("till-1", ".at-risk");
        shopper.press("apples", "Order at till 1");
        shopper.untilText("apples", ".holder", "held by till-1");
        shopper.press("outages", "Redis hangs for 2 seconds");

        shopper.until("it is at risk", page -> shopper.text("apples", ".holder").contains("at risk")
                || number("till-1", ".at-risk") > risks);
        shopper.untilText("apples", ".holder", "free");
        shopper.until("the metrics count it", page -> number("till-1", ".at-risk") > risks);
    }

    @Test
    void theKeyboardDoesWhatTheMouseDoes() {
        int sold = sold("apples");
        shopper.untilText("apples", ".holder", "free");
        shopper.tabTo("apples", "Order at till 2");
        assertThat(shopper.focusRing()).isEqualTo("solid");
        shopper.pressEnter();

        shopper.untilText("apples", ".sold", Integer.toString(sold + 1));
        assertThat(shopper.focused()).isEqualTo("Order at till 2");
    }

    @Test
    void aScreenReaderHasRolesNamesAndWhatChanges() {
        assertThat(shopper.role("#apples")).isEqualTo("region");
        assertThat(shopper.name("#apples")).isEqualToIgnoringCase("apples");
        assertThat(shopper.role("#apples .holder")).isEqualTo("status");
        assertThat(shopper.role("#problem")).isEqualTo("alert");
        assertThat(shopper.role("#connection")).isEqualTo("status");
        assertThat(shopper.name("#till-1 .switch")).isIn("Kill till-1", "Start till-1");
        assertThat(shopper.name("#apples table")).isEqualTo("Served, latest first");
        assertThat(shopper.unnamed("button, section")).isEmpty();
    }

    @Test
    void thePageFitsNarrowAndWideInLightAndInDark() throws IOException {
        for (Shopper.Look look : Shopper.Look.values()) {
            for (int width : List.of(390, 1280)) {
                shopper.look(look, width);
                Files.write(
                        Path.of("target", "page-" + look.name().toLowerCase(java.util.Locale.ROOT) + "-" + width + ".png"),
                        shopper.picture());

                assertThat(shopper.overflow()).as("%s at %d", look, width).isZero();
                assertThat(shopper.leastContrast()).as("%s at %d", look, width).isGreaterThanOrEqualTo(4.5);
            }
        }
        shopper.look(Shopper.Look.LIGHT, 1280);
    }

    private static int sold(String item) {
        return Integer.parseInt(shopper.text(item, ".sold"));
    }

    private static long number(String till, String which) {
        return Long.parseLong(shopper.text(till, which));
    }
}
