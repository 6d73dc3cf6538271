import { describe, expect, test } from "bun:test";
import { parseReceiverUrl } from "../../src/webhooks/urls.ts";

describe("the URL of a webhook", () => {
  const valid = {
    "https://hooks.example": ["hooks.example", 443, "hooks.example", "/"],
    "https://hooks.example/": ["hooks.example", 443, "hooks.example", "/"],
    "https://hooks.example?a=b": ["hooks.example", 443, "hooks.example", "/?a=b"],
    "https://hooks.example:443/a": ["hooks.example", 443, "hooks.example", "/a"],
    "https://hooks.example:80/a": ["hooks.example", 80, "hooks.example:80", "/a"],
    "https://hooks.example:1024/a": ["hooks.example", 1024, "hooks.example:1024", "/a"],
    "https://hooks.example:65535/a": ["hooks.example", 65_535, "hooks.example:65535", "/a"],
    "HTTPS://Hooks.Example/A?b=C%2F@:": ["hooks.example", 443, "hooks.example", "/A?b=C%2F@:"],
    "https://a_b.internal/x": ["a_b.internal", 443, "a_b.internal", "/x"],
    "https://receiver/x": ["receiver", 443, "receiver", "/x"],
    "https://xn--bcher-kva.example/": ["xn--bcher-kva.example", 443, "xn--bcher-kva.example", "/"],
    "https://1.1.1.1.example/": ["1.1.1.1.example", 443, "1.1.1.1.example", "/"],
    "https://1.1.1.1/": ["1.1.1.1", 443, "1.1.1.1", "/"],
    "https://1.1.1.1:8443/": ["1.1.1.1", 8_443, "1.1.1.1:8443", "/"],
    "https://[2606:4700::1111]/": ["2606:4700::1111", 443, "[2606:4700::1111]", "/"],
    "https://[2606:4700::1111]:8443/": ["2606:4700::1111", 8_443, "[2606:4700::1111]:8443", "/"],
  } as const;

  test("has a host, a port, and a path", () => {
    for (const [text, [host, port, authority, target]] of Object.entries(valid)) {
      const isLiteral = host === "1.1.1.1" || host.includes(":");
      expect(parseReceiverUrl(text, false)).toEqual({
        isSecure: true,
        host,
        isLiteral,
        port,
        authority,
        target,
      });
    }
  });

  test("may be http only if that is allowed", () => {
    expect(() => parseReceiverUrl("http://hooks.example/", false)).toThrow("must be https://");
    const url = parseReceiverUrl("http://hooks.example/", true);
    expect(url).toMatchObject({ isSecure: false, port: 80, authority: "hooks.example" });
    expect(parseReceiverUrl("http://hooks.example:443/", true).port).toBe(443);
    expect(parseReceiverUrl("https://hooks.example/", true).isSecure).toBe(true);
  });

  const fourNumbers = "must have an IPv4 address of four decimal numbers";
  const shortest = "must have the shortest form of an IPv6 address";
  const badName = "must have a valid host name";
  const badCharacter = "must write characters that are not allowed";
  const badPort = "must have the port 80 or 443, or one from 1024 to 65535";
  const badScheme = "must be https://HOST/… or http://HOST/…";
  const credentials = "must not contain a user name or a password";
  const dot = "must have a host without a dot at its end";

  const invalid: Record<string, readonly string[]> = {
    [fourNumbers]: [
      ...["2130706433", "0x7f000001", "0X7F000001", "017700000001", "0177.0.0.1", "0x7f.0.0.1"],
      ...["127.1", "127.0.1", "0x7f.1", "127.0.0.01", "00.0.0.0", "0", "256.1.1.1", "1.1.1.1.1"],
      ...["a.0x1", "a.1", "0x", "a.0x", "127.0.0.0x1"],
    ].map((host) => `https://${host}/`),
    [dot]: ["127.0.0.1.", "2130706433.", "hooks.example.", "localhost.", ".", "a.."].map(
      (host) => `https://${host}/`,
    ),
    [shortest]: [
      ...["[::FFFF:7f00:1]", "[::ffff:127.0.0.1]", "[0:0:0:0:0:0:0:1]", "[2606:4700:0::1]"],
      ...["[2606:4700::0001]", "[2606:4700::ABCD]", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[]"],
      ...["[1.1.1.1]", "[v1.a]", "[::1"],
    ].map((host) => `https://${host}/`),
    [badName]: [
      ...["-a.example", "a-.example", "a..example", ".example", "a*b", "%31%32%37.0.0.%31"],
      ...["%6cocalhost", "a,b", `${"a".repeat(64)}.example`, "a!b"],
      ...[`${"a".repeat(50)}.`.repeat(5).concat("example"), "(a)"],
    ].map((host) => `https://${host}/`),
    [badCharacter]: [
      ...[
        "https://１２７.0.0.1/",
        "https://127。0。0。1/",
        "https://ⓛocalhost/",
        "https://bücher.example/",
      ],
      ...["https:\\\\hooks.example/", "https://a.example\\@127.0.0.1/", "https://a.example/ b"],
      ...[
        "https://a.example/\r\nX: y",
        "https://a.\texample/",
        " https://a.example/",
        "https://a\0.b/",
      ],
      ...["https://a.example/é", "https://a.example/\u202e", "https://soft\u00adhyphen.example/"],
    ],
    [badPort]: [
      "0",
      "1",
      "22",
      "25",
      "81",
      "1023",
      "65536",
      "",
      "0443",
      "+443",
      "4e3",
      "443:1",
      "0x1bb",
    ].map((port) => `https://hooks.example:${port}/`),
    [badScheme]: [
      ...["", "hooks.example", "//hooks.example/", "https:/hooks.example/", "https:hooks.example"],
      ...[
        "https:///hooks.example/",
        "https://",
        "https://?a",
        "https://#a",
        "ftp://hooks.example/",
      ],
      ...[
        "file:///etc/passwd",
        "gopher://hooks.example/",
        "javascript:alert(1)",
        "httpss://a.example",
      ],
    ],
    [credentials]: [
      ...[
        "https://user@hooks.example/",
        "https://user:secret@hooks.example/",
        "https://@a.example/",
      ],
      ...[
        "https://1.1.1.1@127.0.0.1/",
        "https://a.example:443@127.0.0.1/",
        "https://a@b@c.example/",
      ],
    ],
    "must not have a fragment": [
      "https://a.example/#",
      "https://a.example#x",
      "https://a.example/#@b",
    ],
    "must have at most 2048 characters": [`https://a.example/${"a".repeat(2_031)}`],
    "must be a valid URL": ["https://xn--a.example/"],
  };

  for (const [rule, texts] of Object.entries(invalid)) {
    test(`is refused with the rule: ${rule}`, () => {
      for (const text of texts) {
        expect({ text, error: errorOf(text) }).toEqual({
          text,
          error: expect.stringContaining(`Field 'url' ${rule}`),
        });
      }
    });
  }

  test("may have 2048 characters", () => {
    expect(parseReceiverUrl(`https://a.example/${"a".repeat(2_030)}`, false).host).toBe(
      "a.example",
    );
  });

  function errorOf(text: string): string {
    try {
      return JSON.stringify(parseReceiverUrl(text, true));
    } catch (error) {
      return (error as Error).message;
    }
  }
});
