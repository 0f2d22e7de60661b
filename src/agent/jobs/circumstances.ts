/** Derives what the planner of jobs needs to know of the machine and its components. Pure. */
import type { ReinstallComponentInput } from '../../api/generated/steps.ts';
import type { Machine, RemedyOperationJob } from '../../api/generated/types.ts';
import type { Step } from '../../api/steps/steps.ts';
import { hasStopped } from '../component/transition/plan.ts';
import { type AcceptedState, holdScope } from '../desired/accepted.ts';
import { begunStep, type JobsState, jobStepKey } from '../journal/jobs.ts';
import type { ComponentProgress, JournalState } from '../journal/progress.ts';

/** Returns a component that is between two versions, which it is from Stopping until its end. */
export function changingComponent(
  { components }: Pick<JournalState, 'components'>,
  besides?: string,
): string | undefined {
  const isChanging = ({ component, transition }: ComponentProgress): boolean =>
    component !== besides && transition !== undefined && hasStopped(transition);
  return [...components.values()].find(isChanging)?.component;
}

export function entryFence({ spec }: Pick<AcceptedState, 'spec'>): number {
  return spec.components.reduce((highest, { grant }) => Math.max(highest, grant?.fence ?? 0), 0);
}

/** Returns the hold on this machine. A hold on the Node reaches the agent as a condition of its Machine. */
export function holdOf(
  state: AcceptedState,
  machine: Machine | undefined,
  now: Date,
): 'None' | 'Disruptive' | 'All' {
  const scope = holdScope(state, now);
  if (scope !== 'None') return scope;
  const held = machine?.status?.conditions.find(({ type }) => type === 'Held');
  if (held?.status !== 'True') return 'None';
  return held.reason === 'HeldDisruptive' ? 'Disruptive' : 'All';
}

/** Tells whether a job may act here now or next: it has released a step or got an answer, and has not ended. */
export function isActiveJob(job: RemedyOperationJob, now: Date): boolean {
  const { release, agent } = job.status ?? {};
  const isReleased = release !== undefined || (agent?.steps ?? []).some(({ state }) => state !== 'Refused');
  return isReleased && !hasEnded(job, now);
}

/** Tells whether a job has ended. The deadline ends a job whose controller does not run: components must not wait for ever. */
function hasEnded({ spec, status, metadata }: RemedyOperationJob, now: Date): boolean {
  const settled = status?.conditions.find(({ type }) => type === 'Settled');
  const isOver = !(Date.parse(spec.deadline) > now.getTime());
  return settled?.status === 'True' || metadata.deletionTimestamp !== undefined || isOver;
}

/** Returns the key of the begun step that installs this component again. */
export function reinstallKey(jobs: JobsState, component: string): string | undefined {
  const begun = begunStep(jobs);
  const isOurs =
    begun?.action === REINSTALL && (begun.input as ReinstallComponentInput).component === component;
  return isOurs ? jobStepKey(begun) : undefined;
}

const REINSTALL: Step = 'ReinstallComponent';
