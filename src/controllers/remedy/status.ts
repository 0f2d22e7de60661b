/** Builds the status of a NodeRemedier: whether its rule may be used, what it finds, and what keeps it from acting. Pure. */
import type {
  Machine,
  NodeRemedier,
  NodeRemedierStatus,
  RemedyOperationJob,
  RungStatus,
  Wait,
} from '../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../api/names.ts';
import { acceptedFinding } from '../../api/status/accepted.ts';
import { nodeRemedierPhases } from '../../api/status/phase-tables.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { type ConditionUpdate, conditionOf, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { secondsBetween } from '../../os/dates.ts';
import { beginOf, endOf, isJobAtWork } from './case/jobs.ts';
import { ruleDigest } from './checked-rules.ts';
import type { RemedyFinding } from './findings.ts';
import { permittedFinding } from './permits.ts';
import type { ShadowCounts } from './shadow.ts';
import { boundText, isIll, isWithin, type MatchBound } from './targets.ts';
import type { RuleProof } from './waves/report.ts';

export interface RemedierInput {
  readonly remedier: NodeRemedier;
  /** The problems that the compiler found, the tests inside the rule, and the check for fields that nothing acts on. */
  readonly problems: readonly Problem[];
  /** The findings by machine, in the order of their names. */
  readonly findings: ReadonlyMap<string, RemedyFinding>;
  readonly bound: MatchBound;
  /** Machines that the rule is for. */
  readonly targets: readonly Machine[];
  /** The jobs of this rule. */
  readonly jobs: readonly RemedyOperationJob[];
  readonly shadow: ShadowCounts;
  /** Absent: the rule has no waves, because it does not act. */
  readonly proof?: RuleProof | undefined;
  readonly now: Date;
}

const MAX_MACHINES = 20;
/** Reasons of a denial that stop the whole rule. */
const STOPS: ReadonlySet<string> = new Set(['KillSwitch', 'BreakerOpen', 'BreakerNeedsPerson']);

export function remedierStatus(input: RemedierInput): NodeRemedierStatus {
  const { remedier, problems, now } = input;
  const { metadata, status } = remedier;
  const isUsed = problems.length === 0 && remedier.spec.mode !== 'Suspended';
  const stop = enforcing(input);
  const found = isUsed
    ? [
        matchBounded(input),
        permittedFinding(remedier, input.targets),
        ...optionalList(input.proof?.condition),
        indeterminate(input),
      ]
    : [];
  const findings = [accepted(remedier, problems), ...found, stop];
  const conditions = withConditions(
    keptConditions(status?.conditions, isUsed, input.proof !== undefined),
    findings,
    now,
    metadata.generation,
  );
  return {
    ...optional('observedGeneration', metadata.generation),
    phase: nodeRemedierPhases.phaseOf({ conditions }),
    conditions,
    ...optional('waiting', waitingOf(stop, conditions)),
    ruleDigest: ruleDigest(remedier),
    ...optional('commit', metadata.annotations?.[ANNOTATION_COMMIT]),
    ...(isUsed ? reportOf(input) : {}),
    ...optional('rungs', rungsOf(input)),
  };
}

const OF_MACHINES: readonly string[] = ['MatchBounded', 'StepsPermitted', 'Proven', 'Indeterminate'];

/** A rule that is not used matches nothing, and nothing is unknown; one that does not act has no waves. */
function keptConditions(
  conditions: NodeRemedierStatus['conditions'] | undefined,
  isUsed: boolean,
  hasProof: boolean,
): NodeRemedierStatus['conditions'] {
  const present = (conditions ?? []).filter(({ type }) => hasProof || type !== 'Proven');
  return isUsed ? present : present.filter(({ type }) => !OF_MACHINES.includes(type));
}

function optionalList<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value];
}

function accepted({ metadata, spec }: NodeRemedier, problems: readonly Problem[]): ConditionUpdate {
  return acceptedFinding({
    what: 'rule',
    metadata,
    problems,
    valid: `all ${spec.tests.length} tests passed`,
  });
}

function matchBounded({ bound }: RemedierInput): ConditionUpdate {
  const isBounded = isWithin(bound);
  const reason = isBounded ? 'WithinLimit' : 'TooManyMatches';
  return {
    type: 'MatchBounded',
    status: isBounded ? 'True' : 'False',
    reason,
    message: boundText(bound),
  };
}

