import { useSignal } from "@preact/signals";
import { requestPath } from "../activity/change-filter.ts";
import { request } from "../client/api.ts";
import type { RefusedRequest, RequestOutcome } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Card } from "../parts/card.tsx";
import { Select } from "../parts/choices.tsx";
import { CopyButton } from "../parts/copy-button.tsx";
import { FieldError } from "../parts/fields.tsx";
import { WhenLoaded } from "../parts/loaded.tsx";
import { usePolled } from "../parts/polled.ts";
import { useSubmission } from "../parts/submission.ts";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { formatCount } from "../texts/formats.ts";
import { curlOf } from "./curl.ts";

/** The codes of errors that clients of the API get. */
const codes = `invalid_request unauthorized insufficient_scope not_found method_not_allowed
  idempotency_conflict insufficient_stock version_conflict gone precondition_failed
  payload_too_large unsupported_media_type idempotency_key_reused rate_limit_exceeded key_banned
  internal_error unavailable`.split(/\s+/);

const rowsMax = 100;

/** Why requests of a key got errors, the newest first, and what became of any request. */
export function RequestsCard({ keyId }: { readonly keyId: string }) {
  const code = useSignal("");
  const query = new URLSearchParams({ key: keyId, limit: String(rowsMax) });
  if (code.value !== "") query.set("code", code.value);
  const source = usePolled<readonly RefusedRequest[]>(`/requests?${query}`);
  const filter = (
    <Select
      label="Error code"
      choices={[["", "All codes"], ...codes.map((one) => [one, one] as const)]}
      value={code.value}
      choose={(chosen) => (code.value = chosen)}
    />
  );
  return (
    <Card title="Refused and failed requests" class="wide-section" aside={filter}>
      <WhenLoaded source={source}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="muted">
              {code.value === "" ? "None yet." : "None with this code."} New ones appear here by
              themselves.
            </p>
          ) : (
            <Table
              caption="Requests that got an error, newest first"
              rows={rows}
              keyOf={({ seq }) => seq}
              mark={({ requestId }) => ({ "data-request": requestId })}
              columns={columns}
            />
          )
        }
      </WhenLoaded>
      <OutcomeForm />
    </Card>
  );
}

const columns: readonly Column<RefusedRequest>[] = [
  {
    title: "Request",
    class: "request-text request-name",
    isMain: true,
    cell: ({ method, path, requestId }) => (
      <>
        <bdi class="mono">{`${method} ${path}`}</bdi>
        <span class="muted small mono">{requestId}</span>
      </>
    ),
  },
  {
    title: "Error",
    class: "request-text",
    cell: ({ status, code, message }) => (
      <div>
        <span class={`badge mono ${status >= 500 ? "danger" : "warning"}`}>
          {`${status} ${code}`}
        </span>
        <div>
          <bdi>{message}</bdi>
        </div>
      </div>
    ),
  },
  {
    title: "When",
    class: "nowrap",
    cell: ({ at, durationMs }) => (
      <div>
        <Time at={at} />
        <div class="small muted">after {formatCount(durationMs)} ms</div>
      </div>
    ),
  },
  {
    title: "Client",
    class: "request-text small",
    cell: ({ userAgent }) => <bdi>{userAgent ?? "Not named"}</bdi>,
  },
  {
    title: "Actions",
    isTitleHidden: true,
    cell: (row) => (
      <CopyButton text={curlOf(row, window.location.origin)} what="curl command" isSmall>
        Copy as curl
      </CopyButton>
    ),
  },
];

/** Finds any request by its id, also one that was stored. */
function OutcomeForm() {
  const found = useSignal<RequestOutcome | undefined>(undefined);
  const { isBusy, error, run } = useSubmission();
  const find = (id: string) =>
    run(async () => {
      found.value = undefined;
      found.value = await request<RequestOutcome>(`/requests/${encodeURIComponent(id)}`);
    });
  return (
    <form
      class="row outcome-form"
      onSubmit={(event) => {
        event.preventDefault();
        void find(String(new FormData(event.currentTarget).get("requestId")).trim());
      }}
    >
      <input
        class="input mono"
        name="requestId"
        required
        aria-label="Request id"
        placeholder="Request id: req_…"
        autocomplete="off"
        spellcheck={false}
      />
      <button type="submit" class="button" disabled={isBusy.value}>
        What became of it?
      </button>
      {error.value !== "" && <FieldError>{error.value}</FieldError>}
      <div role="status">{found.value && <Outcome {...found.value} />}</div>
    </form>
  );
}

function Outcome({ outcome, advice, error, changes }: RequestOutcome) {
  const last = changes.at(-1);
  return (
    <>
      <p>
        <span class={`badge ${outcome === "stored" ? "success" : "warning"}`}>{outcome}</span>{" "}
        {error && <bdi>{`${error.status} ${error.code}: ${error.message}`}</bdi>}
      </p>
      <p class="small muted">{advice}</p>
      {last && <a href={hrefOf(requestPath(last))}>Show its changes in Activity</a>}
    </>
  );
}
