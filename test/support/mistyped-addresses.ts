// Every argument and every setting gets addresses with a password, as people mistype them. The places come
// from the tables of commands and settings, so a new one is tested without a line here.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import type { Command, Flag } from "../../src/cli/command.ts";
import { commands } from "../../src/cli/commands.ts";
import type { Setting } from "../../src/settings/setting.ts";
import { settings } from "../../src/settings.ts";
import { openWorkspace } from "./process.ts";
import { createStore } from "./stocking.ts";

const passwords = ["hunter-zwei", "hunter/zwei", "hunter zwei", 'hunter"zwei', "hunter:zwei@drei"];
const forms: readonly ((password: string) => string)[] = [
  (password) => `s3:/me:${password}@bucket/a.petstore`,
  (password) => `http:/me:${password}@host/a.petstore`,
  (password) => `s3://me:${password}@bucket/a.petstore`,
  (password) => `s3:me:${password}@bucket/a.petstore`,
  (password) => `https//me:${password}@host/a`,
  (password) => `me:${password}@bucket/a.petstore`,
  (password) => `://me:${password}@host/a`,
  (password) => `postgres://me:${password}@127.0.0.1:1/shop`,
  (password) => `postgres:/me:${password}@127.0.0.1:1/shop`,
  (password) => `sqlite:me:${password}@127.0.0.1:1/shop`,
  (password) => `https:/me:${password}@host`,
  (password) => `s3:\\\\me:${password}@bucket\\a`,
];
const mistyped = passwords.flatMap((password) => forms.map((form) => form(password)));

/**
 * In turn, so that each place gets some of them, and each of them is somewhere. Each has another user, because
 * the commands of one process remember the passwords that were typed.
 */
const inTurn = (function* () {
  for (let count = 0; ; count++) {
    yield mistyped[count % mistyped.length]!.replace("me:", `me${count}:`);
  }
})();
const some = (count: number) => Array.from({ length: count }, () => inTurn.next().value as string);

/** A value that is good enough to get as far as the other arguments, by what help calls it. */
const plausible: Readonly<Record<string, string>> = {
  ...{ DATABASE: "sqlite:a.db", FILE: "a.petstore", PET: "1", SEQ: "1", FROM: "1", TO: "1" },
  ...{ MOMENT: "1", NAME: "name", N: "1", URL: "https://127.0.0.1:1/" },
};
const exampleOf = (name = "") => plausible[name] ?? name.split("|")[0]!;

/** The words of a command in which one argument has this value. */
function wordsWith({ name, operands, flags, settings: used }: Command, at: string, value: string) {
  const required = Object.entries(flags).filter(([flag, { required }]) => required && flag !== at);
  return [
    ...name.split(" "),
    ...operands.map((operand) => (operand.name === at ? value : exampleOf(operand.name))),
    ...required.map(([flag, { placeholder }]) => `--${flag}=${exampleOf(placeholder)}`),
    ...(used.includes("databaseUrl") ? ["--database=sqlite:a.db"] : []),
    ...(Object.hasOwn(flags, at) ? [`--${at}=${value}`] : []),
  ];
}

/**
 * Tests each place that holds an address with so many of them, usually one of each form, and each other place
 * with one. Two more places get so many for each password.
 */
