package io.github.reactivelock.examples.webflux.shop;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** The application. Nothing in it makes a lock client: the starter does, on the Redis that the application has. */
@SpringBootApplication
public class ShopApplication {

    /** Made by Spring. */
    public ShopApplication() {}

    /**
     * Runs an instance.
     *
     * @param args properties, as {@code --server.port=8081}
     */
    public static void main(String[] args) {
        SpringApplication.run(ShopApplication.class, args);
    }
}
