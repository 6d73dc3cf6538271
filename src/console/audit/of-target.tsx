import { requestPage } from "../client/api.ts";
import type { AuditRow } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { useLoaded, WhenLoaded } from "../parts/loaded.tsx";
import { AuditRows } from "./rows.tsx";

const rowsMax = 10;

/** The last rows of the audit log about one thing. */
export function AuditOfTarget({ target }: { readonly target: string }) {
  const source = useLoaded(
    (signal) => requestPage<AuditRow>(`/audit?target=${target}&limit=${rowsMax}`, signal),
    [target],
  );
  return (
    <WhenLoaded source={source}>
      {({ items, next }) => (
        <>
          {items.length > 0 ? (
            <AuditRows rows={items} hasTarget={false} />
          ) : (
            <p class="muted">{next ? "Nothing lately." : "Nothing yet."}</p>
          )}
          {next && <a href={hrefOf(`/audit?target=${target}`)}>Show all</a>}
        </>
      )}
    </WhenLoaded>
  );
}
