/**
 * Judges what a rollout remembers, as it is written, without the planner: no batch is opened and no revision completes before the
 * batches before it are at their end and have soaked. Each edit begins another rollout, so that a revision that comes back has to
 * open the batches of its machines again.
 */
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import type { RolloutProgress } from '../../../../src/controllers/componentset/rollout/input.ts';

export interface JudgedMachines {
  readonly members: readonly MemberState[];
  readonly left: readonly MemberState[];
  readonly soakSeconds: number;
  readonly now: Date;
}

const OPEN_MEMBER: ReadonlySet<string> = new Set(['InWork', 'Unknown', 'NeedsGrant']);
/** What a machine that left asks for is not given. */
const OPEN_LEFT: ReadonlySet<string> = new Set(['InWork', 'Unknown']);

export class BatchJudge {
  /** Batches that were opened in the rollout. */
  readonly #opened = new Set<number>();

  /** What must not have been written. */
  judge(before: RolloutProgress, after: RolloutProgress, machines: JudgedMachines): string | undefined {
    const isSame = isSameRollout(before, after);
    if (!isSame) this.#opened.clear();
    const opened = openedBatch(before, after, isSame);
    const isOver = completes(before, after);
    if (opened === undefined && !isOver) return undefined;
    const found =
      (isSame ? openReason(before, machines) : undefined) ?? this.#skipped(before, after, machines);
    if (opened !== undefined) this.#opened.add(opened);
    return found;
  }

  /** Machines have the revision since it was asked for earlier, and nothing proves it on them. */
  #skipped(
    before: RolloutProgress,
    { updateRevision, batch: open }: RolloutProgress,
    { members }: JudgedMachines,
  ): string | undefined {
    if (isProven(before, updateRevision)) return undefined;
    const end = open?.index ?? Number.POSITIVE_INFINITY;
    const updated = members.filter(({ revision }) => revision === updateRevision);
    const skipped = updated.find(
      ({ batch }) => batch !== undefined && batch < end && !this.#opened.has(batch),
    );
    return skipped && `batch ${skipped.batch} of ${skipped.name} was not opened`;
  }
}

/** Of an edit, or of a new retry token. */
export function isSameRollout(before: RolloutProgress, after: RolloutProgress): boolean {
  return (
    before.updateRevision === after.updateRevision &&
    before.startedAt?.getTime() === after.startedAt?.getTime()
  );
}

function openedBatch(
  { batch: before }: RolloutProgress,
  { batch }: RolloutProgress,
  isSame: boolean,
): number | undefined {
  return isSame && batch?.index === before?.index ? undefined : batch?.index;
}

export function completes({ history: [before] }: RolloutProgress, after: RolloutProgress): boolean {
  const [newest] = after.history;
  const isCompleted = newest?.revision === after.updateRevision && newest?.result === 'Completed';
  return isCompleted && (before?.revision !== newest.revision || before?.result !== 'Completed');
}

export function isProven({ history }: RolloutProgress, name: string | undefined): boolean {
  return history.some(({ revision, result }) => revision === name && result === 'Completed');
}

/** A batch of one revision is not the batch of the same number of another one: those in flight end at their own time (ROL-05). */
function openReason(before: RolloutProgress, judged: JudgedMachines): string | undefined {
  const { batch, updateRevision } = before;
  if (!batch) return undefined;
  const isOwn = (each: MemberState): boolean =>
    each.revision === updateRevision && each.batch === batch.index && !each.hold;
  const members = judged.members.filter(isOwn);
  const left = judged.left.filter(isOwn);
  const open = [
    ...members.filter(({ step }) => OPEN_MEMBER.has(step)),
    ...left.filter(({ step }) => OPEN_LEFT.has(step)),
  ];
  if (open[0]) return `batch ${batch.index} is still in work: ${open[0].name}`;
  const isEmpty = members.length + left.length === 0;
  if (isEmpty || judged.soakSeconds === 0 || isProven(before, updateRevision)) return undefined;
  const isSoaked = batch.soakUntil !== undefined && batch.soakUntil <= judged.now;
  return isSoaked ? undefined : `batch ${batch.index} has not soaked`;
}
