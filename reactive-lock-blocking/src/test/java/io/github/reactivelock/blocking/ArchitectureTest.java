package io.github.reactivelock.blocking;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final String ROOT = "io.github.reactivelock";
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT + ".blocking");
    private static final JavaClasses OTHERS = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT, ROOT + ".lettuce", ROOT + ".redis", ROOT + ".quorum");

    @Test
    void ofTheProjectOnlyTheApiIsSeen() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".spi..", ROOT + ".engine..", ROOT + ".memory..")
                .check(MAIN);
    }

    @Test
    void noOtherModuleSeesIt() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".blocking..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".blocking..")
                .check(OTHERS);
    }

    @Test
    void nettyMayBeMissing() {
        classes()
                .that()
                .haveNameNotMatching(".*\\.EventLoops\\$Netty")
                .should()
                .onlyDependOnClassesThat()
                .resideOutsideOfPackage("io.netty..")
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .map(JavaClass::getSimpleName))
                .containsExactlyInAnyOrder("BlockingLockClient", "HeldLock", "LockedCall", "LockedRun");
    }
}
