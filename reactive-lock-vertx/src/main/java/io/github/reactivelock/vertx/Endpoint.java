package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisConnection;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Which database of which server, read from a connection string of the Vert.x client.
 *
 * @param database the database's number
 * @param server a name for error messages, without any secret
 * @param user the user's name; empty if it differs
 * @param isEncrypted whether it asks for TLS
 * @param isCluster whether keys live in slots
 */
record Endpoint(int database, String server, String user, boolean isEncrypted, boolean isCluster) {

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
        List<String> users = options.getEndpoints().stream()
                .map(endpoint -> userOf(URI.create(endpoint), options))
                .distinct()
                .toList();
        String user = users.size() == 1 ? users.get(0) : "";
        return new Endpoint(first.database, server, user, first.isEncrypted, isCluster);
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
            return new Endpoint(databaseOf(uri), path, "", false, false);
        }
        int database = path.length() > 1 ? Integer.parseInt(path.substring(1)) : databaseOf(uri);
        int port = uri.getPort() == -1 ? DEFAULT_PORT : uri.getPort();
        return new Endpoint(database, uri.getHost() + ":" + port, "", ENCRYPTED.contains(scheme), false);
    }

    private static int databaseOf(URI uri) {
        String database = parameter(uri, "db");
        return database.isEmpty() ? 0 : Integer.parseInt(database);
    }

    /** The client gives a name only with a password; what is no name then may be a secret in the wrong place. */
    private static String userOf(URI uri, RedisOptions options) {
        String[] given = Objects.requireNonNullElse(uri.getRawUserInfo(), "").split(":", 2);
        String inOptions = Objects.requireNonNullElse(options.getUser(), "");
        boolean hasPassword =
                given.length == 2 || !parameter(uri, "password").isEmpty() || options.getPassword() != null;
        return Stream.of(URLDecoder.decode(given[0], StandardCharsets.UTF_8), parameter(uri, "user"), inOptions)
                .filter(name -> hasPassword && !name.isEmpty())
                .findFirst()
                .orElse("default");
    }

    private static String parameter(URI uri, String name) {
        return Arrays.stream(Objects.requireNonNullElse(uri.getQuery(), "").split("&", -1))
                .filter(parameter -> parameter.startsWith(name + "="))
                .map(parameter -> parameter.substring(name.length() + 1))
                .findFirst()
                .orElse("");
    }
}
