import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { issueOperator, ownPage, signIn } from "../support/admin/operators.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

describe.each([surfaceEngine])("the feed of operators on %s", (engine) => {
  let service: TestService;
  let ada: { id: string; text: string };
  beforeAll(async () => {
    service = await startTestService(engine);
    ada = await issueOperator(service);
  });
  afterAll(() => service.stop());

  /** Opens a stream. `ended` resolves when the service has ended it. */
  async function openStream(headers: Record<string, string>) {
    const leaving = new AbortController();
    const { status, body } = await fetch(new URL("/admin/changes", service.baseUrl), {
      headers: { Accept: "text/event-stream", ...headers },
      signal: leaving.signal,
    });
    const ended = body!.pipeTo(new WritableStream()).catch(() => {});
    return { status, ended, leave: () => leaving.abort() };
  }
  const withKey = (key: string) => ({ Authorization: `Bearer ${key}` });

  test("fifty consoles of one operator follow it at the same time", async () => {
    const consoles = Array.from({ length: 50 }, () => openStream(withKey(ada.text)));
    const opened = await Promise.all(consoles);
    expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { leave } of opened) leave();
  });

  test("a stream ends with its session, its secret and its key", async () => {
    const endings: Record<string, (key: { id: string }, cookie: string) => Promise<unknown>> = {
      "sign-out": (_key, cookie) =>
        service.call("DELETE", "~/admin/session", { headers: ownPage(cookie) }),
      rotation: ({ id }) =>
        service.call("POST", `~/admin/keys/${id}/rotate`, {
          key: ada.text,
          body: '{"overlapSeconds":0}',
        }),
      revocation: ({ id }) => service.call("POST", `~/admin/keys/${id}/revoke`, { key: ada.text }),
    };
    const open = Object.entries(endings).map(async ([name, end]) => {
      const key = await issueOperator(service, name);
      const cookie = await signIn(service, key.text);
      const { status, ended } = await openStream({ Cookie: cookie });
      await end(key, cookie);
      await ended;
      return status;
    });
    expect(await Promise.all(open)).toEqual([200, 200, 200]);
  });
});
