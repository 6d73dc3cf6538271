import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createTables } from "../../src/compose/tables.ts";
import { readConfig } from "../../src/config.ts";
import { backupMsMax } from "../../src/domain/operations/backups.ts";
import { systemClock } from "../../src/opening/engines.ts";
import { type ProxyName, proxies, proxyExample } from "../support/proxies.ts";

/** The paths of all operations, with a value for each parameter, and whether they are long. */
const operations = (() => {
  const config = readConfig({ mcp: "on" }, {});
  const { api, admin, mcp } = createTables({ config, clock: systemClock });
  return [api, admin, ...mcp].flatMap(({ basePath, operations }) =>
    operations.map(({ path, isLong = false }) => ({
      path: (basePath + path).replaceAll(/\{\w+\}/g, "some_id-1"),
      isLong,
    })),
  );
})();

const seconds = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1]);
const withoutComments = (text: string) => text.replaceAll(/^\s*#.*$/gm, "");

/** How long each example waits for the response to a request for a path. */
const waitFor: Record<ProxyName, (text: string, path: string) => number> = {
  nginx(text, path) {
    const timeout = /proxy_read_timeout (\d+)s;/;
    const locations = [...text.matchAll(/location ~ (\S+) \{([^}]*)\}/g)];
    const own = locations.find(([, pattern]) => new RegExp(pattern!).test(path))?.[2] ?? "";
    return seconds(own, timeout) || seconds(text.replaceAll(/location[^}]*\}/g, ""), timeout);
  },
  haproxy(text, path) {
    const [, condition] = /use_backend long_requests if (.*)/.exec(text)!;
    const isLong = [...text.matchAll(/acl (\w+) (path|path_reg) (.+)/g)].some(
      ([, name, kind, values]) =>
        condition!.split(" || ").includes(name!) &&
        values!.split(" ").some((one) => (kind === "path" ? one === path : RegExp(one).test(path))),
    );
    const timeout = /timeout server (\d+)s/;
    return seconds(isLong ? text.slice(text.indexOf("backend long_requests\n")) : text, timeout);
  },
  caddy: (text) => seconds(text, /read_timeout (\d+)s/),
};

test.each(proxies)("the example for %s waits for every long operation", (name) => {
  const text = withoutComments(proxyExample(name));
  const long = operations.filter(({ isLong }) => isLong).map(({ path }) => path);
  expect(long).toContain("/admin/changes/undo");
  const cutOff = long.filter((path) => !(waitFor[name](text, path) * 1_000 >= backupMsMax));
  expect(cutOff).toEqual([]);
});

test("only an operation that is declared as long keeps a silent connection open", () => {
  const folder = resolve(import.meta.dir, "../../src");
  const callers = [...new Bun.Glob("**/*.ts").scanSync(folder)].filter((file) =>
    /\.setIdleTimeout\(/.test(readFileSync(join(folder, file), "utf8")),
  );
  expect(callers.sort()).toEqual(["http/pipeline/keep-open.ts", "http/pipeline/pipeline.ts"]);
});
