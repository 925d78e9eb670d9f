package io.github.reactivelock.examples.flashsale;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.examples.RunningExample;
import org.junit.jupiter.api.Test;

class FlashSaleTest {

    @Test
    void aSmallSaleSellsExactlyItsStockWithTheLock() throws Exception {
        RunningExample sale =
                RunningExample.run(FlashSale.class, "--instances", "2", "--buyers", "200", "--stock", "20");

        assertThat(sale.exit()).as(sale.text()).isZero();
        assertThat(sale.output().get(sale.output().size() - 1))
                .matches("sold=20 oversold=0 lost=0 acquisitions=400 p50_ms=\\d+\\.\\d p99_ms=\\d+\\.\\d");
        assertThat(sale.text()).contains("kill -9 app-");
    }

    @Test
    void everyBuyerGetsATicketWhereThereAreEnough() throws Exception {
        RunningExample sale = RunningExample.run(FlashSale.class, "--instances", "2", "--buyers", "5", "--stock", "20");

        assertThat(sale.exit()).as(sale.text()).isZero();
        assertThat(sale.text()).contains("sold=5 oversold=0 lost=0 acquisitions=10 ");
    }

    @Test
    void wrongNumbersAreNamedTogetherWithTheirRange() throws Exception {
        RunningExample sale = RunningExample.run(FlashSale.class, "--instances", "1");

        assertThat(sale.exit()).as(sale.text()).isEqualTo(2);
        assertThat(sale.text()).contains("--instances must be 2 to 16 but is 1");
    }
}
