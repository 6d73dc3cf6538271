import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseAddress, parseNetwork } from "../../src/domain/values/networks.ts";
import type { Lookup } from "../../src/webhooks/sender.ts";
import { createWebhookSender } from "../../src/webhooks/sender.ts";
import { type Listener, listenableAddresses, startListener } from "../support/listeners.ts";

/** Nothing may connect to these: one on every address of this machine. */
let inside: Listener[] = [];
/** The one address that is allowed. It redirects to all the others. */
let allowed: Listener;

beforeAll(async () => {
  const addresses = await listenableAddresses();
  expect(addresses).toContain("127.0.0.1");
  inside = await Promise.all(addresses.map((address) => startListener(address)));
  const headers = inside.map(({ authority }) => `Location: http://${authority}/\r\n`).join("");
  allowed = await startListener("127.0.0.1", (socket) =>
    socket.end(`HTTP/1.1 302 Found\r\n${headers}Content-Length: 0\r\n\r\n`),
  );
});

afterAll(async () => {
  // Once more: a connection of an earlier test could have arrived late.
  expectNoConnection();
  await Promise.all([...inside, allowed].map((listener) => listener.close()));
});

function senderFor(lookup: Lookup, networks: readonly string[] = []) {
  return createWebhookSender({
    webhooksAllowInsecure: true,
    webhooksAllowedNetworks: networks.map((network) => parseNetwork(network)!),
    lookup,
    timeoutMs: 5_000,
  });
}

const noLookup: Lookup = () => Promise.reject(new Error("nothing is resolved"));
const request = (url: string) => ({ url, headers: {}, body: "{}" });
const send = (sender: ReturnType<typeof senderFor>, url: string) =>
  sender.send(request(url), new AbortController().signal);

function expectNoConnection(): void {
  expect(inside.map(({ address, connections }) => ({ address, connections }))).toEqual(
    inside.map(({ address }) => ({ address, connections: 0 })),
  );
}

