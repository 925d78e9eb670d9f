package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.ChildProcess;
import io.github.reactivelock.examples.webflux.shop.ShopApplication;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The shop in a process of its own. It tells its parent its port, and ends with it. */
final class ShopProcess {

    private ShopProcess() {}

    /** Arguments: properties of the shop. */
    public static void main(String[] args) {
        ConfigurableApplicationContext shop = SpringApplication.run(ShopApplication.class, args);
        ChildProcess.reply(shop.getEnvironment().getRequiredProperty("local.server.port"));
        // Only the main thread ever waits.
        ChildProcess.parentExit().block();
        System.exit(0);
    }
}
