/** Limits of a repair on its machine that depend on what would be done: holds of people, the control plane, and the jobs of the rule. Pure. */
import type { Risk } from '../../../api/enums.ts';
import type { Machine, NodeRemedier, RemedyOperationJob, Rung } from '../../../api/generated/types.ts';
import { LABEL_EXCLUDE } from '../../../api/names.ts';
import type { RemedyWait, WaitReason } from '../../../api/status/rule-waits.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { secondsAfter } from '../../../os/dates.ts';
import { holdInForce } from '../../../rollout/holds.ts';
import { highestRisk } from '../job/steps.ts';
import { isControlPlane, labelsOf } from '../targets.ts';
import { beginOf } from './jobs.ts';

interface LimitInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  /** The jobs of this machine by all rules. */
  readonly jobs: readonly RemedyOperationJob[];
  /** A job at work on another control plane machine. */
  readonly controlPlaneJob: string | undefined;
  readonly now: Date;
}

/** Returns the wait for limits that depend on what would be done. */
export function limitWait(
  { remedier }: { readonly remedier: NodeRemedier },
  { rung }: { readonly rung: Rung },
  input: LimitInput,
): RemedyWait | undefined {
  const risk = highestRisk(rung);
  const wait = personWait(risk, input) ?? controlPlaneWait(input);
  // The ladder always ends at a person.
  const isHandOff = risk === 'None' && rung.plan.some(({ step }) => step === 'HandOff');
  return wait ?? (isHandOff ? undefined : jobsWait(remedier, input));
}

function personWait(risk: Risk, { machine, node, now }: LimitInput): RemedyWait | undefined {
  if (risk !== 'None' && labelsOf(machine, node)[LABEL_EXCLUDE] !== undefined) {
    return ruleWait('NodeExcluded', `the machine has the label ${LABEL_EXCLUDE}`);
  }
  const hold = holdInForce(machine, node, now);
  if (!hold || (hold.scope !== 'All' && risk === 'None')) return undefined;
  const until = hold.until === undefined ? undefined : new Date(hold.until);
  return ruleWait('HumanHold', `the machine is held: ${hold.reason}`, until);
}

function controlPlaneWait({ machine, node, controlPlaneJob }: LimitInput): RemedyWait | undefined {
  return controlPlaneJob !== undefined && isControlPlane(labelsOf(machine, node))
    ? ruleWait('ControlPlaneBusy', `job ${controlPlaneJob} is at work on another control plane machine`)
    : undefined;
}

function jobsWait({ metadata, spec }: NodeRemedier, { jobs, now }: LimitInput): RemedyWait | undefined {
  const { maxJobs, windowSeconds } = spec.perMachine;
  const begins = jobs
    .filter((job) => job.spec.cause.remedier === metadata.name)
    .map(beginOf)
    .filter((begin) => secondsAfter(begin, windowSeconds) > now)
    .toSorted((a, b) => +b - +a);
  const first = begins[maxJobs - 1];
  if (!first) return undefined;
  const message = `the rule had ${begins.length} jobs on this machine in ${windowSeconds} s, at most ${maxJobs} are allowed`;
  return ruleWait('MaxJobs', message, secondsAfter(first, windowSeconds));
}

export function ruleWait(reason: WaitReason, message: string, until?: Date): RemedyWait {
  return { reason, message, ...optional('until', until) };
}
