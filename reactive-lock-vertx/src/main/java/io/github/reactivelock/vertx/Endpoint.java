package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisConnection;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Which database of which server, read from a connection string of the Vert.x client.
 *
 * @param database the database's number
 * @param server a name for error messages, without any secret
 * @param isEncrypted whether it asks for TLS
 * @param isCluster whether keys live in slots
 */
record Endpoint(int database, String server, boolean isEncrypted, boolean isCluster) {

    private static final Set<String> SCHEMES = Set.of("redis", "rediss", "valkey", "valkeys", "unix");
    private static final Set<String> ENCRYPTED = Set.of("rediss", "valkeys");
    private static final int DEFAULT_PORT = 6379;

    static Endpoint of(RedisOptions options) {
        List<Endpoint> all = options.getEndpoints().stream().map(Endpoint::of).toList();
        Endpoint first = all.get(0);
        String servers = all.stream().map(Endpoint::server).distinct().collect(Collectors.joining(", "));
        String server = switch (options.getType()) {
            case SENTINEL -> "sentinel primary " + options.getMasterName() + " of " + servers;
            case CLUSTER -> "cluster " + servers;
            case REPLICATION -> servers;
            case STANDALONE -> first.server;
        };
        boolean isCluster = options.getType() == RedisClientType.CLUSTER;
        if (isCluster) {
            all.forEach(each -> RedisConnection.requireNoDatabase(each.database, server));
        }
        return new Endpoint(first.database, server, first.isEncrypted, isCluster);
    }

    static Endpoint of(String text) {
        try {
            URI uri = new URI(text);
            String scheme = uri.getScheme();
            if (scheme != null && SCHEMES.contains(scheme) && (uri.getHost() != null || scheme.equals("unix"))) {
                return of(uri, scheme);
            }
        } catch (URISyntaxException | NumberFormatException e) {
            // The message contains neither the string nor the cause: both may contain the password.
        }
        throw new IllegalArgumentException(
                "not a Redis connection string of the form redis://[user:password@]host[:port][/database]; the text is"
                        + " not repeated because it may hold a password; special characters in it need %-escapes");
    }

    private static Endpoint of(URI uri, String scheme) {
        String path = uri.getPath() == null ? "" : uri.getPath();
        if (scheme.equals("unix")) {
            return new Endpoint(databaseOf(uri), path, false, false);
        }
        int database = path.length() > 1 ? Integer.parseInt(path.substring(1)) : databaseOf(uri);
        int port = uri.getPort() == -1 ? DEFAULT_PORT : uri.getPort();
        return new Endpoint(database, uri.getHost() + ":" + port, ENCRYPTED.contains(scheme), false);
    }

    private static int databaseOf(URI uri) {
        return uri.getQuery() == null
                ? 0
                : Arrays.stream(uri.getQuery().split("&"))
                        .filter(parameter -> parameter.startsWith("db="))
                        .mapToInt(parameter -> Integer.parseInt(parameter.substring(3)))
                        .findFirst()
                        .orElse(0);
    }
}
