package io.github.reactivelock.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The host in the name by which people see who holds a lock. */
class HostNameTest {

    @TempDir
    Path folder;

    @Test
    void theSystemsNameComesFirstThenThatOfTheEnvironment() throws IOException {
        Path file = Files.writeString(folder.resolve("hostname"), "shop-3.example\n");
        Map<String, String> environment = Map.of("HOSTNAME", "other", "COMPUTERNAME", "SHOP");

        assertThat(HostName.of(environment::get, file)).isEqualTo("shop-3.example");
        assertThat(HostName.of(environment::get, folder.resolve("none"))).isEqualTo("other");
        assertThat(HostName.of(Map.of("COMPUTERNAME", "SHOP")::get, folder.resolve("none")))
                .isEqualTo("SHOP");
        assertThat(HostName.of(name -> null, folder.resolve("none"))).isEqualTo(HostName.UNKNOWN);
    }

    @Test
    void aNameThatNoOwnerMayHaveIsMadeOne() {
        Path none = folder.resolve("none");

        assertThat(HostName.of(name -> "a b\u0000ü/c", none)).isEqualTo("abc");
        assertThat(HostName.of(name -> "x".repeat(500), none)).hasSize(64);
    }

    @Test
    void theDefaultOwnerNamesTheHostAndTheProcess() {
        String name = HostName.ofThisProcess();

        assertThat(name)
                .startsWith(HostName.get() + "/pid-" + ProcessHandle.current().pid() + "/");
        assertThat(Validation.owner(name)).isEqualTo(name);
    }
}
