/** When a set is to be reconciled again though nothing changed. Pure. */
import type { MachineSetStatus } from '../../api/generated/types.ts';
import { scalingDeadline } from './conditions.ts';
import type { StatusInput } from './status.ts';

/** The Defender's answer may change with any act in the cluster, of which no watch tells us. */
const ASK_AGAIN_MS = 30_000;

export function requeueAt(
  { set, plan, denials, now }: StatusInput,
  reported: Pick<MachineSetStatus, 'waiting'>,
): Date | undefined {
  const latest = now.getTime() + ASK_AGAIN_MS;
  const deadline = scalingDeadline(set, reported.waiting);
  const moments = [
    deadline && deadline > now ? deadline.getTime() : undefined,
    ...planMoments(plan, now),
    ...denials.map(({ retryAt }) => Math.min(retryAt?.getTime() ?? latest, latest)),
  ].filter((moment) => moment !== undefined);
  return moments.length === 0 ? undefined : new Date(moments.reduce((a, b) => Math.min(a, b)));
}

/** A replacement begins as soon as the status shows it. */
function planMoments(
  { members, storm, wait, replacement }: StatusInput['plan'],
  now: Date,
): readonly (number | undefined)[] {
  return [
    replacement?.isAnnounced === false ? now.getTime() : undefined,
    ...members.map(({ changesAt }) => changesAt?.getTime()),
    storm?.until?.getTime(),
    wait?.until?.getTime(),
  ];
}
