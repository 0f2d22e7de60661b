/** Steps of a rule that the hosts of its targets do not permit, by what their agents report. Pure. */
import type { Machine, NodeRemedier } from '../../api/generated/types.ts';
import { isPermitted, type NeededPermit, neededPermits, type StepPermits } from '../../api/steps/permits.ts';
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';

export interface UnpermittedStep {
  readonly needed: NeededPermit;
  /** Names of the targets that do not permit it. */
  readonly machines: readonly string[];
  /** Targets whose agents report what they permit. */
  readonly reported: number;
}

const MAX_NAMES = 3;

/** An agent that reports nothing is unknown: it refuses nothing here. */
export function unpermittedSteps(
  { spec }: Pick<NodeRemedier, 'spec'>,
  targets: readonly Machine[],
): readonly UnpermittedStep[] {
  const reports = permitsOf(targets);
  return neededPermits(spec).flatMap((needed) => {
    const machines = [...reports]
      .filter(([, permits]) => !isPermitted(needed, permits))
      .map(([name]) => name);
    return machines.length > 0 ? [{ needed, machines, reported: reports.size }] : [];
  });
}

function permitsOf(targets: readonly Machine[]): ReadonlyMap<string, StepPermits> {
  return new Map(
    targets.flatMap(({ metadata, status }) => {
      const permits = status?.agent?.permits;
      return permits ? [[metadata.name, permits] as const] : [];
    }),
  );
}

export function unpermittedText({ needed, machines, reported }: UnpermittedStep): string {
  const { path, step, of, name } = needed;
  const names = machines.slice(0, MAX_NAMES).join(', ');
  const more = machines.length > MAX_NAMES ? ` and ${machines.length - MAX_NAMES} more` : '';
  return (
    `${path}: ${step} ${name} is not permitted on ${machines.length} of ${reported} machines (${names}${more}): ` +
    `add ${name} to ${of} in /etc/kubenode/jobs.json on these hosts, or change the rule`
  );
}

/** Promotion waits for a rule with a step that none of its targets permits. */
export function permittedFinding(
  remedier: Pick<NodeRemedier, 'spec'>,
  targets: readonly Machine[],
): ConditionUpdate {
  const type = 'StepsPermitted';
  const unpermitted = unpermittedSteps(remedier, targets);
  const worst = unpermitted.toSorted((a, b) => b.machines.length - a.machines.length)[0];
  if (worst) {
    const reason = worst.machines.length === worst.reported ? 'NotPermitted' : 'PartlyPermitted';
    const more = unpermitted.length > 1 ? ` (and ${unpermitted.length - 1} more steps)` : '';
    return { type, status: 'False', reason, message: `${unpermittedText(worst)}${more}` };
  }
  const isUnknown = neededPermits(remedier.spec).length > 0 && permitsOf(targets).size === 0;
  return isUnknown
    ? {
        type,
        status: 'Unknown',
        reason: 'NotReported',
        message: 'no agent of a target reports its permits yet',
      }
    : {
        type,
        status: 'True',
        reason: 'AllPermitted',
        message: 'every target permits every step of the rule',
      };
}
