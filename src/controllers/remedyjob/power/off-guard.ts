/**
 * Finds what forbids switching a machine off, by what is so immediately before the request: the Node is read from the API server, because
 * a view may be behind. A host that came back is never switched off. Pure.
 */
import type { JobStepStatus } from '../../../api/generated/types.ts';
import { readinessOf } from '../../../api/machine/node-state.ts';
import { bootIdOf } from '../../../api/status/step-records.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { JobInput } from '../observe/observe.ts';
import { abortOf } from '../plan/abort.ts';

export interface OffInput {
  /** The observation by which the job is judged now. */
  readonly present: JobInput;
  /** The Node as the API server has it; undefined: not found. */
  readonly node: KubeObject | undefined;
  readonly record: JobStepStatus;
}

export function offForbidden({ present, node, record }: OffInput): string | undefined {
  const abort = abortOf(present);
  if (abort) return abort.message;
  return otherMachine(present, node) ?? cameBack(present, node, record);
}

function otherMachine({ job: { spec } }: JobInput, node: KubeObject | undefined): string | undefined {
  if (node?.metadata.uid !== spec.node.uid) return `the Node with UID ${spec.node.uid} was deleted`;
  const providerID = textAt(node, 'spec', 'providerID');
  if (spec.node.providerID === undefined || providerID === spec.node.providerID) return undefined;
  return `the Node is of another instance: ${providerID ?? 'none'}`;
}

function cameBack(
  { job, node: known }: JobInput,
  node: KubeObject | undefined,
  { bootIDBefore = job.spec.node.bootID }: JobStepStatus,
): string | undefined {
  const bootID = bootIdOf(node);
  if (bootID !== undefined && bootID !== bootIDBefore) return `the node has booted: ${bootID}`;
  const [now, before] = [readinessOf(node), readinessOf(known)];
  return now === before ? undefined : `the Node was ${before}, and is ${now}`;
}

/** Tells whether the host shows a sign of life: then it runs, whatever a switch reads. */
export function showsLife({ machine, node }: Pick<JobInput, 'machine' | 'node'>): boolean {
  return (
    conditionStatus(machine?.status?.conditions, 'AgentReady') === 'True' || readinessOf(node) === 'Ready'
  );
}
