import { signal } from "@preact/signals";
import { formatBytes } from "../../domain/values/sizes.ts";
import { request } from "../client/api.ts";
import type { MadeBackup } from "../client/types.ts";
import { showError, showSuccess } from "../page/messages.ts";
import { Button } from "../parts/button.tsx";
import { useNow } from "../parts/time.tsx";
import { formatSeconds } from "../texts/formats.ts";

/** When the backup that is being made was started here. It goes on while another page is open. */
const startedAt = signal<number | undefined>(undefined);

async function makeBackup(): Promise<void> {
  startedAt.value = Date.now();
  try {
    const { bytes } = await request<MadeBackup>("/backups", { method: "POST" });
    showSuccess(`Made a backup of ${formatBytes(bytes)}`);
  } catch (error) {
    showError(error);
  } finally {
    startedAt.value = undefined;
  }
}

export function MakeBackup({ made }: { readonly made: () => void }) {
  const since = startedAt.value;
  return (
    <div class="row">
      {since !== undefined && <Elapsed since={since} />}
      <Button
        kind="primary"
        isDisabled={since !== undefined}
        onClick={() => makeBackup().then(made)}
      >
        {since === undefined ? "Make a backup now" : "Making a backup…"}
      </Button>
    </div>
  );
}

function Elapsed({ since }: { readonly since: number }) {
  const now = useNow();
  const seconds = Math.floor((now.value - since) / 1_000);
  return (
    <span class="row small muted">
      <span class="spinner" />
      {seconds > 0 && formatSeconds(seconds)}
    </span>
  );
}
