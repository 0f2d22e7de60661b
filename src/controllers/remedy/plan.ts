/** Decides on the one act for a machine that its rules ask for, or on the one reason of each rule for none. Pure. */
import { dedupGroup } from '../../api/dedup.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../api/names.ts';
import type { RemedyWait } from '../../api/status/rule-waits.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type Case, caseOf } from './case/case.ts';
import { changesByJobs, type Flap, flapOf, flapWait } from './case/flap.ts';
import { isJobAtWork, jobsOfRule } from './case/jobs.ts';
import { limitWait, ruleWait } from './case/limit-wait.ts';
import { type Attempt, jobNameOf, type NextAttempt, nextAttempt, operationIdOf } from './case/rungs.ts';
import { handOffOnly, type UnknownResult, unknownResult } from './case/unknown.ts';
import type { RemedyFinding } from './findings.ts';
import { boundText, isWithin, type MatchBound } from './targets.ts';

export interface RuleOnMachine {
  readonly remedier: NodeRemedier;
  readonly digest: string;
  readonly finding: RemedyFinding;
  readonly bound: MatchBound;
}

export interface RemedyPlanInput {
  readonly machine: Machine;
  readonly node: KubeObject | undefined;
  /** The jobs of this machine by all rules. */
  readonly jobs: readonly RemedyOperationJob[];
  /** A job at work on another control plane machine. */
  readonly controlPlaneJob: string | undefined;
  /** Accepted rules that are not suspended and have this machine as their target. */
  readonly rules: readonly RuleOnMachine[];
  readonly now: Date;
}

/** The node that a job is about. */
export interface JobNodeIdentity {
  readonly uid: string;
  readonly bootID: string;
  readonly providerID?: string;
}

export interface RemedyAct extends Attempt {
  readonly remedier: NodeRemedier;
  readonly digest: string;
  readonly commit: string;
  readonly case: string;
  readonly since: Date;
  readonly isSinceKnown: boolean;
  readonly detectedAt: Date;
  readonly node: JobNodeIdentity;
  readonly jobName: string;
  /** Why it is not the rung that is next otherwise: the fault flaps, or the hardware was repaired too often. */
  readonly why?: string;
  /** Whether it only hands off a machine of which too little is known. */
  readonly isUnknown?: true;
}

export interface RemedyPlan {
  /** Ask for it, and create its job when it is granted. */
  readonly act?: RemedyAct;
  /** The acts of rules that do not act: the Defender is asked what it would answer. */
  readonly shadow: readonly RemedyAct[];
  /** The wait of each rule that found a fault or knows too little, and does not act. */
  readonly waits: ReadonlyMap<string, RemedyWait>;
}

type Ready = { readonly act: RemedyAct } | { readonly wait: RemedyWait };

export function planRemedy(input: RemedyPlanInput): RemedyPlan {
  const waits = new Map<string, RemedyWait>();
  const ready: RemedyAct[] = [];
  for (const rule of input.rules.filter(({ finding }) => finding.outcome !== 'NoMatch')) {
    const found = readyFor(rule, input);
    if ('wait' in found) waits.set(rule.remedier.metadata.name, found.wait);
    else ready.push(found.act);
  }
  const shadow = ready.filter((act) => !isEnforced(act));
  for (const { remedier } of shadow) waits.set(remedier.metadata.name, shadowWait(remedier));
  const ranked = withoutCovered(ready.filter(isEnforced), waits).toSorted(byRank);
  const [act, ...others] = ranked;
  for (const { remedier } of others) {
    waits.set(
      remedier.metadata.name,
      ruleWait('Outranked', `rule ${act?.remedier.metadata.name ?? ''} goes first`),
    );
  }
  return { ...optional('act', act), shadow, waits };
}

/** A fault that is known goes before what is not known. */
function byRank(a: RemedyAct, b: RemedyAct): number {
  return Number(a.isUnknown ?? false) - Number(b.isUnknown ?? false) || byPriority(a.remedier, b.remedier);
}

