/** Derives the status that the git host should show for each commit, from what Releases and refused heads record. Pure. */
import type { Pipeline, RefusedHead, Release, SentCommitStatus } from '../../api/generated/types.ts';
import { releasePhases } from '../../api/status/phase-tables.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';

export interface CommitStatus {
  readonly commit: string;
  readonly state: SentCommitStatus['state'];
  readonly message: string;
}

/** The status of a Pipeline records as many: at most 100 finished Releases, 20 refused heads, and what is in progress. */
const MAX_COMMITS = 128;
/** The limit of GitHub, the lowest of the three. */
const MAX_MESSAGE = 140;
/** More names do not fit into the message. */
const MAX_NAMES = 3;

/** Newest first. A head that was refused and then accepted has the status of its Release. */
export function desiredStatuses(pipeline: Pipeline, releases: readonly Release[]): readonly CommitStatus[] {
  const released = new Set(releases.map(({ spec }) => spec.commit));
  const refused = (pipeline.status?.refused ?? []).filter(({ commit }) => !released.has(commit));
  const dated = [
    ...releases.map((each) => ({ at: each.metadata.creationTimestamp ?? '', status: releaseStatus(each) })),
    ...refused.map((each) => ({ at: each.seenAt, status: refusedStatus(each) })),
  ];
  const sorted = dated.toSorted((a, b) => byCode(b.at, a.at) || byCode(a.status.commit, b.status.commit));
  return sorted.slice(0, MAX_COMMITS).map(({ status }) => status);
}

function refusedStatus({ commit, verdict, message }: RefusedHead): CommitStatus {
  return {
    commit,
    state: 'Failed',
    message: shortMessage(`${verdict}: ${message ?? 'nothing of it was applied'}`),
  };
}

function releaseStatus(release: Release): CommitStatus {
  const phase = releasePhases.phaseOf({ conditions: release.status?.conditions ?? [] });
  const [state, text] = DESCRIPTIONS[phase](release);
  return { commit: release.spec.commit, state, message: shortMessage(text) };
}

type Description = readonly [state: CommitStatus['state'], text: string];

const DESCRIPTIONS: Readonly<
  Record<ReturnType<typeof releasePhases.phaseOf>, (release: Release) => Description>
> = {
  Succeeded: (release) => ['Succeeded', `proven in every stage: ${allCounts(release)}`],
  Superseded: describeReplaced,
  Failed: describeStopped,
  Stalled: describeStopped,
  Waiting: describeProgress,
  Promoting: describeProgress,
  Pending: describeProgress,
};

/** A Release that is replaced after it failed stays a failure: somebody looks for it. */
function describeReplaced(release: Release): Description {
  const failed = failedText(release);
  const replaced = `replaced by ${release.status?.supersededBy ?? 'a newer commit'}`;
  return [failed === undefined ? 'Superseded' : 'Failed', join(replaced, allCounts(release), failed)];
}

function describeStopped(release: Release): Description {
  return ['Failed', join(stoppedText(release), stageCounts(release), failedText(release))];
}

function describeProgress(release: Release): Description {
  return ['Pending', join(stageText(release), stageCounts(release), failedText(release), waitText(release))];
}

function join(first: string, ...rest: readonly (string | undefined)[]): string {
  return `${first}: ${rest.filter((text) => text !== undefined).join('; ')}`;
}

function stageText({ status }: Release): string {
  return status?.stage === undefined ? 'accepted' : `stage ${status.stage}`;
}

/** The reason only: its message may contain what servers of the fleet answered, and more people read a git host. */
function stoppedText(release: Release): string {
  const stalled = release.status?.conditions.find(({ type }) => type === 'Stalled');
  return `${stageText(release)} stopped by ${stalled?.reason ?? 'Unknown'}`;
}

function waitText({ status }: Release): string | undefined {
  const { reason } = status?.waiting ?? {};
  return reason === undefined ? undefined : `waits: ${reason}`;
}

function allCounts({ status }: Release): string {
  return countText(status?.clusters);
}

function stageCounts({ status }: Release): string {
  return countText(status?.stages?.find(({ name }) => name === status.stage)?.clusters);
}

function countText({
  total = 0,
  proven = 0,
}: {
  readonly total?: number;
  readonly proven?: number;
} = {}): string {
  return `${proven} of ${total} clusters proven`;
}

/** `failed: c1, c2, c3 and 4 more`; undefined without a failed cluster. */
function failedText({ status }: Release): string | undefined {
  const names = (status?.failedClusters ?? []).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const more = Math.max(names.length, status?.clusters?.failed ?? 0) - MAX_NAMES;
  return `failed: ${names.slice(0, MAX_NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Returns the text as the message of a commit status. */
export function shortMessage(text: string): string {
  return truncate(printableLine(text), MAX_MESSAGE);
}
