/** Decides `Machine.status.remedyWaits`: for people, why each rule that is not well on the machine creates no job. Pure. */
import type { MachineRemedyWait, NodeRemedier } from '../../api/generated/types.ts';
import { type RemedyWait, reportedReason, type WaitReason } from '../../api/status/rule-waits.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import { firstMoment, secondsAfter, wholeSeconds } from '../../os/dates.ts';
import type { RemedyFinding } from './findings.ts';
import { byPriority } from './plan.ts';

export interface RecordedWaitsInput {
  readonly recorded: readonly MachineRemedyWait[];
  /** The rules that were evaluated. */
  readonly remediers: readonly NodeRemedier[];
  /** The findings by rule, with what each one waits for now. */
  readonly findings: ReadonlyMap<string, RemedyFinding>;
  readonly now: Date;
}

export interface RecordedWaits {
  readonly waits: readonly MachineRemedyWait[];
  /** When a wait is old enough to be recorded. */
  readonly nextAt: Date | undefined;
}

const MAX_WAITS = 16;
const MAX_MESSAGE = 512;
/**
 * The reasons that are not recorded at once: after a start, and whenever a view is late, these concern the whole fleet for some
 * seconds, too briefly to write to all of it.
 */
const BRIEF: ReadonlySet<WaitReason> = new Set(['Starting', 'Indeterminate']);
const BRIEF_SECONDS = 60;

/** Returns the waits of the rules with the highest priority, sorted by rule. */
export function recordedWaits(input: RecordedWaitsInput): RecordedWaits {
  const { remediers, findings, now } = input;
  const waits = remediers
    .toSorted(byPriority)
    .flatMap((remedier) => entryOf(remedier, input) ?? [])
    .slice(0, MAX_WAITS);
  const ends = [...findings.values()].map(briefUntil).filter((until) => until !== undefined && until > now);
  return { waits: waits.toSorted(byRule), nextAt: firstMoment(ends) };
}

function entryOf(
  remedier: NodeRemedier,
  { findings, recorded, now }: RecordedWaitsInput,
): MachineRemedyWait | undefined {
  const { metadata, spec } = remedier;
  const rule = metadata.name;
  const finding = findings.get(rule);
  if (!finding?.wait) return undefined;
  const before = recorded.find((each) => each.rule === rule);
  const { faultClass } = spec;
  const until = briefUntil(finding);
  return until && until > now
    ? before
    : nextEntry(before, { ...newEntry(rule, finding.wait, finding.waitSince ?? now), faultClass });
}

type NewEntry = Omit<Required<MachineRemedyWait>, 'faultClass'>;

function newEntry(rule: string, wait: RemedyWait, since: Date): NewEntry {
  const message = truncate(wait.message, MAX_MESSAGE);
  return { rule, reason: reportedReason(wait), since: wholeSeconds(since), message };
}

function nextEntry(
  before: MachineRemedyWait | undefined,
  entry: Required<MachineRemedyWait>,
): MachineRemedyWait {
  const { reason, message, faultClass } = entry;
  if (before?.reason !== reason) return entry;
  // Measured values change all the time.
  const isSame = withoutNumbers(before.message) === withoutNumbers(message);
  if (isSame && before.faultClass === faultClass) return before;
  return { ...before, faultClass, message };
}

function briefUntil({ wait, waitSince }: RemedyFinding): Date | undefined {
  return wait && waitSince && BRIEF.has(wait.reason) ? secondsAfter(waitSince, BRIEF_SECONDS) : undefined;
}

function withoutNumbers(message: string | undefined): string | undefined {
  return message?.replaceAll(/\d+/g, '');
}

function byRule({ rule: a }: MachineRemedyWait, { rule: b }: MachineRemedyWait): number {
  return a < b ? -1 : Number(a > b);
}
