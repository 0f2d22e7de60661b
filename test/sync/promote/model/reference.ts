/**
 * The reference model of promotion, written from the requirements (S23, S31–S37, S39) and sharing no code with src/sync.
 * It sees what happens in the clusters, works out what may be called proven there, and objects to a write that breaks a
 * promise. It decides nothing, so where the requirements leave room it allows all of it.
 */

export interface ReferenceStage {
  readonly name: string;
  readonly maxConcurrent: number;
  readonly maxFailed: number;
  readonly soakMs: number;
  readonly graceMs: number;
  readonly maxSkipped: number;
}

/** One cluster as it really is, at a moment at which sync looks. */
export interface ReferenceObservation {
  readonly name: string;
  readonly stage: string;
  readonly paused: boolean;
  readonly seen: boolean;
  /** All of this was applied, and nothing is being written. */
  readonly digest: string | undefined;
  readonly health: 'Settled' | 'Progressing' | 'Failed' | 'Other';
  /** Apply goes wrong in a way that does not pass, or not now. */
  readonly trouble: 'None' | 'Failing' | 'Failed';
  readonly target: string | undefined;
}

export interface ReferenceCommit {
  readonly id: string;
  /** Cluster to digest; unit to version of each digest is `units`. */
  readonly digests: ReadonlyMap<string, string>;
}

interface Known extends Learned {
  sight: ReferenceObservation;
  last: { digest: string; order: number; stage: string } | undefined;
  unseenSince: number | undefined;
  /** It was paused or lost in the middle of its trial: its place may be another's until it is written again. */
  away: boolean;
  proven: Map<string, number>;
}

/** What the hub learned by looking, and has again as it was when it comes back from a backup. */
interface Learned {
  goodAt: { readonly real: number; readonly wall: number } | undefined;
  /** What was seen settled since it was last written. */
  settled: string | undefined;
  /** Observed good time of each unit at its version. */
  soaked: ReadonlyMap<string, number>;
  failed: Map<string, number>;
}

const BLIND_MS = 120_000;
/** The SHA-256 of nothing: what a commit renders to for a cluster that it does not mention. */
const EMPTY_TARGET = 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

export class Reference {
  readonly #stages: readonly ReferenceStage[];
  readonly #units: (digest: string) => ReadonlyMap<string, string>;
  readonly #known = new Map<string, Known>();
  readonly #commits: ReferenceCommit[] = [];
  readonly #order = new Map<string, number>();
  readonly provenIn: Set<string>[];
  readonly #had: boolean[];
  readonly #on: (string | undefined)[];
  /** Was seen going wrong in that stage, now or before. */
  readonly #wentWrong: Set<string>[];
  #backup: ReadonlyMap<string, Learned> = new Map();
  #paused = false;
  #moment = 0;

  constructor(stages: readonly ReferenceStage[], units: (digest: string) => ReadonlyMap<string, string>) {
    this.#stages = stages;
    this.#units = units;
    this.provenIn = stages.map(() => new Set());
    this.#had = stages.map(() => false);
    this.#on = stages.map(() => undefined);
    this.#wentWrong = stages.map(() => new Set());
  }

  accept(commit: ReferenceCommit): void {
    this.#order.set(commit.id, this.#commits.push(commit) - 1);
  }

  /** The hub is backed up, with the soaks and failures that it knows. */
  backUp(): void {
    this.#backup = new Map([...this.#known].map(([name, known]) => [name, learnedBy(known)]));
  }

