/** Cuts a machine off for good: another one takes its place, and never more than one is missing or too many. */
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { CliError } from '../../../cli/errors.ts';
import { readJobs, readMachines } from '../fleet-state.ts';
import { notReadyReason, notRepairedReason } from '../observed.ts';
import type { Tour } from '../step.ts';

const CLUSTER = 'pre';
export const DEAD_MACHINE_RULE = 'dead-machine';
const REPLACED_SECONDS = 240;

export interface CutOff {
  readonly name: string;
  readonly uid: string;
  /** The number of machines that the set declares. */
  readonly replicas: number;
}

/** Stops all processes of a machine. They are never resumed: its provider ends them when it deletes the machine. */
export async function cutOff(tour: Tour): Promise<CutOff> {
  const machines = await readMachines(tour, CLUSTER);
  const [first] = machines;
  if (first === undefined) throw new CliError(`cluster ${CLUSTER} has no machine`);
  const { name, uid = '' } = first.metadata;
  tour.say(`$ kill -STOP ...    # all processes of ${name} in ${CLUSTER}, for good`);
  await tour.suspend(CLUSTER, uid);
  return { name, uid, replicas: machines.length };
}

export async function expectReplaced(tour: Tour, dead: CutOff): Promise<void> {
  const counts: MachineCount[] = [];
  let job: RemedyOperationJob | undefined;
  await tour.verify({
    what: `another machine of ${CLUSTER} is in the place of ${dead.name}, and all of them are Ready`,
    withinSeconds: REPLACED_SECONDS,
    lookAt: `kubenode remedy list --context ${CLUSTER}`,
    reason: async () => {
      const machines = await readMachines(tour, CLUSTER);
      counts.push(sampleMachines(machines));
      job = replacementJobOf(dead, await readJobs(tour, CLUSTER));
      return notReplacedReason(dead, job, machines);
    },
  });
  await tour.verify({
    what: `${CLUSTER} never had more than one machine too few, or one too many`,
    withinSeconds: 0,
    lookAt: `kubenode machine list --context ${CLUSTER}`,
    reason: () => Promise.resolve(overBudgetReason(dead, counts)),
  });
  await tour.show(['remedy', 'show', job?.metadata.name ?? '', '--context', CLUSTER]);
}

/** Finds the job of the rule: other rules may have repaired the machine before. */
export function replacementJobOf(
  { uid }: CutOff,
  jobs: readonly RemedyOperationJob[],
): RemedyOperationJob | undefined {
  return jobs.find(({ spec }) => spec.machine.uid === uid && spec.cause.remedier === DEAD_MACHINE_RULE);
}

export interface MachineCount {
  readonly ready: number;
  readonly all: number;
}

export function sampleMachines(machines: readonly Machine[]): MachineCount {
  const ready = machines.filter((machine) => notReadyReason(machine) === undefined);
  return { ready: ready.length, all: machines.length };
}

export function notReplacedReason(
  { name, uid, replicas }: CutOff,
  job: RemedyOperationJob | undefined,
  machines: readonly Machine[],
): string | undefined {
  const own = machines.find(({ metadata }) => metadata.uid === uid);
  const unrepaired = notRepairedReason(job, own);
  if (unrepaired !== undefined) return unrepaired;
  if (own) return `${name} is not deleted yet`;
  if (machines.length !== replicas) return `${machines.length} machines, expected ${replicas}`;
  return machines.map(notReadyReason).find(Boolean);
}

export function overBudgetReason({ replicas }: CutOff, counts: readonly MachineCount[]): string | undefined {
  const least = Math.min(...counts.map(({ ready }) => ready));
  const most = Math.max(...counts.map(({ all }) => all));
  if (least >= replicas - 1 && most <= replicas + 1) return undefined;
  return `at least ${least} were Ready, and at most ${most} existed, of ${replicas}`;
}
