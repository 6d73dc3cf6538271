import { useSignal } from "@preact/signals";
import { request } from "../client/api.ts";
import { isOwnKey } from "../client/session.ts";
import type { Key, Service } from "../client/types.ts";
import { hrefOf } from "../page/router.ts";
import { Button } from "../parts/button.tsx";
import { Card } from "../parts/card.tsx";
import { Icon } from "../parts/icon.tsx";
import { useLoaded } from "../parts/loaded.tsx";

const storageName = "petstore-first-steps";

/** What the owner of a new store does first, until all of it is done or the person hides it. */
export function FirstSteps({ facts }: { readonly facts: Service }) {
  const isHidden = useSignal(readHidden());
  if (isHidden.value) return null;
  const hide = () => {
    isHidden.value = true;
    try {
      window.localStorage.setItem(storageName, "hidden");
    } catch {
      // A browser without storage shows the steps again after a reload.
    }
  };
  return <Steps facts={facts} hide={hide} />;
}

function Steps({ facts, hide }: { readonly facts: Service; readonly hide: () => void }) {
  const source = useLoaded((signal) => request<readonly Key[]>("/keys", { signal }));
  const state = source.state.value;
  if (state.kind !== "ready") return null;
  const steps = stepsOf(facts, state.value);
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  return (
    <Card
      title={`First steps: ${done} of ${steps.length} done`}
      class="first-steps"
      aside={
        <Button kind="quiet" isSmall onClick={hide}>
          Hide
        </Button>
      }
    >
      <ol>
        {steps.map(({ to, title, text, isDone }) => (
          <li key={to} data-done={isDone}>
            <span class="step-mark">{isDone && <Icon name="check" />}</span>
            <span>
              {isDone ? (
                <>
                  {title} <span class="visually-hidden">(done)</span>
                </>
              ) : (
                <a href={hrefOf(to)}>{title}</a>
              )}
              <span class="small muted">{text}</span>
            </span>
          </li>
        ))}
      </ol>
    </Card>
  );
}

function stepsOf({ stock, backup }: Service, keys: readonly Key[]) {
  const inUse = keys.filter(({ state }) => state === "active" || state === "banned");
  return [
    {
      to: "/import",
      title: "Import your pets",
      text: "From a file, or add them one by one in Stock.",
      isDone: Object.values(stock).some(({ entries }) => entries > 0),
    },
    {
      to: "/keys?new=web-shop",
      title: "Create a key for the web shop",
      text: "With it, a web shop or a till reads and changes the stock.",
      isDone: inUse.some(({ kind }) => kind === "api"),
    },
    {
      to: "/backups",
      title: "Make a backup",
      text: "A copy of the whole store, in case the disk fails.",
      isDone: backup !== null,
    },
    {
      to: "/keys?new=colleague",
      title: "Invite a colleague",
      text: "With a key of their own, so that every change has a name.",
      isDone: inUse.some(({ id, kind }) => kind === "operator" && !isOwnKey(id)),
    },
  ];
}

function readHidden(): boolean {
  try {
    return window.localStorage.getItem(storageName) !== null;
  } catch {
    return false;
  }
}
