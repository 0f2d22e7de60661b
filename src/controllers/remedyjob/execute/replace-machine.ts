/** Replaces the machine through its MachineSet, which deletes it under the grant of the job. The Node may not exist any more. */
import { MACHINES, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { StepInputs } from '../../../api/generated/steps.ts';
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import { markedStatus } from '../plan/machine-report.ts';
import { planReplacementStep, type ReplacementDecision } from '../plan/replacement.ts';
import { applyMachineStatus } from './machine-status.ts';
import {
  type CentralResult,
  type CentralRun,
  stepFailed,
  stepSucceeded,
  stepWaits,
} from './steps/central-step.ts';

export type ReplacementRun = Omit<CentralRun<StepInputs['ReplaceMachine']>, 'node'>;

export async function runReplaceMachine(run: ReplacementRun): Promise<CentralResult> {
  const { observation, input, context } = run;
  const { now } = observation;
  const decision = planReplacementStep(
    {
      ...observation,
      machines: context.view<Machine>(MACHINES).list(),
      jobs: context.view<RemedyOperationJob>(REMEDY_OPERATION_JOBS).list(),
    },
    input,
  );
  switch (decision.type) {
    case 'Fail':
      return stepFailed(decision.code, decision.message);
    case 'Record':
      return { ...waits(run, 'the machine is to be replaced', 0), replacement: decision.replacement };
    case 'Mark':
      await mark(decision, run);
      return waits(run, 'the machine is marked for its replacement', 0);
    case 'Wait':
      return stepWaits(
        {
          reason: 'Replacing',
          message: decision.message,
          blocker: { kind: 'MachineSet', name: decision.set },
        },
        now,
      );
    case 'Done': {
      const { replacement } = decision;
      const message = `Machine ${replacement.machine} takes its place${keptText(observation)}`;
      return { ...stepSucceeded(message), replacement };
    }
    default:
      return decision;
  }
}

function keptText({ job, machine }: ReplacementRun['observation']): string {
  const { kept } = machine?.status ?? {};
  if (kept?.job !== job.metadata.name) return '';
  return `; ${job.spec.machine.name} is kept until ${kept.until}`;
}

function waits({ observation }: ReplacementRun, message: string, ms: number): CentralResult {
  return stepWaits({ reason: 'Replacing', message }, observation.now, ms);
}

async function mark(
  { machine, mark: replacement }: Extract<ReplacementDecision, { type: 'Mark' }>,
  { context, observation }: ReplacementRun,
): Promise<void> {
  await applyMachineStatus(machine, markedStatus(machine, replacement), context);
  const { job } = observation;
  context.log.info('machine marked for its replacement', {
    job: job.metadata.name,
    machine: machine.metadata.name,
  });
}
