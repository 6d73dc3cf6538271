import { logLevels } from "../domain/running/events.ts";
import { optional, readNonEmpty, readPort, readRatio, readText, readUrl } from "./readers.ts";
import { choice, setting } from "./setting.ts";

/** Logs, metrics and traces. */
export const monitoringSettings = {
  logFormat: choice(["auto", "json", "text"], {
    flag: "log-format",
    default: "auto",
    description:
      "Format of the log: `json`, `text`, or `auto`, which is `text` on a terminal and `json` elsewhere.",
  }),
  logLevel: choice(logLevels, {
    flag: "log-level",
    default: "info",
    description: "Least severe events to log: `debug`, `info`, `warn` or `error`.",
  }),
  logRequests: choice(["off", "errors", "sampled", "all"], {
    flag: "log-requests",
    default: "off",
    description:
      "Requests to log, one line each: `off`, `errors`, `sampled` (errors and one in 100 of the others) or `all`.",
  }),
  metricsPort: setting({
    flag: "metrics-port",
    placeholder: "PORT",
    description: "Port for `/metrics`. Without it there are no metrics. 0 picks a free port.",
    read: optional(readPort),
  }),
  metricsHost: setting({
    flag: "metrics-host",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    description: "Address to listen on for `/metrics`. It needs no key, so keep it private.",
    read: readNonEmpty,
  }),
  otlpEndpoint: setting({
    flag: "otlp-endpoint",
    variable: "OTEL_EXPORTER_OTLP_ENDPOINT",
    placeholder: "URL",
    description:
      "Address of an OpenTelemetry collector (OTLP over HTTP). Without it there are no traces.",
    read: optional(readUrl),
    isSecret: true,
  }),
  otlpHeaders: setting({
    flag: "otlp-headers",
    variable: "OTEL_EXPORTER_OTLP_HEADERS",
    placeholder: "HEADERS",
    description: "Headers for the collector, as `name=value`, separated by commas.",
    read: readText,
    isSecret: true,
  }),
  serviceName: setting({
    flag: "service-name",
    variable: "OTEL_SERVICE_NAME",
    placeholder: "NAME",
    default: "petstore-inventory",
    description: "Name of this service in traces.",
    read: readNonEmpty,
  }),
  traceRatio: setting({
    flag: "trace-ratio",
    variable: "OTEL_TRACES_SAMPLER_ARG",
    placeholder: "RATIO",
    default: "0.1",
    description: "Share of the requests without `traceparent` that are traced, from 0 to 1.",
    read: readRatio,
  }),
} as const;
