/** What the tests of the remedy controller share: the kinds of its API server, machines with their Nodes, and the end of a job. */

import {
  DEFENDER_LEDGERS,
  MACHINES,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import type { GrantPort } from '../../../src/api/grants.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { servedKind } from '../../../src/sim/api-server/kinds.ts';
import { machine, node } from '../../support/builders.ts';
import type { ControllerBed } from '../../support/controller/bed.ts';

const JOBS = servedKind(REMEDY_OPERATION_JOBS);
export const REMEDY_KINDS = [
  servedKind(NODE_REMEDIERS),
  servedKind(MACHINES),
  { resource: NODES },
  JOBS,
  servedKind(DEFENDER_LEDGERS),
];

/** The machine, and its Node, which has booted. */
export function bootedMachine(name: string): readonly KubeObject[] {
  const { metadata, ...rest } = machine(name);
  const { uid: _, ...others } = metadata;
  const found = node(name);
  const status = { ...(found['status'] as object), nodeInfo: { bootID: 'boot-1' } };
  return [
    { ...rest, metadata: others },
    { ...found, status },
  ];
}

export function jobsOf({ api }: ControllerBed): readonly RemedyOperationJob[] {
  return api.objects.list(JOBS, undefined) as RemedyOperationJob[];
}

type Outcome = NonNullable<NonNullable<RemedyOperationJob['status']>['outcome']>['class'];

/** What the job controller does at the end of a job. */
export async function endJob(
  bed: ControllerBed,
  grants: Pick<GrantPort, 'settle'>,
  { metadata: { name }, spec }: RemedyOperationJob,
  outcome: Outcome,
): Promise<void> {
  const settledAt = bed.clock.now().toISOString();
  const status = { conditions: [], outcome: { class: outcome }, timeline: { settledAt } };
  const by = { manager: 'kubenode-remedyjob' };
  bed.api.objects.merge(JOBS, { name }, (live) => ({ ...live, status }), { ...by, subresource: 'status' });
  await grants.settle([{ ...spec.grant, outcome: outcome === 'Succeeded' ? 'Succeeded' : 'Failed' }]);
  const released = [{ op: 'remove', path: '/metadata/finalizers' }] as const;
  bed.api.objects.patch(JOBS, { name }, released, by);
}
