/** Installs kubenode into a cluster: for `kubenode install`, and for every local cluster. */
import { randomBytes } from 'node:crypto';
import { type InstalledObject, InstallRefused, install, installation } from '../../api/install/install.ts';
import type { Client } from '../../kube/client/client.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { printWarnings } from '../output.ts';
import type { StepProgress } from '../progress.ts';
import { removeOldObjects } from './old-objects.ts';
import { createRevisionKey } from './revision-key.ts';

export interface InstallFlags {
  readonly progress: StepProgress;
  readonly dryRun?: boolean;
  /** Default: the kinds, roles and policies. */
  readonly objects?: readonly KubeObject[];
}

/** For every command that needs the installed kinds. */
export async function installInto(
  io: Io,
  client: Client,
  flags: InstallFlags,
): Promise<readonly InstalledObject[]> {
  const { dryRun = false, objects = installation() } = flags;
  try {
    const results = await install(client, {
      clock: io.clock,
      signal: io.signal,
      dryRun,
      objects,
      progress: ({ object }, done, total) => {
        flags.progress.step(
          `installing ${object.kind} ${object.metadata.name} (${done} of ${total}) on ${client.server}`,
        );
      },
    });
    if (results.some(({ outcome }) => outcome === 'failed')) return results;
    if (!dryRun) {
      const missing = await createRevisionKey(client, randomBytes);
      if (missing !== undefined) printWarnings(io, [missing]);
    }
    return [...results, ...(await removeOldObjects(io, client, { dryRun, objects }))];
  } catch (error) {
    if (!(error instanceof InstallRefused)) throw error;
    throw new CliError(error.message, {
      where: client.server,
      hint: 'nothing was written. Fix the problem, or use the kubenode version that fits this cluster',
      exitCode: EXIT.badInput,
      cause: error,
    });
  }
}

/** Throws one error with every object that could not be installed. */
export function throwIfInstallFailed(results: readonly InstalledObject[], server: string): void {
  const failures = results.flatMap(({ error }) => error ?? []);
  if (failures.length > 0) {
    throw new AggregateError(failures, `${failures.length} objects could not be installed on ${server}`);
  }
}
