import { Command } from 'commander';
import type { Cluster, Pipeline } from '../../api/generated/types.ts';
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { ageOf, shortCommit } from '../age.ts';
import { type ConnectionFlags, connectFrom, connectionOptions } from '../connection.ts';
import { EXIT } from '../errors.ts';
import { endWith } from '../exit.ts';
import { said } from '../fields.ts';
import { type HubObjects, readHub } from '../hub-objects.ts';
import type { Io } from '../io.ts';
import { type Format, formatTable, outputOption, print } from '../output.ts';

const HELP = `
The pipelines first: where the head of the repository stands, and what it waits for. Then each cluster: which commit it
runs, how far that has come, why, and since when. Ends with 1 when something failed, is held, or cannot go on without a
person; waiting and soaking are no failure.`;

export function statusCommand(io: Io): Command {
  const command = new Command('status')
    .description('show the fleet: each pipeline and cluster, what it runs, why, since when')
    .addOption(outputOption())
    .addHelpText('after', HELP);
  return connectionOptions(command).action(async (flags: ConnectionFlags & { output: Format }) => {
    const client = await connectFrom(io, flags);
    try {
      const report = fleetStatus(await readHub(client, io.signal));
      if (flags.output === 'table') io.out(statusText(report, io.clock.now()));
      else print(io, flags.output, report, () => ({ columns: [], rows: [] }));
      if (report.trouble.length > 0) endWith(io, EXIT.failed);
    } finally {
      await client.close();
    }
  });
}

export interface FleetStatus {
  readonly pipelines: readonly PipelineLine[];
  readonly clusters: readonly ClusterLine[];
  /** What a person has to look at. */
  readonly trouble: readonly string[];
}

export interface PipelineLine {
  readonly name: string;
  readonly phase: string;
  readonly head: string;
  readonly verdict: string;
  readonly because: string;
  readonly since?: string;
}

export interface ClusterLine {
  readonly name: string;
  readonly stage: string;
  readonly commit: string;
  readonly state: string;
  readonly synced: string;
  readonly because: string;
  readonly since?: string;
}

/** Pure: from the objects of the hub to what a person wants to know of them. */
export function fleetStatus({
  pipelines,
  clusters,
}: Pick<HubObjects, 'pipelines' | 'clusters'>): FleetStatus {
  const lines = {
    pipelines: pipelines.map(pipelineLine),
    clusters: inOrder(clusters.map(clusterLine), pipelines),
  };
  const trouble = [
    ...lines.pipelines
      .filter(({ phase }) => BAD_PHASES.has(phase))
      .map(({ name, because }) => `Pipeline ${name}: ${because}`),
    ...lines.clusters
      .filter(({ state }) => BAD_STATES.has(state))
      .map(({ name, because }) => `Cluster ${name}: ${because}`),
  ];
  return { ...lines, trouble };
}

/** As commits go through them; what is in no stage comes last. */
function inOrder(lines: readonly ClusterLine[], pipelines: readonly Pipeline[]): readonly ClusterLine[] {
  const stages = pipelines.flatMap(({ spec }) => spec.stages.map(({ name }) => name));
  const placeOf = ({ stage }: ClusterLine): number => stages.indexOf(stage) + 1 || stages.length + 1;
  return lines.toSorted((a, b) => placeOf(a) - placeOf(b) || byCode(a.name, b.name));
}

const BAD_PHASES: ReadonlySet<string> = new Set(['Stalled', 'Held', 'SourceFailed']);
const BAD_STATES: ReadonlySet<string> = new Set(['Failed', 'Held', 'Unreachable', 'Skipped']);

function pipelineLine(pipeline: Pipeline): PipelineLine {
  const verdict = said(pipeline, 'status.head.verdict', 'Unknown');
  const refused = verdict === 'Accepted' ? '' : said(pipeline, 'status.head.message');
  const since = refused ? said(pipeline, 'status.head.seenAt') : said(pipeline, 'status.waiting.since');
  const waits = said(
    pipeline,
    'status.waiting.message',
    worstOf(pipeline.status?.conditions) ?? 'nothing waits',
  );
  return {
    name: pipeline.metadata.name,
    phase: said(pipeline, 'status.phase', 'Unknown'),
    head: said(pipeline, 'status.head.commit'),
    verdict,
    because: refused || waits,
    ...(since ? { since } : {}),
  };
}

const NOTHING_KNOWN = 'nothing is known yet: is sync running?';

function clusterLine(cluster: Cluster): ClusterLine {
  const since = said(cluster, 'status.sync.since');
  return {
    name: cluster.metadata.name,
    stage: said(cluster, 'status.sync.stage'),
    commit: said(cluster, 'status.sync.commit'),
    state: said(cluster, 'status.sync.state', 'Unknown'),
    synced: conditionStatus(cluster.status?.conditions, 'Synced'),
    because: said(cluster, 'status.sync.message', said(cluster, 'status.waiting.message', NOTHING_KNOWN)),
    ...(since ? { since } : {}),
  };
}

type Conditions = NonNullable<NonNullable<Pipeline['status']>['conditions']>;

/** Where a good condition is not True, its message says what is wrong. */
function worstOf(conditions: Conditions | undefined): string | undefined {
  const bad = (conditions ?? []).find(
    ({ type, status }) =>
      (['SourceReady', 'Rendered'].includes(type) && status !== 'True') ||
      (['Held', 'Stalled'].includes(type) && status === 'True'),
  );
  return bad?.message;
}

export function statusText({ pipelines, clusters }: FleetStatus, now: Date): string {
  const top = formatTable({
    columns: ['pipeline', 'phase', 'head', 'verdict', 'since', 'because'],
    rows: pipelines.map((line) => [
      line.name,
      line.phase,
      shortCommit(line.head),
      line.verdict,
      ageOf(line.since, now),
      line.because,
    ]),
    empty: 'no pipelines: declare one with kubenode sync --from REPOSITORY',
  });
  const rest = formatTable({
    columns: ['cluster', 'stage', 'commit', 'state', 'synced', 'since', 'because'],
    rows: clusters.map((line) => [
      line.name,
      line.stage || '-',
      shortCommit(line.commit),
      line.state,
      line.synced,
      ageOf(line.since, now),
      line.because,
    ]),
    empty: 'no clusters',
  });
  return `${top}\n${rest}`;
}
