package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.TcpProxy;
import java.util.List;

/** The way from one client to all servers of a store, which can be broken. */
record Way(List<TcpProxy> proxies) implements AutoCloseable {

    static Way to(List<Integer> ports) {
        return new Way(ports.stream().map(TcpProxy::to).toList());
    }

    List<Integer> ports() {
        return proxies.stream().map(TcpProxy::port).toList();
    }

    int connections() {
        return proxies.stream().mapToInt(TcpProxy::connections).sum();
    }

    void cut() {
        proxies.forEach(TcpProxy::cut);
    }

    void reset() {
        proxies.forEach(TcpProxy::reset);
    }

    /** Lets all connections that are open now die without a word; new ones work. */
    void forget() {
        proxies.forEach(TcpProxy::forget);
    }

    /** Lets those die on which the client has said a word, as soon as there are any: TLS would hide it. */
    void forget(String word) {
        Lab.eventually(
                "the client has said " + word,
                () -> proxies.stream().mapToInt(proxy -> proxy.forget(word)).sum() > 0);
    }

    /** Lets the servers know of the end of what was forgotten. */
    void endForgottenAtTheServers() {
        proxies.forEach(TcpProxy::endForgottenAtTheServer);
    }

    void freeze() {
        proxies.forEach(TcpProxy::freeze);
    }

    void dropReplies() {
        proxies.forEach(TcpProxy::dropReplies);
    }

    void mend() {
        proxies.forEach(TcpProxy::mend);
    }

    @Override
    public void close() {
        proxies.forEach(TcpProxy::close);
    }
}
