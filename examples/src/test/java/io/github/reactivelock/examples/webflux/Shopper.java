package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A real browser on the page: what a customer sees of one item or till, and what a customer can press. */
final class Shopper implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(2);
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

    void open(String address) {
        browser.get(address);
        until(
                "the page is live",
                page -> !page.findElements(By.cssSelector("#connection.live")).isEmpty());
    }

    void press(String part, String button) {
        until(button + " can be pressed", page -> button(part, button).isEnabled());
        button(part, button).click();
    }

    private WebElement button(String part, String button) {
        return browser.findElement(By.xpath("//*[@id='" + part + "']//button[text()='" + button + "']"));
    }

    /** Moves the focus with the key Tab until it is there. */
    void tabTo(String part, String button) {
        browser.executeScript("document.activeElement.blur(); window.scrollTo(0, 0)");
        WebElement wanted = button(part, button);
        for (int i = 0; i < 60 && !browser.switchTo().activeElement().equals(wanted); i++) {
            browser.switchTo().activeElement().sendKeys(Keys.TAB);
        }
        assertThat(browser.switchTo().activeElement()).isEqualTo(wanted);
    }

    void pressEnter() {
        browser.switchTo().activeElement().sendKeys(Keys.ENTER);
    }

    String focused() {
        return browser.switchTo().activeElement().getText();
    }

    /** How the focus shows. */
    String focusRing() {
        return browser.switchTo().activeElement().getCssValue("outline-style");
    }

    String role(String selector) {
        return browser.findElement(By.cssSelector(selector)).getAriaRole();
    }

    String name(String selector) {
        return browser.findElement(By.cssSelector(selector)).getAccessibleName();
    }

    /** What has no name for a screen reader. */
    List<String> unnamed(String selector) {
        return browser.findElements(By.cssSelector(selector)).stream()
                .filter(one -> one.isDisplayed() && one.getAccessibleName().isBlank())
                .map(one -> one.getTagName() + " " + one.getDomAttribute("id"))
                .toList();
    }

    List<String> all(String part, String selector) {
        return browser.findElements(By.cssSelector("#" + part + " " + selector)).stream()
                .map(WebElement::getText)
                .toList();
    }

    /** What the user prefers. */
    enum Look {
        LIGHT,
        DARK
    }

    void look(Look look, int width) {
        Map<String, Object> feature =
                Map.of("name", "prefers-color-scheme", "value", look.name().toLowerCase(Locale.ROOT));
        Map<String, Object> unused =
                browser.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of(feature)));
        Map<String, Object> ignored = browser.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
        until(look + " shows", page -> script("return matchMedia('(prefers-color-scheme: dark)').matches")
                .equals(look == Look.DARK));
    }

    /** By how many pixels the page is wider than its window. */
    long overflow() {
        return (Long) script("const page = document.documentElement; return page.scrollWidth - page.clientWidth");
    }

    /** The least contrast of any text with what is behind it, as WCAG counts. */
    double leastContrast() {
        return ((Number) script(CONTRAST)).doubleValue();
    }

    private static final String CONTRAST = """
            const rgb = text => text.match(/[\\d.]+/g).map(Number);
            const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
                .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
                .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
            const behind = one => {
                for (let up = one; up; up = up.parentElement) {
                    const colour = rgb(getComputedStyle(up).backgroundColor);
                    if (colour.length === 3 || colour[3] > 0) return colour;
                }
                return [255, 255, 255];
            };
            const texts = [...document.querySelectorAll("body *")].filter(one => !one.disabled
                && [...one.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())
                && one.checkVisibility());
            return Math.min(...texts.map(one => {
                const pair = [light(rgb(getComputedStyle(one).color)), light(behind(one))].sort((a, b) => b - a);
                return (pair[0] + 0.05) / (pair[1] + 0.05);
            }));
            """;

    private Object script(String text) {
        return Objects.requireNonNull(browser.executeScript(text));
    }

    /** What a part of an item's lane says at one moment; the whole lane if no part is named. */
    String text(String item, String part) {
        return browser.findElement(By.cssSelector("#" + item + " " + part)).getText();
    }

    /** A column of the table of what was served, the latest first; counted from 1. */
    List<String> column(String item, int number) {
        return browser.findElements(By.cssSelector("#" + item + " .served td:nth-child(" + number + ")")).stream()
                .map(WebElement::getText)
                .toList();
    }

    void untilText(String selector, String text) {
        until(selector + " says " + text, page -> page.findElement(By.cssSelector(selector))
                .getText()
                .equals(text));
    }

    void untilText(String item, String part, String text) {
        until(item + " " + part + " says " + text, page -> text(item, part).equals(text));
    }

    void until(String what, Predicate<ChromeDriver> isSo) {
        new WebDriverWait(browser, LIMIT, Duration.ofMillis(20))
                .withMessage(what)
                // The page replaces a row while it is being read.
                .ignoring(StaleElementReferenceException.class)
                .until(any -> isSo.test(browser));
    }

    byte[] picture() {
        return browser.getScreenshotAs(OutputType.BYTES);
    }

    @Override
    public void close() {
        browser.quit();
    }
}
