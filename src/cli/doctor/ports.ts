import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { createServer } from "node:net";
import type { Config } from "../../config.ts";
import { attempt, type Finding, ok, problem } from "./finding.ts";

const responseMs = 1_000;

/** Checks that the service can listen, or that it does already. */
export async function checkPorts(config: Config): Promise<readonly Finding[]> {
  const { host, port, metricsHost, metricsPort, tlsCertFile } = config;
  const advice = "Check the address and the port.";
  const checks = [
    attempt("port", advice, () =>
      checkPort("port", host, port, "/healthz", '"status"', Boolean(tlsCertFile)),
    ),
  ];
  if (metricsPort !== undefined) {
    checks.push(
      attempt("metrics port", advice, () =>
        checkPort("metrics port", metricsHost, metricsPort, "/metrics", "petstore_", false),
      ),
    );
  }
  return (await Promise.all(checks)).flat();
}

async function checkPort(
  name: string,
  host: string,
  port: number,
  path: string,
  expected: string,
  isTls: boolean,
): Promise<Finding> {
  const where = `${host}:${port}`;
  if (port === 0) return ok(name, "the system picks a free one");
  const code = await tryListening(host, port);
  if (code === undefined) return ok(name, `${where} is free`);
  if (code === "EADDRINUSE") {
    const text = await get(`${isTls ? "https" : "http"}://${urlHost(host)}:${port}${path}`);
    return text.includes(expected)
      ? ok(name, `a petstore service listens on ${where}`)
      : problem(
          name,
          `another program uses ${where}`,
          `Stop that program, or set another ${name === "port" ? "--port" : "--metrics-port"}.`,
        );
  }
  if (code === "EACCES") {
    return problem(
      name,
      `the current user may not listen on ${where}`,
      "Use a port from 1024, or give the service CAP_NET_BIND_SERVICE.",
    );
  }
  return problem(name, `cannot listen on ${where}: ${code}`, "Set the address of this machine.");
}

/** Returns the code of the error, or undefined if the port is free. */
function tryListening(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const probe = createServer();
  probe.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve(undefined)));
  return promise;
}

/** An address that means every address is not one to connect to. */
function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}

/** The body of the response, or an empty text if there is none. */
function get(url: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;
  const request = send(url, { rejectUnauthorized: false, timeout: responseMs }, (response) => {
    let text = "";
    response.setEncoding("utf8");
    response.on("data", (piece) => {
      text += piece;
    });
    response.on("end", () => resolve(text));
    response.on("error", () => resolve(""));
  });
  request.on("timeout", () => request.destroy());
  request.on("error", () => resolve(""));
  request.on("close", () => resolve(""));
  request.end();
  return promise;
}
