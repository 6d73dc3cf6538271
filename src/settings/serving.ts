import { environments } from "../domain/keys/keys.ts";
import { lowStockRule } from "../domain/sales/sales.ts";
import * as readers from "./readers.ts";
import { choice, count, setting } from "./setting.ts";

/** What the service listens on, and which store it uses. */
export const servingSettings = {
  configFile: setting({
    flag: "config",
    placeholder: "FILE",
    description: "Settings file in TOML format. Flags and variables override its values.",
    read: readers.readText,
  }),
  port: setting({
    flag: "port",
    variable: "PORT",
    placeholder: "PORT",
    default: "8080",
    description: "Port to listen on. 0 picks a free port.",
    read: readers.readPort,
  }),
  host: setting({
    flag: "host",
    variable: "HOST",
    placeholder: "ADDRESS",
    default: "127.0.0.1",
    description: "Address to listen on.",
    read: readers.readNonEmpty,
  }),
  environment: choice(environments, {
    flag: "env",
    default: "production",
    description: "Environment: `production` or `staging`. Each has its own database and keys.",
  }),
  databaseUrl: setting({
    flag: "database",
    variable: "DATABASE_URL",
    placeholder: "DATABASE",
    default: "sqlite:./data/<env>.db",
    description: "Database: `sqlite:PATH` or `postgres://HOST/NAME`.",
    read: readers.readDatabaseUrl,
    isSecret: true,
  }),
  databasePatienceMs: count({
    flag: "database-patience-seconds",
    default: "30",
    description: "How long a start waits for an unreachable PostgreSQL server.",
    unit: "seconds",
    read: readers.readCountOf(1_000),
  }),
  tlsCertFile: setting({
    flag: "tls-cert",
    placeholder: "FILE",
    description:
      "Certificate chain in PEM format. With it, the service speaks HTTPS only. Reloaded when the file changes.",
    read: readers.readText,
  }),
  tlsKeyFile: setting({
    flag: "tls-key",
    placeholder: "FILE",
    description: "Private key of the certificate in PEM format. Reloaded when the file changes.",
    read: readers.readText,
  }),
  trustedProxies: setting({
    flag: "trusted-proxies",
    placeholder: "NETWORKS",
    description:
      "Proxies whose `X-Forwarded-For` is trusted: addresses or networks, separated by commas.",
    read: readers.readNetworks,
  }),
  corsOrigins: setting({
    flag: "cors-origins",
    placeholder: "ORIGINS",
    description:
      "Browser origins that may call the API, separated by commas. `*` allows any origin.",
    read: readers.readOrigins,
  }),
  mcp: setting({
    flag: "mcp",
    default: "off",
    description: "Serves assistants at `/mcp`. They need an API key. See `docs/assistants.md`.",
    read: readers.readSwitch,
  }),
  idleTimeoutSeconds: count({
    flag: "idle-timeout-seconds",
    default: "10",
    description: "Idle time after which a client connection is closed.",
    unit: "seconds",
    read: readers.readIdleTimeout,
  }),
  drainMs: count({
    flag: "drain-seconds",
    default: "0",
    description:
      "How long a stopping service keeps accepting requests while `/readyz` returns 503.",
    unit: "seconds",
    read: readers.readDrain,
  }),
  petsSunsetAt: setting({
    flag: "pets-sunset",
    placeholder: "TIME",
    default: "2027-12-31T00:00:00Z",
    description: "Time from which `GET /v1/pets/{petId}` returns 410.",
    read: readers.readPetsSunset,
  }),
  lowStockAt: setting({
    flag: "low-stock-at",
    placeholder: "N",
    description: `Default threshold of the store. ${lowStockRule}`,
    read: readers.optional((text) => readers.readCount(text, 0)),
  }),
} as const;

/** Where webhooks may be sent. */
export const webhooksSettings = {
  webhooksAllowInsecure: setting({
    flag: "webhooks-allow-insecure",
    default: "off",
    description: "Allows `http://` addresses for webhooks.",
    read: readers.readSwitch,
  }),
  webhooksAllowedNetworks: setting({
    flag: "webhooks-allowed-networks",
    placeholder: "NETWORKS",
    description:
      "Private addresses or networks that webhooks may use, separated by commas. Public ones are always allowed.",
    read: readers.readNetworks,
  }),
} as const;
