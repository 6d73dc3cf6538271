// Stands for a command of the service, which runs in the process of the tests. See program.ts.
import { work } from "../../src/long-work/worker.ts";
import type { Ran } from "./process.ts";
import type { SentCommand } from "./program.ts";

const [receiver, ...words] = process.argv.slice(2);
// Long work has a process of its own here, too: it gets its work from the service.
if (words[0] === "work") await work();
const input = Buffer.from(await Bun.stdin.bytes()).toString("base64");
const sent = { words, variables: process.env, input } as SentCommand;
const response = await fetch(receiver!, { method: "POST", body: JSON.stringify(sent) });
const { code, out, err } = (await response.json()) as Ran;
process.stdout.write(out);
process.stderr.write(err);
process.exitCode = code;
