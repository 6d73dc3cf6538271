import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestService, type TestService } from "./service.ts";

let service: TestService;
beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.stop());

test("a list after an update shows the update, with every digit of the id", async () => {
  const { text: key } = await service.issueKey();
  await service.addPets({ petId: 9007199254740993n }, { petId: 9223372036854775807n, quantity: 2 });
  const updated = await service.call("PATCH", "/inventory/9223372036854775807", {
    key,
    body: '{"quantity":7}',
  });
  expect(updated.status).toBe(200);
  expect(updated.text).toBe('{"petId":9223372036854775807,"quantity":7,"status":"available"}');
  const list = await service.call("GET", "/inventory", { key });
  expect(list.text).toBe(
    '[{"petId":9007199254740993,"quantity":0,"status":"available"},' +
      '{"petId":9223372036854775807,"quantity":7,"status":"available"}]',
  );
});
