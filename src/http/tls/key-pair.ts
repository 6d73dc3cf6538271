import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { invalidRequest } from "../../domain/running/errors.ts";

export interface KeyPairFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate chain and its private key, as the files contain them. */
export interface KeyPairText {
  readonly cert: string;
  readonly key: string;
}

/** What operators want to know about a certificate. */
export interface CertificateInfo {
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export async function readKeyPair({ certFile, keyFile }: KeyPairFiles): Promise<KeyPairText> {
  const cert = await readText("certificate", certFile);
  const key = await readText("key", keyFile);
  return { cert, key };
}

async function readText(what: string, path: string): Promise<string> {
  try {
    // A device has no end, and the files are read again every second.
    if (!(await stat(path)).isFile()) throw Object.assign(new Error(), { code: "ENOTFILE" });
    return await readFile(path, "utf8");
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw invalidRequest(`cannot read the TLS ${what} ${path}: ${reasons[code] ?? code}`);
  }
}

const reasons: Record<string, string> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  ENOTFILE: "it is not a file",
};

/** Throws a ServiceError that names the file if the pair cannot be used. */
export function checkKeyPair(
  { cert, key }: KeyPairText,
  { certFile, keyFile }: KeyPairFiles,
): CertificateInfo {
  const certificate = parseCertificate(cert, certFile);
  if (!certificate.checkPrivateKey(parseKey(key, keyFile))) {
    throw invalidRequest(`the TLS key ${keyFile} does not belong to the certificate ${certFile}`);
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw invalidRequest(
      `the TLS certificate ${certFile} cannot be used: ${(error as Error).message}`,
    );
  }
  return {
    subject: certificate.subject?.replaceAll("\n", ", ") || (certificate.subjectAltName ?? ""),
    expiresAt: Date.parse(certificate.validTo),
  };
}

/** The first certificate of the file is the service's own. The others lead to its issuer. */
function parseCertificate(text: string, path: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch {
    throw invalidRequest(`the TLS certificate ${path} is not a certificate in PEM format`);
  }
}

function parseKey(text: string, path: string): KeyObject {
  if (/^-----BEGIN ENCRYPTED |^Proc-Type: 4,ENCRYPTED/m.test(text)) {
    throw invalidRequest(
      `the TLS key ${path} is encrypted; the service needs one without a passphrase`,
    );
  }
  try {
    return createPrivateKey(text);
  } catch {
    throw invalidRequest(`the TLS key ${path} is not a private key in PEM format`);
  }
}
