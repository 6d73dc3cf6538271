import { disk } from "./disk/part.ts";
import { mutation } from "./mutation/part.ts";
import type { Part } from "./part.ts";
import { power } from "./power/part.ts";
import { simulation } from "./simulation/part.ts";

export const parts: readonly Part[] = [power, disk, simulation, mutation];
