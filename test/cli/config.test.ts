import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { shownValue } from "../../src/settings/setting.ts";
import { settings } from "../../src/settings.ts";
import { openWorkspace } from "../support/process.ts";
import { expectUsageError } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

interface Shown {
  readonly valid: boolean;
  readonly problems: readonly string[];
  readonly settings: readonly { flag: string; value: string | null; origin: string }[];
}

describe("petstore config", () => {
  test("shows every setting with value, origin, default, unit and meaning in 100 columns", async () => {
    writeFileSync(place.path("shop.toml"), "ban-minutes = 7\n");
    const args = ["config", "--config", "shop.toml", "--port", "1", "--env", "staging"];
    const { code, out, err } = await place.runHere(args, { env: { HOST: "0.0.0.0" } });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.split("\n");
    expect(lines.filter((line) => line.length > 100)).toEqual([]);
    for (const line of [
      "Serving",
      "  port = 1  (flag --port; default 8080)",
      "    Port to listen on. 0 picks a free port.",
      "  host = 0.0.0.0  (variable HOST; default 127.0.0.1)",
      "  database = sqlite:./data/staging.db  (default)",
      "Limits",
      "  ban-minutes = 7 minutes  (file shop.toml:1; default 5)",
      "  metrics-port = none  (default)",
      "All settings are valid.",
    ]) {
      expect(lines).toContain(line);
    }
    for (const { flag } of Object.values(settings)) expect(out).toContain(`\n  ${flag} = `);
    // It opens no store.
    expect(existsSync(place.path("data"))).toBe(false);
  });

  test("reports every problem, hides secrets and exits with code 1", async () => {
    const text = 'database = "postgres://shop:s3cret@db/shop"\nprot = 1\n';
    writeFileSync(place.path("bad.toml"), text, { mode: 0o644 });
    const env = {
      PETSTORE_CONFIG: "bad.toml",
      PETSTORE_LOG_LEVLE: "info",
      OTEL_EXPORTER_OTLP_HEADERS: "key=s3cret",
    };
    const { code, out, err } = await place.runHere(["config", "--json", "--drain-seconds", "x"], {
      env,
    });
    expect(code).toBe(1);
    const shown: Shown = JSON.parse(out);
    expect(shown.valid).toBe(false);
    expect(shown.problems).toEqual([
      "unknown variable PETSTORE_LOG_LEVLE; did you mean PETSTORE_LOG_LEVEL?",
      "bad.toml:2: unknown key 'prot'; did you mean 'port'?",
      "--drain-seconds must be from 0 to 3600 seconds, not 'x'",
    ]);
    const values = Object.fromEntries(shown.settings.map(({ flag, value }) => [flag, value]));
    expect(values.database).toBe("postgres://shop:[hidden]@db/shop");
    expect(values["otlp-headers"]).toBe("[hidden]");
    expect(out + err).not.toContain("s3cret");
    expect(err).toMatch(/^petstore: warning: bad\.toml contains a secret \(database\).*chmod 600/);
    // Another command stops at the first one.
    writeFileSync(place.path("worse.toml"), "prot = 1\nhots = 2\n");
    expectUsageError(
      await place.runHere(["verify", "--config", "worse.toml"]),
      "worse.toml:1: unknown key 'prot'; did you mean 'port'? (1 more: see petstore config)",
    );
  });
});

test("a folder for backups that may be a password is refused without it, and a folder with an @ is not", async () => {
  const folder = async (text: string) => {
    const { out } = await place.runHere(["config", "--json", "--backup-folder", text]);
    const { problems, settings: all }: Shown = JSON.parse(out);
    return [all.find(({ flag }) => flag === "backup-folder")!.value, ...problems];
  };
  const rule = "--backup-folder must be a folder, or a bucket as s3://BUCKET/PREFIX, not";
  for (const [text, shown] of [
    ["me:hunter@bucket/a", "[hidden]@bucket/a"],
    ["s3:/me:hunter@bucket/a", "s3:/[hidden]@bucket/a"],
    ["s3://me:hunter@bucket/a", "s3://[hidden]@bucket/a"],
  ] as const) {
    expect(await folder(text)).toEqual([shown, `${rule} '${shown}'`]);
  }
  expect(await folder("/srv/shop@home")).toEqual(["/srv/shop@home"]);
});

test("a command uses the store of its settings file", async () => {
  writeFileSync(place.path("store.toml"), 'database = "sqlite:./elsewhere.db"\n');
  const create = ["keys", "create", "--name", "a", "--plan", "free", "--config", "store.toml"];
  expect((await place.runHere(create)).code).toBe(0);
  expect(existsSync(place.path("elsewhere.db"))).toBe(true);
});

test("secrets are hidden wherever an address may have one", () => {
  const shown = (text: string) => shownValue({ isSecret: true }, text);
  expect(shown("postgres://u:p@h:5432,i:5433/n?sslmode=require&password=p&prepare=false")).toBe(
    "postgres://u:[hidden]@h:5432,i:5433/n?sslmode=require&password=[hidden]&prepare=false",
  );
  expect(shown("postgresql://u@/n?host=/run/postgresql")).toBe(
    "postgresql://u@/n?host=/run/postgresql",
  );
  // The port may be a password whose user stands in place of the host.
  expect(shown("postgres://shop:1234/n")).toBe("postgres://[hidden]/n");
  expect(shown("postgres://u:p/a@ss@h/n")).toBe("[hidden]");
  expect(shown("postgres://u:p@ss@h/n")).toBe("[hidden]");
  expect(shown("mysql://u:p@h/n")).toBe("[hidden]");
  expect(shown("sqlite:./data/a.db")).toBe("sqlite:./data/a.db");
  for (const isSecret of [true, false]) {
    const url = (text: string) => shownValue({ isSecret }, text);
    expect(url("https://u:p@collector:4318/x")).toBe("https://[hidden]@collector:4318/x");
    expect(url("https://u:p/@,? x@collector/x")).toBe("https://[hidden]@collector/x");
    expect(url("https://collector/x?key=p&b=c#d")).toBe("https://collector/x?[hidden]");
    expect(url("https://a.example,https://b.example")).toBe("https://a.example,https://b.example");
  }
  expect(shownValue({}, "s3://u:p@bucket/a")).toBe("s3://[hidden]@bucket/a");
});

describe("the tables in docs/configuration.md", () => {
  const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");

  test("has an example of a settings file that is valid", async () => {
    const example = /```toml\n(.*?)```/s.exec(page)![1]!;
    writeFileSync(place.path("example.toml"), example, { mode: 0o600 });
    const { code, err } = await place.runHere(["config", "--config", "example.toml"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
  });
});
