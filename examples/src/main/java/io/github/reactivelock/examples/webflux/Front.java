package io.github.reactivelock.examples.webflux;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** The switch in front of the tills. It holds no locks; its client looks when one is free again. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({Board.class, Tills.class, Outage.class, Desk.class})
final class Front {}
