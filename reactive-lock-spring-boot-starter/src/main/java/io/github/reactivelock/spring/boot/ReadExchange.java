package io.github.reactivelock.spring.boot;

import java.util.Map;
import org.springframework.core.ResolvableType;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.MediaType;
import org.springframework.http.codec.FormHttpMessageReader;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpRequestDecorator;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.LinkedMultiValueMap;
import org.springframework.util.MultiValueMap;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.ServerWebExchangeDecorator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A request whose body was read already, with another response. */
final class ReadExchange extends ServerWebExchangeDecorator {

    private static final ResolvableType FORM =
            ResolvableType.forClassWithGenerics(MultiValueMap.class, String.class, String.class);

    private final ServerHttpRequest request;
    private final ServerHttpResponse response;
    private final Mono<MultiValueMap<String, String>> form;

    ReadExchange(ServerWebExchange exchange, byte[] body, ServerHttpResponse response) {
        super(exchange);
        this.request = new ServerHttpRequestDecorator(exchange.getRequest()) {
            @Override
            public Flux<DataBuffer> getBody() {
                return body.length == 0
                        ? Flux.empty()
                        : Flux.defer(() -> Flux.just(DefaultDataBufferFactory.sharedInstance.wrap(body)));
            }
        };
        this.response = response;
        // The exchange's own reads the request that it was made with.
        this.form = MediaType.APPLICATION_FORM_URLENCODED.equalsTypeAndSubtype(
                        request.getHeaders().getContentType())
                ? new FormHttpMessageReader().readMono(FORM, request, Map.of()).cache()
                : Mono.fromSupplier(LinkedMultiValueMap::new);
    }

    @Override
    public ServerHttpRequest getRequest() {
        return request;
    }

    @Override
    public ServerHttpResponse getResponse() {
        return response;
    }

    @Override
    public Mono<MultiValueMap<String, String>> getFormData() {
        return form;
    }
}
