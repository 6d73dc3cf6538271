import { useSignal } from "@preact/signals";
import { apiErrorCodes } from "../../domain/running/errors.ts";
import { quoted } from "../../domain/values/shell.ts";
import { requestPath } from "../activity/change-filter.ts";
import { request } from "../client/api.ts";
import type { RefusedRequest, RequestOutcome } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { keptIn, Select } from "../parts/choices.tsx";
import { FieldError, TextField, takeForm, useSubmission } from "../parts/fields.tsx";
import { CopyButton } from "../parts/issue-dialog.tsx";
import { usePolled, WhenLoaded } from "../parts/loaded.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Time } from "../parts/time.tsx";
import { capitalized, formatCount } from "../texts/formats.ts";

/** Why requests of a key got errors, the newest first, and what became of any request. */
export function RequestCards({ keyId }: { readonly keyId: string }) {
  const code = useSignal("");
  const query = code.value === "" ? "" : `&code=${code.value}`;
  const source = usePolled<readonly RefusedRequest[]>(`/requests?key=${keyId}${query}`);
  const filter = (
    <Select
      label="Error code"
      choices={[["", "All codes"], ...apiErrorCodes.map((one) => [one, one] as const)]}
      {...keptIn(code)}
    />
  );
  return (
    <div class="grid sections wide-section">
      <FindRequest />
      <Card title="Refused and failed requests" class="wide-section" aside={filter}>
        <WhenLoaded source={source}>
          {(rows) =>
            rows.length > 0 ? (
              <Table class="card-table request-list" {...{ rows, columns, keyOf }} />
            ) : (
              <p class="muted">{code.value === "" ? "None yet." : "None with this code."}</p>
            )
          }
        </WhenLoaded>
      </Card>
    </div>
  );
}

const keyOf = ({ seq }: RefusedRequest) => seq;

const columns: readonly Column<RefusedRequest>[] = [
  {
    title: "Request",
    class: "request-text",
    isMain: true,
    cell: ({ method, path, requestId }) => (
      <>
        <div class="mono">{`${method} ${path}`}</div>
        <div class="muted small mono">{requestId}</div>
      </>
    ),
  },
  {
    title: "Error",
    class: "request-text",
    cell: ({ status, code, message }) => (
      <div>
        <span class={`badge mono ${status >= 500 ? "danger" : "warning"}`}>{status}</span>
        <span class="mono small">{` ${code}`}</span>
        <div>{message}</div>
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
    class: "small request-client",
    cell: ({ userAgent }) => <bdi>{userAgent}</bdi>,
  },
  {
    title: "Actions",
    isTitleHidden: true,
    cell: (row) => (
      <CopyButton text={curlOf(row, window.location.origin)} what="command">
        Copy as curl
      </CopyButton>
    ),
  },
];

/** Finds any request by its id, also one that was stored. */
function FindRequest() {
  const found = useSignal<RequestOutcome | undefined>(undefined);
  const { error, run } = useSubmission();
  const submit = (form: FormData) => {
    const id = String(form.get("requestId")).trim();
    found.value = undefined;
    return run(async () => {
      found.value = await request<RequestOutcome>(`/requests/${encodeURIComponent(id)}`);
    });
  };
  const { outcome = "", advice, error: got, changes: [first] = [] } = found.value ?? {};
  return (
    <Card title="Find a request" class="wide-section">
      <form class="row filter-bar" onSubmit={takeForm(submit)}>
        <TextField name="requestId" label="Request id" placeholder="req_…" isRequired />
        <Button>What became of it?</Button>
        <FieldError>{error.value}</FieldError>
        <p role="status">
          <strong>{outcome && `${capitalized(outcome)}.`}</strong> {got?.message} {advice}
        </p>
        {first && <a href={hrefOf(requestPath(first))}>Show its changes in Activity</a>}
      </form>
    </Card>
  );
}

/** A command that sends a request again. The service keeps neither the key nor the body. */
function curlOf({ method, path }: RefusedRequest, origin: string): string {
  // With -g, curl takes a path such as /[1-9] as one path, too.
  const words = ["curl -g", method === "HEAD" ? "--head" : `-X ${quoted(method)}`];
  words.push(quoted(origin + path), "-H 'Authorization: Bearer <API_KEY>'");
  if (/^(POST|PATCH|PUT)$/.test(method)) {
    words.push("-H 'Content-Type: application/json' -d '<BODY>'");
  }
  return words.join(" ");
}
