import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { explainConfig, readConfig } from "../../src/config.ts";
import { settings } from "../../src/settings.ts";

const folder = mkdtempSync(join(tmpdir(), "petstore-config-"));
afterAll(() => rmSync(folder, { recursive: true }));

let filesMade = 0;

function file(text: string, mode = 0o600): string {
  const path = join(folder, `${++filesMade}.toml`);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

/** What is wrong with a settings file of this text, without the path. */
function problemsOf(text: string): string[] {
  const path = file(text);
  return explainConfig({ config: path }, {}).problems.map((one) => one.replaceAll(path, "FILE"));
}

test("a flag overrides a variable, a variable the file, and the file the default", () => {
  const path = file('port = 1\nhost = "file"\nmetrics-host = "file"\n');
  const flags = { config: path, port: "3" };
  const variables = { PORT: "2", HOST: "variable", PETSTORE_METRICS_HOST: "" };
  expect(readConfig(flags, variables)).toMatchObject({
    port: 3,
    host: "variable",
    metricsHost: "file",
    drainMs: 0,
  });
  const origins = explainConfig(flags, variables).all.map(({ name, origin, source }) => [
    name,
    [origin, source],
  ]);
  expect(Object.fromEntries(origins)).toMatchObject({
    configFile: ["flag", "--config"],
    port: ["flag", "--port"],
    host: ["variable", "HOST"],
    metricsHost: ["file", `${path}:3`],
    drainMs: ["default", ""],
  });
});

test("every setting can be set in the file, and PETSTORE_CONFIG names it", () => {
  const defaults = explainConfig({}, {}).all;
  const lines = defaults
    .filter(({ name }) => name !== "configFile")
    .map(({ setting, text }) => `${setting.flag} = ${JSON.stringify(text)}`);
  const path = file(lines.join("\n"));
  const { all, problems } = explainConfig({}, { PETSTORE_CONFIG: path });
  expect(problems).toEqual([]);
  expect(all.filter(({ origin }) => origin === "file")).toHaveLength(defaults.length - 1);
  const own = { configFile: "", given: {} };
  expect({ ...readConfig({ config: path }, {}), ...own }).toEqual(readConfig({}, {}));
});

test("numbers, switches and lists can be written as such", () => {
  const path = file(`port = 8_081
trace-ratio = 0.25
webhooks-allow-insecure = true
cors-origins = ["https://a.example", "https://b.example"]
trusted-proxies = "10.0.0.0/8, ::1"
pets-sunset = 2028-01-01T00:00:00Z
`);
  const config = readConfig({ config: path }, {});
  expect(config).toMatchObject({
    port: 8081,
    traceRatio: 0.25,
    webhooksAllowInsecure: true,
    corsOrigins: ["https://a.example", "https://b.example"],
    petsSunsetAt: Date.UTC(2028, 0, 1),
  });
  expect(config.trustedProxies.map(({ prefix }) => prefix)).toEqual([8, 128]);
});

describe("what is wrong with a file is reported all at once", () => {
  test("with line, key and rule", () => {
    const problems = problemsOf(`prot = 8080
port = true
host = 5
log-level = "loud"

backup-every = 3600
cors-origins = ["https://a.example,https://b.example"]
config = "other.toml"
--drain-seconds = 1
idle-timeout-seconds = 999
`);
    expect(problems).toEqual([
      "FILE:1: unknown key 'prot'; did you mean 'port'?",
      "FILE:2: port must be a number, not true",
      "FILE:3: host must be a text, not 5",
      "FILE:6: backup-every must be a text, not 3600",
      "FILE:7: cors-origins must be a list of texts without commas",
      "FILE:8: config cannot be set in a settings file",
      "FILE:9: unknown key '--drain-seconds'; did you mean 'drain-seconds'?",
      "FILE:10: idle-timeout-seconds must be from 1 to 255 seconds, not '999'",
      "FILE:4: log-level must be one of debug, info, warn, error, not 'loud'",
    ]);
    expect(() => readConfig({ port: "x" }, { HOST: "h", PETSTORE_ENV: "moon" })).toThrow(
      "--port must be a port from 0 to 65535, not 'x' (1 more: see petstore config)",
    );
  });

  test("with line and character where the text is no TOML, and without the text", () => {
    const hint = "write texts in quotes and one key on a line";
    const cases = {
      "port = 1\nhost": "2: incomplete key-value: cannot find end of key, at character 1",
      "port =\nhost = 1": "1: invalid value, at character 7",
      "port = 1 host = 2": "1: each key-value declaration must be followed by an end-of-line, at",
      "backup-every = 1h": "1: illegal character in numeric literal, at character 17",
      "log-level = debug": "1: invalid value, at character 13",
      'port = 1\nhost = "x\nenv = 2': "2: control characters are not allowed in strings, at",
      "host = 's3cret": "1: unfinished string, at character 8",
      'host = "C:\\data"': "1: unrecognised escape sequence, at character 12",
      "cors-origins = [1 2]": "1: expected comma or end of structure, at character 19",
      "port = 1\nhost = 2\nport = 3": "3: trying to redefine an already defined table or value",
      "port = 007": "1: illegal leading zero, at character 8",
      "= 1": "1: unexpected end of key, at character 1",
      "port = 1\n\u0000": "2: illegal character in key, at character 1",
    };
    for (const [text, expected] of Object.entries(cases)) {
      const [problem, ...others] = problemsOf(text);
      expect(problem).toStartWith(`FILE:${expected}`);
      expect(problem).toEndWith(`; ${hint}`);
      expect(problem).not.toMatch(/s3cret|\n/);
      expect(others).toEqual([]);
    }
  });

  test("with the line of every section and table, and of every key however it is written", () => {
    const rule = "is a section or a table; write every key on a line of its own, as port = 8080";
    expect(problemsOf("port = 1\n\n[serve]\nhost = 'x'\n")).toEqual([`FILE:3: serve ${rule}`]);
    expect(problemsOf("tls.cert = 'x'")).toEqual([`FILE:1: tls ${rule}`]);
    expect(problemsOf("\nport = {http = 1}")).toEqual([`FILE:2: port ${rule}`]);
    expect(problemsOf("\ufeff# port = true\r\n'port'\t=\ttrue\r\n[[host]]\r\n")).toEqual([
      "FILE:2: port must be a number, not true",
      "FILE:3: host must be a text, not an array",
    ]);
    expect(problemsOf('cors-origins = [\n"port = 1", # one\n]\n"prot" = 2')).toEqual([
      "FILE:4: unknown key 'prot'; did you mean 'port'?",
      expect.stringMatching(/^FILE:1: cors-origins .*'port = 1'/),
    ]);
  });

  test("with every digit of a number, and without a moment that is none", () => {
    const rule = "port must be a port from 0 to 65535, not";
    for (const [written, shown] of [
      ["9_223_372_036_854_775_808", "9223372036854775808"],
      ["0xffff_ffff_ffff_ffff", "18446744073709551615"],
      ["inf", "Infinity"],
      ["-1", "-1"],
    ]) {
      expect(problemsOf(`port = ${written}`)).toEqual([`FILE:1: ${rule} '${shown}'`]);
    }
    expect(problemsOf("pets-sunset = 07:32:00")[0]).toStartWith("FILE:1: pets-sunset must be");
    expect(problemsOf("pets-sunset = 2028-01-01T00:00:00+02:00")).toEqual([]);
    expect(problemsOf("pets-sunset = 2028-01-01")).toEqual([]);
  });

  test("without the values of secrets", () => {
    const [problem] = problemsOf('database = "mysql://root:s3cret@db"');
    expect(problem).toBe("FILE:1: database must be sqlite:PATH or postgres://…");
    const [address] = problemsOf('otlp-endpoint = "http://shop:s3cret@host:99999/"');
    expect(address).toBe("FILE:1: otlp-endpoint must be an http or https URL");
  });

  test("a file without an end is not read to its end", () => {
    expect(explainConfig({ config: "/dev/zero" }, {}).problems).toEqual([
      "/dev/zero is not a settings file: it is longer than 65536 bytes",
    ]);
  });

  test("a file that is missing, is a folder or is not text is named with its path", () => {
    const missing = join(folder, "none.toml");
    expect(explainConfig({ config: missing }, {}).problems).toEqual([
      `cannot read the settings file ${missing}: no such file or folder`,
    ]);
    expect(explainConfig({ config: folder }, {}).problems).toEqual([
      `cannot read the settings file ${folder}: it is a directory`,
    ]);
    const path = join(folder, "bytes.toml");
    writeFileSync(path, new Uint8Array([0x61, 0x80]));
    expect(explainConfig({ config: path }, {}).problems).toEqual([
      `the settings file ${path} is not valid UTF-8`,
    ]);
  });
});

test("a secret in a file that others can read is a warning", () => {
  const secret = 'database = "postgres://shop:s3cret@db/shop"';
  const warningsOf = (text: string, mode: number) => {
    const path = file(text, mode);
    const { warnings, problems } = explainConfig({ config: path }, {});
    expect(problems).toEqual([]);
    return warnings.map((warning) => warning.replaceAll(path, "FILE"));
  };
  expect(warningsOf(secret, 0o640)).toEqual([
    "FILE contains a secret (database) and other users can read it; run chmod 600 FILE",
  ]);
  expect(warningsOf('otlp-headers = "authorization=x"', 0o604)).toHaveLength(1);
  expect(warningsOf(secret, 0o600)).toEqual([]);
  expect(warningsOf('database = "sqlite:./a.db"\nport = 1', 0o644)).toEqual([]);
});

test("settings that do not fit each other are refused", () => {
  const problems = (flags: Record<string, string>) => explainConfig(flags, {}).problems;
  expect(problems({ "tls-cert": "a" })).toEqual([
    "--tls-cert needs --tls-key: set both or neither",
  ]);
  expect(problems({ "tls-key": "a" })).toEqual(["--tls-key needs --tls-cert: set both or neither"]);
  expect(problems({ "tls-cert": "a", "tls-key": "b" })).toEqual([]);
  expect(problems({ "ban-minutes": "61" })).toEqual([
    "--ban-minutes-max must not be less than --ban-minutes",
  ]);
  const same = "--metrics-port must differ from --port, which is also 8080";
  expect(problems({ "metrics-port": "8080" })).toEqual([same]);
  expect(problems({ "metrics-port": "8080", host: "0.0.0.0" })).toEqual([same]);
  expect(problems({ "metrics-port": "8080", host: "10.0.0.1" })).toEqual([]);
  expect(problems({ "metrics-port": "0", port: "0" })).toEqual([]);
  // A value that is not valid itself is not compared with others.
  expect(problems({ "ban-minutes": "x", "ban-minutes-max": "1" })).toHaveLength(1);
});

test("no two settings have a flag that the file could confuse", () => {
  const flags = Object.values(settings).map(({ flag }) => flag);
  expect(flags.filter((flag) => !/^[a-z][a-z-]*$/.test(flag))).toEqual([]);
});
