import { expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { existsSync } from "node:fs";
import { openWorkspace } from "../support/process.ts";
import { startTestService } from "../support/service.ts";
import { openCertificateFolder, testFile } from "../support/tls.ts";
import { expectUsageError } from "../support/usage-errors.ts";

test("a start with half a pair, or with a file that is missing, ends with one sentence and no store", async () => {
  const place = openWorkspace();
  const half = await place.runHere(["serve", "--tls-key", "a.pem"]);
  expectUsageError(half, "--tls-key needs --tls-cert");
  const both = ["serve", "--tls-cert", "a.pem", "--tls-key", "b.pem"];
  expectUsageError(
    await place.run(both),
    "cannot read the TLS certificate a.pem: there is no such",
  );
  expect(existsSync(place.path("data"))).toBe(false);
  await place.leave();
});

test("a start with a pair that cannot be used names the file and the reason", async () => {
  const files = openCertificateFolder("first");
  const { certFile, keyFile, flags } = files;
  const key = createPrivateKey(testFile("first-key.pem"));
  const format = { type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: "x" } as const;
  const encrypted = key.export(format).toString();
  const attempts = [
    [testFile("first-cert.pem"), encrypted, `the TLS key ${keyFile} is encrypted`],
    [testFile("first-cert.pem"), "", `the TLS key ${keyFile} is not a private key in PEM format`],
    ["junk", testFile("first-key.pem"), `the TLS certificate ${certFile} is not a certificate`],
    [
      testFile("first-cert.pem"),
      testFile("second-key.pem"),
      `the TLS key ${keyFile} does not belong to the certificate ${certFile}`,
    ],
  ] as const;
  for (const [certText, keyText, message] of attempts) {
    files.put("cert", certText);
    files.put("key", keyText);
    await expect(startTestService("sqlite", flags)).rejects.toThrow(message);
  }
  files.remove();
});

test("a port that is taken is refused with TLS as without", async () => {
  const files = openCertificateFolder("first");
  const service = await startTestService("sqlite", files.flags);
  const { port } = new URL(service.baseUrl);
  const second = startTestService("sqlite", { ...files.flags, port });
  await expect(second).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
  await service.stop();
  files.remove();
});
