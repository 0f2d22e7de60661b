/** Waits until a condition of the Node has a status, and keeps it by our own clock. */
import type { StepInputs } from '../../../../api/generated/steps.ts';
import { listAt, textAt } from '../../../../kube/objects/json.ts';
import type { KubeObject } from '../../../../kube/objects/object.ts';
import { type CentralResult, type CentralRun, stepSucceeded, stepWaits } from './central-step.ts';

const HOLDING = 'ConditionHolding';

export async function runWaitForCondition(
  run: CentralRun<StepInputs['WaitForCondition']>,
): Promise<CentralResult> {
  const { observation, node, input } = run;
  const { job, now } = observation;
  const { type, status, holdSeconds } = input;
  const found = statusOfCondition(node, type);
  const blocker = { kind: 'Node', name: node.metadata.name };
  if (found !== status) {
    const message = `condition ${type} is ${found ?? 'missing'}, expected ${status}`;
    return stepWaits({ reason: 'Condition', message, blocker }, now);
  }
  const before = job.status?.waiting;
  const sinceMs = before?.reason === HOLDING ? Date.parse(before.since) : now.getTime();
  const message = `condition ${type} is ${status}`;
  if (sinceMs + holdSeconds * 1000 <= now.getTime()) return stepSucceeded(message);
  return stepWaits(
    {
      reason: HOLDING,
      message: `${message}; the step ends when this has held for ${holdSeconds} s`,
      blocker,
    },
    now,
  );
}

function statusOfCondition(node: KubeObject, type: string): string | undefined {
  const found = listAt(node, 'status', 'conditions').find((each) => textAt(each, 'type') === type);
  return textAt(found, 'status');
}
