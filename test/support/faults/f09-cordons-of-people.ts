/**
 * F9, draino #17 and NVSentinel #141: a person uncordoned the node, and it was cordoned and drained again; or a person had cordoned
 * it, and the end of the repair removed that cordon.
 */
import { PODS } from '../../../src/kube/objects/core-kinds.ts';
import { faultRule } from './fault-rules.ts';
import { createRepairBed, type RepairBed } from './repair-bed.ts';

const TYPE = 'FrequentTaskHung';

async function sickNode(): Promise<RepairBed> {
  const bed = createRepairBed([faultRule(TYPE)]);
  bed.node.booted = () => bed.node.report(TYPE, 'False');
  bed.node.report(TYPE, 'False');
  await bed.start();
  await bed.live(10);
  return bed;
}

const kind = { resource: PODS };

function runPod(bed: RepairBed, name: string, finalizers: readonly string[] = []): void {
  bed.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', finalizers },
    spec: { nodeName: 'm', containers: [{ name: 'main', image: 'x' }] },
  });
}

/** A pod that ends slowly keeps the drain busy. The person needs the node back, and the scheduler uses it again. */
export async function replayUncordonInDrain(): Promise<RepairBed> {
  const bed = await sickNode();
  runPod(bed, 'slow', ['test/slow']);
  bed.node.report(TYPE, 'True');
  await bed.live(20);
  bed.node.personCordons(false);
  runPod(bed, 'new');
  return bed;
}

/** Names of the pods on the node that are not being deleted. */
export function podsThatStay(bed: RepairBed): readonly string[] {
  const pods = bed.api.objects.list(kind, undefined);
  return pods
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map(({ metadata }) => metadata.name);
}

/** A person has cordoned the node to work on it; the repair comes on top, and succeeds. */
export async function replayRepairOfCordonedNode(): Promise<RepairBed> {
  const bed = await sickNode();
  bed.node.personCordons(true);
  bed.node.report(TYPE, 'True');
  await bed.live(300);
  return bed;
}
