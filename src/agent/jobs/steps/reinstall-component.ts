/** The loop of the agent installs it again, by the same steps as any other version; the journal of the component shows how far it is. */
import type { ReinstallComponentInput } from '../../../api/generated/steps.ts';
import { hasStopped } from '../../component/transition/plan.ts';
import { jobStepKey } from '../../journal/jobs.ts';
import type { ComponentProgress } from '../../journal/progress.ts';
import type { StepEvidence, StepExecutor } from './executor.ts';

export const reinstallComponentStep: StepExecutor<'ReinstallComponent'> = {
  async problem({ journal }, { component }) {
    const progress = journal.components.get(component);
    if (progress?.current === undefined) {
      return { code: 'NotInstalled', message: `the component ${component} is not installed` };
    }
    if (!progress.transition) return undefined;
    return {
      code: 'ChangePending',
      message: `the component ${component} is being changed: ${progress.transition.step}`,
    };
  },
  async observe({ journal }, progress) {
    const { component } = progress.input as ReinstallComponentInput;
    const found = journal.components.get(component);
    return (found && observeComponentStep(found, jobStepKey(progress))) ?? notBegun(component);
  },
};

function observeComponentStep(found: ComponentProgress, key: string): StepEvidence | undefined {
  const { component, state, failure, reinstalled, transition } = found;
  if (reinstalled === key && state === 'Committed') {
    return { happened: 'Yes', message: `${component} was installed again, and every probe passes` };
  }
  if (reinstalled === key) return { happened: 'Failed', message: `${component} is ${state}`, ...failure };
  const isUnderWay = transition?.reinstall === key && hasStopped(transition);
  // Before it is stopped nothing is changed, and the step may still be given up.
  return isUnderWay ? { happened: 'Continues', message: `${component} is ${transition.step}` } : undefined;
}

function notBegun(component: string): StepEvidence {
  return { happened: 'Waits', message: `${component} is not installed again yet` };
}
