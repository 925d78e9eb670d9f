package io.github.reactivelock.zookeeper;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.apache.curator.x.async.AsyncWrappers;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.zookeeper");

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
}
