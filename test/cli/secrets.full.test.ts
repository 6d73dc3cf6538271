import { afterAll, test } from "bun:test";
import { openWorkspace } from "../support/process.ts";
import { expectNoSecret } from "../support/usage-errors.ts";

const place = openWorkspace();
afterAll(() => place.leave());

// Port 1 refuses every connection.
test.each([
  ["postgres://me:hunter-zwei@127.0.0.1:1/shop", "cannot open the database at 127.0.0.1:1/shop"],
  ["postgres://me:hunter-zwei@127.0.0.1:1,127.0.0.1:1/shop", "cannot open the database at"],
  ["postgres://hunter:65000/zwei", "cannot open the database at the address that was set"],
])("a service that waits for %s never prints the password", async (address, sentence) => {
  const env = { PETSTORE_DATABASE_PATIENCE_SECONDS: "1", DATABASE_URL: address };
  expectNoSecret(await place.run(["serve", "--port", "0"], { env }), sentence);
});
