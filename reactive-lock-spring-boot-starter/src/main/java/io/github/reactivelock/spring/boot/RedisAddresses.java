package io.github.reactivelock.spring.boot;

import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * Where the application's Redis is. Its Lettuce connection factory knows, whoever made it: Spring Boot, of connection details,
 * or the application itself. Connection details say it where there is no such factory, because the application uses Jedis,
 * and where there are replicas without sentinels, which a factory does not show.
 */
final class RedisAddresses {

    private final Beans<LettuceConnectionFactory> factories;
    private final Beans<DataRedisConnectionDetails> details;

    RedisAddresses(ListableBeanFactory beans) {
        this.factories = new Beans<>(beans, LettuceConnectionFactory.class);
        this.details = new Beans<>(beans, DataRedisConnectionDetails.class);
    }

    /** For people; null if the application has no Redis. */
    @Nullable
    String found() {
        if (factories.exist()) {
            return factories.toString();
        }
        return details.exist() ? details.toString() : null;
    }

    RedisAddress address() {
        if (factories.exist() && !(details.exist() && details.only().getMasterReplica() != null)) {
            return RedisAddress.of(factories.only());
        }
        return RedisAddress.of(details.only());
    }
}