/** Tells whether the rule acts. Only what sync applied from a commit may act. */
function isEnforced({ remedier, commit }: RemedyAct): boolean {
  return remedier.spec.mode === 'Enforce' && commit !== '';
}

function shadowWait({ spec }: NodeRemedier): RemedyWait {
  return spec.mode === 'Enforce'
    ? ruleWait('NoCommit', `the rule has no annotation ${ANNOTATION_COMMIT} of sync, so it only shadows`)
    : ruleWait('Shadow', 'spec.mode is Shadow');
}

/** Compares rules: highest priority first, then by name. */
export function byPriority(a: NodeRemedier, b: NodeRemedier): number {
  return b.spec.priority - a.spec.priority || (a.metadata.name < b.metadata.name ? -1 : 1);
}

/** A rule that another one covers leaves the node to it, whatever its priority; of two that cover each other neither does. */
function withoutCovered(acts: readonly RemedyAct[], waits: Map<string, RemedyWait>): readonly RemedyAct[] {
  return acts.filter((act) => {
    const cover = acts.find((other) => isCoveredBy(act, other) && !isCoveredBy(other, act));
    if (!cover) return true;
    waits.set(
      act.remedier.metadata.name,
      ruleWait('Covered', `rule ${cover.remedier.metadata.name} covers it`),
    );
    return false;
  });
}

function isCoveredBy({ remedier }: RemedyAct, other: RemedyAct): boolean {
  return (remedier.spec.dedup?.coveredBy ?? []).includes(dedupGroup(other.remedier));
}

function readyFor(rule: RuleOnMachine, input: RemedyPlanInput): Ready {
  const unknown = unknownResult(rule, input.now);
  if (unknown && 'wait' in unknown) return unknown;
  const general = outcomeWait(rule) ?? fleetWait(rule) ?? machineWait(rule, input);
  const node = identityOf(input);
  if (general) return { wait: general };
  if (!node) return NO_BOOT;
  return unknown ? handOffFor(rule, unknown, { node, input }) : attemptFor(rule, node, input);
}

const NO_BOOT: Ready = { wait: ruleWait('NoNode', 'the machine has no Node with a boot id') };

interface NodeOfPlan {
  readonly node: JobNodeIdentity;
  readonly input: RemedyPlanInput;
}

/** Returns the hand-off of a machine of which too little is known: it changes nothing on the machine. */
function handOffFor(
  rule: RuleOnMachine,
  { since, why }: Extract<UnknownResult, { since: Date }>,
  { node, input }: NodeOfPlan,
): Ready {
  const { remedier, digest } = rule;
  const { now, machine, jobs } = input;
  const found = caseOf({ remedier, nodeUID: node.uid, since, isSinceKnown: true, jobs });
  const next = nextAttempt(remedier, found.jobs, { since, now, flap: 'HandOff' });
  if ('wait' in next) return next;
  const attempt = { ...next.attempt, rung: handOffOnly(next.attempt.rung) };
  const limited = limitWait(rule, attempt, input);
  if (limited) return { wait: limited };
  const jobName = jobNameOf(machine.metadata.name, remedier.metadata.name, operationIdOf(found.id, attempt));
  const commit = remedier.metadata.annotations?.[ANNOTATION_COMMIT] ?? '';
  const cause = {
    case: found.id,
    since,
    isSinceKnown: false,
    detectedAt: since,
    why,
    isUnknown: true,
  } as const;
  return { act: { ...attempt, remedier, digest, commit, ...cause, node, jobName } };
}

