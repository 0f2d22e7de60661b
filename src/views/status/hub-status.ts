/** Summarizes the objects of a hub for people. Pure. */
import type { Cluster, Pipeline, Release } from '../../api/generated/types.ts';
import { pipelinePhases } from '../../api/status/phase-tables.ts';
import { deletedPipelineMessage, isHeldReason } from '../../api/status/sync-words.ts';
import { conditionOf, conditionStatus } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { printableLine } from '../../kube/objects/printable.ts';
import { formatAge, relativeTimes, shortCommit } from '../text/age.ts';
import { textField } from '../text/fields.ts';
import type { Table } from '../text/table.ts';
import { formatTable } from '../text/table.ts';
import { fitTable, formatHanging } from '../text/wrap.ts';
import { closedTimeNotes } from './closed-times.ts';
import { type ClusterHealth, clusterHealth, healthCell, incidentSentence } from './cluster-health.ts';
import { hostedNotes } from './hosted-notes.ts';
import { type HubObjects, pipelineTrouble } from './hub-objects.ts';
import { keptObjectNotes, pausedPartNotes, pipelineNotes } from './pipeline-notes.ts';

export interface HubStatus {
  /** The incidents that endanger machines and objects, whatever commit they run, and what to do: a sentence each. */
  readonly incidents: readonly string[];
  /** The Pipelines that no process syncs, a sentence each: everything else is as it was recorded last. */
  readonly unsynced: readonly string[];
  readonly pipelines: readonly PipelineRow[];
  readonly clusters: readonly ClusterRow[];
  /** The notes that a person has to know although nothing failed, a sentence each. */
  readonly notes: readonly string[];
  /** The reasons why a commit is not where it should be and needs intervention, a sentence each. */
  readonly trouble: readonly string[];
}

export interface PipelineRow {
  readonly name: string;
  readonly phase: string;
  readonly head: string;
  readonly verdict: string;
  readonly because: string;
  readonly since?: string;
}

export interface ClusterRow extends ClusterHealth {
  readonly name: string;
  /** The Pipeline that selects the cluster. Absent: no Pipeline selects it, or none has yet. */
  readonly pipeline?: string;
  readonly stage: string;
  readonly commit: string;
  readonly state: string;
  readonly synced: string;
  readonly because: string;
  readonly since?: string;
}

export function summarizeHub(
  { pipelines, clusters, releases }: HubObjects,
  { now, unsynced = [] }: { readonly now: Date; readonly unsynced?: readonly string[] },
): HubStatus {
  const rows = {
    pipelines: pipelines.map(pipelineRow),
    clusters: sortByStage(
      clusters.map((cluster) => clusterRow(cluster, pipelines)),
      pipelines,
    ),
  };
  const trouble = [
    ...unsynced,
    ...rows.pipelines
      .filter(({ phase }) => BAD_PHASES.has(phase))
      .map(({ name, because }) => `Pipeline ${name}: ${because}`),
    ...rows.clusters
      .filter(({ state }) => BAD_STATES.has(state))
      .map(({ name, because }) => `Cluster ${name}: ${because}`),
    ...releases.filter(needsApproval).map(approvalText),
  ];
  const incidents = rows.clusters.flatMap((row) =>
    row.incidents.map((incident) => `Cluster ${row.name}: ${incidentSentence(incident)}`),
  );
  const notes = [
    ...rows.clusters.flatMap(pendingNotes),
    ...pipelines.flatMap((pipeline) =>
      pipelineNotes(pipeline).map((note) => `Pipeline ${pipeline.metadata.name}: ${note}`),
    ),
    ...pipelines.flatMap((pipeline) =>
      closedTimeNotes(pipeline, now).map((note) => `Pipeline ${pipeline.metadata.name}: ${note}`),
    ),
    ...clusters.flatMap((cluster) => hostedNotes(cluster, now)),
    ...clusters.flatMap((cluster) => pausedPartNotes(cluster, now)),
    ...clusters.flatMap(keptObjectNotes),
  ];
  return { incidents, unsynced, ...rows, notes, trouble };
}

/** Lists what is not healthy yet on a cluster that proved its commit. While a commit is applied, its state explains what it waits for. */
function pendingNotes({ name, state, pending = '' }: ClusterRow): readonly string[] {
  return state === 'Proven' && pending !== '' ? [`Cluster ${name}: not healthy yet: ${pending}`] : [];
}

function needsApproval({ status }: Release): boolean {
  return status?.waiting?.reason === 'ApprovalRequired' && status.finishedAt === undefined;
}

function approvalText({ metadata, status }: Release): string {
  return `Release ${metadata.name}: ${status?.waiting?.message ?? 'needs an approval'}`;
}

/** Sorts clusters in the order of the stages; clusters without a stage come last. */
function sortByStage(rows: readonly ClusterRow[], pipelines: readonly Pipeline[]): readonly ClusterRow[] {
  const stages = pipelines.flatMap(({ spec }) => spec.stages.map(({ name }) => name));
  const stageIndex = ({ stage }: ClusterRow): number => stages.indexOf(stage) + 1 || stages.length + 1;
  return rows.toSorted((a, b) => stageIndex(a) - stageIndex(b) || byCode(a.name, b.name));
}

/** The phases of a Pipeline that need a person. */
export const BAD_PHASES: ReadonlySet<string> = new Set(['Stalled', 'Held', 'SourceFailed', 'Refused']);
export const BAD_STATES: ReadonlySet<string> = new Set(['Failed', 'Held', 'Unreachable', 'Skipped']);

