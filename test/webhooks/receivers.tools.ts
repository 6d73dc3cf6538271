import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { run } from "../support/client/package.ts";
import { tryReceiver } from "../support/webhooks/receiver-trial.ts";

// The receivers of webhooks in other languages: `npm run test:packages`. Their libraries are installed
// into a temporary folder.

const examples = resolve(import.meta.dir, "../../examples");
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "petstore-receivers-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const guarantee = "handles each change once, also after a restart, and nothing unsigned";

test.skipIf(!Bun.which("python3"))(
  `webhook-receiver.py ${guarantee} (needs python3)`,
  async () => {
    await run(["python3", "-m", "venv", "venv"], folder);
    const python = join(folder, "venv/bin/python");
    await run([python, "-m", "pip", "install", "--quiet", "standardwebhooks==1.1.0"], folder);
    await tryReceiver([python, join(examples, "webhook-receiver.py")], join(folder, "python-seq"));
  },
  300_000,
);

test.skipIf(!Bun.which("go"))(
  `webhook-receiver.go ${guarantee} (needs go)`,
  async () => {
    const source = await Bun.file(join(examples, "webhook-receiver.go")).text();
    await Bun.write(join(folder, "go/webhook-receiver.go"), source);
    // As the comment in the file says.
    const commands = [...source.matchAll(/^\/\/\t(go .*)$/gm)].map(([, text = ""]) =>
      text.split(" "),
    );
    expect(commands).toHaveLength(2);
    for (const command of commands) await run(command, join(folder, "go"));
    await run(["go", "build", "-o", "receiver", "webhook-receiver.go"], join(folder, "go"));
    await tryReceiver([join(folder, "go/receiver")], join(folder, "go-seq"));
  },
  300_000,
);
