package io.github.reactivelock.spring.boot;

import io.etcd.jetcd.Client;
import io.lettuce.core.RedisClient;
import io.r2dbc.pool.ConnectionPool;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The stores whose drivers are on the class path. What is not there is not loaded. */
@Configuration(proxyBeanMethods = false)
class StoreConfiguration {

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(RedisClient.class)
    static class Redis {

        @Bean
        RedisStore redisLockStore(ObjectProvider<RedisAddresses> application) {
            return new RedisStore(application.getIfAvailable());
        }

        @Configuration(proxyBeanMethods = false)
        @ConditionalOnClass(DataRedisConnectionDetails.class)
        static class Data {

            @Bean
            RedisAddresses redisLockAddresses(ConfigurableListableBeanFactory beans) {
                return new RedisAddresses(beans);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConnectionPool.class)
    static class R2dbc {

        @Bean
        R2dbcStore r2dbcLockStore(ListableBeanFactory beans) {
            return new R2dbcStore(beans);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(Client.class)
    static class Etcd {

        @Bean
        EtcdStore etcdLockStore(ListableBeanFactory beans) {
            return new EtcdStore(beans);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(AsyncCuratorFramework.class)
    static class ZooKeeper {

        @Bean
        ZooKeeperStore zooKeeperLockStore(ListableBeanFactory beans) {
            return new ZooKeeperStore(beans);
        }
    }

    /** By name, because only a URL leads to it: nothing here needs the classes of its client. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = {"reactor.netty.http.client.HttpClient", "tools.jackson.core.json.JsonFactory"})
    static class Consul {

        @Bean
        ConsulStore consulLockStore() {
            return new ConsulStore();
        }
    }
}
