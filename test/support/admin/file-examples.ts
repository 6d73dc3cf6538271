import type { AdminExamples } from "./operation-examples.ts";

/** A file with bad rows is in test/admin/imports.test.ts: reading one takes a process. */
const importExamples = (what: "pets" | "orders", file: string): AdminExamples => ({
  good: { path: `/${what}/import?format=csv`, body: file },
  bad: [
    { path: `/${what}/import`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=xlsx`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&format=csv`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&dryRun=1`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&name=`, body: file, code: "invalid_request" },
    { path: `/${what}/import?format=csv&name=a%00b`, body: file, code: "invalid_request" },
    {
      path: `/${what}/import?format=csv`,
      body: file,
      headers: { "Content-Encoding": "gzip" },
      code: "unsupported_media_type",
    },
  ],
});

const exportExamples = (what: "pets" | "orders"): AdminExamples => ({
  good: { path: `/${what}/export?format=csv` },
  bad: [
    { path: `/${what}/export`, code: "invalid_request" },
    { path: `/${what}/export?format=CSV`, code: "invalid_request" },
  ],
});

export const fileExamples = {
  importPets: importExamples("pets", "petId,quantity\n1,4\n"),
  exportPets: exportExamples("pets"),
  importOrders: importExamples("orders", "id,petId,quantity,status\n1,1,1,placed\n"),
  exportOrders: exportExamples("orders"),
  listOrders: {
    good: { path: "/orders?limit=1" },
    bad: [{ path: "/orders?limit=0", code: "invalid_request" }],
  },
} satisfies Record<string, AdminExamples>;
