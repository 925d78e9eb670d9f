package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Connection;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statements of one dialect with the names of tables put in. Values are parameters; in a script of MySQL, which
 * takes none, they are hexadecimal digits.
 */
final class Sql {

    /** What statements call parts of their own, which would hide a table of that name. */
    static final Set<String> NAMES = Set.of(
            "asked",
            "busy",
            "changed",
            "first",
            "kept",
            "locked",
            "mine",
            "owned",
            "patience",
            "queued",
            "renewed",
            "served",
            "taken");

    /**
     * Before a statement that has to see what was committed last, also after earlier reads of a caller's transaction.
     */
    static final String LATEST = "/*M!110402 SET STATEMENT innodb_snapshot_isolation = OFF FOR */";

    private static final Logger log = LoggerFactory.getLogger(Sql.class);
    private static final String MARK = "-- name: ";
    private static final int MOST_UNANSWERED = 3;
    private static final Pattern LIST = Pattern.compile("\\$\\{(keys|ids|leases)}");
    private static final Pattern PARAMETER = Pattern.compile("\\?");
    private static final Pattern STATEMENT = Pattern.compile("\\$\\{statement:([a-z_]+)}");
    private static final Pattern TABLES = Pattern.compile("(INDEX IF NOT EXISTS )?reactive_lock");

    /**
     * What a statement of MariaDB begins with, so that it ends at the server before its client gives it up, also where
     * it waits for a table (a backup, ALTER TABLE): sessions that wait would pile up. MySQL does not read it.
     */
    private static final String PATIENT =
            "/*M! SET STATEMENT lock_wait_timeout = ${patience}, innodb_lock_wait_timeout ="
                    + " ${patience}, max_statement_time = ${longest} FOR */ ";
    /** The same for a statement that may take as long as it does once it has its table. */
    private static final String PATIENT_FOR_TABLE = "/*M! SET STATEMENT lock_wait_timeout = ${patience} FOR */ ";
    /** Statements in transactions of the application, which have a patience of their own, and what sets that. */
    private static final Pattern IMPATIENT =
            Pattern.compile("fence.*|row_(take|hold|seen|bound|unbound)|bound|unbound|listen.*|silence");

    final Dialect dialect;
    final String prefix;
    private final Duration patience;
    private final Map<String, String> statements = new HashMap<>();
    /** What a command is in MySQL where its driver sends several statements as one text. */
    private final Map<String, List<String>> scripts = new HashMap<>();

    private volatile boolean compounds = true;
    /** Why clients of MySQL cannot be rung for, from when that is known. */
    private volatile @Nullable String whyNoScripts;

    private volatile boolean severalAllowed;
    private final AtomicBoolean scriptsWork = new AtomicBoolean();
    private volatile boolean learned;
    private final AtomicBoolean asked = new AtomicBoolean();
    private final AtomicInteger unanswered = new AtomicInteger();
    private volatile boolean handsOn;
    private volatile boolean boundWhenOpened;

    Sql(Dialect dialect, String prefix) {
        this(dialect, prefix, R2dbcBackendOptions.defaults().commandTimeout());
    }

    /**
     * Statements that wait for a locked row, and for a client in the middle of a transaction, no longer than a command.
     */
    Sql(Dialect dialect, String prefix, Duration commandTimeout) {
        this.dialect = dialect;
        this.prefix = prefix;
        this.patience = commandTimeout.multipliedBy(4).dividedBy(5);
        for (String section : resource("statements.sql").split("(?m)^" + MARK, -1)) {
            String[] name = section.lines().findFirst().orElse("").split(" ", -1);
            String plain = withoutComments(section.substring(section.indexOf('\n') + 1));
            boolean isPatient =
                    dialect == Dialect.MARIADB && !IMPATIENT.matcher(name[0]).matches();
            String text = complete(isPatient ? PATIENT + plain : plain);
            String statement = isListed(text) ? text : dialect.numbered(text);
            if (dialect == Dialect.MARIADB && name.length > 1 && name[1].equals("mysql")) {
                scripts.put(name[0], List.of(complete(plain).split(";\\s*", -1)));
            } else if (name.length > 1 && name[1].equals(dialect.id())) {
                statements.put(name[0], statement); // wherever the one for all stands
            } else if (name.length == 1) {
                statements.putIfAbsent(name[0], statement);
            }
        }
        scripts.replaceAll(
                (name, script) -> script.stream().map(this::withStatements).toList());
    }

