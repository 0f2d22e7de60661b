/** What the compiler checks of the steps of a ladder beyond their names: the input of each. */
import { describe, expect, it } from 'vitest';
import { compileRule } from '../../../src/rules/compile.ts';
import { acceptedInputs, refusedInputs } from '../../api/steps/inputs.ts';
import { createRemedierSpec } from '../sample-rule.ts';

describe('the input of a step in a ladder', () => {
  it.each(acceptedInputs)('%s accepts %j', (step, input) => {
    expect(compileRule(createRemedierSpec(planWith(step, input))).problems).toEqual([]);
  });

  it.each(refusedInputs)('%s refuses %j', (step, { with: input, at, message }) => {
    const { problems } = compileRule(createRemedierSpec(planWith(step, input)));
    const path = `spec.ladder[0].plan[3].with${at === '' ? '' : `.${at}`}`;
    expect(problems).toEqual([
      { path, message: expect.stringMatching(`^step ${step}: .*${escaped(message)}`) as string },
    ]);
  });

  it('lets the agent be asked before the switch, and a machine be fenced before it is switched on', () => {
    const fenced = ['PowerOff', 'OutOfServiceTaint', 'PowerOn'].map((step) => ({ step }));
    const plan = [{ step: 'Reboot', with: { via: ['Agent', 'SysRq', 'BMC'] } }, ...fenced];
    expect(compileRule(createRemedierSpec({ '/ladder/0/plan': plan })).problems).toEqual([]);
  });

  it.each([
    [['PowerOff', 'PowerOn', 'OutOfServiceTaint'], 2],
    [['OutOfServiceTaint', 'PowerOff'], 0],
    [['PowerOff', 'PowerOn', 'PowerOn'], 2],
  ])('refuses what needs a machine that is off in %j', (steps, at) => {
    const plan = steps.map((step) => ({ step }));
    const { problems } = compileRule(createRemedierSpec({ '/ladder/0/plan': plan }));
    expect(problems.map(({ path }) => path)).toEqual([`spec.ladder[0].plan[${at}]`]);
  });

  it('is checked in onVerified too', () => {
    const { problems } = compileRule(createRemedierSpec({ '/ladder/0/onVerified/0': { step: 'Untaint' } }));
    expect(problems.map(({ path }) => path)).toEqual(['spec.ladder[0].onVerified[0].with.key']);
  });

  it('may be left out where nothing is required', () => {
    expect(compileRule(createRemedierSpec({ '/ladder/0/plan/3': { step: 'Reboot' } })).problems).toEqual([]);
  });
});

/** These need a machine that the plan has switched off. */
const OFF_BEFORE: readonly string[] = ['PowerOn', 'OutOfServiceTaint'];

function planWith(step: string, input: unknown): Readonly<Record<string, unknown>> {
  return {
    '/ladder/0/plan/3': { step, with: input },
    ...(OFF_BEFORE.includes(step) ? { '/ladder/0/plan/2': { step: 'PowerOff' } } : {}),
    // A step that replaces the node is proved by the new one.
    ...(step === 'ReplaceMachine' ? { '/ladder/0/verify/target': 'Replacement' } : {}),
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
