import type { AuditRow } from "../client/types.ts";
import { navigate } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Empty } from "../parts/empty.tsx";
import { Pages } from "../parts/pages.tsx";
import type { ViewProps } from "../parts/view.tsx";
import { AuditFilters, useKnown } from "./filters.tsx";
import { AuditRows } from "./rows.tsx";

const filterNames = ["action", "keyId", "target"];

/** /audit?action=…&keyId=…&target=… shows who changed what, the newest first. */
export default function AuditView({ query }: ViewProps) {
  const known = useKnown();
  const filter = new URLSearchParams();
  for (const name of filterNames) if (query.get(name)) filter.set(name, query.get(name)!);
  return (
    <>
      <div class="view-head">
        <h1 class="view-title">Audit log</h1>
        <p class="muted">
          Every change to keys, webhooks, pets and orders, every sign-in and every backup. Changes
          to stock are under Activity.
        </p>
      </div>
      <AuditFilters
        known={known}
        filter={filter}
        change={(name, value) => {
          if (value === "") filter.delete(name);
          else filter.set(name, value);
          navigate(`/audit${filter.size > 0 ? `?${filter}` : ""}`, { replace: true });
        }}
      />
      <Pages<AuditRow>
        key={String(filter)}
        path={`/audit?limit=100${filter.size > 0 ? `&${filter}` : ""}`}
        failedTitle="The log could not be loaded"
        moreText="Show older"
        empty={<NoRows isFiltered={filter.size > 0} />}
      >
        {(rows) => <AuditRows rows={rows} names={known.names} />}
      </Pages>
    </>
  );
}

function NoRows({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <Empty title="Nothing has been changed yet">
        <p>Create a key or a webhook, and it appears here.</p>
      </Empty>
    );
  }
  return (
    <Empty title="Nothing matches">
      <p>No row of the log matches all filters.</p>
      <Button onClick={() => navigate("/audit", { replace: true })}>Show everything</Button>
    </Empty>
  );
}
