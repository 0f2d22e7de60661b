import { describe, expect, it } from 'vitest';
import {
  agentStepInput,
  agentStepOfReference,
  agentStepProblems,
  agentStepRisk,
  type StepOfAgent,
} from '../../../src/agent/jobs/step-table.ts';
import { executorOf } from '../../../src/agent/jobs/steps/executors.ts';
import {
  STEPS,
  stepEntry,
  stepInput,
  stepInputProblems,
  stepReference,
} from '../../../src/api/steps/steps.ts';

const OF_AGENT = STEPS.filter((step) => stepEntry(step).executor === 'Agent') as StepOfAgent[];

describe('the steps of the agent', () => {
  it('are all steps of the catalog that an agent of this release carries out', () => {
    const references = STEPS.map(stepReference);
    expect(references.flatMap((each) => agentStepOfReference(each) ?? [])).toEqual(OF_AGENT);
    expect(OF_AGENT.filter((step) => !executorOf(step))).toEqual([]);
  });

  it.each(['Reboot@v2', 'Reboot', 'Drain@v1', 'toString@v1', ''])('do not include %s', (reference) => {
    expect(agentStepOfReference(reference)).toBeUndefined();
  });

  it('are taken for disturbing where this release does not know them', () => {
    expect(agentStepRisk('FlashFirmware')).toBe('Machine');
  });

  it.each(OF_AGENT)('mean the same as in the catalog: %s', (step) => {
    expect(agentStepRisk(step)).toBe(stepEntry(step).risk);
    const inputs = [{}, { other: 1 }, { service: 'kubelet' }, { component: 'kubelet' }, { targets: [] }];
    for (const input of inputs) {
      expect(agentStepProblems(step, input)).toEqual(stepInputProblems(step, input));
      expect(agentStepInput(step, input)).toEqual(stepInput(step, input));
    }
  });
});