function indeterminate({ findings }: RemedierInput): ConditionUpdate {
  const type = 'Indeterminate';
  const unknown = [...findings].filter(([, { outcome }]) => outcome === 'Indeterminate');
  const [first] = unknown;
  if (!first) {
    return { type, status: 'False', reason: 'AllKnown', message: 'no fact that decides is unknown' };
  }
  const [machine, { because }] = first;
  const more = unknown.length > 1 ? ` (and ${unknown.length - 1} more machines)` : '';
  return { type, status: 'True', reason: 'FactUnknown', message: `machine ${machine}: ${because}${more}` };
}

type Stop = Pick<ConditionUpdate, 'reason' | 'message'>;

function enforcing(input: RemedierInput): ConditionUpdate {
  const stop = stopOf(input);
  if (stop) return { type: 'Enforcing', status: 'False', ...stop };
  const message = 'the rule repairs the machines that it matches';
  return { type: 'Enforcing', status: 'True', reason: 'Enforcing', message };
}

function stopOf(input: RemedierInput): Stop | undefined {
  const { spec, metadata } = input.remedier;
  if (input.problems.length > 0) return { reason: 'NotAccepted', message: 'the rule is not accepted' };
  if (spec.mode !== 'Enforce') return { reason: spec.mode, message: `spec.mode is ${spec.mode}` };
  if (metadata.annotations?.[ANNOTATION_COMMIT] === undefined) {
    const message = `the rule has no annotation ${ANNOTATION_COMMIT} of sync, so it only shadows`;
    return { reason: 'NoCommit', message };
  }
  return fleetStop(input);
}

function fleetStop({ bound, findings, proof }: RemedierInput): Stop | undefined {
  if (!isWithin(bound)) return { reason: 'TooManyMatches', message: boundText(bound) };
  const denied = [...findings.values()].find(({ wait }) => STOPS.has(wait?.denial ?? ''))?.wait;
  if (denied) return { reason: denied.denial ?? 'Denied', message: denied.message };
  return proof?.failure === undefined ? undefined : { reason: 'WaveFailed', message: proof.failure };
}

/** The reasons that a person has to look at: the others are a choice, or shown by Accepted. */
const WAITED_FOR: ReadonlySet<string> = new Set(['NoCommit', 'TooManyMatches', 'WaveFailed', ...STOPS]);

function waitingOf(
  { reason, message }: ConditionUpdate,
  conditions: NodeRemedierStatus['conditions'],
): Wait | undefined {
  if (!WAITED_FOR.has(reason)) return undefined;
  const since = conditionOf(conditions, 'Enforcing')?.lastTransitionTime;
  return since === undefined ? undefined : { reason, since, message };
}

function reportOf({
  remedier,
  findings,
  jobs,
  shadow,
  proof,
}: RemedierInput): Pick<NodeRemedierStatus, 'counts' | 'matchedMachines' | 'wave' | 'shadow'> {
  const all = [...findings.values()];
  const matching = [...findings].filter(([, finding]) => isIll(finding)).map(([machine]) => machine);
  const isShadowing = remedier.spec.mode !== 'Observe' && shadow.wouldAct + shadow.wouldDeny > 0;
  return {
    counts: {
      matched: matching.length,
      held: all.filter(({ outcome }) => outcome === 'Held').length,
      indeterminate: all.filter(({ outcome }) => outcome === 'Indeterminate').length,
      inFlight: jobs.filter(isJobAtWork).length,
      denied: countsBy(
        all.flatMap(({ wait }) => wait?.denial ?? []),
        Object.keys(remedier.status?.counts?.denied ?? {}),
      ),
    },
    matchedMachines: matching.slice(0, MAX_MACHINES),
    ...optional('wave', proof?.wave),
    ...optional('shadow', isShadowing || remedier.spec.mode === 'Shadow' ? shadow : undefined),
  };
}

/** Counts the words, with 0 for each word of before: the API server makes null of a map whose last key an apply removes. */
function countsBy(words: readonly string[], before: readonly string[]): Readonly<Record<string, number>> {
  const counts = new Map(before.map((word) => [word, 0]));
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function rungsOf({ remedier, jobs }: RemedierInput): readonly RungStatus[] | undefined {
  const tried = remedier.spec.ladder.flatMap(({ name }): RungStatus[] => {
    const own = jobs.filter(({ spec }) => spec.rung.name === name);
    const verified = own.filter(({ status }) => status?.outcome?.class === 'Succeeded');
    const seconds = verified.map((job) => Math.round(secondsBetween(beginOf(job), endOf(job))));
    const p95Seconds = percentile95(seconds);
    return own.length === 0
      ? []
      : [{ name, tries: own.length, succeeded: verified.length, ...optional('p95Seconds', p95Seconds) }];
  });
  return tried.length > 0 ? tried : undefined;
}

function percentile95(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.ceil(sorted.length * 0.95) - 1];
}