function pipelineRow(pipeline: Pipeline): PipelineRow {
  const verdict = textField(pipeline, 'status.head.verdict', 'Unknown');
  const refusal = verdict === 'Accepted' ? '' : textField(pipeline, 'status.head.message');
  const why = refusal
    ? { because: refusal, since: textField(pipeline, 'status.head.seenAt') }
    : waitOf(pipeline);
  return {
    name: pipeline.metadata.name,
    phase: phaseOf(pipeline),
    head: textField(pipeline, 'status.head.commit'),
    verdict,
    because: why.because,
    ...(why.since ? { since: why.since } : {}),
  };
}

/** Returns the phase of a Pipeline: Unknown until sync has observed it. */
function phaseOf({ metadata: { deletionTimestamp }, status }: Pipeline): string {
  const conditions = status?.conditions;
  return conditions ? pipelinePhases.phaseOf({ conditions, deletionTimestamp }) : 'Unknown';
}

function waitOf(pipeline: Pipeline): { because: string; since: string } {
  const trouble = pipelineTrouble(pipeline);
  if (trouble) return { because: trouble.message, since: trouble.lastTransitionTime };
  const idle = pipeline.status?.conditions ? 'nothing to wait for' : NOT_OBSERVED;
  return {
    because: textField(pipeline, 'status.waiting.message', idle),
    since: textField(pipeline, 'status.waiting.since'),
  };
}

const NOT_OBSERVED = 'not observed yet: check that kubenode sync is running';

/**
 * Builds the row of a cluster. Without a Pipeline, the recorded status is the last of a Pipeline that was deleted: sync records that only
 * while it runs.
 */
export function clusterRow(cluster: Cluster, pipelines: readonly Pipeline[]): ClusterRow {
  const deleted = pipelines.length === 0 ? cluster.status?.assigned?.pipeline : undefined;
  const row = recordedRow(cluster);
  return deleted === undefined
    ? withHeldActs(row, cluster)
    : { ...row, state: 'Held', synced: 'Unknown', because: deletedPipelineMessage(deleted) };
}

/** Shows what is held, even on a proven commit: the proof stays meanwhile, and a person is still needed. */
function withHeldActs(row: ClusterRow, { status }: Cluster): ClusterRow {
  const synced = conditionOf(status?.conditions, 'Synced');
  const isHeld = synced?.status === 'False' && isHeldReason(synced.reason);
  if (!isHeld || BAD_STATES.has(row.state)) return row;
  return { ...row, state: 'Held', because: synced.message, since: synced.lastTransitionTime };
}

function recordedRow(cluster: Cluster): ClusterRow {
  const since = textField(cluster, 'status.sync.since');
  const pipeline = cluster.status?.assigned?.pipeline;
  const waiting = textField(cluster, 'status.waiting.message', NOT_OBSERVED);
  const because = textField(cluster, 'status.sync.message', waiting);
  return {
    name: cluster.metadata.name,
    ...(pipeline ? { pipeline } : {}),
    stage: textField(cluster, 'status.sync.stage'),
    commit: textField(cluster, 'status.sync.commit'),
    state: textField(cluster, 'status.sync.state', 'Unknown'),
    synced: conditionStatus(cluster.status?.conditions, 'Synced'),
    ...clusterHealth(cluster, because),
    because,
    ...(since ? { since } : {}),
  };
}

export const LAST_RECORDED = 'The status below is the last that was recorded.';
export const NO_PIPELINES = 'no pipelines: create them with kubenode sync --from REPOSITORY';

/** Formats the status of a hub, in `columns` of the terminal; without them each row is one line. */
export function formatHubStatus(status: HubStatus, now: Date, columns?: number): string {
  const { unsynced, incidents, notes } = status;
  const format = (table: Table): string =>
    columns === undefined ? formatTable(table) : fitTable(table, columns);
  const paragraphs = (texts: readonly string[]): string =>
    texts
      .map((text) => relativeTimes(inOneLine(text), now))
      .map((text) => (columns === undefined ? `${printableLine(text)}\n` : formatHanging('', text, columns)))
      .join('');
  return [
    unsynced.length > 0 ? `${paragraphs(unsynced)}${LAST_RECORDED}\n` : '',
    paragraphs(incidents),
    format(pipelineTable(status, now)),
    format(clusterTable(status, now)),
    paragraphs(notes),
  ]
    .filter((block) => block !== '')
    .join('\n');
}

function pipelineTable({ pipelines }: HubStatus, now: Date): Table {
  return {
    columns: ['pipeline', 'phase', 'head', 'verdict', 'since', 'because'],
    rows: pipelines.map((row) => [
      row.name,
      row.phase,
      shortCommit(row.head),
      row.verdict,
      formatAge(row.since, now),
      inOneLine(row.because),
    ]),
    empty: NO_PIPELINES,
  };
}

function clusterTable({ clusters }: HubStatus, now: Date): Table {
  return {
    columns: ['cluster', 'stage', 'commit', 'state', 'synced', 'health', 'since', 'because'],
    rows: clusters.map((row) => [
      row.name,
      row.stage || '-',
      shortCommit(row.commit),
      row.state,
      row.synced,
      healthCell(row),
      formatAge(row.since, now),
      inOneLine(row.because),
    ]),
    empty: 'no clusters',
  };
}

/** Joins the lines of a text into one: a render reports several errors, a line each. */
export function inOneLine(text: string): string {
  return text.replaceAll(/\s*\n\s*/g, '; ');
}
