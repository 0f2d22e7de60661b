/** Writes notes about what a person has to know about a Pipeline or a Cluster although nothing failed. Pure. */
import type { Cluster, Pipeline } from '../../api/generated/types.ts';
import { ANNOTATION_COMMIT, type ConditionType, MANAGER_CLI, MANAGER_SYNC } from '../../api/names.ts';
import { pausedParts } from '../../api/status/pauses.ts';
import { DELETES_HELD, FOREIGN_FINALIZER } from '../../api/status/sync-words.ts';
import { type Condition, conditionOf } from '../../kube/objects/conditions.ts';
import { shortCommit } from '../text/age.ts';
import { pipelineTrouble } from './hub-objects.ts';

const FROM_THE_NEXT = 'what it loosens counts from the next commit';

/** The reasons of a revert that sync made, and of one that is not needed any more. */
const REVERTED: ReadonlySet<string> = new Set([
  'RevertPlanned',
  'RevertProposed',
  'RevertPushed',
  'AlreadyReverted',
]);

/** Returns the notes about a Pipeline, a sentence each. */
export function pipelineNotes(pipeline: Pipeline): readonly string[] {
  return NOTES.map((note) => note(pipeline)).filter((note) => note !== undefined);
}

const NOTES: readonly ((pipeline: Pipeline) => string | undefined)[] = [
  heldHubNote,
  gatesNote,
  originNote,
  webhookNote,
  commitStatusNote,
  planCommentsNote,
  revertNote,
];

/** The message of the hold has the digest; the command prints the entry. */
function heldHubNote({ status }: Pipeline): string | undefined {
  const held = conditionOf(status?.conditions, 'Held');
  return held?.status === 'True' && held.reason === DELETES_HELD
    ? 'deletes of objects of the hub wait for a commit: kubenode release acknowledge hub --reason TEXT prints what to commit'
    : undefined;
}

function gatesNote({ status }: Pipeline): string | undefined {
  const { commits = [] } = status?.gates?.judging ?? {};
  if (commits.length === 0) return undefined;
  const judged =
    commits.length === 1
      ? `commit ${commits.map(shortCommit).join('')}: ${FROM_THE_NEXT}`
      : `commits ${commits.map(shortCommit).join(', ')}: what they loosen counts from the next commit`;
  return `earlier gates apply to ${judged}`;
}

/** Returns a note for a commit that loosened the gates by which it is still judged. */
export function earlierGatesNote(pipeline: Pipeline, commit: string): string | undefined {
  const isJudged = pipeline.status?.gates?.judging?.commits.includes(commit);
  return isJudged ? `those before this commit apply to it, too: ${FROM_THE_NEXT}` : undefined;
}

/**
 * Returns a note if git does not declare the Pipeline: once a commit was accepted, sync has applied the Pipeline from it if git declares
 * it.
 */
function originNote(pipeline: Pipeline): string | undefined {
  const { metadata } = pipeline;
  const isSetByGit = metadata.annotations?.[ANNOTATION_COMMIT] !== undefined;
  if (isSetByGit || !isAccepted(pipeline) || pipelineTrouble(pipeline)) return undefined;
  const managers = (metadata.managedFields ?? []).map(({ manager }) => manager);
  const others = [...new Set(managers)].filter((manager) => ![MANAGER_SYNC, MANAGER_CLI].includes(manager));
  const by = others.length > 0 ? ` (field managers: ${others.slice(0, 3).join(', ')})` : '';
  return `git does not set it${by}: a commit changes none of its stages and gates. Declare Pipeline ${metadata.name} in the fleet repository`;
}

/** Without its webhook a Pipeline works, and finds each push later. */
function webhookNote({ status }: Pipeline): string | undefined {
  const ready = conditionOf(status?.conditions, 'WebhookReady');
  return ready?.status === 'False' ? problemNote('webhook not received', ready) : undefined;
}

/** Returns a note, and no error: without commit statuses the fleet goes on, and the git host shows old ones. */
function commitStatusNote(pipeline: Pipeline): string | undefined {
  return notReadyNote(pipeline, 'CommitStatusReady', 'commit statuses not sent');
}

/** Returns a note, and no error: the plan of a pull request delays no commit. */
function planCommentsNote(pipeline: Pipeline): string | undefined {
  return notReadyNote(pipeline, 'PlanCommentsReady', 'pull requests not planned');
}

/** Returns a note about the revert of a commit that failed, also if a person has to merge it. */
function revertNote(pipeline: Pipeline): string | undefined {
  const ready = conditionOf(pipeline.status?.conditions, 'RevertReady');
  if (ready?.status === 'True' && REVERTED.has(ready.reason)) return ready.message;
  return notReadyNote(pipeline, 'RevertReady', 'no revert was made');
}

function notReadyNote({ status }: Pipeline, type: ConditionType, what: string): string | undefined {
  const ready = conditionOf(status?.conditions, type);
  return ready === undefined || ready.status === 'True' ? undefined : problemNote(what, ready);
}

function problemNote(what: string, { message, lastTransitionTime }: Condition): string {
  return `${what} since ${lastTransitionTime}: ${message}`;
}

function isAccepted({ status }: Pipeline): boolean {
  return status?.head?.commit !== undefined && status.head.verdict === 'Accepted';
}

/** The most objects that a note names. The status lists up to 20; a few make the cause clear. */
const MAX_KEPT = 3;

/** Names what git removed and others keep: the commit counts as applied, so nothing else reports it. */
export function keptObjectNotes({ metadata, status }: Cluster): readonly string[] {
  const kept = (status?.sync?.failures ?? []).filter(({ reason }) => reason === FOREIGN_FINALIZER);
  if (kept.length === 0) return [];
  const shown = kept.slice(0, MAX_KEPT).map(({ object, message }) => `${object} ${message}`);
  const more = kept.length > MAX_KEPT ? [`and ${kept.length - MAX_KEPT} more`] : [];
  return [
    `Cluster ${metadata.name}: removed from git, and not deleted yet: ${[...shown, ...more].join('; ')}. No commit waits for that: their controllers, or a person, have to remove the finalizers`,
  ];
}

/** Returns a note for each paused unit and object, even while it matches git: its drift is not corrected. */
export function pausedPartNotes(cluster: Cluster, now: Date): readonly string[] {
  const pipeline = cluster.status?.assigned?.pipeline ?? '<pipeline>';
  const { pausedUnits, pausedObjects } = pausedParts(cluster, pipeline, now);
  const note = (part: string, because: string): string =>
    `Cluster ${cluster.metadata.name}: ${part} is paused: ${because}`;
  return [
    ...[...(pausedUnits ?? [])].map(([unit, because]) => note(`unit ${unit}`, because)),
    ...[...(pausedObjects ?? [])].map(([object, because]) => note(`object ${object}`, because)),
  ];
}
