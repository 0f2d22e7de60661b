/**
 * Decides about each request of a health check of Cluster API: whether its machine is repaired now, waits, is held, or is handed back to be
 * replaced. The jobs are those of the rule that the request names: this planner starts none, so that every limit of rules applies. Pure.
 */
import { type KubenodeRemediation, REMEDIATION_REQUESTED } from '../../../api/clusterapi/remediation.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../api/generated/types.ts';
import { type Condition, conditionOf, conditionStatus } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { firstMoment, secondsAfter } from '../../../os/dates.ts';
import { followedObject } from '../../../providers/followed.ts';
import { isOwn } from '../own-machine.ts';
import { type OwnerOfRequest, requestOwner } from './owner.ts';
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

/** The condition of our Machine that rules read. */
export interface RequestReport {
  readonly machine: Machine;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface RemediationPlan {
  readonly decisions: readonly RemediationDecision[];
  /** Those that are not reported yet. */
  readonly reports: readonly RequestReport[];
}

/** The Node of a machine that has just joined is followed within a second, and after a start within a few. */
const NOT_FOLLOWED_SECONDS = 60;

export function planRemediation(input: RemediationInput): RemediationPlan {
  const machines = input.machines.filter(isOwn).toSorted((a, b) => byCode(a.metadata.name, b.metadata.name));
  const byOwner = new Map(machines.map((machine) => [keyOf(followedObject(machine)), machine]));
  const decisions = input.remediations
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .toSorted((a, b) => byCode(keyOf(a.metadata), keyOf(b.metadata)))
    .map((remediation) => decide(remediation, byOwner, input));
  const byMachine = new Map(decisions.map((each) => [each.machine?.metadata.name, each]));
  const reports = machines
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((machine) => reportOf(machine, byMachine.get(machine.metadata.name)))
    .filter((report) => !isReported(report));
  return { decisions, reports };
}

function keyOf(object: { readonly namespace?: string; readonly name: string } | undefined): string {
  return object ? `${object.namespace ?? ''}/${object.name}` : '';
}

type Judgment = Pick<RemediationDecision, 'step' | 'reason' | 'because' | 'until'>;

function decide(
  remediation: KubenodeRemediation,
  byOwner: ReadonlyMap<string, Machine>,
  input: RemediationInput,
): RemediationDecision {
  const owner = requestOwner(remediation);
  const machine = owner && byOwner.get(keyOf(owner));
  const job = machine && lastJob(remediation, input.jobsOf(machine.metadata.name));
  const known = {
    remediation,
    ...optional('owner', owner),
    ...optional('machine', machine),
    ...optional('job', job?.metadata.name),
  };
  return { ...known, ...judgmentOf(known, input) };
}

function judgmentOf(
  { remediation, owner, machine }: Pick<RemediationDecision, 'remediation' | 'owner' | 'machine'>,
  input: RemediationInput,
): Judgment {
  const before = conditionOf(remediation.status?.conditions, 'HandedBack');
  // Once handed back, Cluster API replaces the machine: nothing is begun on it any more.
  if (before?.status === 'True') return handedBack(before);
  if (!owner) return NO_OWNER;
  return machine ? judge(remediation, machine, input) : unfollowed(remediation, owner, input);
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

/** Without a Node, Cluster API alone can help: ours are named like their Nodes. */
function unfollowed(
  remediation: KubenodeRemediation,
  { name }: OwnerOfRequest,
  { startedAt, now }: RemediationInput,
): Judgment {
  const created = createdAt(remediation, now);
  const until = secondsAfter(created > startedAt ? created : startedAt, NOT_FOLLOWED_SECONDS);
  const because = `no Machine of kubenode follows ${name}`;
  const reason = 'NotFollowed';
  return until > now ? { step: 'Waiting', reason, because, until } : { step: 'HandBack', reason, because };
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

/** Jobs of the rule since the request. One that began before belongs to another request, or to a fault that the rule found by itself. */
function lastJob(
  remediation: KubenodeRemediation,
  jobs: readonly RemedyOperationJob[],
): RemedyOperationJob | undefined {
  const since = Date.parse(remediation.metadata.creationTimestamp ?? '');
  return jobs
    .filter(({ spec }) => spec.cause.remedier === remediation.spec.rule)
    .filter(({ spec, status }) => status?.outcome === undefined || Date.parse(spec.grant.issuedAt) >= since)
    .toSorted((a, b) => Date.parse(a.spec.grant.issuedAt) - Date.parse(b.spec.grant.issuedAt))
    .at(-1);
}

/** An object without a time was created just now. */
function createdAt({ metadata }: KubenodeRemediation, now: Date): Date {
  const created = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(created) ? now : new Date(created);
}

function reportOf(machine: Machine, decision: RemediationDecision | undefined): RequestReport {
  if (!decision) {
    const message = 'Cluster API asks for no repair of this machine';
    return { machine, status: 'False', reason: 'NotRequested', message };
  }
  if (decision.step === 'HandedBack') {
    const message = `the machine was handed back to Cluster API: ${decision.because}`;
    return { machine, status: 'False', reason: 'HandedBack', message };
  }
  const { metadata, spec } = decision.remediation;
  const message = `KubenodeRemediation ${keyOf(metadata)} asks rule ${spec.rule} for a repair`;
  return { machine, status: 'True', reason: 'HealthCheckFailed', message };
}

function isReported({ machine, status, reason, message }: RequestReport): boolean {
  const { conditions } = machine.status ?? {};
  if (conditionStatus(conditions, REMEDIATION_REQUESTED) !== status) return false;
  const before = conditionOf(conditions, REMEDIATION_REQUESTED);
  return before?.reason === reason && before.message === message;
}

/** Returns when the first decision changes by time alone. */
export function changesAt({ decisions }: RemediationPlan): Date | undefined {
  return firstMoment(decisions.map(({ until }) => until));
}
