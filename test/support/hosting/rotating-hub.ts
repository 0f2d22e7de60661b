/** A hub in memory with a control plane of pods whose authorities are rotated, and what a person does to its Secret meanwhile. */
import { expect } from 'vitest';
import type { PlaneSpec } from '../../../src/controllers/hosting/drivers/driver.ts';
import {
  KEYS_SECRET,
  planeNamespace,
  RECORD,
} from '../../../src/controllers/hosting/drivers/workload/names.ts';
import type { KeyFiles } from '../../../src/controllers/hosting/drivers/workload/pki/keys.ts';
import { keyFilesOf } from '../../../src/controllers/hosting/drivers/workload/pki/secrets.ts';
import type { WorkloadRecord } from '../../../src/controllers/hosting/drivers/workload/record.ts';
import { parseWorkloadRecord } from '../../../src/controllers/hosting/drivers/workload/record-object.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { planeOf } from '../../../src/controllers/hosting/plan/plane-of.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { ApiRefusal } from '../../../src/sim/api-server/refusal.ts';
import type { BedProcess } from '../controller/bed.ts';
import { applied, conditionText, found } from './bed.ts';
import { hubImages, type MemoryHub, memoryHub } from './memory-hub.ts';
import { HOSTED, POLICY } from './objects.ts';

const NAMESPACE = planeNamespace('ci');
const STEP_MS = 50;
/** Every phase of a rotation needs less. */
const MAX_STEPS = 2400;
export const ONE: Partial<Hosted> = { driver: 'workload' };

export type RotationTarget = 'Prepare' | 'Complete';

export function rotatingSpec(target?: RotationTarget, hosted = ONE, id = '2026'): ReturnType<typeof applied> {
  return applied({
    hosted: { ...hosted, pki: { ...HOSTED.pki, ...(target ? { caRotation: { id, target } } : {}) } },
  });
}

export function openHub(hosted = ONE): MemoryHub {
  const hub = memoryHub([rotatingSpec(undefined, hosted), POLICY], hubImages());
  hub.authorities.isAsked = true;
  return hub;
}

export function forget(hub: MemoryHub): void {
  hub.made.length = 0;
  hub.most.clear();
  hub.silentSteps = 0;
  hub.etcdSilentSteps = 0;
}

/** Returns a hub whose control plane is ready, and the process of hosting. */
export async function createdHub(hosted = ONE): Promise<{ hub: MemoryHub; first: BedProcess }> {
  const hub = openHub(hosted);
  const first = await hub.start();
  await hub.advance(20_000);
  expect(conditionText(hub, 'ControlPlaneReady')).toBe('True Ready');
  forget(hub);
  return { hub, first };
}

export async function ask(
  hub: MemoryHub,
  target?: RotationTarget,
  { hosted = ONE, ms = 60_000, id = '2026' }: { hosted?: Partial<Hosted>; ms?: number; id?: string } = {},
): Promise<void> {
  hub.apply(rotatingSpec(target, hosted, id));
  await hub.advance(ms);
}

/** Lets time go on in small steps until something is the case. */
export async function until(hub: MemoryHub, isOver: () => boolean): Promise<void> {
  for (let step = 0; step < MAX_STEPS && !isOver(); step += 1) await hub.advance(STEP_MS);
  expect(isOver()).toBe(true);
}

export function secretFiles({ api }: MemoryHub, name: string): KeyFiles {
  return keyFilesOf(api.objects.get(servedKind(SECRETS), { name, namespace: NAMESPACE }));
}

export function keysOf(hub: MemoryHub): KeyFiles {
  return secretFiles(hub, KEYS_SECRET);
}

export function recordOf({ api }: MemoryHub): WorkloadRecord {
  return parseWorkloadRecord(
    api.objects.get(servedKind(CONFIG_MAPS), { name: RECORD, namespace: NAMESPACE }),
  );
}

/** Returns the names of the files that a control plane has only while its authorities are rotated. */
export function keptFiles(hub: MemoryHub): readonly string[] {
  return Object.keys(keysOf(hub)).filter((name) => /\.(old|new|crt)(\.|$)/.test(name));
}

/** The next write of the Secret with all keys is refused: somebody else has changed it. */
export function refuseKeys(hub: MemoryHub): void {
  hub.api.refuse(/^replace Secret kubenode-keys/, new ApiRefusal(409, 'Conflict', 'changed by others'));
}

/** A person changes files of the Secret with all keys. Undefined: the file is removed. */
export function editKeys(hub: MemoryHub, change: Readonly<Record<string, string | undefined>>): void {
  const files = Object.entries({ ...keysOf(hub), ...change }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, Buffer.from(text).toString('base64')] as const],
  );
  hub.api.objects.merge(
    servedKind(SECRETS),
    { name: KEYS_SECRET, namespace: NAMESPACE },
    (live): KubeObject => ({ ...live, data: Object.fromEntries(files) }),
    { manager: 'person', force: true },
  );
}

/** Returns the control plane that the spec asks for now. */
export function planeIn(hub: MemoryHub): PlaneSpec {
  const cluster = found(hub);
  if (!cluster?.spec.hosted) throw new Error('no hosted Cluster');
  return planeOf(cluster, cluster.spec.hosted);
}
