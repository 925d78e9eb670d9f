package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A real browser on the page: what a customer sees and hears of it, and what a customer can press. */
final class Shopper implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(1);
    private static final int MOST_TABS = 40;
    private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
    private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

    /** Silent about the browser's debugging protocol, which is not used. Held on to, or the level is forgotten. */
    private static final Logger SELENIUM = Logger.getLogger("org.openqa.selenium");

    static {
        SELENIUM.setLevel(Level.SEVERE);
    }

    private final ChromeDriver browser;

    Shopper(Path profile) {
        assertThat(List.of(CHROMIUM, DRIVER))
                .as("the page is tested in a browser: install the Debian packages chromium and chromium-driver")
                .allSatisfy(program -> assertThat(program).isExecutable());
        ChromeOptions options = new ChromeOptions()
                .setBinary(CHROMIUM.toFile())
                .addArguments("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
                .addArguments("--disable-background-networking", "--disable-component-update", "--disable-sync")
                .addArguments("--disable-dev-shm-usage", "--window-size=1200,900", "--user-data-dir=" + profile);
        ChromeDriverService service = new ChromeDriverService.Builder()
                .usingDriverExecutable(DRIVER.toFile())
                .usingAnyFreePort()
                .build();
        this.browser = new ChromeDriver(service, options);
    }

    /** Until the page is live and both instances run. */
    void open(String address) {
        browser.get(address);
        until(
                "both instances run",
                page -> page.findElements(By.cssSelector(".state.running")).size() == 2);
    }

    /** What the page says before its service has said anything. */
    String unheard(String address) {
        String deaf = "window.EventSource = class {}";
        Object id = browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", deaf))
                .get("identifier");
        try {
            browser.get(address);
            return browser.findElement(By.tagName("body")).getText();
        } finally {
            tell("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", id));
        }
    }

    /** By the name that a screen reader says. */
    void press(String name) {
        browser.findElement(By.cssSelector("button[aria-label='" + name + "']")).click();
    }

    /** With the keyboard alone: from element to element until it is there, and then the key. */
    void press(String name, Keys key) {
        for (int i = 0; i < MOST_TABS; i++) {
            if (name.equals(focused())) {
                browser.switchTo().activeElement().sendKeys(key);
                return;
            }
            browser.switchTo().activeElement().sendKeys(Keys.TAB);
        }
        throw new AssertionError("no way by keyboard to: " + name);
    }

    /** The name of what has the focus. */
    String focused() {
        return browser.switchTo().activeElement().getAccessibleName();
    }

    /** What a part of an item or instance says at one moment; all of it if no part is named. */
    String text(String card, String part) {
        return browser.findElement(By.cssSelector("#" + card + " " + part)).getText();
    }

    /** A column of the table of who had the lock, the latest first; counted from 1. */
    List<String> column(String item, int number) {
        // At one moment: the page replaces rows while they are being read.
        List<?> cells = (List<?>) browser.executeScript(
                "return [...document.querySelectorAll(arguments[0])].map(cell => cell.innerText)",
                "#" + item + " .served td:nth-child(" + number + ")");
        return cells.stream().map(String::valueOf).toList();
    }

    /** Of the same table: the fencing tokens. */
    List<Long> tokens(String item) {
        List<?> rows = (List<?>) browser.executeScript(
                "return [...document.querySelectorAll(arguments[0])].map(row => row.dataset.token)",
                "#" + item + " .served tr");
        return rows.stream().map(String::valueOf).map(Long::valueOf).toList();
    }

    void untilText(String card, String part, String text) {
        until(card + " " + part + " says " + text, page -> text(card, part).equals(text));
    }

    void until(String what, Predicate<ChromeDriver> isSo) {
        new WebDriverWait(browser, LIMIT, Duration.ofMillis(20))
                .withMessage(what)
                // The page replaces a row while it is being read.
                .ignoring(StaleElementReferenceException.class)
                .until(any -> isSo.test(browser));
    }

    /** As on a screen of that width, with that taste. */
    void look(int width, String scheme) {
        tell(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
        tell("Emulation.setScrollbarsHidden", Map.of("hidden", true));
        tell(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
    }

    private void tell(String what, Map<String, Object> how) {
        Map<String, Object> unused = browser.executeCdpCommand(what, how);
    }

    /** The whole page, also what is to be scrolled to. */
    byte[] picture() {
        Map<String, Object> taken =
                browser.executeCdpCommand("Page.captureScreenshot", Map.of("captureBeyondViewport", true));
        return Base64.getDecoder().decode((String) taken.get("data"));
    }

    Object script(String code) {
        return browser.executeScript(code);
    }

    /** What a screen reader gets: "role: name" of each node, in the page's order. */
    List<String> heard() {
        return AccessibilityTree.of(browser.executeCdpCommand("Accessibility.getFullAXTree", Map.of()));
    }

    @Override
    public void close() {
        browser.quit();
    }
}
