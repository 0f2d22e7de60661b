/**
 * Checks what must hold for the power of machines: only what a job has recorded is switched off, once in a step, and never a host that came
 * back; and no machine that runs is out of service.
 */
import { REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { JobStepStatus, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { taintKeys } from '../../../../api/machine/node-state.ts';
import { bootIdOf } from '../../../../api/status/step-records.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { ApiChange } from '../../../api-server/objects.ts';
import type { SimulatedApi } from '../../../api-server/simulated-api.ts';

export interface PowerRules {
  /** Returns what is wrong with the request, and the job whose step it is of. */
  offRequested(machine: string): {
    readonly found: readonly string[];
    readonly job: RemedyOperationJob | undefined;
  };
  changed(machine: string, isOn: boolean): readonly string[];
  /** Judges the write of a Node. */
  written(change: ApiChange): readonly string[];
  /** Returns the machines that are off. */
  off(): readonly string[];
}

const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const RELEASED = 'a machine that runs is out of service';

interface RequestedOff {
  readonly job: RemedyOperationJob;
  readonly record: JobStepStatus;
}

export function createPowerRules({ api }: { readonly api: Pick<SimulatedApi, 'get' | 'list'> }): PowerRules {
  const isOff = new Set<string>();
  /** By machine, the key of the step whose request was sent last. */
  const requested = new Map<string, string>();
  /** By that key, how often the machine went off. */
  const offs = new Map<string, number>();
  return {
    offRequested: (machine) => {
      const by = offRecord(machine);
      if (!by) return { found: ['a machine was switched off without a record'], job: undefined };
      requested.set(machine, `${by.job.metadata.uid}/${by.record.id}/${by.record.tries}`);
      return { found: cameBack(by), job: by.job };
    },
    changed: (machine, isOn) => {
      if (isOn) {
        isOff.delete(machine);
        return isReleased(machine) ? [RELEASED] : [];
      }
      isOff.add(machine);
      const key = requested.get(machine) ?? '';
      const times = (offs.get(key) ?? 0) + 1;
      offs.set(key, times);
      return times > 1 ? ['a machine was switched off twice by one step'] : [];
    },
    written: ({ before, after }) => {
      const isNew = taintKeys(after).includes(OUT_OF_SERVICE) && !taintKeys(before).includes(OUT_OF_SERVICE);
      return isNew && !isOff.has(after?.metadata.name ?? '') ? [RELEASED] : [];
    },
    off: () => [...isOff].toSorted(),
  };

  function offRecord(machine: string): RequestedOff | undefined {
    return api
      .list(REMEDY_OPERATION_JOBS)
      .filter(({ spec }) => spec.machine.name === machine)
      .flatMap((job) => (job.status?.steps ?? []).map((record) => ({ job, record })))
      .find(
        ({ record: { state, power } }) => state === 'Running' && power?.desired === 'Off' && power.intendedAt,
      );
  }

  function cameBack({ job, record: { bootIDBefore } }: RequestedOff): readonly string[] {
    const bootID = bootIdOf(api.get(NODES, job.spec.machine.name));
    return bootID === undefined || bootID === (bootIDBefore ?? job.spec.node.bootID)
      ? []
      : ['a host that came back was switched off'];
  }

  function isReleased(machine: string): boolean {
    return taintKeys(api.get(NODES, machine)).includes(OUT_OF_SERVICE);
  }
}
