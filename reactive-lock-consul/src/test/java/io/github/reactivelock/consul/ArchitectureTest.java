package io.github.reactivelock.consul;

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

    private static final String PACKAGE = "io.github.reactivelock.consul";
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(PACKAGE);

    @Test
    void ofTheProjectOnlyTheSpiIsSeen() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.github.reactivelock", "io.github.reactivelock.memory..")
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        classes().should().resideInAPackage(PACKAGE).check(MAIN);
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.isNestedClass())
                        .map(JavaClass::getSimpleName)
                        .filter(name -> !name.equals("package-info")))
                .containsExactlyInAnyOrder("ConsulLockBackend", "ConsulBackendOptions", "ConsulFencingGuard");
    }
}
