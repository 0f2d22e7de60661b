/** Checks which machines a rollout may start now: those of a partition keep what they have, and a rack has a limit. Pure. */
import { GRACE_MS, type JudgedFleet } from './judged-fleet.ts';
import { isInService, type JudgedStart, takenOut } from './start-rules.ts';

/** Machines go back without these limits: to a revision that completed. */
export function choiceViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  const { set, start } = judged;
  if (start.kind !== 'Update' || set.proven.has(start.revision)) return [];
  return [...spreadViolations(fleet, judged), ...partitionViolations(fleet, judged)];
}

function spreadViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  const { set, machine } = judged;
  const { rack } = machine.truth;
  const most = Math.max(...set.desired.map(({ maxOfDomain = Number.POSITIVE_INFINITY }) => maxOfDomain));
  if (rack === undefined || !isInService(judged)) return [];
  const inWork = takenOut(fleet, judged).filter(({ truth }) => truth.rack === rack).length + 1;
  return inWork > most ? [`${inWork} machines of rack ${rack} in work, and ${most} allowed`] : [];
}

/** A machine that joins gets its first revision outside of the batches. */
function partitionViolations(
  fleet: JudgedFleet,
  { set, machine, start, atMs }: JudgedStart,
): readonly string[] {
  const kept = Math.min(...set.desired.map(({ kept: each = 0 }) => each));
  const isAt = machine.hosts.get(start.set)?.truth.revision === start.revision;
  if (kept === 0 || isAt || start.batch === undefined) return [];
  const others = [...fleet.machines.values()].filter((each) => {
    const { truth, joinedMs, hosts } = each;
    const isMember = truth.exists && truth.sets.includes(start.set);
    const wasMember = atMs - joinedMs <= GRACE_MS;
    return (
      each !== machine && (isMember || wasMember) && hosts.get(start.set)?.truth.revision !== start.revision
    );
  }).length;
  return others < kept ? [`${others} machines keep the old revision, and ${kept} should`] : [];
}
