package io.github.reactivelock.spi.support;

import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A store's URL in its parts, as the command line and Spring Boot read it. Its text is never shown, because it may hold
 * a password: {@link #toString} leaves out user, password and options.
 *
 * @param name what stands before {@code ://}
 * @param user as it is meant, without escapes; null if there is no at sign
 * @param password as it is meant, without escapes; null if there is none
 * @param hosts one or more, with commas between them; none for a database in this process
 * @param path begins with a slash, or is empty
 * @param query options, without the question mark, or empty
 * @param fragment without the number sign, or empty
 */
public record StoreUrl(
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
    private static final Pattern FORM =
            Pattern.compile("(?<name>[a-z0-9:+-]+)://(?:(?<user>[^:@/]*)(?::(?<password>[^/?#]*))?@)?"
                    + "(?<hosts>[^/?#@]*)(?<path>/[^?#@]*)?(?:\\?(?<query>[^#]*))?(?:#(?<fragment>[^@]*))?");

    /**
     * Reads a URL.
     *
     * @param text of one store, with a scheme
     * @return its parts
     * @throws IllegalArgumentException if it cannot be read; its message does not repeat the text
     */
    public static StoreUrl parse(String text) {
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
                + " password. One looks like redis://host:6379/0; what is special in a user or a password needs"
                + " %-escapes");
    }

    /**
     * The hosts one by one.
     *
     * @return each with its port, if it has one
     */
    public List<String> eachHost() {
        return List.of(hosts.split(","));
    }

    /**
     * The text of a URL with another beginning and other hosts, as drivers read it.
     *
     * @param otherName what is to stand before {@code ://}
     * @param otherHosts with commas between them
     * @return with user, password and all that stands behind the hosts
     */
    public String text(String otherName, String otherHosts) {
        return otherName + "://" + login() + otherHosts + behindHosts();
    }

    private String login() {
        if (password != null) {
            return encoded(text(user)) + ":" + encoded(password) + "@";
        }
        return user == null || user.isEmpty() ? "" : encoded(user) + "@";
    }

    /**
     * What stands behind the hosts.
     *
     * @return path, query and fragment, with the signs that they begin with
     */
    public String behindHosts() {
        return path + (query.isEmpty() ? "" : "?" + query) + (fragment.isEmpty() ? "" : "#" + fragment);
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

    private static String encoded(String part) {
        return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
