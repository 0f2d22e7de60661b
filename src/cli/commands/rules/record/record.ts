/** `kubenode rules record`: writes the facts of all nodes of a cluster to a file, as they change. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import type { Client } from '../../../../kube/client/client.ts';
import type { RecordedLine } from '../../../../rules/recording/format.ts';
import { createFactRecorder } from '../../../../rules/recording/recorder.ts';
import { readClusterUID } from '../../../../sync/cluster-uid.ts';
import { formatCount } from '../../../../views/text/counts.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../../connection.ts';
import { createReadViews, withSynced } from '../../../fleet/node-facts.ts';
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
  const { views, all } = createReadViews(io, client, ({ selection }) => selection);
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
