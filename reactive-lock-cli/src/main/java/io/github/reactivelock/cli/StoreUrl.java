package io.github.reactivelock.cli;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A store's URL in its parts. Its text is never shown, because it may hold a password: {@link #toString} leaves out
 * user, password and options.
 *
 * @param name what stands before the colon
 * @param user as it is meant, without escapes
 * @param password as it is meant, without escapes
 * @param hosts one or more, with commas between them
 * @param path begins with a slash, or is empty
 * @param query options, without the question mark, or empty
 * @param fragment without the number sign, or empty
 */
record StoreUrl(
        String name,
        @Nullable String user,
        @Nullable String password,
        String hosts,
        String path,
        String query,
        String fragment) {

    /**
     * A user ends at the last at sign before the hosts, so that a password may have one. One further behind tells of a
     * password with a slash, of which the rest would be shown as a path.
     */
    private static final Pattern FORM = Pattern.compile(
            "(?<name>r2dbcs?:[a-z0-9:]+|[a-z0-9-]+)://(?:(?<user>[^:@/]*)(?<colon>:(?<password>[^/?#]*))?@)?"
                    + "(?<hosts>[^/?#@]*)(?<path>/[^?#@]*)?(?:\\?(?<query>[^#]*))?(?:#(?<fragment>[^@]*))?");

    static StoreUrl parse(String text) {
        Matcher form = FORM.matcher(text);
        if (!form.matches()) {
            throw unreadable();
        }
        return new StoreUrl(
                form.group("name"),
                decoded(form.group("user")),
                decoded(form.group("password")),
                form.group("hosts"),
                text(form.group("path")),
                text(form.group("query")),
                text(form.group("fragment")));
    }

    private static IllegalArgumentException unreadable() {
        return new IllegalArgumentException("this store's URL cannot be read; it is not repeated because it may hold a"
                + " password. One looks like " + Scheme.REDIS.example
                + "; what is special in a user or a password needs %-escapes");
    }

    Scheme scheme() {
        return Scheme.of(name.replaceFirst(":.*", ""));
    }

    boolean hasPassword() {
        return password != null || query.matches("(?i)(.*&)?password=.*");
    }

    /** Each host with its port. */
    List<String> eachHost() {
        return List.of(hosts.split(","));
    }

    /** With a user and a password for those that it has none of. */
    StoreUrl with(@Nullable String newUser, @Nullable String newPassword) {
        return new StoreUrl(
                name,
                user == null || user.isEmpty() ? newUser : user,
                password == null ? newPassword : password,
                hosts,
                path,
                query,
                fragment);
    }

    /** The text of a URL with another beginning and other hosts, with the password. */
    String text(String otherName, String otherHosts, String otherQuery) {
        String login = password == null ? "" : encoded(user) + ":" + encoded(password) + "@";
        return otherName + "://" + login + otherHosts + path + (otherQuery.isEmpty() ? "" : "?" + otherQuery)
                + (fragment.isEmpty() ? "" : "#" + fragment);
    }

    /** The options, and one more unless it is there. */
    String queryWith(String option, String value) {
        boolean isThere = Stream.of(query.split("&")).anyMatch(each -> each.startsWith(option + "="));
        String added = option + "=" + value;
        return isThere ? query : query.isEmpty() ? added : query + "&" + added;
    }

    /** For people: which store, without a secret. */
    @Override
    public String toString() {
        return name + "://" + hosts + path + (fragment.isEmpty() ? "" : "#" + fragment);
    }

    private static String text(@Nullable String part) {
        return part == null ? "" : part;
    }

    private static @Nullable String decoded(@Nullable String part) {
        try {
            // A plus sign is one here.
            return part == null ? null : URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
        } catch (IllegalArgumentException repeatsIt) {
            throw unreadable();
        }
    }

    private static String encoded(@Nullable String part) {
        return URLEncoder.encode(text(part), StandardCharsets.UTF_8).replace("+", "%20");
    }
}
