/** Shows a hub on a terminal: each pipeline, its stages in order, and the clusters of each. Pure. */

import { formatAge, shortCommit } from '../text/age.ts';
import { formatCount, formatShare } from '../text/counts.ts';
import { type FrameLine, plainLines, type Tone } from '../text/frame.ts';
import { listNames } from '../text/list-names.ts';
import { syncedText, unhealthyText } from './changes.ts';
import { type ClusterGroup, groupClusters } from './groups.ts';
import {
  BAD_PHASES,
  BAD_STATES,
  type ClusterRow,
  type HubStatus,
  LAST_RECORDED,
  NO_PIPELINES,
  type PipelineRow,
} from './hub-status.ts';
import { type FrameSize, hubParagraph } from './paragraph.ts';

export function hubFrame(status: HubStatus, size: FrameSize): readonly FrameLine[] {
  const { unsynced, incidents, pipelines, clusters, notes } = status;
  const known = new Set(pipelines.map(({ name }) => name));
  const others = clusters.filter(({ pipeline = '' }) => !known.has(pipeline));
  const blocks = [
    unsynced.flatMap((reason) => toned('bad', hubParagraph('', reason, size))),
    unsynced.length > 0 ? plainLines(LAST_RECORDED) : [],
    incidents.flatMap((incident) => toned('bad', hubParagraph('', incident, size))),
    ...pipelines.map((row) => [
      ...pipelineLines(row, size),
      ...stageLines(
        clusters.filter(({ pipeline }) => pipeline === row.name),
        size,
      ),
    ]),
    pipelines.length === 0 ? plainLines(hubParagraph('', NO_PIPELINES, size)) : [],
    stageLines(others, size),
    notes.flatMap((note) => toned('quiet', hubParagraph('', note, size))),
  ];
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : [{ text: '' }, ...block]));
}

function pipelineLines(row: PipelineRow, size: FrameSize): readonly FrameLine[] {
  const { name, phase, head, verdict, since, because } = row;
  const age = since === undefined ? '' : ` ${formatAge(since, size.now)}`;
  const title = `${name}: ${phase}${age}, head ${shortCommit(head)} ${verdict}`;
  return [
    ...toned(phase === 'UpToDate' ? 'good' : toneOf(phase, BAD_PHASES), hubParagraph('', title, size)),
    ...(because === '' ? [] : plainLines(hubParagraph('    ', because, size))),
  ];
}

/** The rows are in the order of the stages. */
function stageLines(rows: readonly ClusterRow[], size: FrameSize): readonly FrameLine[] {
  return [...Map.groupBy(rows, ({ stage }) => stage)].flatMap(([stage, own]) => [
    { text: `  ${stage || 'no stage'}: ${formatCount(own.length, 'cluster')}` },
    ...groupClusters(own).flatMap((group) => groupLines(group, machinesText(own, group), size)),
  ]);
}

/** As long as the longest state. */
const STATE_WIDTH = 11;
const AGE_WIDTH = 4;
const COMMIT_WIDTH = 12;

/** How many machines of the clusters of a group are Ready. */
function machinesText(rows: readonly ClusterRow[], { names }: ClusterGroup): string {
  const counts = rows.flatMap(({ name, machines }) => (machines && names.includes(name) ? machines : []));
  const sum = (field: 'total' | 'ready'): number => counts.reduce((all, each) => all + (each[field] ?? 0), 0);
  return sum('total') === 0 ? '' : `, ${formatShare(sum('ready'), sum('total'), 'machine')} Ready`;
}

function groupLines({ names, row }: ClusterGroup, machines: string, size: FrameSize): readonly FrameLine[] {
  const { state, since, commit, because } = row;
  const cells = [
    state.padEnd(STATE_WIDTH),
    formatAge(since, size.now).padStart(AGE_WIDTH),
    shortCommit(commit).padEnd(COMMIT_WIDTH),
  ];
  const summary = `${listNames(names)}${syncedText(row)}${unhealthyText(row)}${machines}`;
  const text = hubParagraph(`    ${cells.join('  ')}  `, summary, size);
  const isDone = state === 'Proven' && row.synced === 'True';
  const tone = isDone ? 'good' : toneOf(state, BAD_STATES);
  return [
    ...toned(row.health === 'Unhealthy' ? 'bad' : tone, text),
    ...(isDone || because === '' ? [] : plainLines(hubParagraph('      ', because, size))),
  ];
}

function toneOf(state: string, bad: ReadonlySet<string>): Tone {
  return bad.has(state) ? 'bad' : 'busy';
}

function toned(tone: Tone, text: string): readonly FrameLine[] {
  return plainLines(text).map((line) => ({ ...line, tone }));
}
