package io.github.reactivelock.examples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.logging.Level;
import java.util.logging.Logger;
import org.openqa.selenium.By;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.support.ui.WebDriverWait;

/** A real browser on the page: what a customer sees of one item, and what a customer can press. */
final class Shopper implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(30);
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

    void press(String item, String button) {
        browser.findElement(By.xpath("//section[@id='" + item + "']//button[text()='" + button + "']"))
                .click();
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
