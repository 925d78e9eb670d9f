package io.github.reactivelock.examples.webflux.shop;

import io.github.reactivelock.examples.ChildProcess;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** One instance of the service. */
@SpringBootApplication(proxyBeanMethods = false)
public final class Shop {

    private Shop() {}

    /**
     * Runs until its parent ends, and tells that one its port.
     *
     * @param args properties, as {@code --reactive-lock.name=till-1}
     */
    public static void main(String[] args) {
        try (ConfigurableApplicationContext service = SpringApplication.run(Shop.class, args)) {
            ChildProcess.reply(service.getEnvironment().getRequiredProperty("local.server.port"));
            // Only the main thread ever waits.
            ChildProcess.parentExit().block();
        }
    }
}
