package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.examples.webflux.shop.Shelf;
import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The page's own application, which has the starter too: its client watches the locks and takes none. */
@SpringBootApplication
@Import(Shelf.class)
public class FrontApplication {

    /** Made by Spring. */
    public FrontApplication() {}

    /**
     * Starts it; the instances follow.
     *
     * @param redis where everything is, as {@code spring.data.redis.url}
     * @param port where the page is, 0 for any
     * @param packingMillis how long a sale takes
     * @return the running application, with {@code local.server.port}
     */
    public static ConfigurableApplicationContext open(String redis, int port, int packingMillis) {
        SpringApplication front = new SpringApplication(FrontApplication.class);
        front.setDefaultProperties(Map.of(
                // Not application.properties, which is the shop's.
                "spring.config.name",
                "front",
                "spring.data.redis.url",
                redis,
                "server.port",
                port,
                "shop.packing",
                packingMillis + "ms"));
        ConfigurableApplicationContext opened = front.run();
        opened.getBean(Instances.class).start();
        return opened;
    }

    /**
     * Ends the instances and then the page.
     *
     * @param opened what was started
     * @return cold; completes when nothing is left
     */
    public static Mono<Void> close(ConfigurableApplicationContext opened) {
        return opened.getBean(Instances.class)
                .close()
                .then(Mono.<Void>fromRunnable(opened::close).subscribeOn(Schedulers.boundedElastic()));
    }
}
