import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { createStore } from "../support/stocking.ts";
import { expectNoSecret } from "../support/usage-errors.ts";

const place = openWorkspace();
beforeAll(() => createStore(`sqlite:${place.path("a.db")}`));
afterAll(() => place.leave());

/** Port 1 refuses every connection, so a valid address fails at once. */
const host = "127.0.0.1:1";

/** Addresses that an operator may set. The password of each contains these two words. */
const addresses: [text: string, sentence: string][] = [
  [`postgresql//me:hunter-zwei@${host}/shop`, "must be sqlite:PATH or postgres://"],
  [`"postgres://me:hunter-zwei@${host}/shop"`, "must be sqlite:PATH or postgres://"],
  [` postgres://me:hunter-zwei@${host}/shop`, "must be sqlite:PATH or postgres://"],
  [`mysql://me:hunter-zwei@${host}/shop`, "must be sqlite:PATH or postgres://"],
  [`postgres://me:hunter@zwei@${host}/shop`, "percent-encode @ in the password as %40"],
  [`postgres://me:hunter/zwei@${host}/shop`, "/ as %2F"],
  [`postgres://me:hunter?zwei@${host}/shop`, "? as %3F"],
  [`postgres://me:hunter#zwei@${host}/shop`, "# as %23"],
  [`postgres://me:hunter%zwei@${host}/shop`, "% as %25"],
  [`postgres://me:hunter zwei@h:port/shop`, "database address"],
  [`postgres://me:hunter-zwei@${host}/shop?prepare=hunter`, "prepare in the database address"],
  [`postgres://me:hunter-zwei@${host}/shop`, `cannot open the database at ${host}/shop`],
  [`postgres://me:hunter-zwei@${host},${host}/shop`, "cannot open the database at"],
  [`postgres://hunter:65000/zwei`, "cannot open the database at the address that was set"],
];

describe("an address with a password is never printed, and the error explains how to write it", () => {
  for (const [address, sentence] of addresses) {
    test(address, async () => {
      expectNoSecret(await place.runHere(["verify", "--database", address]), sentence);
      // A service that gets as far as to connect has a log: see secrets.full.test.ts.
      if (!sentence.startsWith("cannot open")) {
        const env = { DATABASE_URL: address };
        expectNoSecret(await place.runHere(["serve", "--port", "0"], { env }), sentence);
      }
      const to = ["migrate-store", "--from", "sqlite:a.db", "--to", address];
      expectNoSecret(await place.runHere(to), sentence.replace("--database", "--to"));
      const from = ["migrate-store", "--from", address, "--to", "sqlite:b.db"];
      expectNoSecret(await place.runHere(from), sentence);
    });
  }

  test("the error names the flag or variable", async () => {
    const wrong = "postgres://me:hunter@zwei@h/shop";
    expectNoSecret(
      await place.runHere(["verify", "--database", wrong]),
      "--database has an unexpected @",
    );
    const from = ["migrate-store", "--from", wrong, "--to", "sqlite:b.db"];
    expectNoSecret(await place.runHere(from), "--from has an unexpected @");
    const env = { DATABASE_URL: wrong };
    expectNoSecret(await place.runHere(["verify"], { env }), "DATABASE_URL has an unexpected @");
  });
});

describe("a secret in the address of the collector is never printed", () => {
  const commands = {
    serve: ["serve", "--port", "0"],
    config: ["config"],
    "config as JSON": ["config", "--json"],
    doctor: ["doctor"],
    "doctor as JSON": ["doctor", "--json"],
  };
  const wrong = [
    "grpc://me:hunter-zwei@collector:4317",
    "me:hunter-zwei@collector:4318",
    "hunter:zwei@collector",
    "collector:4318/?api-key=hunter-zwei",
    "ftp://hunter:zwei@collector/",
    "ftp://collector/?token=hunter-zwei",
    "http://me:hunter-zwei@collector:port",
    "https//hunter:zwei@collector",
    " grpc://hunter zwei@collector",
  ];
  test.each(wrong)("that is not valid: %s", async (address) => {
    for (const words of Object.values(commands)) {
      for (const given of [
        { env: { OTEL_EXPORTER_OTLP_ENDPOINT: address }, flags: [] },
        { env: {}, flags: [`--otlp-endpoint=${address}`] },
      ]) {
        const { env, flags } = given;
        const { code, out, err } = await place.runHere([...words, ...flags], { env });
        expect(out + err).not.toMatch(/hunter|zwei/);
        expect(out + err).toContain("must be an http or https URL");
        expect(code).not.toBe(0);
      }
    }
  });

  test.each([
    ["https://hunter:zwei@collector/otlp", "https://[hidden]@collector/otlp"],
    ["https://hunter-zwei@collector/otlp", "https://[hidden]@collector/otlp"],
    ["https://collector:4318/otlp?key=hunter&zwei", "https://collector:4318/otlp?[hidden]"],
    ["https://collector:4318/#hunter-zwei", "https://collector:4318/?[hidden]"],
  ])("that is valid: %s", async (address, shown) => {
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: address };
    for (const words of [commands.config, commands["config as JSON"], commands.doctor]) {
      const { out, err } = await place.runHere(words, { env });
      expect(out + err).not.toMatch(/hunter|zwei/);
      if (words[0] === "config") expect(out).toContain(shown);
    }
  });

  test("as a wrong value of another setting, or in place of an argument", async () => {
    const address = "grpc://hunter:zwei@collector:4317";
    for (const words of [
      ["serve", address],
      [address],
      ["serve", "--port", address],
      ["serve", "--cors-origins", `https://shop.example,${address}`],
      ["config", "--backup-folder", address],
      ["config", "--service-name", address],
    ]) {
      const { out, err } = await place.runHere(words);
      expect(out + err).not.toMatch(/hunter|zwei/);
    }
  });
});

test("an address in place of another argument is not printed", async () => {
  for (const address of ["postgres://me:hunter@zwei@h/shop", "postgres://me:hunter-zwei"]) {
    for (const words of [
      [address],
      ["serve", address],
      ["serve", "--port", address],
      ["keys", "show", address],
      ["pets", "import", address],
      ["serve", `--databse=${address}`],
    ]) {
      expectNoSecret(await place.runHere(words), "");
    }
  }
});
