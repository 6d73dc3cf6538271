import { useSignal } from "@preact/signals";
import { isUsable } from "../../domain/operations/attention.ts";
import { request } from "../client/api.ts";
import { isOwnKey } from "../client/session.ts";
import type { Key, Service } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { readStored, store } from "../page/storage.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { useLoaded } from "../parts/loaded.tsx";

const storageName = "petstore-first-steps";

/** What the owner of a new store does first, until all of it is done or the person hides it. */
export function FirstSteps({ facts }: { readonly facts: Service }) {
  const isHidden = useSignal(readStored(storageName) !== undefined);
  const source = useLoaded(async (signal) =>
    isHidden.value ? undefined : request<readonly Key[]>("/keys", { signal }),
  );
  const state = source.state.value;
  if (isHidden.value || state.kind !== "ready" || !state.value) return null;
  const steps = stepsOf(facts, state.value);
  const done = steps.filter(([isDone]) => isDone).length;
  if (done === steps.length) return null;
  const hide = () => {
    isHidden.value = true;
    store(storageName, "hidden");
  };
  return (
    <Card title={`First steps: ${done} of ${steps.length} done`} class="stack">
      {steps.map(([isDone, to, title, text]) => (
        <p key={to} class="row">
          <Icon name={isDone ? "check" : "plus"} />
          {isDone ? <s>{title}</s> : <a href={hrefOf(to)}>{title}</a>}
          <span class="small muted">{isDone ? "Done" : text}</span>
        </p>
      ))}
      <Button onClick={hide}>Hide</Button>
    </Card>
  );
}

type Step = readonly [isDone: boolean, to: string, title: string, text: string];

function stepsOf({ stock, backup }: Service, all: readonly Key[]): readonly Step[] {
  const keys = all.filter(isUsable);
  const hasPets = Object.values(stock).some(({ entries }) => entries > 0);
  const hasClient = keys.some(({ kind }) => kind === "api");
  const hasColleague = keys.some(({ id, kind }) => kind === "operator" && !isOwnKey(id));
  return [
    [hasPets, "/import", "Import your pets", "From a file, or add them one by one in Stock."],
    [hasClient, "/keys?new=web-shop", "Create a key for the web shop", "It reads and books stock."],
    [backup !== null, "/backups", "Make a backup", "A copy of the whole store."],
    [hasColleague, "/keys?new=colleague", "Invite a colleague", "Every change then has a name."],
  ];
}
