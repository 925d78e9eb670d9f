package io.github.reactivelock.examples.flashsale;

import java.util.Map;

/**
 * The result of a sale in Redis, counted after its last buyer was served.
 *
 * @param stock tickets there were
 * @param left the stock as the last write left it
 * @param sold receipts
 */
record Ledger(int stock, int left, int sold) {

    static Ledger of(int stock, Map<String, String> sale) {
        long receipts = sale.keySet().stream()
                .filter(field -> field.startsWith(Sale.RECEIPT))
                .count();
        return new Ledger(stock, Integer.parseInt(sale.getOrDefault(Sale.LEFT, "")), Math.toIntExact(receipts));
    }

    /** Receipts for which there was no ticket. */
    int oversold() {
        return Math.max(0, sold - stock);
    }

    /**
     * Updates of the stock that another one overwrote. Each sale took one ticket off, so these are the missing ones.
     */
    int lost() {
        return sold - (stock - left);
    }
}
