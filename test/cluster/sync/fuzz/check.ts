/** Whether the target is as the good commit declares, and whether the hub reports it so. */
import { PIPELINES } from '../../../../src/api/generated/resources.ts';
import type { Cluster, Pipeline } from '../../../../src/api/generated/types.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { GOOD } from '../../../sync/fuzz/content.ts';
import { findProblems } from '../../../sync/fuzz/problems.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { clusterStatus, declaredObjects, ownedObjects, pipelineHead, readInventory } from './observe.ts';
import { TARGET } from './setup.ts';

type ClusterSync = NonNullable<NonNullable<Cluster['status']>['sync']>;

export async function contentProblems(fleet: FuzzFleet, foreign: readonly KubeObject[]): Promise<string[]> {
  const declared = [...Object.values(GOOD).flat(), ...foreign];
  const [owned, read, inventory] = await Promise.all([
    ownedObjects(fleet),
    declaredObjects(fleet, declared),
    readInventory(fleet),
  ]);
  return findProblems(GOOD, fleet.hubUID, { live: [...owned, ...read], inventory, foreign });
}

export async function statusProblems(fleet: FuzzFleet): Promise<string[]> {
  const expected = fleet.head(TARGET);
  const { commit = '', verdict = '', message = '' } = await pipelineHead(fleet, TARGET);
  const isHead = commit === expected && verdict === 'Accepted';
  return [
    ...(isHead ? [] : [`head of the Pipeline: ${commit} ${verdict} ${message}`]),
    ...(await syncProblems(fleet, expected)),
  ];
}

async function syncProblems(fleet: FuzzFleet, expected: string): Promise<string[]> {
  const { sync = {}, conditions } = await clusterStatus(fleet, TARGET);
  const synced = conditions.find(({ type }) => type === 'Synced');
  const isProven = sync.commit === expected && sync.state === 'Proven';
  return [
    ...(isProven ? [] : [`cluster: expected ${expected} to be Proven, got ${shown(sync)}`]),
    ...(synced?.status === 'True' ? [] : [`condition Synced: ${JSON.stringify(synced)}`]),
  ];
}

function shown({ commit, state, message, failures }: ClusterSync): string {
  return JSON.stringify({ commit, state, message, failures });
}

const ACKNOWLEDGE = /acknowledge unit (\S+) with planDigest (sha256:[\da-f]{64}) /;
const MAX_ACKNOWLEDGEMENTS = 16;

/** What a person does who reads that deletes are held. */
export async function acknowledgeHold(fleet: FuzzFleet): Promise<void> {
  const { sync = {} } = await clusterStatus(fleet, TARGET);
  const [, unit, planDigest] = ACKNOWLEDGE.exec(sync.message ?? '') ?? [];
  if (unit === undefined || planDigest === undefined) return;
  const { client } = fleet.hub;
  const { acknowledgements: present } = (await client.get<Pipeline>(PIPELINES, { name: TARGET })).spec;
  // An acknowledgement releases one plan once: the same plan of a later commit is acknowledged again.
  const reason = `fuzz ${fleet.head(TARGET)}`;
  if (present.some((each) => each.planDigest === planDigest && each.reason === reason)) return;
  const others = present.filter((each) => each.planDigest !== planDigest);
  const all = [...others, { unit, planDigest, reason }].slice(-MAX_ACKNOWLEDGEMENTS);
  await client.patch(
    PIPELINES,
    { name: TARGET },
    { type: 'merge', body: { spec: { acknowledgements: all } } },
  );
}