  /** The hub comes back from its backup: what it learned since is lost, failures too. What runs where is not. */
  restore(): void {
    for (const [name, known] of this.#known) {
      known.away = true;
      Object.assign(known, learnedBy(this.#backup.get(name) ?? newlyKnown(known.sight)));
      // What failed by that account has to hold for a whole soak again, whatever was seen since.
      for (const digest of known.failed.keys()) known.proven.delete(digest);
    }
    this.#on.fill(undefined);
  }

  /** Wall time is what sync can go by; `now` counts real time. */
  look(sights: readonly ReferenceObservation[], now: number, wall: number, paused: boolean): void {
    this.#paused = paused;
    this.#moment++;
    const names = new Set(sights.map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
    for (const sight of sights) this.#see(sight, now, wall);
    for (const [index, stage] of this.#stages.entries()) this.#prove(stage, index, wall);
  }

  #prove(stage: ReferenceStage, index: number, wall: number): void {
    if (this.#members(stage).length > 0) this.#had[index] = true;
    this.#watch(stage, index);
    const before = this.provenIn[index - 1];
    for (const commit of this.#commits) {
      if (before && !before.has(commit.id)) continue;
      if (this.#isProven(stage, index, commit, wall)) this.provenIn[index]?.add(commit.id);
    }
  }

  #watch(stage: ReferenceStage, index: number): void {
    const on = this.#commits.find(({ id }) => id === this.#on[index]);
    if (on && this.#goesWrong(stage, on)) this.#wentWrong[index]?.add(on.id);
  }

  #see(sight: ReferenceObservation, now: number, wall: number): void {
    const known = this.#known.get(sight.name) ?? newlyKnown(sight);
    this.#known.set(sight.name, known);
    known.sight = sight;
    known.unseenSince = sight.seen ? undefined : Math.min(known.unseenSince ?? wall, wall);
    if (sight.paused || !sight.seen) known.away = true;
    if (sight.seen) this.#judge(known, sight, { real: now, wall });
  }

  #judge(
    known: Known,
    { trouble, target, digest, health }: ReferenceObservation,
    now: NonNullable<Known['goodAt']>,
  ): void {
    if (trouble === 'Failed' && target !== undefined) this.#fail(known, target);
    if (digest === undefined) return;
    if (health === 'Failed') this.#fail(known, digest);
    if (health === 'Settled') this.#soak(known, digest, now);
    if (health === 'Progressing' && target === digest) stop(known, digest);
  }

  #fail(known: Known, digest: string): void {
    known.failed.set(digest, this.#moment);
    known.proven.delete(digest);
    known.soaked = new Map();
  }

  #soak(known: Known, digest: string, now: NonNullable<Known['goodAt']>): void {
    const counts = countedSince(known.goodAt, now);
    known.goodAt = now;
    known.settled = digest;
    const before = known.soaked;
    known.soaked = new Map(
      this.#states(known, digest).map((state) => [
        state,
        before.has(state) ? (before.get(state) ?? 0) + counts : 0,
      ]),
    );
    const { soakMs } = this.#stage(known.sight.stage);
    const proven = known.failed.has(digest) ? new Set<string>() : this.#provenUnits(known);
    const isLeft = [...known.soaked].some(([state, ms]) => ms < soakMs && !proven.has(state));
    if (isLeft && !known.proven.has(digest)) return;
    known.proven.delete(digest);
    known.proven.set(digest, this.#moment);
    known.failed.delete(digest);
  }

  /** Units at their versions; a unit that was there in a proven digest and is gone counts as one, too. */
  #states(known: Known, digest: string): string[] {
    const own = this.#units(digest);
    const units = new Set([...known.proven.keys(), digest].flatMap((each) => [...this.#units(each).keys()]));
    return [...units].map((unit) => `${unit}=${own.get(unit) ?? EMPTY_TARGET}`);
  }

  #provenUnits(known: Known): Set<string> {
    return new Set([...known.proven.keys()].flatMap((digest) => this.#states(known, digest)));
  }

  #stage(name: string): ReferenceStage {
    const stage = this.#stages.find((each) => each.name === name);
    if (!stage) throw new Error(`no stage ${name}`);
    return stage;
  }

  #members(stage: ReferenceStage): Known[] {
    return [...this.#known.values()].filter(({ sight }) => sight.stage === stage.name);
  }

  #digest(commit: ReferenceCommit, known: Known): string {
    return commit.digests.get(known.sight.name) ?? EMPTY_TARGET;
  }

  #isLost({ unseenSince }: Known, stage: ReferenceStage, wall: number): boolean {
    return unseenSince !== undefined && wall - unseenSince >= stage.graceMs;
  }

  #isProven(stage: ReferenceStage, index: number, commit: ReferenceCommit, wall: number): boolean {
    const members = this.#members(stage);
    if (members.length === 0) return !this.#had[index];
    const order = this.#order.get(commit.id) ?? -1;
    const lost = members.filter((known) => !known.sight.paused && this.#isLost(known, stage, wall));
    const ahead = members.filter(
      (known) => (known.last?.order ?? -1) > order && known.last?.digest !== this.#digest(commit, known),
    );
    const failed = members.filter(
      (known) => !known.sight.paused && known.failed.has(this.#digest(commit, known)),
    );
    const asked = members.filter(
      (known) =>
        !known.sight.paused && !lost.includes(known) && !ahead.includes(known) && !failed.includes(known),
    );
    const proven = asked.filter((known) => known.sight.seen && known.proven.has(this.#digest(commit, known)));
    return (
      lost.length <= stage.maxSkipped &&
      failed.length <= stage.maxFailed &&
      proven.length > 0 &&
      proven.length === asked.length
    );
  }

  /** A write of this commit to this cluster: throws when it breaks a promise. */
  write(cluster: string, commitId: string, wall: number): void {
    const known = this.#known.get(cluster);
    const commit = this.#commits.find(({ id }) => id === commitId);
    if (!known || !commit) throw new Error(`S31: ${cluster} got ${commitId}, which nobody accepted`);
    const digest = this.#digest(commit, known);
    const order = this.#order.get(commitId) ?? -1;
    const begins = known.last?.digest !== digest;
    this.#mayBeWritten(known);
    refuse(known.last !== undefined && order < known.last.order, `S39: ${cluster} went back to ${commitId}`);
    if (begins || !this.#isGuest(known, commit)) this.#mayBeBusy(known, commit, wall, begins);
    known.last = { digest, order, stage: begunIn(known, begins) };
    known.settled = undefined;
    known.away = false;
  }

  #mayBeWritten({ sight }: Known): void {
    refuse(this.#paused || sight.paused, `S30: ${sight.name} was written while paused`);
    refuse(!sight.seen, `S37: ${sight.name} was written while it was not seen`);
  }

  #mayBeBusy(known: Known, commit: ReferenceCommit, wall: number, begins: boolean): void {
    const stage = this.#stage(known.sight.stage);
    const index = this.#stages.indexOf(stage);
    const others = this.#members(stage).filter((other) => other !== known);
    if (begins) this.#mayBegin(known, commit, index, others);
    const busy = others.filter((other) => this.#isBusy(other, commit, stage, wall)).length;
    const isFull = busy + 1 > stage.maxConcurrent && !known.failed.has(this.#digest(commit, known));
    refuse(isFull, `S23: ${known.sight.name} began while ${busy} others were busy with ${commit.id}`);
    if (begins || this.#isNews(index, commit)) this.#takesOver(stage, index, commit, [...others, known]);
  }

  /**
   * Whoever came from another stage in the middle of its work ends that work, in nobody's place. So does whom a hub that comes
   * back from a backup finds with more than its stage has now: it stays, and is not counted until the stage has caught up (S38, S39).
   */
  #isGuest({ last, sight }: Known, commit: ReferenceCommit): boolean {
    const index = this.#stages.findIndex(({ name }) => name === sight.stage);
    const isAhead = this.#isNews(index, commit) && last?.order === this.#order.get(commit.id);
    return last?.stage !== sight.stage || isAhead;
  }

  /** A stage comes to a commit also with one that goes on, under the new name, with what it had. */
  #isNews(index: number, { id }: ReferenceCommit): boolean {
    const on = this.#on[index];
    return on !== undefined && (this.#order.get(id) ?? -1) > (this.#order.get(on) ?? -1);
  }

  #mayBegin(known: Known, commit: ReferenceCommit, index: number, others: readonly Known[]): void {
    const { name, stage } = known.sight;
    const before = this.provenIn[index - 1];
    const digest = this.#digest(commit, known);
    const failed = others.filter(
      (other) => !other.sight.paused && other.failed.has(this.#digest(commit, other)),
    );
    refuse(before !== undefined && !before.has(commit.id), `S31: ${name} got ${commit.id} before its proof`);
    refuse(known.failed.has(digest), `S32: ${name} got ${commit.id}, which failed there`);
    refuse(
      failed.length > this.#stage(stage).maxFailed,
      `S35: ${name} began ${commit.id} beyond the failure budget`,
    );
  }

  #isBusy(known: Known, commit: ReferenceCommit, stage: ReferenceStage, wall: number): boolean {
    const digest = this.#digest(commit, known);
    const isAway = known.away || known.sight.paused || this.#isLost(known, stage, wall);
    const hasEnded = known.proven.has(digest) || known.failed.has(digest);
    return runsHere(known, digest, stage) && !isAway && !hasEnded;
  }

  /** S34: what a stage is busy with is replaced only when it is proven, fails, or is taken back. */
  #takesOver(stage: ReferenceStage, index: number, commit: ReferenceCommit, members: readonly Known[]): void {
    const before = this.#commits.find(({ id }) => id === this.#on[index]);
    this.#on[index] = commit.id;
    if (!before || before === commit || this.#hasEnded(index, before)) return;
    const isRevert = members.every((known) => !known.last || this.#isBackTo(known, commit));
    const isUnderWay = members.some((known) => this.#isUnderWay(known, before, stage));
    const promise = `S34: ${stage.name} left ${before.id} for ${commit.id} in the middle of its soak`;
    refuse(!isRevert && isUnderWay, promise);
  }

  #hasEnded(index: number, { id }: ReferenceCommit): boolean {
    return [this.provenIn[index], this.#wentWrong[index]].some((ended) => ended?.has(id));
  }

  /** Failures within the budget do not keep the stage from its proof: they are no reason to leave it (S34). */
  #goesWrong(stage: ReferenceStage, commit: ReferenceCommit): boolean {
    const members = this.#members(stage);
    const failed = members.filter((known) => known.failed.has(this.#digest(commit, known)));
    return failed.length > stage.maxFailed || members.some(({ sight }) => sight.trouble !== 'None');
  }

  #isBackTo(known: Known, commit: ReferenceCommit): boolean {
    const proven = this.#provenUnits(known);
    return this.#states(known, this.#digest(commit, known)).every((state) => proven.has(state));
  }

  #isUnderWay(known: Known, commit: ReferenceCommit, stage: ReferenceStage): boolean {
    const digest = this.#digest(commit, known);
    const hasEnded = known.proven.has(digest) || known.failed.has(digest);
    return runsHere(known, digest, stage) && !known.away && !hasEnded;
  }
}

/**
 * Time in which nobody looked, for more than two minutes, does not count. Where the clock was set back meanwhile, durations
 * go by the observation times that are recorded in the API (section 3, "Clock jump"): nobody can know of more.
 */
function countedSince(before: Known['goodAt'], now: NonNullable<Known['goodAt']>): number {
  const { real, wall } = before ?? now;
  const gaps = [now.real - real, now.wall - wall];
  return gaps.find((gap) => gap >= 0 && gap <= BLIND_MS) ?? 0;
}

/** What had settled is seen unsettled: the time until it is good again does not count. */
function stop(known: Known, digest: string): void {
  if (known.settled !== digest) return;
  known.goodAt = undefined;
}

/** Going on with something is no new beginning. */
function begunIn({ last, sight }: Known, begins: boolean): string {
  return begins || !last ? sight.stage : last.stage;
}

/** Who came from another stage began there: it takes nobody's place here. */
function runsHere({ last }: Known, digest: string, { name }: ReferenceStage): boolean {
  return last?.digest === digest && last.stage === name;
}

function learnedBy({ goodAt, settled, soaked, failed }: Learned): Learned {
  return { goodAt, settled, soaked, failed: new Map(failed) };
}

function newlyKnown(sight: ReferenceObservation): Known {
  return {
    sight,
    last: undefined,
    unseenSince: undefined,
    away: false,
    goodAt: undefined,
    settled: undefined,
    soaked: new Map(),
    proven: new Map(),
    failed: new Map(),
  };
}

function refuse(broken: boolean, promise: string): void {
  if (broken) throw new Error(promise);
}
