package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Until when the mark of a shared lock keeps claims for the whole out. */
class SharesEdgeTest extends SharesFixture {

    private static final Duration SHORT = Duration.ofSeconds(3);

    private long holders(LockBackend by) {
        return get(by.inspect(key)) instanceof LockInfo.Held held && held.shares() != null
                ? held.shares().holders()
                : 0;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void sharesThatComeToAsManyUnitsAsTheWholeAreSharesStill(Databases database) {
        LockBackend one = process(database);
        LockBackend other = process(database);
        int all = Share.WHOLE.units();
        Claim many = claim(Share.permits(all - 1, all - 1), LONG);
        Claim reader = claim(Share.ONE, LONG);
        granted(one, many);
        granted(one, reader);
        assertThat(holders(one)).isEqualTo(2);

        database.execute("UPDATE reactive_lock_share SET lease_end = " + Dialect.of(database.factory()).now
                + " WHERE claim_id = '" + many.id() + "'");
        Databases.until("the lease of one is over", () -> holders(one) < 2);

        assertThat(get(other.claim(claim(Share.WHOLE, LONG, Claim.Mode.TRY)))).isInstanceOf(ClaimResult.Busy.class);
        assertThat(get(one.release(reader))).isTrue();
        Claim writer = claim(Share.WHOLE, LONG);
        granted(other, writer);
        assertThat(get(other.release(writer))).isTrue();
    }

    /** A whole lock that is renewed costs no more than its lease then. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aShareRenewedAfterASetBackClockLastsNoLongerThanItsLease(Databases database) {
        LockBackend one = process(database);
        LockBackend other = process(database);
        Claim renewed = claim(Share.ONE, SHORT);
        Claim asked = claim(Share.ONE, SHORT);
        granted(one, renewed);
        granted(one, asked);
        long ahead = Micros.of(LONG);
        database.execute("UPDATE reactive_lock_share SET lease_end = lease_end + " + ahead);
        database.execute("UPDATE reactive_lock SET lease_end = lease_end + " + ahead + " WHERE claim_id = '='");

        assertThat(get(one.renew(List.of(renewed))).renewed()).containsExactly(renewed.id());
        granted(one, asked);

        Claim writer = claim(Share.WHOLE, LONG);
        Databases.until("they are over", () -> get(other.claim(writer)) instanceof ClaimResult.Granted);
        assertThat(get(other.release(writer))).isTrue();
    }
}
