import { describe, expect, it } from 'vitest';
import { OUTSIDE_ACTIONS } from '../../../src/api/steps/actions.ts';
import { STEP_DEFINITIONS } from '../../../src/api/steps/registry.ts';
import {
  type Action,
  defaultRisk,
  isAction,
  isStep,
  leastRisk,
  STEPS,
  type Step,
  stepEntry,
  stepInput,
  stepInputProblems,
  stepOfReference,
  stepReference,
  undoOf,
} from '../../../src/api/steps/steps.ts';
import { acceptedInputs, refusedInputs, stepsWithCases } from './inputs.ts';

describe('the steps', () => {
  it('are those that are declared, in the same order', () => {
    expect(STEPS).toEqual(STEP_DEFINITIONS.map(({ name }) => name));
  });

  // The table of the manual: name, risk, executor, undo.
  it.each<[Step, string]>([
    ['CollectDiagnostics', 'None Agent'],
    ['RearmDetector', 'None Agent'],
    ['Notify', 'None Central'],
    ['WaitForCondition', 'None Central'],
    ['WaitForBoot', 'None Central'],
    ['RequestApproval', 'None Central'],
    ['HandOff', 'None Central'],
    ['CleanDisk', 'None Agent'],
    ['Uncordon', 'None Central recovery'],
    ['Untaint', 'None Central recovery'],
    ['PowerOn', 'None Central recovery'],
    ['Cordon', 'Pod Central undo Uncordon'],
    ['Taint', 'Pod Central undo Untaint'],
    ['RestartService', 'Pod Agent'],
    ['ReinstallComponent', 'Pod Agent'],
    ['EvictPods', 'Pod Central'],
    ['Drain', 'Pod Central'],
    ['ResetGPU', 'Node Agent'],
    ['Reboot', 'Node Agent'],
    ['PowerOff', 'Node Central undo PowerOn'],
    ['PowerCycle', 'Node Central undo PowerOn'],
    ['OutOfServiceTaint', 'Node Central undo Untaint'],
    ['AnswerProvider', 'Machine Central'],
    ['ReplaceMachine', 'Machine Central'],
  ])('%s: %s', (step, expected) => {
    const { risk, executor, recovery, undo } = stepEntry(step);
    const words = [risk, executor, recovery && 'recovery', undo && `undo ${undo.step}`];
    expect(words.filter(Boolean).join(' ')).toBe(expected);
  });

  it('are undone by steps that exist and accept the input which they are given', () => {
    const inputs = new Map(acceptedInputs);
    const undone = STEPS.flatMap((step) => undoOf(step, inputs.get(step)) ?? []);
    expect(undone.map(({ step }) => step)).toEqual(['Uncordon', 'Untaint', 'PowerOn', 'PowerOn', 'Untaint']);
    for (const { step, with: input } of undone) expect(stepInputProblems(step, input)).toEqual([]);
  });

  it('leave data alone, and machines but for their replacement', () => {
    expect(STEPS).toHaveLength(24);
    expect(STEPS.filter((step) => ['Machine', 'Data'].includes(stepEntry(step).risk))).toEqual([
      'AnswerProvider',
      'ReplaceMachine',
    ]);
  });
});

describe('an action', () => {
  it.each<[Action, string]>([
    ['Reboot', 'Node Node'],
    ['UpdateComponent', 'Node None'],
    ['DeleteMachine', 'Machine Machine'],
    ['DeleteInstance', 'Machine Machine'],
    ['UpdateControlPlane', 'Node Node'],
    ['ResetGPU', 'Node Node'],
    ['Reprovision', 'Data Data'],
    ['WipeDisk', 'Data Data'],
  ])('has a highest and a lowest risk: %s %s', (action, risks) => {
    expect(`${defaultRisk(action)} ${leastRisk(action)}`).toBe(risks);
  });

  it.each(Object.keys(OUTSIDE_ACTIONS))(
    'is no step when only people and other tools carry it out: %s',
    (action) => {
      expect([isAction(action), isStep(action)]).toEqual([true, false]);
    },
  );
});

describe('the input of a step', () => {
  it('has accepted and refused cases for every step', () => {
    expect([...stepsWithCases].toSorted()).toEqual([...STEPS].toSorted());
    expect(new Set(acceptedInputs.map(([step]) => step)).size).toBe(STEPS.length);
    expect(new Set(refusedInputs.map(([step]) => step)).size).toBe(STEPS.length);
  });

  it.each(acceptedInputs)('%s accepts %j', (step, input) => {
    expect(stepInputProblems(step, input)).toEqual([]);
  });

  it.each(refusedInputs)('%s refuses %j', (step, { with: input, at, message }) => {
    expect(stepInputProblems(step, input)).toEqual([
      { path: at, message: expect.stringContaining(message) as string },
    ]);
  });

  it('reports every problem of an input at once', () => {
    const input = { targets: ['x', 'y'], dryRun: 'no' };
    expect(stepInputProblems('CleanDisk', input).map(({ path }) => path)).toEqual([
      'maxDelete',
      'targets[0]',
      'targets[1]',
      'dryRun',
    ]);
  });

  it.each<[Step, object, object]>([
    ['Reboot', {}, { via: ['Agent'] }],
    ['HandOff', { queue: 'node-sre' }, { queue: 'node-sre', severity: 'ticket', vendorCase: false }],
    [
      'ReplaceMachine',
      { keepFailed: { holdSeconds: 60 } },
      { replacementFirst: false, keepFailed: { holdSeconds: 60, max: 1 } },
    ],
    ['Cordon', {}, {}],
    ['ResetGPU', { codes: [48] }, { gpus: 'WithErrors', codes: [48] }],
  ])('of %s %j is read with its defaults', (step, input, filled) => {
    expect(stepInput(step, input)).toEqual(filled);
  });

  it('is typed by its step', () => {
    const { service }: { readonly service: string } = stepInput('RestartService', { service: 'kubelet' });
    expect(service).toBe('kubelet');
  });
});

describe('undoOf', () => {
  it.each<[Step, object, unknown]>([
    ['Cordon', {}, { step: 'Uncordon', with: {} }],
    ['Taint', { key: 'a/b', value: 'x' }, { step: 'Untaint', with: { key: 'a/b' } }],
    ['PowerOff', { via: ['BMC'], confirm: false }, { step: 'PowerOn', with: { via: ['BMC'] } }],
    ['OutOfServiceTaint', {}, { step: 'Untaint', with: { key: 'node.kubernetes.io/out-of-service' } }],
    ['Reboot', {}, undefined],
    ['ResetGPU', {}, undefined],
  ])('of %s %j is %j', (step, input, undo) => {
    expect(undoOf(step, input)).toEqual(undo);
  });
});

describe('a step reference', () => {
  it('names step and version, and is read back', () => {
    expect(STEPS.map((step) => stepOfReference(stepReference(step)))).toEqual(STEPS);
    expect(stepReference('Reboot')).toBe('Reboot@v1');
  });

  it.each(['Reboot@v2', 'Reboot', 'Rebot@v1', 'Reboot@v1@v1', 'constructor@v1', ''])(
    '%j is unknown',
    (text) => {
      expect(stepOfReference(text)).toBeUndefined();
    },
  );

  it('does not take a word of the prototype for a step', () => {
    expect([isStep('toString'), isStep(undefined), isStep('Drain')]).toEqual([false, false, true]);
  });
});
