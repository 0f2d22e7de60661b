/** Cases of the planner, and their explanations. */
import type { Machine } from '../../../../src/api/generated/types.ts';
import type {
  ForeignCluster,
  ForeignConfig,
  ForeignMachine,
} from '../../../../src/controllers/following/clusterapi/contract.ts';
import {
  CLUSTER_API,
  type MachineOfCluster,
  machinesOfClusters,
} from '../../../../src/controllers/following/clusterapi/owner.ts';
import { type FollowInput, type FollowPlan, planFollow } from '../../../../src/controllers/following/plan.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { explainFollow } from '../explained-plan.ts';
import { CLUSTER, theirNode, theirs } from './objects.ts';

/** By default md-1 of theirs with its Node, and no Machine of kubenode. */
export interface FollowCase {
  readonly theirs?: readonly ForeignMachine[];
  readonly clusters?: readonly ForeignCluster[];
  readonly configs?: readonly ForeignConfig[];
  readonly unreadable?: string;
  readonly ours?: readonly Machine[];
  readonly nodes?: readonly KubeObject[];
}

export function renamed(n: number, name: string): KubeObject {
  const found = theirNode(n);
  return { ...found, metadata: { ...found.metadata, name } };
}

function inputOf(input: FollowCase): FollowInput<MachineOfCluster> {
  const { theirs: machines = [theirs(1)], clusters = [CLUSTER], unreadable } = input;
  const nodes = input.nodes ?? [theirNode(1)];
  return {
    theirs:
      unreadable === undefined ? machinesOfClusters({ machines, clusters }, input.configs) : { unreadable },
    machines: input.ours ?? [],
    nodeOf: (name) => nodes.find(({ metadata }) => metadata.name === name),
  };
}

export function planOf(input: FollowCase): FollowPlan {
  return planFollow(inputOf(input), CLUSTER_API);
}

export function explain(input: FollowCase): readonly string[] {
  return explainFollow(planOf(input));
}
