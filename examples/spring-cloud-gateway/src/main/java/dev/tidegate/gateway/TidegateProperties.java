package dev.tidegate.gateway;

import java.time.Duration;
import java.util.Map;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How the gateway asks Tidegate.
 *
 * @param url where the service is
 * @param timeout how long an answer is waited for
 * @param failOpen whether a request passes when there is no answer in time; otherwise it is refused with 503
 * @param headers dimensions that come from request headers, by the name of the dimension
 */
@ConfigurationProperties("tidegate")
public record TidegateProperties(
    @DefaultValue("http://127.0.0.1:8080") String url,
    @DefaultValue("20ms") Duration timeout,
    @DefaultValue("true") boolean failOpen,
    @DefaultValue Map<String, String> headers) {}
