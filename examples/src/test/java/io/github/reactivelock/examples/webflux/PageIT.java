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
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page in a real Chromium, against the service as a process of its own. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageIT {

    @TempDir
    private Path profile;

    private Process service;
    private Shopper shopper;

    @BeforeEach
    void openThePage() throws IOException {
        // Long enough for a busy browser to look while an item is held.
        service = RunningExample.command(WebFlux.class, "--port", "0", "--packing", "2500")
                .start();
        shopper = new Shopper(profile);
        BufferedReader said = service.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        assertThat(line).startsWith("The page: http://");
        shopper.open(line.substring("The page: ".length()));
    }

    @AfterEach
    void closeBoth() throws InterruptedException {
        if (shopper != null) {
            shopper.close();
        }
        service.destroy();
        assertThat(service.waitFor(20, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anOrderShowsItsTillAsTheHolderAndThenTheItemAsFree() {
        shopper.press("bread", "Order at till 1");

        shopper.untilText("bread", ".holder", "held by till-1");
        shopper.untilText("bread", ".sold", "1");
        shopper.untilText("bread", ".holder", "free");
        assertThat(shopper.text("coffee", ".token")).isEqualTo("none yet");
    }

    @Test
    void twoOrdersForOneItemAreServedOneAfterTheOtherWithARisingToken() throws IOException {
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
        assertThat(shopper.text("apples", ".sold")).isEqualTo("1");
        shopper.untilText("apples", ".sold", "2");
        assertThat(shopper.column("apples", 2)).containsExactly("till-2", "till-1");
        assertThat(shopper.column("apples", 4).get(0)).matches("\\d+\\.\\d ms");
    }

    @Test
    void sixOrdersAtOnceAreAllSoldAndTheirTokensRise() throws IOException {
        shopper.press("coffee", "Six at once");
        shopper.until("some wait", page -> shopper.column("coffee", 1).size() >= 2);
        // A rush for one item takes no connection away from the others.
        shopper.press("bread", "Order at till 2");
        shopper.untilText("bread", ".holder", "held by till-2");
        Files.write(Path.of("target", "page.png"), shopper.picture());

        shopper.untilText("coffee", ".sold", "6");

        List<Long> tokens =
                shopper.column("coffee", 3).stream().map(Long::valueOf).toList();
        assertThat(tokens).hasSize(6).isSortedAccordingTo((one, other) -> Long.compare(other, one));
        assertThat(shopper.text("coffee", ".waiting")).isEmpty();
    }
}
