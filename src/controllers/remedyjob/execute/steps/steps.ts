/** The steps that the job controller carries out, by name. */

import { stepName } from '../../../../api/status/step-records.ts';
import { type CentralStep, type Step, stepInput, stepInputProblems } from '../../../../api/steps/steps.ts';
import { isReplaced } from '../../plan/replacement.ts';
import { runAnswerProvider } from '../power/answer-provider.ts';
import { runOutOfServiceTaint } from '../power/out-of-service-taint.ts';
import { runPower, runPowerOn } from '../power/run-power.ts';
import { runReplaceMachine } from '../replace-machine.ts';
import { type CentralResult, type CentralRun, stepFailed, stepSucceeded } from './central-step.ts';
import { runCordon } from './cordon.ts';
import { runDrain } from './drain.ts';
import { runEvictPods } from './evict-pods.ts';
import { runHandOff } from './hand-off.ts';
import { runNotify } from './notify.ts';
import { runRequestApproval } from './request-approval.ts';
import { runTaint } from './taint.ts';
import { runUncordon } from './uncordon.ts';
import { runUntaint } from './untaint.ts';
import { runWaitForBoot } from './wait-for-boot.ts';
import { runWaitForCondition } from './wait-for-condition.ts';

type RunCentralStep = (run: CentralRun<never>) => Promise<CentralResult>;

/** A central step that is missing here does not compile. */
const CENTRAL_STEPS = {
  AnswerProvider: runAnswerProvider,
  Cordon: runCordon,
  Drain: runDrain,
  EvictPods: runEvictPods,
  HandOff: runHandOff,
  Notify: runNotify,
  OutOfServiceTaint: runOutOfServiceTaint,
  PowerCycle: runPower,
  PowerOff: runPower,
  PowerOn: runPowerOn,
  ReplaceMachine: runReplaceMachine,
  RequestApproval: runRequestApproval,
  Taint: runTaint,
  Uncordon: runUncordon,
  Untaint: runUntaint,
  WaitForBoot: runWaitForBoot,
  WaitForCondition: runWaitForCondition,
} as const satisfies Readonly<Record<CentralStep, RunCentralStep>>;

/** Reboot: of a machine whose agent does not reboot it. */
const RUNS: Partial<Record<Step, RunCentralStep>> = { ...CENTRAL_STEPS, Reboot: runPower };

/** The steps that do nothing on the Node, and go on without it. */
const WITHOUT_NODE: readonly Step[] = ['HandOff', 'ReplaceMachine', 'RequestApproval'];

/** Returns undefined when the Node does not exist: the planner decides again. */
export async function runCentralStep(
  run: Omit<CentralRun, 'input' | 'node'>,
): Promise<CentralResult | undefined> {
  const { step } = run;
  const name = stepName(step);
  const perform = name && RUNS[name];
  if (!name || !perform) return stepFailed('UnknownStep', `this version cannot carry out ${step.step}`);
  const [problem] = stepInputProblems(name, step.with ?? {});
  if (problem) return stepFailed('InvalidInput', `with.${problem.path}: ${problem.message}`);
  return await performStep(run, name, perform);
}

async function performStep(
  run: Omit<CentralRun, 'input' | 'node'>,
  name: Step,
  perform: RunCentralStep,
): Promise<CentralResult | undefined> {
  const { step, observation } = run;
  const isAway = isReplaced(observation);
  const node = isAway ? undefined : observation.node;
  const input = stepInput(name, step.with ?? {});
  if (node || WITHOUT_NODE.includes(name)) return await perform({ ...run, node, input } as CentralRun<never>);
  // The Node of a machine that was replaced does not come back: nothing is left to undo on it.
  return isAway ? stepSucceeded('nothing to do: the machine was replaced') : undefined;
}
