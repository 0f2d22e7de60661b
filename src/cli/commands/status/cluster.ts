/** `kubenode status CLUSTER`: prints what one cluster runs and what is in the way, as sync recorded it in the hub. */

import { type HubObjects } from '../../../views/status/hub-objects.ts';
import { clusterRow, type HubStatus, LAST_RECORDED } from '../../../views/status/hub-status.ts';
import { formatTree } from '../../../views/status/tree/text.ts';
import { treeOf } from '../../../views/status/tree/tree.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { CliError, EXIT } from '../../errors.ts';
import { setExitCode } from '../../exit.ts';
import { findByName } from '../../fleet/hub-objects.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { hintsOf } from '../../runnable.ts';
import { clusterExitCode } from './exit-code.ts';

export interface ShownCluster {
  readonly name: string;
  readonly hub: HubObjects;
  readonly status: HubStatus;
  readonly output: OutputFormat;
}

export function showCluster(io: Io, { name, hub, status, output }: ShownCluster): void {
  const cluster = findByName('Cluster', hub.clusters, name);
  const row = clusterRow(cluster, hub.pipelines);
  const tree = treeOf(cluster, row, io.clock.now());
  if (output === 'table') {
    const unsynced = status.unsynced.map((reason) => `${reason}\n`).join('');
    const columns = io.screen()?.columns ?? COLUMNS;
    const head = unsynced && `${unsynced}${LAST_RECORDED}\n\n`;
    io.out(`${head}${formatTree(tree, { now: io.clock.now(), columns, makeRunnable: hintsOf(io) })}`);
  } else {
    printResult(io, output, tree, () => ({ columns: [], rows: [] }));
  }
  setExitCode(io, clusterExitCode(row, status));
}

/** The tree is of one moment. */
export function refuseWatchOf(name: string): never {
  throw new CliError('--watch shows all clusters of the hub', {
    hint: `leave out the name: kubenode status --watch; or leave out --watch: kubenode status ${name}`,
    exitCode: EXIT.usage,
  });
}
