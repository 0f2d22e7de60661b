/** Lists what changed in a fleet since it was shown last: a line for each pipeline and cluster. Pure. */

import { printableLine } from '../../kube/objects/printable.ts';
import type { HubStatus } from '../../views/status/hub-status.ts';
import { shortCommit } from '../../views/text/age.ts';

/** The sync process that this command starts and keeps running. */
export interface OwnSync {
  readonly logFile: string;
}

/** The lines that were shown, by the name of their row. */
export type ShownLines = ReadonlyMap<string, string>;

export function fleetLines({ pipelines, clusters, unsynced }: HubStatus, { logFile }: OwnSync): ShownLines {
  // How long a Lease was not renewed would be a new line each second, and its hint is what this command does by itself.
  const restart = `nothing syncs at present: this command starts sync again; its log: ${logFile}`;
  return new Map([
    ...(unsynced.length > 0 ? [line('sync', ['Starting', ''], restart)] : []),
    ...pipelines.map(({ name, phase, head, because }) => {
      // What the line of its cluster shows is not repeated.
      const isOfCluster = clusters.some((cluster) => because.startsWith(`${cluster.name}: `));
      return line(`pipeline ${name}`, [phase, shortCommit(head)], isOfCluster ? '' : because);
    }),
    ...clusters.map(({ name, state, commit, because }) => line(name, [state, shortCommit(commit)], because)),
  ]);
}

export function changedLines(before: ShownLines, after: ShownLines): readonly string[] {
  return [...after].filter(([name, text]) => before.get(name) !== text).map(([, text]) => text);
}

const NAME_WIDTH = 16;
const PART_WIDTH = 13;

function line(name: string, parts: readonly string[], because: string): readonly [string, string] {
  const columns = [name.padEnd(NAME_WIDTH), ...parts.map((part) => part.padEnd(PART_WIDTH)), because];
  return [name, printableLine(`  ${columns.join(' ')}`).trimEnd()];
}
