/** Decides whether a person may delete a hosted cluster by a command. Pure. */
import type { Cluster } from '../../../../api/generated/types.ts';
import { gitOrigin, isSetByGit } from '../../../../views/fleet/git-owned.ts';
import { CliError, EXIT } from '../../../errors.ts';

/**
 * Throws unless it is hosted, not declared in git, and not protected or confirmed by its name. Whether one is deleted that is being deleted
 * already is decided: the command only waits for it.
 */
export function requireDeletable(cluster: Cluster, confirm: string | undefined): void {
  const { name } = cluster.metadata;
  const objection = objectionTo(cluster, confirm);
  if (!objection) return;
  const [text, hint] = objection;
  throw new CliError(`Cluster ${name} ${text}`, { hint, exitCode: EXIT.badInput });
}

type Objection = readonly [text: string, hint: string];

function objectionTo(cluster: Cluster, confirm: string | undefined): Objection | undefined {
  const { metadata, spec } = cluster;
  const { name } = metadata;
  if (!spec.hosted) {
    return ['is not hosted: the hub only syncs it', 'remove it from the fleet repository to stop that'];
  }
  if (metadata.deletionTimestamp !== undefined) return undefined;
  if (isSetByGit(cluster, 'spec')) {
    return [
      `is declared in git (${gitOrigin(cluster)}): sync would create it again`,
      'remove it from the fleet repository',
    ];
  }
  if (confirm !== undefined && confirm !== name) {
    return [`is not ${JSON.stringify(confirm)}: --confirm expects the same name`, `use --confirm ${name}`];
  }
  if (!spec.deletion.protection || confirm === name) return undefined;
  return ['is protected', `repeat its name to delete it with all its data: --confirm ${name}`];
}
