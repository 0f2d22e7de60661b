/**
 * A reference model of promotion, written from the requirements (S23, S31–S37, S39) without code of src/sync. It observes the
 * clusters, derives what counts as proven, and throws at a write that violates a requirement. It decides nothing: where the
 * requirements allow several decisions, it accepts all of them.
 */

export interface ReferenceStage {
  readonly name: string;
  readonly maxConcurrent: number;
  readonly maxFailed: number;
  readonly soakMs: number;
  readonly graceMs: number;
  readonly maxSkipped: number;
}

/** The real state of one cluster at a moment at which sync observes it. */
export interface ReferenceObservation {
  readonly name: string;
  readonly stage: string;
  readonly paused: boolean;
  readonly reachable: boolean;
  /** The digest that is applied completely; undefined while something is being written. */
  readonly digest: string | undefined;
  readonly health: 'Settled' | 'Progressing' | 'Failed' | 'Other';
  /** The apply has permanent errors, or errors that may be transient. */
  readonly applyErrors: 'None' | 'Failing' | 'Failed';
  readonly target: string | undefined;
  /** A part of the target is not written, because a person paused its unit. */
  readonly waitsForUnit: boolean;
}

export interface ReferenceCommit {
  readonly id: string;
  /** Cluster to digest; unit to version of each digest is `units`. */
  readonly digests: ReadonlyMap<string, string>;
}

interface ClusterRecord extends LearnedState {
  observation: ReferenceObservation;
  last: { digest: string; order: number; stage: string } | undefined;
  unreachableSince: number | undefined;
  /** It, or a unit of it, was paused or unreachable during its rollout: another cluster may use its slot until it is written again. */
  lostSlot: boolean;
  proven: Set<string>;
}

/** What the hub learned from observations, and has again as of its backup when it is restored. */
interface LearnedState {
  healthyAt: { readonly real: number; readonly wall: number } | undefined;
  /** The digest that was observed settled since the last write. */
  settled: string | undefined;
  /** Observed healthy time of each unit at its version. */
  soaked: ReadonlyMap<string, number>;
  /** Digest to whether it was proven here before it failed. */
  failed: Map<string, boolean>;
}

