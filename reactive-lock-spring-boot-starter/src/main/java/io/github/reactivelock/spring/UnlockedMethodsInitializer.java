package io.github.reactivelock.spring;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.aot.AbstractAotProcessor;

/** Has every context of Spring Boot look for methods that nothing locks, also one without auto-configuration. */
final class UnlockedMethodsInitializer implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        // What is written ahead of time cannot have it, and does it again when it runs.
        if (!Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING)
                && context.getBeanFactory() instanceof DefaultListableBeanFactory beans) {
            UnlockedMethods methods = new UnlockedMethods(beans);
            beans.addBeanPostProcessor(methods);
            RootBeanDefinition look = new RootBeanDefinition(
                    SmartInitializingSingleton.class, () -> (SmartInitializingSingleton) methods::look);
            look.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
            beans.registerBeanDefinition(UnlockedMethods.class.getName(), look);
        }
    }
}
