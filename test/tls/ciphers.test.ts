import { expect, test } from "bun:test";
import { connect } from "node:tls";
import { startTestService } from "../support/service.ts";
import { openCertificateFolder, type TestCertificate, testFile } from "../support/tls.ts";
import { until } from "../support/until.ts";

/** The suites of TLS 1.2 in Mozilla's intermediate list, without DHE. */
const modern = ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"];

/** Static key exchange, which has no forward secrecy, and CBC. */
const old = [
  ...["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA"],
  ...["ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA", "ECDHE-RSA-AES128-SHA256"],
  ...["ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA"],
];

/** The suite of a connection whose client offers only this one. */
function negotiated(baseUrl: string, ciphers: string): Promise<string> {
  const { port } = new URL(baseUrl);
  const place = { host: "127.0.0.1", port: Number(port), rejectUnauthorized: false };
  const client = connect({ ...place, ciphers, minVersion: "TLSv1.2", maxVersion: "TLSv1.2" });
  const { promise, resolve } = Promise.withResolvers<string>();
  client.once("secureConnect", () => resolve(client.getCipher().name));
  client.once("error", () => resolve("refused"));
  return promise.finally(() => client.destroy());
}

async function expectIntermediate(baseUrl: string, keyType: "RSA" | "ECDSA"): Promise<void> {
  for (const suite of modern) {
    const name = `ECDHE-${keyType}-${suite}`;
    expect([name, await negotiated(baseUrl, name)]).toEqual([name, name]);
  }
  for (const name of old)
    expect([name, await negotiated(baseUrl, name)]).toEqual([name, "refused"]);
}

test.each(["rsa", "first"] as const)(
  "with TLS 1.2, only suites of the intermediate list are accepted, also after a renewal (%s)",
  async (certificate: TestCertificate) => {
    const files = openCertificateFolder(certificate);
    const service = await startTestService("sqlite", files.flags, { certificateCheckMs: 20 });
    await expectIntermediate(service.baseUrl, certificate === "rsa" ? "RSA" : "ECDSA");
    const renewed = certificate === "rsa" ? "first" : "rsa";
    files.link(renewed);
    const isRenewed = () => service.logged.some((line) => line.includes("certificate reloaded"));
    await until(isRenewed, 8_000, "a renewed certificate");
    await expectIntermediate(service.baseUrl, renewed === "rsa" ? "RSA" : "ECDSA");
    await service.stop();
    files.remove();
  },
);

test("TLS 1.3 is accepted", async () => {
  const files = openCertificateFolder("first");
  const service = await startTestService("sqlite", files.flags);
  const { port } = new URL(service.baseUrl);
  const client = connect({
    ...{ host: "127.0.0.1", port: Number(port), ca: testFile("first-cert.pem") },
    minVersion: "TLSv1.3",
  });
  await new Promise((resolve, reject) => {
    client.once("secureConnect", resolve);
    client.once("error", reject);
  });
  expect(client.getProtocol()).toBe("TLSv1.3");
  client.destroy();
  await service.stop();
  files.remove();
});
