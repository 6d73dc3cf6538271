import { afterAll, describe, expect, test } from "bun:test";
import { petstore, type Workspace } from "../support/process.ts";
import { surfaceEngine } from "../support/service.ts";
import { openStoreWorkspace } from "../support/workspaces.ts";

/** Starts a script in which $0 is petstore. */
const start = (place: Workspace, script: string) =>
  place.start(["-c", script, petstore], { command: ["bash"] });

const pet = '{"petId":%.0f,"name":"x","photoUrls":["https://petstore.example/photos/x.jpg"]}';

for (const engine of [surfaceEngine]) {
  describe(`a signal on ${engine}`, async () => {
    const place = await openStoreWorkspace(engine);
    afterAll(() => place.leave());
    await place.withStore(async () => {});
    const pets = () => place.withStore(async ({ catalogue }) => catalogue.petsAfter(null, 10));

    // The signals do not differ between the engines.
    const [signal, code] = engine === "sqlite" ? ["INT", 130] : ["TERM", 143];
    test(`SIG${signal} in the middle of an import stores nothing and says so`, async () => {
      // The pipe takes little, so the import has read most of the rows. The file does not end.
      const script = `mkfifo rows
        "$0" pets import rows --format ndjson & id=$!
        exec 9> rows; seq -f '${pet}' 10000 >&9
        kill -${signal} $id; wait $id; echo "code $?"`;
      const ran = start(place, script);
      expect(await ran.exited).toBe(0);
      expect(ran.written()).toBe(`petstore: interrupted, nothing was changed\ncode ${code}\n`);
      expect(await pets()).toEqual([]);
    });
  });
}
