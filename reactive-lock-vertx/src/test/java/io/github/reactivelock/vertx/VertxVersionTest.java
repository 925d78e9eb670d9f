package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.impl.VertxBuilder;
import io.vertx.core.spi.VertxServiceProvider;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;

class VertxVersionTest {

    @Test
    void anEarlierVertxIsNamedWithTheOneThatIsNeeded() {
        assertThatThrownBy(() -> VertxVersion.check(ClassLoader.getPlatformClassLoader(), "4.5.22"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("4.5.22")
                .hasMessageContaining("needs Vert.x 5.1");
        VertxVersion.check();
    }

    @Test
    void whatVertx4CallsWhenItStartsIsThere() throws NoSuchMethodException {
        assertThat(ServiceLoader.load(VertxServiceProvider.class))
                .filteredOn(HeldContextOnClassPath.class::isInstance)
                .hasSize(1);
        assertThat(HeldContextOnClassPath.class.getMethod("init", VertxBuilder.class))
                .isNotNull();
    }
}
