package dev.tidegate.gateway;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** A gateway whose requests Tidegate admits; its routes are in application.yaml. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class GatewayApplication {
  public static void main(String[] args) {
    SpringApplication.run(GatewayApplication.class, args);
  }
}