export function testMistypedAddresses(perAddress = forms.length) {
  const place = openWorkspace();
  /** Its port is taken, so a service with valid settings ends before it serves. */
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("") });
  beforeAll(async () => {
    await createStore(`sqlite:${place.path("a.db")}`);
    const backup = ["backup", "a.petstore", "--database=sqlite:a.db"];
    expect((await place.runHere(backup)).code).toBe(0);
  });
  afterAll(async () => {
    await other.stop(true);
    await place.leave();
  });

  /** Runs commands, and collects those that print a part of a password. */
  function createWalk() {
    const showing: string[] = [];
    let hiding = 0;
    return {
      async run(words: readonly string[], env: Record<string, string> = {}) {
        const { out, err } = await place.runHere(words, { env });
        const found = /.{0,60}(?:hunter|zwei|drei).*/.exec(out + err)?.[0];
        if (found !== undefined) showing.push(`${words.join(" ")}: ${found}`);
        if ((out + err).includes("[hidden]")) hiding += 1;
      },
      end(hidingMin = 100) {
        expect(showing.length, showing.slice(0, 50).join("\n")).toBe(0);
        // Otherwise the walk has not come to what prints addresses.
        expect(hiding).toBeGreaterThanOrEqual(hidingMin);
      },
    };
  }

  // `serve` has only settings. `webhooks listen` ends, because it has no key.
  const walked = commands.filter(({ topic, name }) => topic !== "serve" || name === "health");

  test("no command prints the password in an argument, also in place of another one", async () => {
    const walk = createWalk();
    for (const command of walked) {
      const flags = Object.entries<Flag>(command.flags).filter(([, flag]) => flag.placeholder);
      const places = [...command.operands.map(({ name }) => name), ...flags.map(([flag]) => flag)];
      for (const at of places) {
        const kind = command.flags[at]?.placeholder ?? at;
        const isAddress = /FILE|SOURCE|DATABASE|URL|FOLDER/.test(kind);
        for (const value of some(isAddress ? perAddress : 1)) {
          const words = wordsWith(command, at, value);
          await walk.run(words);
          if (isAddress && command.flags.json) await walk.run([...words, "--json"]);
        }
      }
      for (const value of some(1)) {
        await walk.run([...command.name.split(" "), "a", "b", value]);
        await walk.run([...command.name.split(" "), `--${value}`]);
        await walk.run([value]);
      }
    }
    walk.end();
  }, 600_000);

  test("no command prints the password in a setting, wherever it is set", async () => {
    const walk = createWalk();
    const serve = ["serve", "--host=127.0.0.1", `--port=${other.port}`];
    for (const { flag, variable, placeholder } of Object.values<Setting<unknown>>(settings)) {
      // The second would be run.
      if (placeholder === undefined || flag === "replica-check") continue;
      const isAddress = /FILE|URL|FOLDER|ADDRESS|ORIGINS|DATABASE/.test(placeholder);
      for (const value of some(isAddress ? perAddress : 1)) {
        // A path of its own, because a file of settings is read once per process.
        const file = place.path(`${flag}-${Bun.hash(value)}.toml`);
        writeFileSync(file, `${flag} = ${JSON.stringify(value)}\n`);
        const wrong = place.path(`wrong-${Bun.hash(value)}.toml`);
        writeFileSync(wrong, `${JSON.stringify(value)} = 1\n`);
        for (const words of [["config"], ["config", "--json"]]) {
          await walk.run([...words, `--${flag}=${value}`]);
          await walk.run(words, { [variable]: value });
          if (flag !== "config") await walk.run([...words, `--config=${file}`]);
          if (flag === "config") await walk.run([...words, `--config=${wrong}`]);
        }
        const given = [
          ...(flag === "database" ? [] : ["--database=sqlite:a.db"]),
          `--${flag}=${value}`,
        ];
        await walk.run(["doctor", ...given]);
        await walk.run(["doctor", "--json", ...given]);
        // It would wait for a database with a good address. See secrets.full.test.ts.
        if (!value.startsWith("postgres://")) await walk.run([...serve, ...given]);
      }
    }
    walk.end();
  }, 600_000);

  test("no command prints the password in the full path of a settings file", async () => {
    const walk = createWalk();
    for (const value of some(passwords.length * perAddress)) {
      await walk.run(["config", `--config=${value}`]);
      await walk.run(["config", "--json"], { PETSTORE_CONFIG: value });
    }
    walk.end(passwords.length * perAddress);
  });

  test("no command prints the password in the address of the object storage", async () => {
    const walk = createWalk();
    const credentials = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "hunter-zwei" };
    for (const value of some(passwords.length * perAddress)) {
      const env = { ...credentials, AWS_ENDPOINT_URL_S3: value };
      await walk.run(["backup", "s3://bucket/a.petstore", "--database=sqlite:a.db"], env);
      await walk.run(["drill", "s3://bucket/a.petstore", "--database=sqlite:a.db"], env);
    }
    walk.end(0);
  });
}
