import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { testFile } from "./tls.ts";
import { until } from "./until.ts";

export const proxies = ["nginx", "haproxy", "caddy"] as const;
export type ProxyName = (typeof proxies)[number];

const files: Record<ProxyName, string> = {
  nginx: "nginx.conf",
  haproxy: "haproxy.cfg",
  caddy: "Caddyfile",
};

/** The example as it is in the repository. */
export function proxyExample(name: ProxyName): string {
  return readFileSync(resolve(import.meta.dir, "../../deploy/proxies", files[name]), "utf8");
}

export interface RunningProxy {
  readonly baseUrl: string;
  stop(): Promise<void>;
}

/** Returns null if the program is not installed. */
export function findProxy(name: ProxyName): string | null {
  return Bun.which(name, { PATH: `${process.env.PATH}:/usr/sbin:/usr/local/sbin` });
}

/** Runs the example with other paths and ports. `instancePorts` replace 8080 and 8081. */
export async function startProxy(
  name: ProxyName,
  program: string,
  port: number,
  instancePorts: readonly [number, number],
): Promise<RunningProxy> {
  const folder = mkdtempSync(join(tmpdir(), "petstore-proxy-"));
  const path = (file: string) => join(folder, file);
  const [cert, key] = [testFile("first-cert.pem"), testFile("first-key.pem")];
  writeFileSync(path("cert.pem"), cert);
  writeFileSync(path("key.pem"), key);
  writeFileSync(path("cert-and-key.pem"), cert + key);
  const text = proxyExample(name)
    .replaceAll("/etc/petstore/tls", folder)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${instancePorts[0]}`)
    .replaceAll("127.0.0.1:8081", `127.0.0.1:${instancePorts[1]}`);
  writeFileSync(path(files[name]), adapt[name](text, port, folder));
  const child = Bun.spawn([program, ...words[name](path(files[name]), folder)], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? "", HOME: folder, XDG_DATA_HOME: folder },
    stdout: "ignore",
    stderr: Bun.file(path("stderr")),
  });
  const baseUrl = `https://127.0.0.1:${port}/v1`;
  const answers = async () => {
    if (child.exitCode !== null) throw new Error(readFileSync(path("stderr"), "utf8"));
    const tls = { rejectUnauthorized: false };
    const found = await fetch(new URL("/readyz", baseUrl), { tls }).catch(() => undefined);
    return found?.status === 200;
  };
  await until(answers, 8_000, `${name} answers`);
  return {
    baseUrl,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What a test must change: the public port, and folders that only an installed service has. */
const adapt: Record<ProxyName, (text: string, port: number, folder: string) => string> = {
  nginx: (text, port, folder) => {
    const places = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (one) => `${one}_temp_path ${folder}/${one};`,
    );
    return text
      .replace("listen 443", `listen 127.0.0.1:${port}`)
      .replace("http {", `http {\naccess_log off;\n${places.join("\n")}`);
  },
  haproxy: (text, port) => text.replace("bind :443", `bind 127.0.0.1:${port}`),
  caddy: (text, port) =>
    `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${text.replace("petstore.example.com {", `https://127.0.0.1:${port} {`)}`,
};

const words: Record<ProxyName, (file: string, folder: string) => string[]> = {
  nginx: (file, folder) => {
    const user = process.getuid?.() === 0 ? "user root;" : "";
    return ["-e", "stderr", "-c", file, "-g", `daemon off; pid ${folder}/pid; ${user}`];
  },
  haproxy: (file) => ["-db", "-f", file],
  caddy: (file) => ["run", "--adapter", "caddyfile", "--config", file],
};
