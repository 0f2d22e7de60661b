/**
 * Judges one request of a health check: whether its machine is repaired now, waits, is held, or is handed back to be replaced. Pure.
 */
import type { KubenodeRemediation } from '../../../../api/clusterapi/remediation.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../../api/generated/types.ts';
import { type Condition, conditionOf } from '../../../../kube/objects/conditions.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { secondsAfter } from '../../../../os/dates.ts';
import type { OwnerOfRequest } from './owner.ts';
import { replacementHold } from './replacement-hold.ts';

export interface RemediationInput {
  readonly remediations: readonly KubenodeRemediation[];
  /** All our Machines. */
  readonly machines: readonly Machine[];
  /** The Node of this name in this cluster. */
  readonly nodeOf: (name: string) => KubeObject | undefined;
  /** The jobs on the Machine of this name, by all rules. */
  readonly jobsOf: (machine: string) => readonly RemedyOperationJob[];
  readonly ruleOf: (name: string) => NodeRemedier | undefined;
  /** Who stopped repairs, and why. */
  readonly stopped?: string | undefined;
  /** When this process began to decide: what it does not follow yet may only be late. */
  readonly startedAt: Date;
  readonly now: Date;
}

export type RemediationStep = 'Repairing' | 'Waiting' | 'Held' | 'HandBack' | 'HandedBack';

export interface RemediationDecision {
  readonly remediation: KubenodeRemediation;
  readonly owner?: OwnerOfRequest;
  /** Our Machine that follows the owner. */
  readonly machine?: Machine;
  /** The last job since the request. */
  readonly job?: string;
  readonly step: RemediationStep;
  /** The reason of a condition. */
  readonly reason: string;
  readonly because: string;
  /** When time alone changes it. */
  readonly until?: Date;
}

export type Judgment = Pick<RemediationDecision, 'step' | 'reason' | 'because' | 'until'>;

/** The reason of a request whose Machine has none of kubenode. */
export const NOT_FOLLOWED = 'NotFollowed';
/** The Node of a machine that has just joined is followed within a second, and after a start within a few. */
const NOT_FOLLOWED_SECONDS = 60;
/** A switch may end by itself. */
const STOPPED_AGAIN_SECONDS = 30;

export function judgmentOf(
  { remediation, owner, machine }: Pick<RemediationDecision, 'remediation' | 'owner' | 'machine'>,
  input: RemediationInput,
): Judgment {
  const before = conditionOf(remediation.status?.conditions, 'HandedBack');
  // Once handed back, Cluster API replaces the machine: nothing is begun on it any more.
  if (before?.status === 'True') return handedBack(before);
  if (!owner) return NO_OWNER;
  const judgment = machine ? judge(remediation, machine, input) : unfollowed(remediation, owner, input);
  return judgment.step === 'HandBack' ? unlessStopped(judgment, input) : judgment;
}

function unlessStopped(due: Judgment, { stopped, now }: RemediationInput): Judgment {
  if (stopped === undefined) return due;
  const until = secondsAfter(now, STOPPED_AGAIN_SECONDS);
  return {
    step: 'Held',
    reason: 'KillSwitch',
    because: `to be handed back (${due.because}), but ${stopped}`,
    until,
  };
}

const NO_OWNER: Judgment = {
  step: 'Waiting',
  reason: 'NoOwner',
  because:
    'the object has no owner reference to a Machine of Cluster API: only a MachineHealthCheck may create it',
};

function handedBack({ reason, message }: Condition): Judgment {
  return { step: 'HandedBack', reason, because: message };
}

/** Without a Node, Cluster API alone can help: our Machines are named like their Nodes. */
function unfollowed(
  remediation: KubenodeRemediation,
  { name }: OwnerOfRequest,
  { startedAt, now }: RemediationInput,
): Judgment {
  const before = conditionOf(remediation.status?.conditions, 'Repairing');
  // A Machine that a person deleted is created again soon: it counts since when none was found.
  const since = before?.status === 'Unknown' ? new Date(before.lastTransitionTime) : now;
  const until = secondsAfter(since > startedAt ? since : startedAt, NOT_FOLLOWED_SECONDS);
  const because = `no Machine of kubenode follows ${name}`;
  return until > now
    ? { step: 'Waiting', reason: NOT_FOLLOWED, because, until }
    : { step: 'HandBack', reason: NOT_FOLLOWED, because };
}

function judge(remediation: KubenodeRemediation, machine: Machine, input: RemediationInput): Judgment {
  const { jobsOf, nodeOf, now } = input;
  const { name } = machine.metadata;
  const active = jobsOf(name).find(({ status }) => status?.outcome === undefined);
  // It ends in bounded time, whatever else is true now.
  if (active) return repairing(active, remediation);
  const hold = replacementHold(machine, nodeOf(name), now);
  if (hold) return { step: 'Held', ...hold };
  return ladderEnd(machine, remediation) ?? waiting(remediation, machine, input);
}

function repairing({ metadata, spec }: RemedyOperationJob, remediation: KubenodeRemediation): Judgment {
  const { remedier } = spec.cause;
  const rule = remedier === remediation.spec.rule ? '' : ` of rule ${remedier}`;
  return { step: 'Repairing', reason: 'JobActive', because: `job ${metadata.name}${rule} is at work` };
}

/** Returns that the ladder has ended without success; undefined: it has not. */
function ladderEnd(machine: Machine, { spec: { rule } }: KubenodeRemediation): Judgment | undefined {
  const person = conditionOf(machine.status?.conditions, 'NeedsPerson');
  if (person?.status === 'True') return { step: 'HandBack', reason: 'LadderEnded', because: person.message };
  const wait = waitOf(machine, rule);
  if (wait?.reason !== 'HandedOff') return undefined;
  return { step: 'HandBack', reason: 'LadderEnded', because: `rule ${rule}: ${wait.message ?? wait.reason}` };
}

function waiting(
  remediation: KubenodeRemediation,
  machine: Machine,
  { ruleOf, now }: RemediationInput,
): Judgment {
  const { timeoutSeconds } = remediation.spec;
  const why = waitReason(remediation.spec.rule, machine, ruleOf);
  const until = secondsAfter(createdAt(remediation, now), timeoutSeconds);
  if (until > now) return { step: 'Waiting', ...why, until };
  const because = `not repaired within ${timeoutSeconds} s: ${why.because}`;
  return { step: 'HandBack', reason: 'TimedOut', because };
}

function waitReason(
  rule: string,
  machine: Machine,
  ruleOf: RemediationInput['ruleOf'],
): Pick<Judgment, 'reason' | 'because'> {
  const remedier = ruleOf(rule);
  if (!remedier) return { reason: 'RuleNotFound', because: `NodeRemedier ${rule} was not found` };
  const wait = waitOf(machine, rule);
  if (wait) return { reason: wait.reason, because: `rule ${rule}: ${wait.message ?? wait.reason}` };
  return remedier.spec.mode === 'Suspended'
    ? { reason: 'RuleSuspended', because: `rule ${rule} is suspended` }
    : { reason: 'RuleNotMatched', because: `rule ${rule} begins no repair: its conditions are not true` };
}

type RemedyWaitStatus = NonNullable<NonNullable<Machine['status']>['remedyWaits']>[number];

function waitOf({ status }: Machine, rule: string): RemedyWaitStatus | undefined {
  return status?.remedyWaits?.find((each) => each.rule === rule);
}

/** An object without a time was created just now. */
function createdAt({ metadata }: KubenodeRemediation, now: Date): Date {
  const created = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(created) ? now : new Date(created);
}