/** Every way to write an address in the host of a URL that some software understands. */
function spellingsOf(address: string): string[] {
  const { family, bits } = parseAddress(address)!;
  const groups = bits.toString(16).padStart(32, "0").match(/.{4}/g)!;
  if (family === 6) {
    const full = groups.join(":");
    return [address, address.toUpperCase(), full, `${address}%25lo`, `${address}%lo`].map(
      (text) => `[${text}]`,
    );
  }
  const parts = address.split(".").map(Number) as [number, number, number, number];
  const [a, b, c, d] = parts;
  const hex = (value: number) => `0x${value.toString(16)}`;
  const octal = (value: number) => `0${value.toString(8)}`;
  const wide = (text: string) =>
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(0xff10 + Number(digit)));
  const [high, low] = groups.slice(6) as [string, string];
  return [
    address,
    `${address}.`,
    String(bits),
    `${bits}.`,
    hex(Number(bits)),
    octal(Number(bits)),
    parts.map(hex).join("."),
    parts.map(octal).join("."),
    parts.map((part) => `00${octal(part)}`).join("."),
    `${hex(a)}.${octal(b)}.${c}.${d}`,
    `${a}.${b * 65_536 + c * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    wide(address),
    address.replaceAll(".", "。"),
    address.replaceAll(".", "%2e"),
    address.replace(/[0-9]/g, (digit) => `%3${digit}`),
    `[::${address}]`,
    `[::${high}:${low}]`,
    `[::ffff:${address}]`,
    `[::ffff:${high}:${low}]`,
    `[0:0:0:0:0:ffff:${address}]`,
    `[64:ff9b::${address}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:${high}:${low}::1]`,
  ];
}

describe("nothing connects to a private address", () => {
  test("in any spelling, with or without credentials, at creation or at an attempt", async () => {
    const sender = senderFor(noLookup);
    const hosts = [...inside, { address: "0.0.0.0", port: inside[0]!.port }].flatMap(
      ({ address, port }) => spellingsOf(address).map((spelling) => `${spelling}:${port}`),
    );
    const urls = hosts.flatMap((host) => [
      `http://${host}/`,
      `https://${host}/`,
      `http://user:secret@${host}/`,
      `http://1.1.1.1:443@${host}/`,
      `http://1.1.1.1\\@${host}/`,
      `http:${host}/`,
      `http://\t${host}/`,
    ]);
    expect(urls.length).toBeGreaterThan(350);
    for (const url of urls) {
      const check = await sender.checkUrl(url).catch((error: Error) => error.message);
      expect({ url, check }).toEqual({ url, check: expect.stringContaining("Field 'url'") });
      const answer = await send(sender, url);
      expect({ url, ...answer }).toMatchObject({ url, status: null, error: expect.any(String) });
      expect(answer.error).toMatch(/is not a public address$|^the URL must/);
    }
    expectNoConnection();
  });

  test("through a name that resolves to it, alone or among public addresses", async () => {
    for (const { address, port } of inside) {
      for (const forms of [
        [address],
        [`::ffff:${address}`],
        [`64:ff9b::${address}`],
        [`${address}%lo`],
      ]) {
        for (const answers of [forms, [...forms, allowed.address], [allowed.address, ...forms]]) {
          const sender = senderFor(async () => answers, []);
          const url = `http://hooks.example:${port}/`;
          await expect(sender.checkUrl(url)).rejects.toThrow("which is not a public address");
          const answer = await send(sender, url);
          expect(answer).toMatchObject({ status: null, text: "", retryAfterMs: null });
          expect(answer.error).toEndWith("is not a public address");
        }
      }
    }
    expectNoConnection();
    expect(allowed.connections).toBe(0);
  });

  test("through a name with one allowed and one private address, in either order", async () => {
    for (const { address } of inside.filter((one) => one.address !== allowed.address)) {
      for (const answers of [
        [address, allowed.address],
        [allowed.address, address],
      ]) {
        const sender = senderFor(async () => answers, [allowed.address]);
        const answer = await send(sender, `http://hooks.example:${allowed.port}/`);
        expect(answer.error).toBe(`${address} is not a public address`);
      }
    }
    expectNoConnection();
    expect(allowed.connections).toBe(0);
  });

  test("through the system's own resolver", async () => {
    const sender = createWebhookSender({
      webhooksAllowInsecure: true,
      webhooksAllowedNetworks: [],
    });
    for (const { port } of inside) {
      const answer = await send(sender, `http://localhost:${port}/`);
      expect(answer.error).toMatch(/^(127\.0\.0\.1|::1) is not a public address$/);
    }
    expectNoConnection();
  });

  test("when the resolver changes its answer between the check and the attempt", async () => {
    for (const { address, port } of inside) {
      const answers = [["1.1.1.1"], [address]];
      const sender = senderFor(async () => answers.shift()!);
      const url = `http://hooks.example:${port}/`;
      expect(await sender.checkUrl(url)).toBe(true);
      expect((await send(sender, url)).error).toBe(`${address} is not a public address`);
      expect(answers).toEqual([]);
    }
    expectNoConnection();
  });

  test("when the resolver changes its answer during an attempt, because it is asked once", async () => {
    const before = allowed.connections;
    for (const { address } of inside.filter((one) => one.address !== allowed.address)) {
      let calls = 0;
      const lookup = async () => (calls++ === 0 ? [allowed.address] : [address]);
      const sender = senderFor(lookup, [allowed.address]);
      const answer = await send(sender, `http://hooks.example:${allowed.port}/`);
      expect({ calls, status: answer.status }).toEqual({ calls: 1, status: 302 });
    }
    expect(allowed.connections).toBeGreaterThan(before);
    expectNoConnection();
  });

  test("by redirect: 302 is the answer, and its Location is not followed", async () => {
    const before = allowed.connections;
    const sender = senderFor(noLookup, ["0.0.0.0/0", "::/0"]);
    const answer = await send(sender, `http://${allowed.authority}/`);
    expect(answer).toMatchObject({ status: 302, error: null });
    expect(allowed.connections).toBe(before + 1);
    expectNoConnection();
  });

  test("by a proxy in the environment", async () => {
    const names = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "ALL_PROXY"];
    const saved = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = `http://${inside[0]!.authority}`;
    try {
      const sender = senderFor(async () => [allowed.address], [allowed.address]);
      expect((await send(sender, `http://hooks.example:${allowed.port}/`)).status).toBe(302);
    } finally {
      for (const [index, name] of names.entries()) {
        if (saved[index] === undefined) delete process.env[name];
        else process.env[name] = saved[index];
      }
    }
    expectNoConnection();
  });
});

test("every one of these listeners is reachable as soon as its address is allowed", async () => {
  for (const { address } of inside) {
    const listener = await startListener(address, (socket) =>
      socket.end("HTTP/1.1 204 No Content\r\n\r\n"),
    );
    const sender = senderFor(async () => [address], [address]);
    const urls = [`http://${listener.authority}/`, `http://hooks.example:${listener.port}/`];
    for (const url of urls) {
      expect(await sender.checkUrl(url)).toBe(true);
      expect(await send(sender, url)).toMatchObject({ status: 204, error: null });
    }
    expect(listener.connections).toBe(2);
    await listener.close();
  }
});
