import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callerOf, type Role, roleScopes, roles, rolesFrom } from "../../src/domain/keys/keys.ts";
import { operationExamples, prepareExamples } from "../support/admin/operation-examples.ts";
import { operations } from "../support/admin/operations.ts";
import { issueOperator, ownPage, signIn } from "../support/admin/operators.ts";
import { programHere } from "../support/program.ts";
import { expectError, expectUnchanged } from "../support/responses.ts";
import { startTestService, surfaceEngine, type TestService } from "../support/service.ts";

const leastRole = (scope: string) => roles.find((role) => roleScopes[role] === scope)!;

test("a role that this version does not know allows nothing", () => {
  const limits = { perMinute: 1, perDay: 1 };
  const times = { createdAt: 0, expiresAt: null, revokedAt: null };
  const scopes = ["operator:later"] as never;
  const key = { id: "key_1", name: "Later", plan: "operator", limits, scopes, ...times } as const;
  expect(callerOf(key, { digest: "", expiresAt: null }, 1)?.scopes).toEqual([]);
});

describe.each([surfaceEngine])("roles of operators on %s", (engine) => {
  let service: TestService;
  let keys: Record<Role, { id: string; text: string }>;
  beforeAll(async () => {
    service = await startTestService(
      engine,
      { "webhooks-allowed-networks": "127.0.0.0/8" },
      {},
      { program: programHere() },
    );
    const one = (role: Role) => issueOperator(service, role, "production", role);
    keys = { viewer: await one("viewer"), clerk: await one("clerk"), owner: await one("owner") };
    await service.addPets({ petId: 1n, quantity: 3 }, { petId: 2n, status: "sold" });
  });
  afterAll(() => service.stop());

  const setQuantity = (headers: Record<string, string>) =>
    service.call("PATCH", "~/admin/stock/1", { headers, body: '{"quantity":3}' });

  const changeRole = (id: string, role: string) =>
    service.call("PATCH", `~/admin/keys/${id}`, {
      key: keys.owner.text,
      body: JSON.stringify({ role }),
    });

  test.each(operations.map((operation) => [operation.id, operation] as const))(
    "%s is refused below its role, and changes nothing; the roles above can call it",
    async (id, { method, path, scope }) => {
      const allowed = rolesFrom(leastRole(scope));
      const good = (await prepareExamples(service, id))(operationExamples[id]!.good);
      const lastRow = () => service.store.audit.listEntries({}, 1);
      for (const role of roles) {
        const before = await lastRow();
        const key = keys[role].text;
        const response = await expectUnchanged(service.store, () =>
          allowed.includes(role)
            ? // Only the names of a request are examined after the role, so nothing happens.
              service.call(method, `~/admin${path.replace(/\{\w+\}/, "1")}?nothing=1`, { key })
            : service.call(method, `~/admin${good.path}`, { ...good, key }),
        );
        expect([role, await lastRow()]).toEqual([role, before]);
        if (allowed.includes(role)) {
          expectError(response, "invalid_request");
        } else {
          expectError(response, "insufficient_scope");
          const message = `This needs an operator key with the role ${allowed.join(" or ")}.`;
          expect(response.json).toMatchObject({ message });
          expect(response.headers.get("WWW-Authenticate")).toEndWith(`scope="${scope}"`);
        }
      }
    },
  );

  test("no operation that shows keys, webhooks or backups is for viewers or clerks, and none that writes is for viewers", () => {
    for (const { id, method, path, scope } of operations) {
      if (/^\/(keys|webhooks|backups)/.test(path)) expect([id, scope]).toEqual([id, "operator"]);
      if (method !== "GET" && path !== "/session")
        expect([id, leastRole(scope)]).not.toEqual([id, "viewer"]);
    }
  });

  test("a session tells the role, and has the rights of its key after a change and a revocation", async () => {
    const { id, text } = await issueOperator(service, "Grace");
    const page = ownPage(await signIn(service, text));
    const role = async () => {
      const { json } = await service.call("GET", "~/admin/session", { headers: page });
      return (json as { operator: { role: string } }).operator.role;
    };
    expect(await role()).toBe("owner");
    const changed = await changeRole(id, "clerk");
    expect(changed.json).toMatchObject({ role: "clerk", scopes: ["operator:clerk"] });
    expect(await role()).toBe("clerk");
    expect((await setQuantity(page)).status).toBe(200);
    expectError(await service.call("GET", "~/admin/keys", { headers: page }), "insufficient_scope");
    await changeRole(id, "viewer");
    expectError(await setQuantity(page), "insufficient_scope");
    expect(await role()).toBe("viewer");
    await service.call("POST", `~/admin/keys/${id}/revoke`, { key: keys.owner.text });
    expectError(await setQuantity(page), "unauthorized");
  });

  test("the role of a new key is checked, and the audit log names it", async () => {
    const create = (terms: object) =>
      service.call("POST", "~/admin/keys", {
        key: keys.owner.text,
        body: JSON.stringify({ name: "Joan", ...terms }),
      });
    const { json } = await create({ kind: "operator", role: "clerk" });
    const { id } = json as { id: string };
    const [row] = await service.store.audit.listEntries({ target: id }, 1);
    expect(row).toMatchObject({ action: "key.created", details: { role: "clerk" } });
    const bad = [
      { kind: "operator", role: "admin" },
      { plan: "pro", role: "clerk" },
    ];
    for (const terms of bad) expectError(await create(terms), "invalid_request");
    const key = await service.issueKey();
    expectError(await changeRole(key.id, "viewer"), "invalid_request");
    expectError(await changeRole(id, "king"), "invalid_request");
  });

  test("only an owner sees what the service says about keys and webhooks", async () => {
    const terms = { name: "Till", plan: "pro", expiresAt: "2026-11-16T00:00:00Z" };
    const body = JSON.stringify(terms);
    const created = await service.call("POST", "~/admin/keys", { key: keys.owner.text, body });
    const key = created.json as { id: string };
    const read = async (role: Role, path: string) =>
      (await service.call("GET", `~/admin${path}`, { key: keys[role].text })).text;
    const rows = `/audit?target=${key.id}`;
    expect(await read("owner", "/service")).toContain("about to expire");
    expect(await read("owner", rows)).toContain('"plan"');
    for (const role of ["viewer", "clerk"] as const) {
      expect(await read(role, "/service")).toContain('"attention":[]');
      expect(await read(role, rows)).toContain('"details":{}');
    }
  });
});
