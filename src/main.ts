import { exportPets } from "./cli/export.ts";
import { usage } from "./cli/help.ts";
import { importOrders, importPets } from "./cli/import.ts";
import { createKey, liftBan, listKeys, revokeKey, rotateKey, showKey } from "./cli/keys.ts";
import { migrateStore } from "./cli/migrate.ts";
import { quickstart, serve } from "./cli/serve.ts";
import { verifyStore } from "./cli/verify.ts";
import { Refusal } from "./domain/errors.ts";
import { logToStderr } from "./log.ts";
import { printError } from "./output.ts";

/** A command gets the words after its name and gives an exit code. */
type Command = (words: string[]) => Promise<number>;

const commands: Record<string, Command> = {
  serve,
  quickstart,
  "keys create": createKey,
  "keys list": listKeys,
  "keys show": showKey,
  "keys rotate": rotateKey,
  "keys revoke": revokeKey,
  "keys unban": liftBan,
  "pets import": importPets,
  "pets export": exportPets,
  "orders import": importOrders,
  verify: verifyStore,
  "migrate-store": migrateStore,
};

async function run(words: string[]): Promise<number> {
  if (words.length === 0 || words.includes("--help") || words[0] === "help") {
    process.stdout.write(usage());
    return 0;
  }
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(" ");
    // Own names only: every object also has a toString.
    if (Object.hasOwn(commands, name)) return commands[name]!(words.slice(length));
  }
  throw new Refusal(
    "invalid_request",
    `there is no command '${words.slice(0, 2).join(" ")}'; see petstore --help`,
  );
}

let complained = false;

/** Whatever is wrong is one plain sentence; a stack trace is no message to an operator. */
function complain(error: unknown): void {
  if (complained) return;
  complained = true;
  const message = error instanceof Error ? error.message : String(error);
  // Our own messages are one line each, whatever they quote; others may go on and on.
  printError(error instanceof Refusal ? message : message.split("\n")[0]!);
  process.exitCode = 2;
}

/** The runtime would print such an error with all it holds, a database address included. */
function crash(error: unknown): void {
  logToStderr("crash", { error: error instanceof Error ? error.stack : String(error) });
  process.exit(1);
}

process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);

// A reader that left, as head does, comes to light after the write; nobody else would catch it.
process.stdout.on("error", () => complain("what was to be printed found no reader"));

try {
  const code = await run(process.argv.slice(2));
  if (!complained) process.exitCode = code;
} catch (error) {
  complain(error);
}