const MAX_GAP_MS = 120_000;
/** The SHA-256 of zero bytes: what a commit renders to for a cluster that it does not mention. */
const EMPTY_TARGET = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export class Reference {
  readonly #stages: readonly ReferenceStage[];
  readonly #units: (digest: string) => ReadonlyMap<string, string>;
  readonly #records = new Map<string, ClusterRecord>();
  readonly #commits: ReferenceCommit[] = [];
  readonly #order = new Map<string, number>();
  readonly provenIn: Set<string>[];
  readonly #hadClusters: boolean[];
  readonly #current: (string | undefined)[];
  /** Commits that were observed failing in each stage, now or before. */
  readonly #failing: Set<string>[];
  #backup: ReadonlyMap<string, LearnedState> = new Map();
  #paused = false;

  constructor(stages: readonly ReferenceStage[], units: (digest: string) => ReadonlyMap<string, string>) {
    this.#stages = stages;
    this.#units = units;
    this.provenIn = stages.map(() => new Set());
    this.#hadClusters = stages.map(() => false);
    this.#current = stages.map(() => undefined);
    this.#failing = stages.map(() => new Set());
  }

  accept(commit: ReferenceCommit): void {
    this.#order.set(commit.id, this.#commits.push(commit) - 1);
  }

  /** Backs up what the hub has learned: soaks and failures. */
  backUp(): void {
    this.#backup = new Map([...this.#records].map(([name, record]) => [name, learnedState(record)]));
  }

  /** Restores the hub from its backup: it forgets what it learned since, failures included. What the clusters run stays. */
  restore(): void {
    for (const [name, record] of this.#records) {
      record.lostSlot = true;
      Object.assign(record, learnedState(this.#backup.get(name) ?? newRecord(record.observation)));
      // A failure in the backup has to hold for a whole soak again, whatever was observed since.
      for (const digest of record.failed.keys()) record.proven.delete(digest);
    }
    this.#current.fill(undefined);
  }

  /** `wall` is the time that sync has; `now` is real time. */
  observe(observations: readonly ReferenceObservation[], now: number, wall: number, paused: boolean): void {
    this.#paused = paused;
    const names = new Set(observations.map(({ name }) => name));
    for (const name of this.#records.keys()) if (!names.has(name)) this.#records.delete(name);
    for (const observation of observations) this.#record(observation, now, wall);
    for (const [index, stage] of this.#stages.entries()) this.#prove(stage, index, wall);
  }

  #prove(stage: ReferenceStage, index: number, wall: number): void {
    if (this.#members(stage).length > 0) this.#hadClusters[index] = true;
    this.#noteFailing(stage, index);
    const before = this.provenIn[index - 1];
    for (const commit of this.#commits) {
      if (before && !before.has(commit.id)) continue;
      if (this.#isProven(stage, index, commit, wall)) this.provenIn[index]?.add(commit.id);
    }
  }

  #noteFailing(stage: ReferenceStage, index: number): void {
    const commit = this.#commits.find(({ id }) => id === this.#current[index]);
    if (commit && this.#isFailing(stage, commit)) this.#failing[index]?.add(commit.id);
  }

  #record(observation: ReferenceObservation, now: number, wall: number): void {
    const record = this.#records.get(observation.name) ?? newRecord(observation);
    this.#records.set(observation.name, record);
    record.observation = observation;
    record.unreachableSince = observation.reachable
      ? undefined
      : Math.min(record.unreachableSince ?? wall, wall);
    const { paused, reachable, waitsForUnit } = observation;
    if (paused || !reachable || waitsForUnit) record.lostSlot = true;
    if (observation.reachable) this.#learn(record, observation, { real: now, wall });
  }

  #learn(
    record: ClusterRecord,
    { applyErrors, target, digest, health }: ReferenceObservation,
    now: NonNullable<ClusterRecord['healthyAt']>,
  ): void {
    if (applyErrors === 'Failed' && target !== undefined) this.#fail(record, target);
    if (digest === undefined) return;
    if (health === 'Failed') this.#fail(record, digest);
    if (health === 'Settled') this.#soak(record, digest, now);
    if (health === 'Progressing' && target === digest) stopSoak(record, digest);
  }

  #fail(record: ClusterRecord, digest: string): void {
    record.failed.set(digest, record.proven.has(digest) || record.failed.get(digest) === true);
    record.proven.delete(digest);
    record.soaked = new Map();
  }

  #soak(record: ClusterRecord, digest: string, now: NonNullable<ClusterRecord['healthyAt']>): void {
    const counts = countedSince(record.healthyAt, now);
    record.healthyAt = now;
    record.settled = digest;
    const before = record.soaked;
    record.soaked = new Map(
      this.#states(record, digest).map((state) => [
        state,
        before.has(state) ? (before.get(state) ?? 0) + counts : 0,
      ]),
    );
    const { soakMs } = this.#stage(record.observation.stage);
    const proven = record.failed.has(digest) ? new Set<string>() : this.#provenUnits(record);
    const isLeft = [...record.soaked].some(([state, ms]) => ms < soakMs && !proven.has(state));
    if (isLeft && !record.proven.has(digest)) return;
    record.proven.add(digest);
    record.failed.delete(digest);
  }

  /** Units at their versions; a removed unit of a proven digest counts as a version of its own. */
  #states(record: ClusterRecord, digest: string): string[] {
    const own = this.#units(digest);
    const units = new Set([...record.proven, digest].flatMap((each) => [...this.#units(each).keys()]));
    return [...units].map((unit) => `${unit}=${own.get(unit) ?? EMPTY_TARGET}`);
  }

  #provenUnits(record: ClusterRecord): Set<string> {
    return new Set([...record.proven].flatMap((digest) => this.#states(record, digest)));
  }

  #stage(name: string): ReferenceStage {
    const stage = this.#stages.find((each) => each.name === name);
    if (!stage) throw new Error(`no stage ${name}`);
    return stage;
  }

  #members(stage: ReferenceStage): ClusterRecord[] {
    return [...this.#records.values()].filter(({ observation }) => observation.stage === stage.name);
  }

  #digest(commit: ReferenceCommit, record: ClusterRecord): string {
    return commit.digests.get(record.observation.name) ?? EMPTY_TARGET;
  }

  #isLost({ unreachableSince }: ClusterRecord, stage: ReferenceStage, wall: number): boolean {
    return unreachableSince !== undefined && wall - unreachableSince >= stage.graceMs;
  }

  #isProven(stage: ReferenceStage, index: number, commit: ReferenceCommit, wall: number): boolean {
    const members = this.#members(stage);
    if (members.length === 0) return !this.#hadClusters[index];
    const order = this.#order.get(commit.id) ?? -1;
    const lost = members.filter((record) => !record.observation.paused && this.#isLost(record, stage, wall));
    const ahead = members.filter(
      (record) => (record.last?.order ?? -1) > order && record.last?.digest !== this.#digest(commit, record),
    );
    const failed = members.filter(
      (record) => !record.observation.paused && record.failed.has(this.#digest(commit, record)),
    );
    const asked = members.filter(
      (record) =>
        !record.observation.paused &&
        !lost.includes(record) &&
        !ahead.includes(record) &&
        !failed.includes(record),
    );
    const proven = asked.filter(
      (record) => record.observation.reachable && record.proven.has(this.#digest(commit, record)),
    );
    return (
      lost.length <= stage.maxSkipped &&
      failed.length <= stage.maxFailed &&
      proven.length > 0 &&
      proven.length === asked.length
    );
  }

  /** A write of this commit to this cluster: throws if it violates a requirement. */
  write(cluster: string, commitId: string, wall: number): void {
    const record = this.#records.get(cluster);
    const commit = this.#commits.find(({ id }) => id === commitId);
    if (!record || !commit) throw new Error(`S31: ${cluster} got ${commitId}, which is not accepted`);
    const digest = this.#digest(commit, record);
    const order = this.#order.get(commitId) ?? -1;
    const starts = record.last?.digest !== digest;
    this.#checkWritable(record);
    violates(
      record.last !== undefined && order < record.last.order,
      `S39: ${cluster} was rolled back to ${commitId}`,
    );
    if (starts || !this.#isFromElsewhere(record, commit)) this.#checkSlot(record, commit, wall, starts);
    record.last = { digest, order, stage: startedIn(record, starts) };
    record.settled = undefined;
    record.lostSlot = keepsWaiting(record, starts);
  }

  #checkWritable({ observation }: ClusterRecord): void {
    violates(this.#paused || observation.paused, `S30: ${observation.name} was written while paused`);
    violates(!observation.reachable, `S37: ${observation.name} was written while it was unreachable`);
  }

  #checkSlot(record: ClusterRecord, commit: ReferenceCommit, wall: number, starts: boolean): void {
    const stage = this.#stage(record.observation.stage);
    const index = this.#stages.indexOf(stage);
    const others = this.#members(stage).filter((other) => other !== record);
    if (starts) this.#checkStart(record, commit, index, others);
    const busy = others.filter((other) => this.#isBusy(other, commit, stage, wall)).length;
    const isFull = busy + 1 > stage.maxConcurrent && !record.failed.has(this.#digest(commit, record));
    violates(
      isFull && !keepsWaiting(record, starts),
      `S23: ${record.observation.name} started while ${busy} others were busy with ${commit.id}`,
    );
    if (starts || this.#isNewer(index, commit)) {
      this.#checkReplacement(stage, index, commit, [...others, record]);
    }
  }

  /**
   * A cluster that came from another stage during its rollout finishes it without a slot. So does a cluster that a restored
   * hub finds ahead of its stage: it keeps its commit, and is not counted until the stage has caught up (S38, S39).
   */
  #isFromElsewhere({ last, observation }: ClusterRecord, commit: ReferenceCommit): boolean {
    const index = this.#stages.findIndex(({ name }) => name === observation.stage);
    const isAhead = this.#isNewer(index, commit) && last?.order === this.#order.get(commit.id);
    return last?.stage !== observation.stage || isAhead;
  }

  /** A stage also moves to a commit with a cluster that continues the same content under the new name. */
  #isNewer(index: number, { id }: ReferenceCommit): boolean {
    const on = this.#current[index];
    return on !== undefined && (this.#order.get(id) ?? -1) > (this.#order.get(on) ?? -1);
  }

  #checkStart(
    record: ClusterRecord,
    commit: ReferenceCommit,
    index: number,
    others: readonly ClusterRecord[],
  ): void {
    const { name, stage } = record.observation;
    const before = this.provenIn[index - 1];
    const digest = this.#digest(commit, record);
    const failed = others.filter(
      (other) => !other.observation.paused && other.failed.has(this.#digest(commit, other)),
    );
    violates(
      before !== undefined && !before.has(commit.id),
      `S31: ${name} got ${commit.id} before its proof`,
    );
    // What was proven there may come back: it failed for what happened around it.
    violates(record.failed.get(digest) === false, `S32: ${name} got ${commit.id}, which failed there`);
    violates(
      failed.length > this.#stage(stage).maxFailed,
      `S35: ${name} started ${commit.id} beyond the failure budget`,
    );
  }

  #isBusy(record: ClusterRecord, commit: ReferenceCommit, stage: ReferenceStage, wall: number): boolean {
    const digest = this.#digest(commit, record);
    const isAway = record.lostSlot || record.observation.paused || this.#isLost(record, stage, wall);
    const hasEnded = record.proven.has(digest) || record.failed.has(digest);
    return runsHere(record, digest, stage) && !isAway && !hasEnded;
  }

  /** S34: the commit of a busy stage is replaced only if it is proven, fails, or is reverted. */
  #checkReplacement(
    stage: ReferenceStage,
    index: number,
    commit: ReferenceCommit,
    members: readonly ClusterRecord[],
  ): void {
    const before = this.#commits.find(({ id }) => id === this.#current[index]);
    this.#current[index] = commit.id;
    if (!before || before === commit || this.#hasEnded(index, before)) return;
    const isRevert = members.every((record) => !record.last || this.#isBackTo(record, commit));
    const isInProgress = members.some((record) => this.#isInProgress(record, before, stage));
    const violation = `S34: ${stage.name} left ${before.id} for ${commit.id} in the middle of its soak`;
    violates(!isRevert && isInProgress, violation);
  }

  #hasEnded(index: number, { id }: ReferenceCommit): boolean {
    return [this.provenIn[index], this.#failing[index]].some((ended) => ended?.has(id));
  }

  /** Failures within the budget do not prevent the proof of the stage, so the commit is not replaced for them (S34). */
  #isFailing(stage: ReferenceStage, commit: ReferenceCommit): boolean {
    const members = this.#members(stage);
    const failed = members.filter((record) => record.failed.has(this.#digest(commit, record)));
    return (
      failed.length > stage.maxFailed || members.some(({ observation }) => observation.applyErrors !== 'None')
    );
  }

  #isBackTo(record: ClusterRecord, commit: ReferenceCommit): boolean {
    const proven = this.#provenUnits(record);
    return this.#states(record, this.#digest(commit, record)).every((state) => proven.has(state));
  }

  #isInProgress(record: ClusterRecord, commit: ReferenceCommit, stage: ReferenceStage): boolean {
    const digest = this.#digest(commit, record);
    const hasEnded = record.proven.has(digest) || record.failed.has(digest);
    return runsHere(record, digest, stage) && !record.lostSlot && !hasEnded;
  }
}

/**
 * Unobserved time of more than two minutes does not count. Where the clock was set back meanwhile, durations follow the
 * observation times that are recorded in the API (section 3, "Clock jump"): nothing recorded shows more.
 */
function countedSince(
  before: ClusterRecord['healthyAt'],
  now: NonNullable<ClusterRecord['healthyAt']>,
): number {
  const { real, wall } = before ?? now;
  const gaps = [now.real - real, now.wall - wall];
  return gaps.find((gap) => gap >= 0 && gap <= MAX_GAP_MS) ?? 0;
}

/** Settled content was observed unsettled: the time until it is healthy again does not count. */
function stopSoak(record: ClusterRecord, digest: string): void {
  if (record.settled !== digest) return;
  record.healthyAt = undefined;
}

/** The same content under a new name, of a cluster that waits for a paused unit: nothing begins there. */
function keepsWaiting({ observation }: ClusterRecord, starts: boolean): boolean {
  return !starts && observation.waitsForUnit;
}

/** Continuing content does not start it again. */
function startedIn({ last, observation }: ClusterRecord, starts: boolean): string {
  return starts || !last ? observation.stage : last.stage;
}

/** A cluster that came from another stage started there: it uses no slot here. */
function runsHere({ last }: ClusterRecord, digest: string, { name }: ReferenceStage): boolean {
  return last?.digest === digest && last.stage === name;
}

function learnedState({ healthyAt, settled, soaked, failed }: LearnedState): LearnedState {
  return { healthyAt, settled, soaked, failed: new Map(failed) };
}

function newRecord(observation: ReferenceObservation): ClusterRecord {
  return {
    observation,
    last: undefined,
    unreachableSince: undefined,
    lostSlot: false,
    healthyAt: undefined,
    settled: undefined,
    soaked: new Map(),
    proven: new Set(),
    failed: new Map(),
  };
}

function violates(isViolated: boolean, requirement: string): void {
  if (isViolated) throw new Error(requirement);
}