    /** A script may have a statement of MariaDB as a part. */
    private String withStatements(String part) {
        return STATEMENT.matcher(part).replaceAll(found -> Matcher.quoteReplacement(template(found.group(1))));
    }

    /** Whether this dialect has a statement for something, and the server and the driver take it. */
    boolean knows(String name) {
        return isMySql() ? scriptsWork.get() && scripts.containsKey(name) : statements.containsKey(name);
    }

    /** Whether a command may begin with the plain statement for the common case, and go on with the long one. */
    boolean knowsBoth() {
        return dialect == Dialect.POSTGRESQL || ((compounds || scriptsWork.get()) && handsOn);
    }

    /**
     * Whether a plain statement may take a lock. In MariaDB and MySQL not before a transaction was carried out that
     * hands a lock on: where none is (a binary log by statements, the driver of MySQL in Oracle mode), no claim may get
     * a lock that could not be given to the next.
     */
    boolean handsOn() {
        return dialect != Dialect.MARIADB || handsOn;
    }

    /** Such a transaction was carried out: a compound statement, a script, or one of single statements. */
    void noteHandedOn() {
        handsOn = true;
    }

    /**
     * What says that it is MariaDB did not understand a compound statement, so it gets transactions of single
     * statements.
     */
    void forgetCompounds() {
        compounds = false;
        scriptsWork.set(false);
    }

    /** Something on the way to MySQL does not take several statements as one text; said once. */
    void forgetScripts(Throwable refusal) {
        if (scriptsWork.getAndSet(false)) {
            whyNoScripts = "MySQL, or what stands in front of it, takes no text of several statements";
            log.warn(
                    "MySQL, or what stands in front of it, takes no text of several statements, so each is sent by itself"
                            + " from now on, and who joins a queue or hands over a lock takes up to ten round trips ({});"
                            + " let such texts pass for one or two, then start this process again",
                    refusal.getMessage());
        }
    }

    /** Why nothing can sleep in MySQL until it is rung for; null if something can, or nothing is known yet. */
    @Nullable
    String whyNoScripts() {
        return whyNoScripts;
    }

    /** Whether a server that may be one of several that all take writes is to be asked. */
    boolean isToBeAsked() {
        return dialect == Dialect.MARIADB && !asked.get();
    }

    /** For one command at a time whether it asks that. */
    boolean asks() {
        return asked.compareAndSet(false, true);
    }

    /** The next command asks that again, but not for ever: the question may be what breaks connections. */
    void notAnswered() {
        if (unanswered.incrementAndGet() < MOST_UNANSWERED) {
            asked.set(false);
        }
    }

    /** MariaDB's driver sends several statements as one text, by its option; that of MySQL always does. */
    void allowSeveral() {
        severalAllowed = true;
    }

    /** Learns from what a connection says whether this is MySQL: a refused statement may cost its connection. */
    void learn(Connection connection) {
        if (dialect == Dialect.MARIADB && !learned) {
            compounds = connection
                    .getMetadata()
                    .getDatabaseVersion()
                    .toLowerCase(Locale.ROOT)
                    .contains("mariadb");
            String driver = Answers.real(connection).getClass().getName();
            scriptsWork.set(driver.startsWith("io.asyncer.r2dbc.mysql.")
                    || (severalAllowed && driver.startsWith("org.mariadb.r2dbc.")));
            if (isMySql() && !scriptsWork.get()) {
                whyNoScripts =
                        "MySQL gets no text of several statements: r2dbc-mariadb sends one where the address that"
                                + " R2dbcLockBackend.connect(…) gets says allowMultiQueries=true, and r2dbc-mysql by itself where"
                                + " no wrapper hides it";
            }
            learned = true;
        }
    }

    /** Whether no statement says by itself how long it waits and takes. */
    boolean isMySql() {
        return dialect == Dialect.MARIADB && !compounds;
    }

    /** Connections get the limit of a statement's wait when they are opened. */
    void boundWhenOpened() {
        boundWhenOpened = true;
    }

