package io.github.reactivelock.spring.boot;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A store's URL in its parts, read as the command line reads it. Its text may hold a password.
 *
 * @param name what stands before {@code ://}
 * @param login who logs in, if anybody does
 * @param hosts with commas between them
 * @param rest path, query and fragment, with the signs that they begin with
 */
record ConfiguredUrl(String name, @Nullable Login login, String hosts, String rest) {

    /** The login ends at the last at sign before the hosts, so that a password may have one. */
    private static final Pattern FORM = Pattern.compile(
            "(?<name>[a-z0-9:-]+)://(?:(?<user>[^:@/]*)(?::(?<password>[^/?#]*))?@)?(?<hosts>[^/?#@]*)(?<rest>.*)");

    /** As it is meant, without escapes. */
    record Login(String user, String password) {}

    /** Empty for what is no URL: the driver says what it thinks of that. */
    static Optional<ConfiguredUrl> of(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            return Optional.empty();
        }
        String user = form.group("user");
        String password = form.group("password");
        Login login = user == null ? null : new Login(decoded(user), password == null ? "" : decoded(password));
        return Optional.of(new ConfiguredUrl(form.group("name"), login, form.group("hosts"), form.group("rest")));
    }

    List<String> eachHost() {
        return List.of(hosts.split(",", -1));
    }

    /** With another beginning and some of the hosts, as every driver reads it. */
    String text(String otherName, String otherHosts) {
        if (login == null) {
            return otherName + "://" + otherHosts + rest;
        }
        String password = login.password().isEmpty() ? "" : ":" + encoded(login.password());
        return otherName + "://" + encoded(login.user()) + password + "@" + otherHosts + rest;
    }

    private static String decoded(String part) {
        // A plus sign is one here.
        return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    }

    private static String encoded(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Without the login. */
    @Override
    public String toString() {
        return name + "://" + hosts;
    }
}
