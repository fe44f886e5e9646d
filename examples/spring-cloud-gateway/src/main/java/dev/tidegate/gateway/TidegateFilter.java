package dev.tidegate.gateway;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Asks Tidegate about each request before it is routed: POST /v1/limit with its dimensions. */
@Component
public class TidegateFilter implements GlobalFilter, Ordered {
  private static final Logger log = LoggerFactory.getLogger(TidegateFilter.class);
  private static final List<String> COPIED = List.of("RateLimit", "RateLimit-Policy", "Retry-After");

  private final TidegateProperties properties;
  private final WebClient client;

  public TidegateFilter(TidegateProperties properties, WebClient.Builder builder) {
    this.properties = properties;
    this.client = builder.baseUrl(properties.url()).build();
  }

  /** Before the filters that route. */
  @Override
  public int getOrder() {
    return Ordered.HIGHEST_PRECEDENCE + 100;
  }

  /** What Tidegate has said; no status where it has not answered as it should. */
  private record Answer(HttpStatusCode status, HttpHeaders headers) {
    static final Answer NONE = new Answer(null, HttpHeaders.EMPTY);
  }

  @Override
  public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
    return ask(exchange.getRequest()).flatMap(answer -> {
      ServerHttpResponse response = exchange.getResponse();
      for (String name : COPIED) {
        String value = answer.headers().getFirst(name);
        if (value != null) response.getHeaders().set(name, value);
      }
      if (answer.status() == HttpStatus.TOO_MANY_REQUESTS) return refuse(response, HttpStatus.TOO_MANY_REQUESTS);
      if (answer.status() == null && !properties.failOpen()) return refuse(response, HttpStatus.SERVICE_UNAVAILABLE);
      return chain.filter(exchange);
    });
  }

  private Mono<Answer> ask(ServerHttpRequest request) {
    return client
        .post()
        .uri("/v1/limit")
        .contentType(MediaType.APPLICATION_JSON)
        .bodyValue(Map.of("descriptor", descriptor(request)))
        .exchangeToMono(response -> {
          HttpStatusCode status = response.statusCode();
          boolean isDecision = status.value() == 200 || status.value() == 429;
          if (!isDecision) log.warn("Tidegate answered {}", status);
          Answer answer = isDecision ? new Answer(status, response.headers().asHttpHeaders()) : Answer.NONE;
          return response.releaseBody().thenReturn(answer);
        })
        .timeout(properties.timeout())
        .onErrorResume(error -> {
          log.warn("Tidegate has not decided: {}", error.toString());
          return Mono.just(Answer.NONE);
        });
  }

  /** Route, method, address of the peer, and the headers that are configured; what a request lacks is left out. */
  private Map<String, String> descriptor(ServerHttpRequest request) {
    Map<String, String> descriptor = new HashMap<>();
    descriptor.put("route", request.getPath().value());
    descriptor.put("method", request.getMethod().name());
    InetSocketAddress peer = request.getRemoteAddress();
    if (peer != null && peer.getAddress() != null) descriptor.put("ip", peer.getAddress().getHostAddress());
    properties.headers().forEach((dimension, header) -> {
      String value = request.getHeaders().getFirst(header);
      if (value != null && !value.isEmpty()) descriptor.put(dimension, value);
    });
    return descriptor;
  }

  private static Mono<Void> refuse(ServerHttpResponse response, HttpStatus status) {
    response.setStatusCode(status);
    response.getHeaders().setContentType(MediaType.APPLICATION_PROBLEM_JSON);
    String body = "{\"type\":\"about:blank\",\"title\":\"" + status.getReasonPhrase() + "\",\"status\":" + status.value() + "}";
    return response.writeWith(Mono.just(response.bufferFactory().wrap(body.getBytes())));
  }
}
