import { beforeAll, expect, test } from "bun:test";
import { genesisHash, hashRow } from "../../src/domain/ledger/chain.ts";
import type { Unit } from "../../src/domain/ledger/ledger.ts";
import { onEveryEngine, withService } from "../support/conformance.ts";
import { openFeed } from "../support/feed.ts";
import { nextOf, pagesFrom, rowsOf, seqsOf, upTo } from "../support/history.ts";
import { expectError } from "../support/responses.ts";
import { setUnit } from "../support/units.ts";

onEveryEngine("history", (service, engine) => {
  /** Commits units and returns the seq of the last row. */
  async function commit(...units: readonly Unit[]): Promise<number> {
    await service().store.inventory.commit(units);
    return (await service().store.history.readTip()).seq;
  }
  let key: string;
  beforeAll(async () => {
    key = (await service().issueKey()).text;
  });
  const get = async (path: string) => service().call("GET", path, { key });
  const tip = async () => (await service().store.history.readTip()).seq;

  test("[history.empty] an empty ledger has no changes, and its end has the hash of an empty text", async () => {
    await withService(engine, {}, async (empty) => {
      const { text } = await empty.issueKey();
      expect((await empty.call("GET", "/changes", { key: text })).text).toBe("[]");
      expect((await empty.call("GET", "/changes/head", { key: text })).json).toEqual({
        seq: 0,
        hash: genesisHash,
        at: null,
      });
      const timed = "/changes?since=2026-01-01&until=2027-01-01&cause=api";
      const page = await empty.call("GET", timed, { key: text });
      expect([page.text, page.headers.get("Link")]).toEqual(["[]", null]);
    });
  });

  test("[history.row] a change has ten fields, exact ids and the name of its key", async () => {
    const before = await tip();
    const petId = 9223372036854775807n;
    await service().addPets({ petId, quantity: 3, status: "pending" });
    const { id, text } = await service().issueKey({ name: 'Zoë\'s "till" 🐢' });
    service().clock.advance(1_234);
    const update = await service().call("PATCH", `/inventory/${petId}`, {
      key: text,
      body: '{"quantity":9007199254740991}',
    });
    await commit(
      setUnit(petId, 0, { keyId: "key_gone", requestId: "req_1", reason: 'Über "alles"\\🐕' }),
    );
    const at = new Date(service().clock.now()).toISOString();
    const name = JSON.stringify('Zoë\'s "till" 🐢');
    const rows = [
      `{"seq":${before + 1},"petId":${petId},"before":null,"after":{"quantity":3,"status":"pending"},"cause":"import","keyId":null,"keyName":null,"reason":"test","requestId":null,"at":"2026-11-15T12:00:00.000Z"}`,
      `{"seq":${before + 2},"petId":${petId},"before":{"quantity":3,"status":"pending"},"after":{"quantity":9007199254740991,"status":"pending"},"cause":"api","keyId":"${id}","keyName":${name},"reason":null,"requestId":"${update.headers.get("X-Request-Id")}","at":"${at}"}`,
      `{"seq":${before + 3},"petId":${petId},"before":{"quantity":9007199254740991,"status":"pending"},"after":{"quantity":0,"status":"pending"},"cause":"api","keyId":"key_gone","keyName":null,"reason":"Über \\"alles\\"\\\\🐕","requestId":"req_1","at":"${at}"}`,
    ];
    expect((await get(`/changes?after=${before}`)).text).toBe(`[${rows.join()}]`);
    expect((await get(`/inventory/${petId}/history`)).text).toBe(`[${rows.toReversed().join()}]`);
    const feed = await openFeed(service().baseUrl, { key: text, query: `?after=${before}` });
    await feed.changes(3);
    expect(feed.events.slice(1).map((event) => event.text)).toEqual(rows);
    feed.leave();
  });

  test("[history.changes] pages of changes have every change once and in order, also those added meanwhile", async () => {
    await service().addPets(...upTo(40).map((id) => ({ petId: BigInt(1_000 + id) })));
    let added = 0;
    const grow = async () => {
      // The ledger stops growing before the reader reaches its end.
      if (added++ < 5) await commit(setUnit(1_001n, added), setUnit(1_002n, added));
    };
    const pages = await pagesFrom(service(), key, "/changes?limit=7", grow);
    const last = await tip();
    expect(pages.flatMap(seqsOf)).toEqual(upTo(last));
    expect(pages.slice(0, -1).map((page) => rowsOf(page).length)).toEqual(
      pages.slice(0, -1).map(() => 7),
    );
    expect((await get(`/changes?after=${last}`)).text).toBe("[]");
    await commit(setUnit(1_001n, 77));
    const later = await get(`/changes?after=${last}`);
    expect([seqsOf(later), nextOf(later)]).toEqual([[last + 1], undefined]);
    expect(seqsOf(await get("/changes?after=9007199254740991"))).toEqual([]);
  });

  test("[history.changes-before] pages of changes can end before any change, and the links keep the end", async () => {
    const start = await tip();
    await service().addPets({ petId: 2_501n });
    const last = await commit(...upTo(9).map((quantity) => setUnit(2_501n, quantity)));
    for (const before of [0, start + 1, start + 6, last, last + 1, 9007199254740991]) {
      const path = `/changes?limit=2&after=${start}&before=${before}`;
      const pages = await pagesFrom(service(), key, path);
      const end = Math.min(before - 1, last);
      expect(pages.flatMap(seqsOf)).toEqual(end > start ? upTo(end, start + 1) : []);
      expect(pages.length).toBe(Math.max(1, Math.ceil((end - start) / 2)));
    }
  });

  test("[history.pet] the history of a pet comes newest first, and older pages do not change", async () => {
    await service().addPets({ petId: 2_001n }, { petId: 2_002n });
    const own = [(await tip()) - 1];
    for (let quantity = 1; quantity <= 9; quantity++) {
      own.unshift((await commit(setUnit(2_001n, quantity), setUnit(2_002n, 0))) - 1);
    }
    const grow = () => commit(setUnit(2_001n, 99), setUnit(2_002n, 99));
    const pages = await pagesFrom(service(), key, "/inventory/2001/history?limit=4", grow);
    expect(pages.map(seqsOf)).toEqual([own.slice(0, 4), own.slice(4, 8), own.slice(8)]);
    const rows = pages.flatMap(rowsOf);
    for (const [at, row] of rows.entries()) expect(row.before).toEqual(rows[at + 1]?.after ?? null);
    expectError(await get("/inventory/2003/history"), "not_found");
  });

  test("[history.before] the history of a pet can start before any change, also one of another pet", async () => {
    await service().addPets({ petId: 3_001n }, { petId: 3_002n });
    const first = (await tip()) - 1;
    for (let round = 0; round < 3; round++)
      await commit(setUnit(3_001n, round), setUnit(3_002n, 1));
    const own = [first + 6, first + 4, first + 2, first];
    const from = async (query: string) => seqsOf(await get(`/inventory/3001/history?${query}`));
    for (let before = first - 1; before <= first + 9; before++) {
      expect(await from(`before=${before}`)).toEqual(own.filter((seq) => seq < before));
      expect(await from(`before=${before}&after=${first}`)).toEqual(
        own.filter((seq) => seq < before && seq > first),
      );
    }
    expect(await from("before=0")).toEqual([]);
    expect(await from("before=9007199254740991&limit=2")).toEqual(own.slice(0, 2));
    const bounded = `/inventory/3001/history?limit=2&after=${first}`;
    const pages = await pagesFrom(service(), key, bounded);
    expect(pages.map(seqsOf)).toEqual([own.slice(0, 2), [own[2]!]]);
  });

  test("[history.long] a page of a pet's history has up to 1,000 changes, and an old one is found", async () => {
    await service().addPets({ petId: 4_001n });
    const first = await tip();
    const many = upTo(2_500).map((quantity) => setUnit(4_001n, quantity));
    await commit(...many);
    const pages = await pagesFrom(service(), key, "/inventory/4001/history?limit=1000");
    expect(pages.map((page) => rowsOf(page).length)).toEqual([1_000, 1_000, 501]);
    expect(pages.flatMap(seqsOf)).toEqual(upTo(first + 2_500, first).toReversed());
    const old = await get(`/inventory/4001/history?before=${first + 5}&limit=1`);
    expect(seqsOf(old)).toEqual([first + 4]);
    service().clock.advance(1_000);
    const last = await commit(setUnit(4_001n, 0));
    const until = new Date(service().clock.now()).toISOString();
    const bounded = `/inventory/4001/history?before=${last}&until=${until}&limit=1`;
    expect(seqsOf(await get(bounded))).toEqual([last - 1]);
  });

  test("[history.head] the end of the ledger has the number, time and hash of the last change", async () => {
    await service().addPets({ petId: 7_001n });
    const { text } = await service().issueKey();
    for (let quantity = 1; quantity <= 3; quantity++) {
      await service().call("PATCH", "/inventory/7001", {
        key: text,
        body: JSON.stringify({ quantity }),
      });
      const response = await service().call("GET", "/changes/head", { key: text });
      const { seq } = response.json as { seq: number };
      const [last] = rowsOf(
        await service().call("GET", `/changes?after=${seq - 1}`, { key: text }),
      );
      let hash = genesisHash;
      const { inventory } = service().store;
      for (let done = 0; done < seq; done += 10_000) {
        hash = (await inventory.ledgerAfter(done, 10_000)).reduce(hashRow, hash);
      }
      expect(last!.after!.quantity).toBe(quantity);
      expect(response.json).toEqual({ seq, hash, at: last!.at });
    }
  });

  test("[history.scope] history needs history:read, which keys of earlier versions do not have", async () => {
    await service().addPets({ petId: 8_001n });
    const earlier = await service().issueKey({
      scopes: ["inventory:read", "inventory:write", "pets:read", "orders:read"],
    });
    const paths = ["/changes", "/changes/head", "/inventory/8001/history"];
    for (const path of paths) {
      const response = await service().call("GET", path, { key: earlier.text });
      expectError(response, "insufficient_scope");
      expect(response.headers.get("WWW-Authenticate")).toContain('scope="history:read"');
      expect((await get(path)).status).toBe(200);
    }
  });

  test("[history.head-method] HEAD returns the headers of the page, with its Link", async () => {
    await service().addPets({ petId: 9_101n }, { petId: 9_102n });
    const path = "/changes?limit=1";
    const head = await service().call("HEAD", path, { key });
    expect([head.status, head.text]).toEqual([200, ""]);
    expect(head.headers.get("Link")).toBe('</v1/changes?limit=1&after=1>; rel="next"');
    expect(head.headers.get("X-Stability")).toBe("beta");
  });
});
