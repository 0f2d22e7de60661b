/** Which revision a set goes back to. Pure. */
import type { MachineComponentSet } from '../../../../api/generated/types.ts';
import { isSetObserved } from '../../../../views/rollout/outcome.ts';
import { CliError, EXIT } from '../../../errors.ts';

/** Only one that completed: to return to it needs no soak. */
export function planUndo(set: MachineComponentSet, to?: string): string {
  const { name } = set.metadata;
  const completed = completedBefore(set);
  const others = `use one of: ${completed.join(', ')}`;
  if (to === undefined && !isSetObserved(set)) {
    // Which revision is the one before that change is not known: the newest one could be skipped.
    throw refusal(
      `the last change of ${name} was not observed yet`,
      `name the revision with --to; ${others}`,
    );
  }
  const revision = to ?? completed[0];
  if (revision !== undefined && completed.includes(revision)) return revision;
  throw refusal(
    `${name} has no earlier revision ${to === undefined ? '' : `${to} `}that completed`,
    completed.length > 0 ? others : 'apply the set with the versions that it shall have',
  );
}

/** Newest first, without the one that the set asks for now. */
function completedBefore(set: MachineComponentSet): readonly string[] {
  const { history = [], updateRevision } = set.status ?? { conditions: [] };
  const present = isSetObserved(set) ? updateRevision : undefined;
  return history.flatMap(({ revision, result }) =>
    result === 'Completed' && revision !== undefined && revision !== present ? [revision] : [],
  );
}

function refusal(what: string, hint: string): CliError {
  return new CliError(what, { hint, exitCode: EXIT.badInput });
}
