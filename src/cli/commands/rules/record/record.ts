/** `kubenode rules record`: writes the facts of all nodes of a cluster to a file, as they change. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import {
  MACHINE_COMPONENTS,
  MACHINES,
  MAINTENANCE_EVENTS,
  REMEDY_OPERATION_JOBS,
} from '../../../../api/generated/resources.ts';
import type {
  Machine,
  MachineComponent,
  MaintenanceEvent,
  RemedyOperationJob,
} from '../../../../api/generated/types.ts';
import { createView, type View } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { LEASES } from '../../../../kube/leader/record.ts';
import { NODES } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import { createLogger } from '../../../../kube/process/logger.ts';
import { systemRandom } from '../../../../os/system-random.ts';
import { NODE_EVENTS, NODE_EVENTS_SELECTION } from '../../../../rules/live/fact-views.ts';
import type { RecordedLine } from '../../../../rules/recording/format.ts';
import { LEASE_NAMESPACES } from '../../../../rules/recording/lease-namespaces.ts';
import { createFactRecorder, type RecordedViews } from '../../../../rules/recording/recorder.ts';
import { readClusterUID } from '../../../../sync/cluster-uid.ts';
import { formatCount } from '../../../../views/text/counts.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { withSynced } from '../../../fleet/node-facts.ts';
import { withCluster } from '../../../fleet/read.ts';
import type { Io } from '../../../io.ts';
import { parseDuration } from '../../../option-parsers.ts';
import { KUBENODE_VERSION } from '../../../version.ts';
import { openRecording, type RecordingFile } from './recording-file.ts';

const HELP = `
Writes what rules read of every node to FILE, until --for has passed or the command is interrupted: conditions, Events of nodes, what
agents report, announced maintenance, and the steps of repairs. No messages, no Pods, no Secrets. Each change is a line of JSON that is written at once, so
that the file can be used even if the process is killed. Replay it with: kubenode rules backtest. It changes nothing in the cluster.

Examples:
  kubenode rules record --to facts.jsonl --for 7d
  kubenode rules record --to facts.jsonl --append`;

interface RecordFlags extends ConnectionFlags {
  readonly to: string;
  readonly for?: number;
  readonly append: boolean;
}

export function createRulesRecordCommand(io: Io): Command {
  const command = new Command('record')
    .description('record the facts of all nodes, to replay them with rules backtest')
    .requiredOption('--to <file>', 'file to write: it must not exist, unless --append is given')
    .option(
      '--for <duration>',
      'stop after this time: 30m, 8h, 7d (default: until interrupted)',
      parseDuration,
    )
    .option('--append', 'continue the file; the time in between counts as not observed', false)
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((flags: RecordFlags) =>
    withCluster(io, flags, (client) => record(io, client, flags)),
  );
}

/** Agents that are silent and views without contact are found this often. */
const SWEEP_MS = 1000;

async function record(io: Io, client: Client, { to, for: seconds, append }: RecordFlags): Promise<void> {
  const { clock, signal } = io;
  const path = resolve(io.cwd, to);
  const uid = await readClusterUID(client, signal);
  const { views, all } = createRecordedViews(io, client);
  const file = openRecording({ path, append, clusterUID: uid, now: clock.now() });
  const stop = new AbortController();
  const ended = AbortSignal.any([signal, stop.signal]);
  const recorder = createFactRecorder({
    views,
    clock,
    cluster: { uid, server: client.server },
    kubenode: KUBENODE_VERSION,
    write: (line) => writeLine(file, line, stop),
  });
  try {
    await withSynced({ signal: ended }, client, all, async () => {
      recorder.synced();
      io.err(`recording ${formatCount(views.nodes.store.size, 'node')} of ${client.server} to ${path}\n`);
      const endMs = clock.monotonicMs() + (seconds ?? Infinity) * 1000;
      for (let left = endMs; left > 0; left = endMs - clock.monotonicMs()) {
        recorder.sweep();
        // oxlint-disable-next-line no-await-in-loop -- until it is stopped
        await clock.sleep(Math.min(SWEEP_MS, left), ended).catch(() => undefined);
        if (ended.aborted) return;
      }
    });
    // A disk that is full ends it; to be interrupted is its normal end.
    if (stop.signal.aborted) throw stop.signal.reason;
    io.err(`recorded ${formatCount(file.lines, 'line')} to ${path}\n`);
  } finally {
    recorder.close();
    file.close();
  }
}

/** Called by the watch of a view, which takes no error. */
function writeLine(file: RecordingFile, line: RecordedLine, stop: AbortController): void {
  try {
    if (!stop.signal.aborted) file.write(line);
  } catch (error) {
    stop.abort(error);
  }
}

function createRecordedViews(
  io: Io,
  client: Client,
): { readonly views: RecordedViews; readonly all: readonly View[] } {
  const { clock } = io;
  const log = createLogger({ level: 'error', stream: { write: (line) => io.err(line) }, clock });
  const all: View[] = [];
  const view = <K extends KubeObject>(resource: Resource<K>, selection: object = {}): View<K> => {
    const created = createView<K>({ client, clock, log, random: systemRandom, resource, ...selection });
    all.push(created);
    return created;
  };
  const views = {
    nodes: view(NODES),
    machines: view<Machine>(MACHINES),
    jobs: view<RemedyOperationJob>(REMEDY_OPERATION_JOBS),
    events: view(NODE_EVENTS, NODE_EVENTS_SELECTION),
    agentLeases: view(LEASES, { namespace: LEASE_NAMESPACES.agentLeases }),
    nodeLeases: view(LEASES, { namespace: LEASE_NAMESPACES.nodeLeases }),
    components: view<MachineComponent>(MACHINE_COMPONENTS),
    maintenance: view<MaintenanceEvent>(MAINTENANCE_EVENTS),
  };
  return { views, all };
}
