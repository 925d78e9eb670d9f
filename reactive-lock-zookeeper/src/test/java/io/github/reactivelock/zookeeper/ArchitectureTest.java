package io.github.reactivelock.zookeeper;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.concurrent.CompletableFuture;
import org.apache.curator.x.async.AsyncWrappers;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final String PACKAGE = "io.github.reactivelock.zookeeper";
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
    void recipesThatBlockAreNotUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .resideInAPackage("org.apache.curator.framework.recipes..")
                .check(MAIN);
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(AsyncWrappers.class)
                .check(MAIN);
    }

    @Test
    void noFutureIsWaitedFor() {
        noClasses().should().callMethod(CompletableFuture.class, "get").check(MAIN);
        noClasses().should().callMethod(CompletableFuture.class, "join").check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        classes().should().resideInAPackage(PACKAGE).check(MAIN);
        assertThat(MAIN.stream()
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.isNestedClass())
                        .map(JavaClass::getSimpleName)
                        .filter(name -> !name.equals("package-info")))
                .containsExactlyInAnyOrder("ZooKeeperLockBackend", "ZooKeeperBackendOptions", "ZooKeeperFencingGuard");
    }
}
