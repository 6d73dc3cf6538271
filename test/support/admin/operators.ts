import { byCommand } from "../../../src/domain/audit/audit.ts";
import type { Environment, Role } from "../../../src/domain/keys/keys.ts";
import { issueOperatorKey } from "../../../src/domain/keys/lifecycle.ts";
import type { TestService } from "../service.ts";

type Shop = Pick<TestService, "store" | "clock">;

/** Issues an operator key. */
export async function issueOperator(
  { store, clock }: Shop,
  name = "Ada",
  environment: Environment = "production",
  role: Role = "owner",
): Promise<{ id: string; text: string }> {
  const terms = { name, role };
  const { key, text } = await issueOperatorKey(store, environment, terms, byCommand(clock.now()));
  return { id: key.id, text };
}

/** Signs in. Returns the value of the header Cookie for later requests. */
export async function signIn(service: Pick<TestService, "call">, key: string): Promise<string> {
  const { headers } = await service.call("POST", "~/admin/session", { key });
  return cookieIn(headers);
}

/** What a browser sends after a response with this Set-Cookie. */
export function cookieIn(headers: Headers): string {
  return headers.get("set-cookie")!.split(";")[0]!;
}

/** The headers with which a page of the service sends a request that changes something. */
export function ownPage(cookie: string): Record<string, string> {
  return { Cookie: cookie, "Sec-Fetch-Site": "same-origin" };
}
