import { ServiceError } from "../domain/running/errors.ts";
import { type Certificate, openCertificate } from "../http/tls/certificate.ts";
import type { ServiceOptions } from "./options.ts";

/** Loads the certificate if one is set. Called before the store is opened: a wrong path creates none. */
export async function openTls({ config, log }: ServiceOptions): Promise<Certificate | undefined> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile, certificateCheckMs } = config;
  if (certFile === "" && keyFile === "") return undefined;
  if (certFile === "" || keyFile === "") {
    const [set, missing] =
      certFile === "" ? ["--tls-key", "--tls-cert"] : ["--tls-cert", "--tls-key"];
    throw new ServiceError("invalid_request", `${set} needs ${missing}`);
  }
  return await openCertificate({ certFile, keyFile }, log, certificateCheckMs);
}
