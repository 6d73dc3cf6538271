/** Values that several examples of the operator API share. */

export const exampleOperatorId = "key_4uVfKq0ZrT1xWbNd7mLs2C";
export const exampleKeyId = "key_9aXpR2tQvB6yHcEw3jGk5M";
export const exampleTime = "2026-11-16T08:00:00.000Z";
export const exampleRequestId = "req_5f0c1e9a2b7d_42";
