/**
 * The taint with which Kubernetes deletes the pods of a dead node and detaches its volumes, so that they run elsewhere. On a machine that
 * runs it would let two write to one volume: so the machine is switched off before, and the taint is removed before it is switched on. Pure.
 */
import type { RemedyOperationJob, Taint } from '../../../api/generated/types.ts';
import { bootIdOf } from '../../../api/status/step-records.ts';
import type { JsonPatchOperation } from '../../../kube/controller/writes/declared-fields.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { PowerState } from '../../../providers/power.ts';
import type { JobInput } from '../observe/observe.ts';
import { isOutOfService, jobTaints, OUT_OF_SERVICE, planUntaint } from '../plan/owned-taints.ts';
import { showsLife } from './off-guard.ts';
import { lastPower, type PowerRecord } from './power-records.ts';

export const OUT_OF_SERVICE_TAINT: Taint = {
  key: OUT_OF_SERVICE,
  value: 'nodeshutdown',
  effect: 'NoExecute',
};

export interface OutOfServicePlan {
  /** With Alive and Runs the taint must not stay. */
  readonly type: 'Set' | 'Wait' | 'Alive' | 'Runs';
  readonly because: string;
}

/** Returns the power step of this job that has read Off last; undefined: the job has not switched it off, or switches it on again. */
export function powerOffOf(job: RemedyOperationJob): PowerRecord | undefined {
  const last = lastPower(job);
  return last?.power.desired === 'Off' && last.power.offAt !== undefined ? last : undefined;
}

/** Plans the taint by what the switch reads now. A switch that reads Off while the host shows life is that of another host, or is wrong. */
export function planOutOfService(observation: JobInput, state: PowerState): OutOfServicePlan {
  if (state === 'On') return { type: 'Runs', because: 'the switch reads On: the machine runs' };
  if (state !== 'Off') return { type: 'Wait', because: `the switch reads ${state}` };
  if (showsLife(observation)) {
    return { type: 'Alive', because: 'the switch reads Off, and the host shows life' };
  }
  return { type: 'Set', because: 'the switch reads Off' };
}

/** Plans the removal of our taint before the machine is switched on. Empty: it has none. */
export function planBackInService(node: KubeObject, grant: string): readonly JsonPatchOperation[] {
  return planUntaint(node, grant, isOutOfService);
}

/** Returns the grant of a job whose taint is on a Node that has booted since, or is Ready: it runs, whatever a switch has read. */
export function returnedGrant(
  node: KubeObject,
  grants: readonly string[],
  jobOf: (grant: string) => RemedyOperationJob | undefined,
): string | undefined {
  return grants.find((grant) => {
    if (!jobTaints(node, grant).some(isOutOfService)) return false;
    if (showsLife({ machine: undefined, node })) return true;
    const job = jobOf(grant);
    if (!job) return false;
    const before = lastPower(job)?.record.bootIDBefore ?? job.spec.node.bootID;
    const bootID = bootIdOf(node);
    return bootID !== undefined && bootID !== before;
  });
}
