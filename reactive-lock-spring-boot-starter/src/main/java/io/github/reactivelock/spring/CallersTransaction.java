package io.github.reactivelock.spring;

import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.transaction.reactive.TransactionContext;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import reactor.util.context.ContextView;

/**
 * Warns, once for each method, of a transaction that its caller began: that one commits when the lock is released
 * again.
 */
final class CallersTransaction {

    private static final Logger log = LoggerFactory.getLogger(WithLock.class);
    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.reactive.TransactionContext", CallersTransaction.class.getClassLoader());

    private final AtomicBoolean warned = new AtomicBoolean();
    private final String method;

    CallersTransaction(String method) {
        this.method = method;
    }

    void look(ContextView context) {
        if (TRANSACTIONS_PRESENT && Look.isOpen(context) && warned.compareAndSet(false, true)) {
            log.warn(
                    "@WithLock on {}: its caller has a transaction open, which commits after the lock is released, so others"
                            + " may have the lock before they see what was written; begin the transaction in the locked"
                            + " method (said once)",
                    method);
        }
    }

    /** Apart, because Spring's transactions need not be there. */
    private static final class Look {

        static boolean isOpen(ContextView context) {
            return context.<TransactionContext>getOrEmpty(TransactionContext.class)
                    .map(TransactionSynchronizationManager::new)
                    .filter(TransactionSynchronizationManager::isActualTransactionActive)
                    .isPresent();
        }
    }
}
