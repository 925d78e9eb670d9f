package io.github.reactivelock.etcd;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.etcd.jetcd.Lock;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("io.github.reactivelock.etcd");

    @Test
    void theServersOwnLockIsNotUsed() {
        noClasses().should().dependOnClassesThat().areAssignableTo(Lock.class).check(MAIN);
    }
}
