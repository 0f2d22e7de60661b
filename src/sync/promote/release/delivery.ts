/**
 * Tells what an update of a Release means for the four DORA figures. Each event is one transition of a recorded status, so that it is
 * counted once, whichever process writes it. Pure.
 */
import type { Pipeline, Release, ReleaseStage } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { type DeliveryEvent, RELEASE_EVENTS, STAGE_EVENTS } from '../../../observability/metrics/delivery.ts';
import { type OrderedRelease, recordedStage } from './order.ts';
import type { ReleaseUpdate } from './plan.ts';

export interface DeliveryInput {
  readonly pipeline: Pipeline;
  /** All Releases of the Pipeline, oldest first, as they were recorded before the update. */
  readonly releases: readonly OrderedRelease[];
  readonly update: ReleaseUpdate;
}

export function deliveryEvents(input: DeliveryInput): readonly DeliveryEvent[] {
  const { release } = input.update;
  return [
    ...(changesFleet(release) ? [...stageEvents(input), ...releaseEvents(input)] : []),
    ...restoredStages(input),
  ];
}

/** Against what the clusters had when the Release was created: a commit of documents is not a change. */
function changesFleet({ spec }: Release): boolean {
  return spec.plan.changed > 0;
}

function stageEvents(input: DeliveryInput): readonly DeliveryEvent[] {
  return changedStages(input.update).flatMap(({ before, after }): readonly DeliveryEvent[] => {
    // A stage without clusters proves nothing.
    if ((after.clusters?.total ?? 0) === 0) return [];
    const { name: stage, provenAt } = after;
    return STAGE_EVENTS.filter((event) => begins(TIMES[event], before, after)).map((event) => ({
      type: 'Stage',
      stage,
      event,
      ...optional('leadSeconds', event === 'Proven' ? leadSeconds(input, provenAt) : undefined),
    }));
  });
}

type StageTime = 'startedAt' | 'provenAt' | 'failedAt';
const TIMES: Readonly<Record<(typeof STAGE_EVENTS)[number], StageTime>> = {
  Started: 'startedAt',
  Proven: 'provenAt',
  Failed: 'failedAt',
};

function releaseEvents(input: DeliveryInput): readonly DeliveryEvent[] {
  const { release, status } = input.update;
  const isNew = (holds: (stages: readonly ReleaseStage[]) => boolean): boolean =>
    !holds(release.status?.stages ?? []) && holds(status.stages ?? []);
  const lead = (): number | undefined => leadSeconds(input, status.finishedAt);
  const found = {
    Started: isNew(hasStarted),
    Reverted: isNew(hasStarted) && revertsChange(input),
    Failed: isNew(hasFailed),
    Proven: isNew(isProvenEverywhere),
  };
  return RELEASE_EVENTS.filter((event) => found[event]).map((event) => ({
    type: 'Release',
    event,
    ...optional('leadSeconds', event === 'Proven' ? lead() : undefined),
  }));
}

function hasStarted(stages: readonly ReleaseStage[]): boolean {
  return stages.some(({ startedAt }) => startedAt !== undefined);
}

function hasFailed(stages: readonly ReleaseStage[]): boolean {
  return stages.some(({ failedAt }) => failedAt !== undefined);
}

function isProvenEverywhere(stages: readonly ReleaseStage[]): boolean {
  return stages.length > 0 && stages.every(({ state }) => state === 'Proven');
}

/** A commit from before its Pipeline was created did not wait for it. The clock of an author may be ahead of that of the hub. */
function leadSeconds({ pipeline, update }: DeliveryInput, at: string | undefined): number | undefined {
  const committed = Date.parse(update.release.spec.committedAt ?? '');
  const created = Date.parse(pipeline.metadata.creationTimestamp ?? '');
  if (at === undefined || Number.isNaN(committed) || committed < created) return undefined;
  return Math.max(0, (Date.parse(at) - committed) / 1000);
}

/** Tells whether the Release takes back a change that started and did not fail: one that failed was counted then. */
function revertsChange({ releases, update }: DeliveryInput): boolean {
  const target = revertedBy(releases, update.release);
  if (!target || isRevert(releases, target.release)) return false;
  const { startedAt, stages = [] } = target.release.status ?? {};
  return startedAt !== undefined && !hasFailed(stages);
}

/** The revert of a revert brings its change back, so it does not count as one. */
function isRevert(releases: readonly OrderedRelease[], release: Release): boolean {
  if (release.spec.revertOf === undefined) return false;
  const target = revertedBy(releases, release);
  return !target || !isRevert(releases, target.release);
}

/** Only an older one: a message can name any commit, and a circle of names would have no end. */
function revertedBy(releases: readonly OrderedRelease[], { spec }: Release): OrderedRelease | undefined {
  const own = releases.findIndex(({ commit }) => commit === spec.commit);
  const older = own === -1 ? releases : releases.slice(0, own);
  return older.findLast(({ commit }) => commit === spec.revertOf);
}

/**
 * A failure of a stage lasts from the first Release that failed there until one is proven there. It is counted with the proof, which is
 * recorded once. A failed Release that was deleted meanwhile is not known any more.
 */
function restoredStages(input: DeliveryInput): readonly DeliveryEvent[] {
  const { releases, update } = input;
  const proven = changedStages(update).filter(({ before, after }) => begins('provenAt', before, after));
  const own = releases.findIndex(({ name }) => name === update.release.metadata.name);
  const older = own === -1 ? releases : releases.slice(0, own);
  return proven.flatMap(({ after }): readonly DeliveryEvent[] => {
    const { name, provenAt = '', failedAt } = after;
    const recorded = older.map((each) => recordedStage(each, name));
    const since = recorded.findLastIndex((stage) => stage?.provenAt !== undefined);
    const failures = [...recorded.slice(since + 1).map((stage) => stage?.failedAt), failedAt];
    const first = failures.find((time) => time !== undefined);
    if (first === undefined) return [];
    return [{ type: 'Restored', seconds: Math.max(0, (Date.parse(provenAt) - Date.parse(first)) / 1000) }];
  });
}

interface ChangedStage {
  readonly before: ReleaseStage | undefined;
  readonly after: ReleaseStage;
}

function changedStages({ release, status }: ReleaseUpdate): readonly ChangedStage[] {
  return (status.stages ?? []).map((after) => ({
    before: release.status?.stages?.find(({ name }) => name === after.name),
    after,
  }));
}

function begins(time: StageTime, before: ReleaseStage | undefined, after: ReleaseStage): boolean {
  return before?.[time] === undefined && after[time] !== undefined;
}
