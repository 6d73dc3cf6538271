import { environments } from "../domain/keys.ts";
import {
  readDatabaseUrl,
  readDrain,
  readEnvironment,
  readIdleTimeout,
  readNetworkTexts,
  readNonEmpty,
  readOrigins,
  readPetsSunset,
  readPort,
  readSeconds,
  readText,
} from "./readers.ts";
import { setting } from "./setting.ts";

/** What the service listens on, and which store it uses. */
export const servingSettings = {
  port: setting({
    flag: "port",
    variable: "PORT",
    placeholder: "PORT",
    default: "8080",
    description: "Port to listen on. 0 picks a free port.",
    read: readPort,
  }),
  host: setting({
    flag: "host",
    variable: "HOST",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    description: "Address to listen on.",
    read: readNonEmpty,
  }),
  environment: setting({
    flag: "env",
    variable: "PETSTORE_ENV",
    placeholder: environments.join("|"),
    default: "production",
    description: "Environment: `production` or `staging`.",
    read: readEnvironment,
  }),
  databaseUrl: setting({
    flag: "database",
    variable: "DATABASE_URL",
    placeholder: "DATABASE",
    default: "sqlite:./data/<env>.db",
    description: "Database: `sqlite:PATH` or `postgres://HOST/NAME`.",
    read: readDatabaseUrl,
    isSecret: true,
  }),
  databasePatienceMs: setting({
    flag: "database-patience-seconds",
    variable: "PETSTORE_DATABASE_PATIENCE_SECONDS",
    placeholder: "N",
    default: "30",
    description: "How long a start waits for an unreachable PostgreSQL server.",
    unit: "seconds",
    read: readSeconds,
  }),
  tlsCertFile: setting({
    flag: "tls-cert",
    variable: "PETSTORE_TLS_CERT",
    placeholder: "FILE",
    default: "",
    description:
      "Certificate chain in PEM format. With it, the service speaks HTTPS only. Reloaded when the file changes.",
    read: readText,
  }),
  tlsKeyFile: setting({
    flag: "tls-key",
    variable: "PETSTORE_TLS_KEY",
    placeholder: "FILE",
    default: "",
    description: "Private key of the certificate in PEM format. Reloaded when the file changes.",
    read: readText,
  }),
  trustedProxies: setting({
    flag: "trusted-proxies",
    variable: "PETSTORE_TRUSTED_PROXIES",
    placeholder: "NETWORKS",
    default: "",
    description:
      "Proxies whose `X-Forwarded-For` is trusted: addresses or networks, separated by commas.",
    read: readNetworkTexts,
  }),
  corsOrigins: setting({
    flag: "cors-origins",
    variable: "PETSTORE_CORS_ORIGINS",
    placeholder: "ORIGINS",
    default: "",
    description:
      "Browser origins that may call the API, separated by commas. `*` allows any origin.",
    read: readOrigins,
  }),
  idleTimeoutSeconds: setting({
    flag: "idle-timeout-seconds",
    variable: "PETSTORE_IDLE_TIMEOUT_SECONDS",
    placeholder: "N",
    default: "10",
    description: "Idle time after which a client connection is closed.",
    unit: "seconds",
    read: readIdleTimeout,
  }),
  drainMs: setting({
    flag: "drain-seconds",
    variable: "PETSTORE_DRAIN_SECONDS",
    placeholder: "N",
    default: "0",
    description:
      "How long a stopping service keeps accepting requests while `/readyz` returns 503.",
    unit: "seconds",
    read: readDrain,
  }),
  petsSunsetAt: setting({
    flag: "pets-sunset",
    variable: "PETSTORE_PETS_SUNSET",
    placeholder: "TIME",
    default: "2027-12-31T00:00:00Z",
    description: "Time from which `GET /v1/pets/{petId}` returns 410.",
    read: readPetsSunset,
  }),
} as const;
