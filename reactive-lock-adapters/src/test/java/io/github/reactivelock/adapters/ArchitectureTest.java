package io.github.reactivelock.adapters;

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
            .importPackages(ROOT + ".adapters", ROOT + ".shedlock");

    @Test
    void ofTheProjectOnlyTheApiIsSeen() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".spi", ROOT + ".engine..", ROOT + ".memory..")
                .check(MAIN);
    }

    @Test
    void whatIsSharedNeedsNoLibraryOfOthers() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".adapters")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("net.javacrumbs..", "org.springframework..")
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.getPackageName().equals(ROOT + ".adapters"))
                        .map(JavaClass::getSimpleName))
                .containsExactlyInAnyOrder("ReactiveLockProvider");
    }
}
