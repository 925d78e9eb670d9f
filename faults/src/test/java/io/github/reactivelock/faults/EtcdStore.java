package io.github.reactivelock.faults;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.options.GetOption;
import io.github.reactivelock.testservers.EtcdServer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;

/** One etcd, and a jetcd client for the operator. */
final class EtcdStore extends Store {

    final EtcdServer server = EtcdServer.start();
    private final Client operator = Client.builder().endpoints(server.uri()).build();

    @Override
    List<Integer> ports() {
        return List.of(server.port());
    }

    @Override
    String address(List<Integer> ports) {
        return "etcd:http://127.0.0.1:" + ports.get(0);
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    void forget(String key) {
        KeyValue owner = under("reactivelock/" + key + "/").stream()
                .min(Comparator.comparingLong(KeyValue::getCreateRevision))
                .orElseThrow();
        Object unused = Lab.get(operator.getKVClient().delete(owner.getKey()));
    }

    @Override
    List<String> claims() {
        return under("reactivelock/").stream()
                .map(claim -> claim.getKey().toString())
                // What is told to a client is no claim.
                .filter(name -> !name.contains("/!"))
                .toList();
    }

    /** It looks for leases that are over twice a second. */
    @Override
    Duration expiry() {
        return super.expiry().plusSeconds(1);
    }

    private List<KeyValue> under(String prefix) {
        return Lab.get(operator.getKVClient()
                        .get(
                                ByteSequence.from(prefix, StandardCharsets.UTF_8),
                                GetOption.builder().isPrefix(true).build()))
                .getKvs();
    }

    @Override
    public void close() {
        super.close();
        operator.close();
        server.close();
    }
}
