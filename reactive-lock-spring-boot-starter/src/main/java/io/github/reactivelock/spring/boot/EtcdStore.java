package io.github.reactivelock.spring.boot;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.StoreUrl;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;

/** The etcd store, over the application's client: that of jetcd does not show what it was made of. */
final class EtcdStore implements StoreSource {

    private final Beans<Client> clients;

    EtcdStore(ListableBeanFactory beans) {
        this.clients = new Beans<>(beans, Client.class);
    }

    @Override
    public Store store() {
        return Store.ETCD;
    }

    @Override
    public @Nullable String found() {
        return clients.exist() ? clients.toString() : null;
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        if (properties.client() == Sharing.OWN) {
            throw StoreChoice.cannotBeCopied("jetcd");
        }
        return EtcdLockBackend.using(clients.only(), options(properties));
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        StoreUrl parts = StoreUrl.parse(url.contains("://") ? url : "http://" + url);
        String user = parts.user();
        String password = parts.password() == null ? "" : parts.password();
        // One scheme for all, as the command line has it, or one for each.
        String scheme = parts.name().equals("https") ? "https://" : "http://";
        if (user == null) {
            List<String> members = Stream.of(url.replaceFirst("^etcd:", "http:").split(",", -1))
                    .map(member -> member.contains("://") ? member : scheme + member)
                    .map(EtcdStore::withPort)
                    .toList();
            return EtcdLockBackend.connect(members, options(properties));
        }
        ClientBuilder builder = Client.builder()
                .endpoints(parts.eachHost().stream()
                        .map(host -> withPort(scheme + host))
                        .toArray(String[]::new))
                .user(ByteSequence.from(user, StandardCharsets.UTF_8))
                .password(ByteSequence.from(password, StandardCharsets.UTF_8));
        if (parts.name().equals("https")) {
            try {
                builder.sslContext(trusting -> {});
            } catch (SSLException e) {
                throw new IllegalStateException("this JVM cannot do TLS: " + e.getMessage(), e);
            }
        }
        return EtcdLockBackend.connect(builder, options(properties));
    }

    private static String withPort(String member) {
        return member.matches(".*:[0-9]+/?") ? member : member + ":2379";
    }

    private static EtcdBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(EtcdBackendOptions.defaults(), EtcdBackendOptions::withPrefix);
    }
}