    boolean isBoundWhenOpened() {
        return boundWhenOpened;
    }

    String text(String name) {
        return template(name);
    }

    /** Whether its text depends on how long the lists are. */
    private static boolean isListed(String text) {
        return LIST.matcher(text).find();
    }

    /**
     * A statement with lists of a length. Where MariaDB's driver is set to prepare, it prepares none that begins so:
     * they are many.
     */
    String text(String name, int length) {
        String template = template(name);
        if (!isListed(template)) {
            return template;
        }
        String statement = dialect.numbered(LIST.matcher(template)
                .replaceAll(list -> Matcher.quoteReplacement(
                        list.group(1).equals("leases")
                                ? "CASE claim_id" + (" WHEN ? THEN " + dialect.number()).repeat(length) + " END"
                                : "IN (?" + ", ?".repeat(length - 1) + ")")));
        return dialect == Dialect.MARIADB ? "/*text*/ " + statement : statement;
    }

    /**
     * The parts of a script. Hexadecimal digits mean the same in every mode and character set of a session, and nothing
     * in them ends a text.
     */
    List<String> script(String name, Object... parameters) {
        Iterator<Object> values = Arrays.asList(parameters).iterator();
        return Objects.requireNonNull(scripts.get(name), name).stream()
                .map(part ->
                        PARAMETER.matcher(part).replaceAll(found -> Matcher.quoteReplacement(literal(values.next()))))
                .toList();
    }

    /** What a script says when it has committed, if it rings. */
    List<String> ringAfter(String name) {
        return scripts.getOrDefault(name + "_ring", List.of());
    }

    private static String literal(Object value) {
        if (value instanceof List<?> list) {
            return list.stream().map(Sql::literal).collect(Collectors.joining(", "));
        }
        if (value instanceof Long) {
            return value.toString();
        }
        return value instanceof byte[] bytes
                ? "x'" + HexFormat.of().formatHex(bytes) + "'"
                : "_utf8mb4 x'" + HexFormat.of().formatHex(((String) value).getBytes(StandardCharsets.UTF_8))
                        + "' COLLATE utf8mb4_bin";
    }

    /** The statements that create the tables; an index is in the schema of its table and has no schema in its name. */
    List<String> schema() {
        String all = TABLES.matcher(withoutComments(resource("schema-" + dialect.id() + "/V1__reactive_lock.sql")))
                .replaceAll(found ->
                        found.group(1) == null ? prefix : found.group(1) + prefix.substring(prefix.indexOf('.') + 1));
        return Arrays.stream(all.split(";"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .map(statement -> dialect == Dialect.MARIADB ? complete(PATIENT_FOR_TABLE + statement) : statement)
                .toList();
    }

    private String template(String name) {
        String statement = statements.get(name);
        if (statement == null) {
            throw new IllegalStateException("there is no statement " + name + " for " + dialect.id());
        }
        return statement;
    }

    private String complete(String statement) {
        return statement
                .replace("${lock}", prefix)
                .replace("${waiter}", prefix + "_waiter")
                .replace("${share}", prefix + "_share")
                .replace("${event}", prefix + "_event")
                .replace("${fence}", prefix + "_fence")
                .replace("${row}", prefix + "_row")
                .replace("${once}", prefix + "_once")
                .replace("${keys}", dialect.keys())
                .replace("${ids}", dialect.ids())
                .replace("${now}", dialect.now)
                .replace("${latest}", LATEST)
                .replaceAll(
                        "\\$\\{bytes:([a-z_.]+)}",
                        dialect == Dialect.POSTGRESQL ? "encode($1, 'hex') AS " + KeyLayout.TEXT : "$1")
                .replace("${patience}", Long.toString(dialect.patience(patience)))
                .replace("${longest}", String.format(Locale.ROOT, "%.3f", patience.toMillis() * 9 / 8_000.0))
                .replace("${idle}", Long.toString(patience.toMillis()))
                .strip();
    }

    private static String withoutComments(String text) {
        return text.lines().filter(line -> !line.startsWith("--")).collect(Collectors.joining("\n"));
    }

    private static String resource(String name) {
        try (InputStream in = Sql.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("resource " + name + " is missing from this jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