function attemptFor(rule: RuleOnMachine, node: JobNodeIdentity, input: RemedyPlanInput): Ready {
  const { remedier, digest, finding } = rule;
  const { now, machine } = input;
  const times = faultTimes(finding, now);
  const found: Case = caseOf({ remedier, nodeUID: node.uid, ...times, jobs: input.jobs });
  const own = jobsOfRule(input.jobs, remedier.metadata.name, node.uid);
  const flap = flapOf(remedier, finding.changes ?? [], now) ?? flapOf(remedier, changesByJobs(own, now), now);
  const next = nextFor(rule, found, { flap, now });
  if ('wait' in next) return next;
  const limited = limitWait(rule, next.attempt, input);
  if (limited) return { wait: limited };
  const operationID = operationIdOf(found.id, next.attempt);
  const jobName = jobNameOf(machine.metadata.name, remedier.metadata.name, operationID);
  const commit = remedier.metadata.annotations?.[ANNOTATION_COMMIT] ?? '';
  const cause = { case: found.id, ...times, ...optional('why', flap?.message) };
  return { act: { ...next.attempt, remedier, digest, commit, ...cause, node, jobName } };
}

function faultTimes(
  { since, isSinceKnown, detectedAt }: RemedyFinding,
  now: Date,
): Pick<RemedyAct, 'since' | 'isSinceKnown' | 'detectedAt'> {
  return { since: since ?? now, isSinceKnown, detectedAt: detectedAt ?? now };
}

function nextFor(
  { remedier, finding }: RuleOnMachine,
  { jobs }: Case,
  { flap, now }: { readonly flap: Flap | undefined; readonly now: Date },
): NextAttempt {
  if (flap?.next === 'Hold') return { wait: flapWait(flap) };
  const since = finding.matchedSince ?? finding.since ?? now;
  return nextAttempt(remedier, jobs, { since, now, flap: flap?.next });
}

function outcomeWait({ finding, remedier }: RuleOnMachine): RemedyWait | undefined {
  const { outcome, because } = finding;
  if (outcome === 'Held') return ruleWait('GateClosed', because);
  return remedier.spec.mode === 'Observe' ? ruleWait('Observe', 'spec.mode is Observe') : undefined;
}

function fleetWait({ bound }: RuleOnMachine): RemedyWait | undefined {
  if (bound.unseen > 0) {
    return ruleWait('Starting', `${bound.unseen} targets of the rule are not evaluated yet`);
  }
  return isWithin(bound) ? undefined : ruleWait('TooManyMatches', boundText(bound));
}

function machineWait(
  { remedier }: RuleOnMachine,
  { machine, node, jobs }: RemedyPlanInput,
): RemedyWait | undefined {
  if (!node || machine.metadata.deletionTimestamp !== undefined) {
    return ruleWait('NoNode', node ? 'the machine is being deleted' : 'the machine has no Node');
  }
  const active = jobs.find(isJobAtWork);
  if (active) return activeWait(remedier, active);
  return conditionStatus(machine.status?.conditions, 'NeedsPerson') === 'True'
    ? ruleWait('NeedsPerson', 'the machine was handed off to people')
    : undefined;
}

function activeWait(remedier: NodeRemedier, { metadata, spec }: RemedyOperationJob): RemedyWait {
  const covers = remedier.spec.dedup?.coveredBy ?? [];
  const isCovered =
    spec.cause.remedier !== remedier.metadata.name && [...covers, dedupGroup(remedier)].includes(spec.group);
  return isCovered
    ? ruleWait('Covered', `job ${metadata.name} covers it`)
    : ruleWait('JobActive', `job ${metadata.name} is at work`);
}

/** Returns the identity of the node. Without a boot id a job could not tell whether the node was rebooted. */
function identityOf({ machine, node }: RemedyPlanInput): JobNodeIdentity | undefined {
  const uid = node?.metadata.uid;
  const bootID = textAt(node, 'status', 'nodeInfo', 'bootID') ?? machine.status?.node?.bootID;
  if (!uid || !bootID) return undefined;
  return { uid, bootID, ...optional('providerID', textAt(node, 'spec', 'providerID')) };
}
