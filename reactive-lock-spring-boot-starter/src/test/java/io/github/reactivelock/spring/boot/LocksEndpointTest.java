package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.Pause;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;

/** The endpoint over HTTP, in an application with WebFlux. */
class LocksEndpointTest {

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration",
                "org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
                "org.springframework.boot.data.redis.autoconfigure.DataRedisReactiveAutoConfiguration"
            })
    static class Application {}

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    private ConfigurableApplicationContext context;
    private LockClient locks;

    private void start(String... properties) {
        context = new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.REACTIVE)
                .properties("server.port=0", "reactive-lock.store=memory", "spring.main.banner-mode=off")
                .properties(properties)
                .run();
        locks = Contexts.locks(context);
    }

    @AfterEach
    void stop() {
        context.close();
    }

    private HttpResponse<String> ask(String method, String path) throws Exception {
        String port = context.getEnvironment().getProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + "/actuator" + path))
                .method(method, HttpRequest.BodyPublishers.noBody())
                .timeout(Contexts.PATIENCE)
                .build();
        return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private Map<String, Object> json(String method, String path) throws Exception {
        HttpResponse<String> response = ask(method, path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JsonParserFactory.getJsonParser().parseMap(response.body());
    }

    private LockHandle held(String key) {
        LockHandle held = locks.acquire(key).block(Contexts.PATIENCE);
        assertThat(held).isNotNull();
        return held;
    }

    @Test
    void itListsWhatThisProcessHoldsAndWaitsFor() throws Exception {
        start("management.endpoints.web.exposure.include=locks");
        Instant before = Instant.now();
        LockHandle held = held("order:42");
        Disposable waiting = locks.acquire("order:42").subscribe();

        Map<String, Object> listed = json("GET", "/locks");

        assertThat(listed).containsEntry("heldCount", 1).containsEntry("waitingCount", 1);
        assertThat(listed.get("held"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .singleElement()
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("key", "order:42")
                .containsEntry("fencingToken", Long.toString(held.fencingToken()))
                .satisfies(hold -> {
                    assertThat(Instant.parse((String) hold.get("since"))).isBetween(before, Instant.now());
                    assertThat(Duration.parse((String) hold.get("remaining")))
                            .isPositive()
                            .isLessThanOrEqualTo(Duration.ofSeconds(30));
                });
        assertThat(listed.get("waiting"))
                .asInstanceOf(InstanceOfAssertFactories.LIST)
                .singleElement()
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .containsEntry("key", "order:42")
                .containsKey("since");
        waiting.dispose();
        Contexts.get(held.release());
        LocksEndpoint endpoint = context.getBean(LocksEndpoint.class);
        Pause.until("it is told that none waits", () -> endpoint.locks().waitingCount() == 0);
        assertThat(json("GET", "/locks")).containsEntry("held", List.of()).containsEntry("waiting", List.of());
    }

    @Test
    void itShowsOneLockAsTheStoreDoesWhateverItsKey() throws Exception {
        start(
                "management.endpoints.web.exposure.include=locks",
                "reactive-lock.name=shop-3",
                "reactive-lock.retention=5s");
        LockHandle held = held("a/b c");

        assertThat(json("GET", "/locks/a%2Fb%20c"))
                .containsEntry("key", "a/b c")
                .containsEntry("held", true)
                .containsEntry("owner", "shop-3")
                .containsEntry("fencingToken", Long.toString(held.fencingToken()))
                .containsEntry("waiters", 0)
                .containsEntry("recallable", true);
        assertThat(json("GET", "/locks/free")).containsEntry("held", false).containsEntry("owner", null);
    }

    @Test
    void aReleaseByForceIsNotThereUnlessItIsAllowed() throws Exception {
        start("management.endpoints.web.exposure.include=locks");
        LockHandle held = held("order:42");

        assertThat(ask("DELETE", "/locks/order:42").statusCode()).isEqualTo(405);
        assertThat(held.isHeld()).isTrue();
    }

    @Test
    void whereItIsAllowedItEndsTheHoldThatWasMeant() throws Exception {
        start("management.endpoints.web.exposure.include=locks", "management.endpoint.locks.access=unrestricted");
        LockHandle held = held("order:42");
        long token = held.fencingToken();

        assertThat(ask("DELETE", "/locks/order:42?fencingToken=many").statusCode())
                .isEqualTo(400);
        assertThat(json("DELETE", "/locks/order:42?fencingToken=" + (token + (1L << 12))))
                .containsEntry("released", false);
        assertThat(json("DELETE", "/locks/order:42?fencingToken=" + token)).containsEntry("released", true);
        Contexts.get(held.lost());

        assertThat(locks.inspect("order:42").block(Contexts.PATIENCE)).isInstanceOf(LockInfo.Free.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "?fencingToken=", "?fencingToken=%20", "?fencingtoken=1", "?token=1", "?fencingToken=1x"})
    void aReleaseThatNamesNoTokenEndsNothing(String query) throws Exception {
        start("management.endpoints.web.exposure.include=locks", "management.endpoint.locks.access=unrestricted");
        LockHandle held = held("order:42");

        assertThat(ask("DELETE", "/locks/order:42" + query).statusCode()).isEqualTo(400);
        assertThat(locks.isCurrent("order:42", held.fencingToken()).block(Contexts.PATIENCE))
                .isTrue();
    }

    @Test
    void eachOfThoseWhoShareIsShownAndCanBeEndedAlone() throws Exception {
        start("management.endpoints.web.exposure.include=locks", "management.endpoint.locks.access=unrestricted");
        List<LockHandle> permits = Flux.range(0, 3)
                .concatMap(i -> locks.permits(1, 3).acquire("order:42"))
                .collectList()
                .block(Contexts.PATIENCE);
        LockHandle stuck = permits.get(0);

        assertThat(json("GET", "/locks/order:42").get("shares").toString())
                .contains("holders=3", "units=3", "fencingToken=" + stuck.fencingToken());
        Map<String, Object> released = json("DELETE", "/locks/order:42?fencingToken=" + stuck.fencingToken());

        assertThat(released).containsEntry("released", true);
        assertThat(released.get("lock").toString()).contains("held=true", "holders=2");
        Contexts.get(stuck.lost());
        assertThat(permits.subList(1, 3)).allMatch(LockHandle::isHeld);
    }

    @Test
    void itIsNotExposedUnlessAskedForAndHealthIs() throws Exception {
        start("management.endpoint.health.show-details=always");

        assertThat(ask("GET", "/locks").statusCode()).isEqualTo(404);
        assertThat(json("GET", "/health").get("components"))
                .asInstanceOf(InstanceOfAssertFactories.MAP)
                .hasEntrySatisfying(
                        "lock",
                        lock -> assertThat(lock.toString()).contains("UNKNOWN").contains("no lock has been asked for"));
    }

    @Test
    void aThousandOfManyAreListedTheOldestFirst() {
        start("management.endpoints.web.exposure.include=locks");
        List<LockHandle> many = Flux.range(0, LocksEndpoint.MOST + 10)
                .concatMap(i -> locks.acquire("k" + i))
                .collectList()
                .block(Contexts.PATIENCE);

        LocksEndpoint.LocalDescriptor listed =
                context.getBean(LocksEndpoint.class).locks();

        assertThat(many).hasSize(LocksEndpoint.MOST + 10);
        assertThat(listed.heldCount()).isEqualTo(LocksEndpoint.MOST + 10);
        assertThat(listed.held()).hasSize(LocksEndpoint.MOST);
        assertThat(listed.held().get(0).key()).isEqualTo("k0");
    }
}
