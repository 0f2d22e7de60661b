/** Reads and expectations that several steps share. */
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINES,
  NODE_REMEDIERS,
  PIPELINES,
  RELEASES,
  REMEDY_OPERATION_JOBS,
} from '../../api/generated/resources.ts';
import type {
  Cluster,
  DefenderLedger,
  Machine,
  MachineComponentSet,
  NodeRemedier,
  Pipeline,
  Release,
  RemedyOperationJob,
} from '../../api/generated/types.ts';
import { LEDGER } from '../../api/names.ts';
import { conditionOf } from '../../kube/objects/conditions.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { shortCommit } from '../../views/text/age.ts';
import { notProvenReason } from './observed.ts';
import type { Tour } from './step.ts';
import type { Expectation } from './verify.ts';

export async function readClusters(tour: Tour): Promise<readonly Cluster[]> {
  return (await (await tour.client('hub')).list<Cluster>(CLUSTERS)).items;
}

export async function readPipeline(tour: Tour): Promise<Pipeline | undefined> {
  return (await (await tour.client('hub')).list<Pipeline>(PIPELINES)).items[0];
}

export async function readReleases(tour: Tour): Promise<readonly Release[]> {
  return (await (await tour.client('hub')).list<Release>(RELEASES)).items;
}

export async function readMachines(tour: Tour, cluster: string): Promise<readonly Machine[]> {
  const { items } = await (await tour.client(cluster)).list<Machine>(MACHINES);
  return items.toSorted((a, b) => a.metadata.name.localeCompare(b.metadata.name));
}

export async function readSet(tour: Tour, cluster: string): Promise<MachineComponentSet> {
  return await (await tour.client(cluster)).get<MachineComponentSet>(MACHINE_COMPONENT_SETS, {
    name: 'general',
  });
}

export async function readJobs(tour: Tour, cluster: string): Promise<readonly RemedyOperationJob[]> {
  return (await (await tour.client(cluster)).list<RemedyOperationJob>(REMEDY_OPERATION_JOBS)).items;
}

export async function readLedger(tour: Tour, cluster: string): Promise<DefenderLedger> {
  return await (await tour.client(cluster)).get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
}

/** Returns the message of the rule about its waves. */
export async function readRuleProof(tour: Tour, cluster: string, name: string): Promise<string> {
  const client = await tour.client(cluster);
  const { status } = await client.get<NodeRemedier>(NODE_REMEDIERS, { name });
  return conditionOf(status?.conditions, 'Proven')?.message ?? 'not reported yet';
}

export async function readClusterNode(tour: Tour, cluster: string, name: string): Promise<KubeObject> {
  return await (await tour.client(cluster)).get(NODES, { name });
}

/** Ten machines, one after the other in three stages, took 200 seconds on two cores with six runnable processes each. */
const ROLLOUT_SECONDS = 600;

export function provenEverywhere(tour: Tour, commit: string): Expectation {
  return {
    what: `test, pre and prod are Proven at ${shortCommit(commit)}`,
    withinSeconds: ROLLOUT_SECONDS,
    lookAt: 'kubenode status',
    reason: async () => notProvenReason(await readClusters(tour), commit),
  };
}
