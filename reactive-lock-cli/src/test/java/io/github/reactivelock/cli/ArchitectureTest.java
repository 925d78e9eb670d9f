package io.github.reactivelock.cli;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.support.StoreUrl;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.cli");

    /**
     * What it can do, a user can do with the library. Which of two tokens is of one grant, everybody may ask; how the
     * URL of a store is read, it shares with Spring Boot.
     */
    @Test
    void ofTheInterfaceForStoresOnlyTheirTypesAreNamed() {
        noClasses()
                .should()
                .dependOnClassesThat(resideInAPackage("io.github.reactivelock.spi..")
                        .and(not(belongToAnyOf(
                                LockBackend.class, QuorumNode.class, FencingTokens.class, StoreUrl.class))))
                .check(MAIN);
    }

    @Test
    void onlyOneClassKnowsTheDrivers() {
        noClasses()
                .that()
                .doNotHaveSimpleName("Stores")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.etcd..",
                        "io.r2dbc..",
                        "io.github.reactivelock.consul..",
                        "io.github.reactivelock.etcd..",
                        "io.github.reactivelock.lettuce..",
                        "io.github.reactivelock.quorum..",
                        "io.github.reactivelock.r2dbc..",
                        "io.github.reactivelock.redis..",
                        "io.github.reactivelock.zookeeper..")
                .check(MAIN);
    }

    @Test
    void nothingIsForOtherProgramsButItsStart() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName))
                .containsExactly("Main");
    }
}
