import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import certificates from "../fixtures/certificates.json";

export type TestCertificate = "first" | "second" | "rsa";

export function testFile(name: string): string {
  return (certificates as Record<string, string>)[name]!;
}

const authorities = [testFile("first-cert.pem"), testFile("second-cert.pem")];

/** What `fetch` needs to trust the certificates of the tests. */
export function fetchTrust(url: string): { tls?: { ca: string[] } } {
  return url.startsWith("https:") ? { tls: { ca: authorities } } : {};
}

/** A folder with a certificate and its key, which tests replace as tools for renewals do. */
export interface CertificateFolder {
  readonly certFile: string;
  readonly keyFile: string;
  /** The flags of a service that uses them. */
  readonly flags: Record<string, string>;
  /** Replaces one file by a rename. */
  put(file: "cert" | "key", text: string): void;
  /** Makes both paths links, as Kubernetes does, and switches both at once. */
  link(certificate: TestCertificate): void;
  remove(): void;
}

export function openCertificateFolder(certificate: TestCertificate): CertificateFolder {
  const folder = mkdtempSync(join(tmpdir(), "petstore-tls-"));
  const path = (name: string) => join(folder, name);
  const [certFile, keyFile] = [path("cert.pem"), path("key.pem")];
  const replace = (write: (temporary: string) => void, target: string) => {
    write(path("temporary"));
    renameSync(path("temporary"), target);
  };
  const put: CertificateFolder["put"] = (file, text) =>
    replace((temporary) => writeFileSync(temporary, text), path(`${file}.pem`));
  for (const file of ["cert", "key"] as const) put(file, testFile(`${certificate}-${file}.pem`));
  return {
    certFile,
    keyFile,
    flags: { "tls-cert": certFile, "tls-key": keyFile },
    put,
    link(next) {
      for (const file of ["cert", "key"]) {
        const target = path(`${next}-${file}.pem`);
        writeFileSync(target, testFile(`${next}-${file}.pem`));
        replace((temporary) => symlinkSync(target, temporary), path(`${file}.pem`));
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
