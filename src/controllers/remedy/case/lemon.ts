/** Decides what follows a denial because the hardware was repaired too often: the case goes to people at once. Pure. */
import type { Denial } from '../../../api/grants.ts';
import { highestRisk } from '../job/steps.ts';
import type { RemedyAct } from '../plan.ts';
import { jobNameOf, operationIdOf } from './rungs.ts';

/** Returns the act that hands the case off; undefined: the denial has other causes, or no later rung leaves the machine as it is. */
export function handOffOfLemon(
  planned: RemedyAct,
  { reason, also, message }: Denial,
  machine: string,
): RemedyAct | undefined {
  const lemon = [{ reason, message }, ...also].find((cause) => cause.reason === 'Lemon');
  if (!lemon) return undefined;
  const later = planned.remedier.spec.ladder
    .map((rung, place) => ({ rung, index: place + 1 }))
    .filter(({ index }) => index > planned.index);
  const found = later.find(
    ({ rung }) => highestRisk(rung) === 'None' && rung.plan.some(({ step }) => step === 'HandOff'),
  );
  if (!found) return undefined;
  const attempt = { ...found, attempt: 1 };
  const jobName = jobNameOf(machine, planned.remedier.metadata.name, operationIdOf(planned.case, attempt));
  return { ...planned, ...attempt, jobName, why: lemon.message };
}
