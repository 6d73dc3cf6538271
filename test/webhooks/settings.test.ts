import { describe, expect, test } from "bun:test";
import { commands } from "../../src/cli/commands.ts";
import { parseArguments } from "../../src/cli/flags.ts";
import { readConfig } from "../../src/config.ts";

const serve = commands.find(({ name }) => name === "serve")!;

/** What `petstore serve` reads from its arguments and its environment. */
function configOf(args: readonly string[], variables: Record<string, string> = {}) {
  return readConfig(parseArguments(serve, args).settings, variables);
}

describe("--webhooks-allow-insecure", () => {
  const variable = "PETSTORE_WEBHOOKS_ALLOW_INSECURE";

  test("is off by default, and a flag without a value turns it on", () => {
    expect(configOf([]).webhooksAllowInsecure).toBe(false);
    const config = configOf(["--webhooks-allow-insecure", "--port", "1"], { [variable]: "off" });
    expect(config).toMatchObject({ webhooksAllowInsecure: true, port: 1 });
  });

  test("takes no value as a flag", () => {
    expect(() => configOf(["--webhooks-allow-insecure=off"])).toThrow("does not take a value");
    expect(() => configOf(["--webhooks-allow-insecure", "on"])).toThrow("unexpected operand 'on'");
  });

  test("is on or off as a variable", () => {
    for (const text of ["1", "true", "yes", "on", "ON"]) {
      expect(configOf([], { [variable]: text }).webhooksAllowInsecure).toBe(true);
    }
    for (const text of ["0", "false", "no", "off", "False", ""]) {
      expect(configOf([], { [variable]: text }).webhooksAllowInsecure).toBe(false);
    }
    expect(() => configOf([], { [variable]: "maybe" })).toThrow(
      `${variable} must be on or off, not 'maybe'`,
    );
  });
});

describe("--webhooks-allowed-networks", () => {
  const read = (text: string) =>
    configOf([`--webhooks-allowed-networks=${text}`]).webhooksAllowedNetworks;

  test("is a list of addresses and networks", () => {
    expect(configOf([]).webhooksAllowedNetworks).toEqual([]);
    expect(
      read("10.0.0.0/8, 192.168.1.7,fd00::/8").map(({ address, prefix }) => [address, prefix]),
    ).toEqual([
      ["10.0.0.0", 8],
      ["192.168.1.7", 32],
      ["fd00::", 8],
    ]);
  });

  test("is refused if one of them is neither", () => {
    const rule = "must be addresses or networks such as 10.0.0.0/8, separated by commas, not";
    const invalid = ["10.0.0.0/33", "fd00::/129", "10.0.0.0/", "10/8", "10.0.0.1-10.0.0.9", "lan"];
    for (const text of [...invalid, "010.0.0.0/8", "fe80::1%eth0", "10.0.0.0/-1", "[::1]"]) {
      expect(() => read(`10.0.0.0/8,${text}`)).toThrow(rule);
    }
  });
});
