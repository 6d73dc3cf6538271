/** One shop in all examples, so that a reader recognises its pets and changes. */

export const exampleItem = { petId: 7, quantity: 12, status: "available" };

export const exampleItems = {
  summary: "Two pets",
  value: [exampleItem, { petId: 8, quantity: 0, status: "sold" }],
};

const exampleStock = { quantity: 12, status: "available" };

export const exampleDifference = {
  petId: 7,
  before: { quantity: 15, status: "available" },
  after: exampleStock,
};

export const exampleUpdate = { quantity: 12 };

export const exampleChanges = {
  changes: [
    { petId: 7, delta: -2, reason: "Sold at till 4" },
    { petId: 8, quantity: 30, expectedVersion: 1193 },
  ],
};

export const exampleVersionedItem = { ...exampleItem, version: 1208 };

export const exampleChanged = {
  entries: [exampleVersionedItem, { petId: 8, quantity: 30, status: "available", version: 1209 }],
};

export const exampleOrder = {
  id: 1042,
  petId: 7,
  quantity: 1,
  shipDate: "2026-11-20T09:00:00.000Z",
  status: "placed",
  complete: false,
};

export const exampleRow = {
  seq: 1207,
  petId: 7,
  before: { quantity: 9, status: "available" },
  after: { quantity: 12, status: "available" },
  cause: "api",
  keyId: "key_0Wn4pZ8sT1kQx",
  keyName: "Till 3",
  reason: "Delivery 4711",
  requestId: "req_5f0c1e9a2b7d_42",
  at: "2026-11-15T12:00:00.000Z",
} as const;

export const exampleHead = {
  seq: 1207,
  hash: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  at: "2026-11-15T12:00:00.000Z",
};

/** Examples of the operator API. */
export const exampleOperatorId = "key_4uVfKq0ZrT1xWbNd7mLs2C";
export const exampleKeyId = "key_9aXpR2tQvB6yHcEw3jGk5M";
export const exampleTime = "2026-11-16T08:00:00.000Z";
export const exampleRequestId = "req_5f0c1e9a2b7d_42";
