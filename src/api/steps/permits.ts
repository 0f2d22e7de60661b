/** Decides what a host permits to the steps of repairs, and what the steps of a rule need of it. Pure. */
import { isRecord, listAt, textAt, valueAt } from '../../kube/objects/json.ts';
import type { Step } from './steps.ts';

/** The permits as an agent reports them in `status.agent.permits`. */
export interface StepPermits {
  /** The services that RestartService may restart. */
  readonly services: readonly string[];
  /** The profiles that CollectDiagnostics may collect. */
  readonly profiles: readonly string[];
}

/** The permits of an agent whose host has no file of its own. */
export const DEFAULT_PERMITS: StepPermits = {
  services: ['kubelet', 'containerd', 'crio', 'node-problem-detector'],
  profiles: ['default'],
};

export interface NeededPermit {
  /** The path of the field that needs it: `spec.ladder[0].plan[1].with.service`. */
  readonly path: string;
  readonly step: Step;
  readonly of: keyof StepPermits;
  readonly name: string;
}

/** Returns the permits that the steps of a NodeRemedier need. Its spec may be any value. */
export function neededPermits(spec: unknown): readonly NeededPermit[] {
  return listAt(spec, 'ladder').flatMap((rung, index) =>
    ['plan', 'onVerified'].flatMap((list) =>
      listAt(rung, list).flatMap((step, position) =>
        neededBy(step, `spec.ladder[${index}].${list}[${position}]`),
      ),
    ),
  );
}

function neededBy(step: unknown, path: string): readonly NeededPermit[] {
  const name = isRecord(step) ? valueAt(step, 'step') : undefined;
  if (name === 'RestartService') {
    const service = textAt(step, 'with', 'service');
    const needed = { path: `${path}.with.service`, step: name, of: 'services' } as const;
    return service === undefined ? [] : [{ ...needed, name: service }];
  }
  if (name !== 'CollectDiagnostics') return [];
  const profile = textAt(step, 'with', 'profile') ?? 'default';
  return [{ path: `${path}.with.profile`, step: name, of: 'profiles', name: profile }];
}

export function isPermitted({ of, name }: NeededPermit, permits: StepPermits): boolean {
  return permits[of].includes(name);
}
