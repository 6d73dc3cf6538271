import { randomBytes } from "node:crypto";

// Random per process and counted within it: unique without a system call per request.
const processId = `req_${randomBytes(6).toString("hex")}_`;
let requests = 0;

export function nextRequestId(): string {
  requests += 1;
  return `${processId}${requests}`;
}
