import { afterAll, beforeAll, expect, test } from "bun:test";
import collection from "../examples/petstore.postman_collection.json";
import document from "../openapi.json";
import { startTestService, type TestService } from "./support/service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
  await service.addPets({ petId: 7n, quantity: 30 });
});
afterAll(() => service.stop());

const requests = collection.item.flatMap(({ item }) => item.map(({ request }) => request));
const urlOf = ({ url }: (typeof requests)[number]) => (typeof url === "string" ? url : url.raw);

test("the collection has every operation of the API once", () => {
  const listed = requests.map((one) => {
    const path = urlOf(one).replace(/\?.*|\{\{baseUrl\}\}/g, "");
    return `${one.method} ${path.replaceAll("{{", "{").replaceAll("}}", "}")}`;
  });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(listed.sort()).toEqual(operations.sort());
});

test("every request of the collection succeeds as it is, with a base URL and a key", async () => {
  const { text: apiKey } = await service.issueKey();
  const values = new Map(collection.variable.map(({ key, value }) => [key, value]));
  values.set("baseUrl", service.baseUrl).set("apiKey", apiKey);
  const filled = (text: string) =>
    text.replace(/\{\{(\w+)\}\}/g, (_, name) => values.get(name) ?? `no variable ${name}`);
  const token = filled(collection.auth.bearer[0]!.value);
  for (const request of requests) {
    const headers = new Headers({ authorization: `Bearer ${token}` });
    for (const header of request.header) {
      if (!("disabled" in header)) headers.set(header.key, header.value);
    }
    const body = "body" in request ? request.body.raw : null;
    const response = await fetch(filled(urlOf(request)), { method: request.method, headers, body });
    expect([request.method, urlOf(request), response.status]).toEqual([
      request.method,
      urlOf(request),
      200,
    ]);
  }
});
