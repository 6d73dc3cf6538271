import { clock } from "./clock/part.ts";
import { crash } from "./crash/part.ts";
import { disk } from "./disk/part.ts";
import { mutation } from "./mutation/part.ts";
import { network } from "./network/part.ts";
import { overload } from "./overload/part.ts";
import type { Part } from "./part.ts";
import { power } from "./power/part.ts";
import { simulation } from "./simulation/part.ts";
import { soak } from "./soak/part.ts";

export const parts: readonly Part[] = [
  ...[power, disk, clock, crash, network, simulation, overload, soak, mutation],
];
