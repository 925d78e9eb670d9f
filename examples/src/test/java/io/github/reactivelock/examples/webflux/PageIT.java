package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import java.awt.Color;
import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

/** The page in a real Chromium, against the service and its instances as processes of their own. */
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageIT {

    private static final Path PICTURES = Path.of("target", "screenshots");

    @TempDir
    private static Path profile;

    private static Process service;
    private static Shopper shopper;
    private static String address;

    @BeforeAll
    static void start() throws IOException {
        // Long enough for a busy browser to look while an item is held.
        service = RunningExample.command(WebFlux.class, "--port", "0", "--packing", "2500")
                .start();
        shopper = new Shopper(profile);
        BufferedReader said = service.inputReader(StandardCharsets.UTF_8);
        String line = said.readLine();
        assertThat(line).startsWith("The page: http://");
        address = line.substring("The page: ".length());
    }

    @AfterAll
    static void stop() throws InterruptedException {
        if (shopper != null) {
            shopper.close();
        }
        service.destroy();
        assertThat(service.waitFor(60, TimeUnit.SECONDS)).isTrue();
    }

    @BeforeEach
    void openThePage() {
        shopper.look(1200, "light");
        shopper.open(address);
        shopper.until(
                "nobody holds anything any more",
                page -> page.findElements(By.cssSelector(".holder.free")).size() == 3
                        && page.findElements(By.cssSelector(".queue li")).isEmpty());
    }

    @Test
    void anOrderShowsItsInstanceAsTheHolderAndThenTheItemAsFree() {
        int sold = sold("bread");
        String other = shopper.text("coffee", ".sold");

        shopper.press("Order at shop-1: bread");

        shopper.untilText("bread", ".holder", "held by shop-1");
        shopper.untilText("bread", ".sold", "" + (sold + 1));
        shopper.untilText("bread", ".holder", "free");
        assertThat(shopper.text("coffee", ".sold")).isEqualTo(other);
    }

    @Test
    void twoOrdersForOneItemAreServedInTurnWithARisingToken() {
        int sold = sold("apples");
        shopper.press("Order at shop-1: apples");
        shopper.untilText("apples", ".holder", "held by shop-1");
        long first = Long.parseLong(shopper.text("apples", ".token"));
        shopper.press("Order at shop-2: apples");
        shopper.until("the second waits while the first holds", page -> {
            String lane = shopper.text("apples", "");
            return lane.contains("held by shop-1")
                    && shopper.text("apples", ".queue").contains("shop-2");
        });

        shopper.untilText("apples", ".holder", "held by shop-2");

        assertThat(Long.parseLong(shopper.text("apples", ".token"))).isGreaterThan(first);
        shopper.untilText("apples", ".sold", "" + (sold + 1));
        shopper.untilText("apples", ".sold", "" + (sold + 2));
        assertThat(shopper.column("apples", 1).subList(0, 2)).containsExactly("shop-2", "shop-1");
        shopper.until(
                "the hand-over is known",
                page -> shopper.column("apples", 4).get(0).matches("\\d+\\.\\d ms after shop-1"));
    }

    @Test
    void sixOrdersAtOnceAreAllSoldAndTheirTokensRise() {
        int sold = sold("coffee");
        shopper.press("Six at once: coffee");
        shopper.until(
                "some wait", page -> shopper.text("coffee", ".queue").lines().count() >= 4);
        // A rush for one item takes no connection away from the others.
        shopper.press("Order at shop-2: bread");
        shopper.untilText("bread", ".holder", "held by shop-2");

        shopper.untilText("coffee", ".sold", "" + (sold + 6));

        assertThat(shopper.tokens("coffee")).hasSize(6).isSortedAccordingTo((one, other) -> Long.compare(other, one));
        assertThat(shopper.text("coffee", ".queue")).isEmpty();
        assertThat(shopper.column("coffee", 1)).contains("shop-1", "shop-2");
    }

    @Test
    void theKeyboardAloneKillsAnInstanceAndTheOtherGoesOn() {
        String orderHere = "Order at shop-1: bread";
        shopper.press(orderHere, Keys.ENTER);
        assertThat(shopper.script("return getComputedStyle(document.activeElement).outlineStyle"))
                .as("the focus is seen")
                .isEqualTo("solid");
        shopper.press(orderHere, Keys.SPACE);
        shopper.press(orderHere, Keys.ENTER);
        shopper.untilText("bread", ".holder", "held by shop-1");
        shopper.press("Order at shop-2: bread", Keys.ENTER);
        shopper.until("it waits", page -> shopper.text("bread", ".queue").contains("shop-2"));

        shopper.press("Kill (kill -9): shop-1", Keys.ENTER);

        shopper.untilText("shop-1", ".state", "does not run");
        assertThat(shopper.focused()).as("the focus stays").isEqualTo("Start: shop-1");
        shopper.untilText("bread", ".holder", "held by shop-2");
        shopper.until("the kill and its end are news", page -> {
            String news = page.findElement(By.id("news")).getText();
            return news.contains("shop-1 has ended while it held bread")
                    && news.matches("(?s).*shop-2 has bread, \\d+\\.\\d s after shop-1 was killed.*");
        });
        shopper.press(orderHere, Keys.ENTER);
        shopper.until(
                "an order there is refused",
                page -> page.findElement(By.id("problem")).getText().equals("shop-1 does not run"));
        shopper.press("Start: shop-1", Keys.ENTER);
        shopper.untilText("shop-1", ".state", "runs");
        assertThat(shopper.focused()).isEqualTo("Kill (kill -9): shop-1");
    }

    @Test
    void anInstanceStandsStillAndGoesOn() {
        shopper.press("Pause: shop-2");
        shopper.untilText("shop-2", ".state", "stands still (paused)");
        shopper.press("Resume: shop-2");
        shopper.untilText("shop-2", ".state", "runs");
    }

    @Test
    void aScreenReaderHearsNamesRolesAndWhatChanges() {
        List<String> heard = shopper.heard();

        assertThat(heard)
                .contains("heading: A shop with two instances", "heading: Instances", "heading: Items")
                .contains("heading: News", "heading: Metrics", "heading: shop-1", "heading: Bread")
                .contains("main: ", "log: News", "status: ", "alert: ", "region: Bread", "region: shop-2")
                .contains("button: Kill (kill -9): shop-1", "button: Pause: shop-2", "button: Six at once: apples")
                .contains("table: Holds, latest first", "table: What the starter records in Micrometer, live")
                .contains("columnheader: hand-over", "columnheader: shop-2");
        assertThat(heard).doesNotContain("button: ", "heading: ", "table: ", "region: ");
    }

    @Test
    void theFirstTokenMovesNothing() {
        String heights = "return ['none yet', '1234567890123456789'].map(text => {"
                + "  document.querySelector('#bread .token').textContent = text;"
                + "  return document.querySelector('#bread').offsetHeight; })";
        for (int width : List.of(1280, 390)) {
            shopper.look(width, "light");
            List<?> both = (List<?>) shopper.script(heights);
            assertThat(both.get(1)).as("%d wide", width).isEqualTo(both.get(0));
        }
    }

    @Test
    void untilItHearsOfItsInstancesThePageSaysSo() {
        shopper.look(390, "light");

        assertThat(shopper.unheard(address))
                .contains("connecting", "They are being started.", "They come with the instances.");
    }

    @Test
    void itIsReadableNarrowAndWideLightAndDark() throws IOException {
        shopper.press("Order at shop-1: bread");
        shopper.untilText("bread", ".holder", "held by shop-1");
        shopper.press("Order at shop-2: bread");
        shopper.press("Six at once: coffee");
        shopper.until("they wait", page -> shopper.text("bread", ".queue").contains("shop-2"));
        shopper.press("Kill (kill -9): shop-1");
        shopper.untilText("bread", ".holder", "held by shop-2");
        Files.createDirectories(PICTURES);
        String check;
        try (InputStream script = PageIT.class.getResourceAsStream("/accessible.js")) {
            check = new String(script.readAllBytes(), StandardCharsets.UTF_8);
        }
        for (int width : List.of(1280, 375)) {
            for (String scheme : List.of("light", "dark")) {
                shopper.look(width, scheme);
                byte[] picture = shopper.picture();
                String name = "webflux-" + (width < 1000 ? "narrow" : "wide") + "-" + scheme + ".png";
                Files.write(PICTURES.resolve(name), picture);

                assertThat(shopper.script(check)).as(name).isEqualTo(List.of());
                BufferedImage seen = ImageIO.read(new ByteArrayInputStream(picture));
                assertThat(seen.getWidth()).isEqualTo(width);
                Color corner = new Color(seen.getRGB(2, 2));
                assertThat(corner.getGreen() > 128).as(name).isEqualTo(scheme.equals("light"));
            }
        }
        shopper.press("Start: shop-1");
        shopper.untilText("shop-1", ".state", "runs");
    }

    private static int sold(String item) {
        return Integer.parseInt(shopper.text(item, ".sold"));
    }
}
