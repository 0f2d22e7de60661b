/** When a set is to be reconciled again though nothing changed. Pure. */
import type { MachineSetPlan } from './actions.ts';
import type { DeniedDeletion } from './status.ts';

/** The Defender's answer may change with any act in the cluster, of which no watch tells us. */
const ASK_AGAIN_MS = 30_000;

export function requeueAt(
  { members, storm, wait }: MachineSetPlan,
  denials: readonly DeniedDeletion[],
  now: Date,
): Date | undefined {
  const latest = now.getTime() + ASK_AGAIN_MS;
  const moments = [
    ...members.map(({ changesAt }) => changesAt?.getTime()),
    storm?.until?.getTime(),
    wait?.until?.getTime(),
    ...denials.map(({ retryAt }) => Math.min(retryAt?.getTime() ?? latest, latest)),
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : new Date(moments.reduce((a, b) => Math.min(a, b)));
}
