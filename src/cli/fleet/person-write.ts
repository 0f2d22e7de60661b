/** Writes of a person with the command line, to fields that git does not set; for one that git sets, what to commit. */
import { MANAGER_CLI } from '../../api/names.ts';
import type { Client } from '../../kube/client/client.ts';
import { isKubeError } from '../../kube/client/errors.ts';
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import { commitText, isSetByGit } from '../../views/fleet/git-owned.ts';
import { CliError } from '../errors.ts';
import type { Io } from '../io.ts';

export interface WriteFlags {
  readonly dryRun?: true;
}

export const DRY_RUN = ['--dry-run', 'let the API server check it, and change nothing'] as const;

export interface PersonWrite {
  readonly io: Io;
  readonly client: Client;
  readonly resource: Resource;
  readonly object: KubeObject;
  readonly dryRun: boolean;
}

/** Server-side apply of exactly this spec, by force: the field is for people, and the last one who sets it is right. */
export async function applyAsPerson(write: PersonWrite, spec: object): Promise<void> {
  const { client, resource, object, dryRun } = write;
  const { apiVersion, kind, metadata } = object;
  const intent = { apiVersion, kind, metadata: { name: metadata.name }, spec };
  await client.apply(resource, intent, { fieldManager: MANAGER_CLI, force: true, dryRun });
}

/** A merge patch on the version that was read: it needs no ownership, so it also removes what others set. */
export async function patchAsPerson(
  write: PersonWrite,
  { spec, annotations }: { readonly spec?: object; readonly annotations?: object },
): Promise<void> {
  const { client, resource, object, dryRun } = write;
  const { name, resourceVersion } = object.metadata;
  const body = {
    metadata: { resourceVersion, ...(annotations && { annotations }) },
    ...(spec && { spec }),
  };
  await client.patch(resource, { name }, { type: 'merge', body }, { fieldManager: MANAGER_CLI, dryRun });
}

/** A write to it would be corrected by sync. `change` is what to commit. */
export function refuseIfGitSets({ io, object }: PersonWrite, path: readonly string[], change: object): void {
  if (!isSetByGit(object, ...path)) return;
  io.out(commitText(object, change));
  throw new CliError(
    `git sets ${path.join('.')} of ${object.kind} ${object.metadata.name}: nothing was changed`,
    {
      hint: 'commit the change above, and sync applies it. To stop every rollout at once: kubenode defender stop --scope Rollout',
    },
  );
}

export function reportWrite({ io, dryRun }: PersonWrite, text: string): void {
  io.out(`${dryRun ? 'dry run, nothing was changed: ' : ''}${text}\n`);
}

const ATTEMPTS = 5;

/**
 * Runs an act again when another process wrote its object meanwhile: the status of a Cluster changes each second while it is busy. The act
 * writes with the resourceVersion, and reads and judges again when `isAgain`.
 */
export async function retryConflicts(act: (isAgain: boolean) => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- each attempt follows the conflict of the one before
      await act(attempt > 1);
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !isKubeError(error, 'Conflict')) throw error;
    }
  }
}
