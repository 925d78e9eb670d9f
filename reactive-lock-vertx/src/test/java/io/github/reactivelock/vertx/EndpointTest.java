package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.redis.client.RedisOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EndpointTest {

    @ParameterizedTest
    @CsvSource({
        "redis://orders:pw@host,orders",
        "redis://or%2Bders:pw@host,or+ders",
        "redis://:pw@host,default",
        "redis://:pw@host?user=orders,orders",
        "redis://host?user=orders&password=pw,orders",
        "redis://orders@host?password=pw,orders",
        "redis://host,default",
        "redis://misplaced-secret@host,default",
        "unix:///socket?user=orders&password=pw,orders",
    })
    void theUserIsTheOneWhomTheClientLogsInAs(String uri, String user) {
        assertThat(Endpoint.of(new RedisOptions().setConnectionString(uri)).user())
                .isEqualTo(user);
    }

    @Test
    void theUserOfTheOptionsIsThatOfAddressesWithout() {
        RedisOptions options = new RedisOptions()
                .setConnectionString("redis://one")
                .addConnectionString("redis://two")
                .setUser("orders")
                .setPassword("pw");

        assertThat(Endpoint.of(options).user()).isEqualTo("orders");
        assertThat(Endpoint.of(options.addConnectionString("redis://shop:pw@three"))
                        .user())
                .isEmpty();
    }
}
