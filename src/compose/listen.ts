import type { MaybePromise } from "../domain/running/clock.ts";
import { ServiceError } from "../domain/running/errors.ts";
import { isLoopback } from "../domain/values/networks.ts";
import { type Certificate, openCertificate } from "../http/tls/certificate.ts";
import type { ServiceOptions } from "./options.ts";

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: "another process uses the port; stop it, or choose another port",
  EACCES: "permission denied; use a port from 1024, or give the process CAP_NET_BIND_SERVICE",
  EADDRNOTAVAIL: "this machine does not have the address",
  ENOENT: "the host is unknown",
};

/** Opens a listener. An address that cannot be used is the operator's mistake, not a bug. */
export async function listen<T>(
  host: string,
  port: number,
  start: () => MaybePromise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    const { code = "", message } = error as NodeJS.ErrnoException;
    const reason = reasons[code] ?? message;
    throw new ServiceError("unavailable", `cannot listen on ${host}:${port}: ${reason}`);
  }
}

/** Warns if other machines may send keys to the service unencrypted. */
export function warnOfPlainHttp({ config, log }: Pick<ServiceOptions, "config" | "log">): void {
  const { host, tlsCertFile, trustedProxies } = config;
  if (isLoopback(host) || tlsCertFile !== "" || trustedProxies.length > 0) return;
  log("no encryption", { host });
}

/** Loads the certificate if one is set. Call it first, so that a wrong path does not create a store. */
export async function openTls({ config, log }: ServiceOptions): Promise<Certificate | undefined> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, certificateCheckMs } = config;
  if (certFile === "") return undefined;
  return await openCertificate({ certFile, keyFile }, log, certificateCheckMs);
}
