import { createServer } from "node:net";
import type { Config } from "../../config.ts";
import { reachable } from "../health.ts";
import { type Check, type Found, ok, problem } from "./finding.ts";

const responseMs = 5_000;

/** Checks that the service can listen, or that it does already. */
export function portChecks(config: Config): readonly Check[] {
  const { host, port, metricsHost, metricsPort, tlsCertFile } = config;
  const advice = "Check the address and the port.";
  const scheme = tlsCertFile ? "https" : "http";
  return [
    ["port", advice, () => checkPort("--port", host, port, scheme, "/healthz", '"status"')],
    [
      "metrics port",
      advice,
      () =>
        metricsPort === undefined
          ? []
          : checkPort("--metrics-port", metricsHost, metricsPort, "http", "/metrics", "petstore_"),
    ],
  ];
}

async function checkPort(
  flag: string,
  host: string,
  port: number,
  scheme: "http" | "https",
  path: string,
  expected: string,
): Promise<Found> {
  const where = `${host}:${port}`;
  if (port === 0) return ok("the system picks a free one");
  const code = await tryListening(host, port);
  if (code === undefined) return ok(`${where} is free`);
  if (code === "EADDRINUSE") {
    const text = await get(`${scheme}://${reachable(host)}:${port}${path}`);
    return text.includes(expected)
      ? ok(`a petstore service listens on ${where}`)
      : problem(`another program uses ${where}`, `Stop that program, or set another ${flag}.`);
  }
  if (code === "EACCES") {
    return problem(
      `the current user may not listen on ${where}`,
      "Use a port from 1024, or give the service CAP_NET_BIND_SERVICE.",
    );
  }
  return problem(`cannot listen on ${where}: ${code}`, "Set the address of this machine.");
}

/** Returns the code of the error, or undefined if the port is free. */
function tryListening(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = createServer();
  probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  return promise;
}

/** The body of the response, or an empty text if there is none. */
async function get(url: string): Promise<string> {
  try {
    const signal = AbortSignal.timeout(responseMs);
    // The certificate is for another name than that of this machine.
    const tls = { rejectUnauthorized: false };
    return await (await fetch(url, { signal, redirect: "manual", tls })).text();
  } catch {
    return "";
  }
}
