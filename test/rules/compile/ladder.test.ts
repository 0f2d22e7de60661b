/** What the compiler checks of the steps of a ladder beyond their names: the input of each. */
import { describe, expect, it } from 'vitest';
import { AVAILABLE_STEPS } from '../../../src/api/steps/steps.ts';
import { compileRule } from '../../../src/rules/compile.ts';
import { acceptedInputs, refusedInputs } from '../../api/steps/inputs.ts';
import { createRemedierSpec } from '../sample-rule.ts';

const accepted = acceptedInputs.filter(([step]) => AVAILABLE_STEPS.includes(step));
const refused = refusedInputs.filter(([step]) => AVAILABLE_STEPS.includes(step));

describe('the input of a step in a ladder', () => {
  it.each(accepted)('%s accepts %j', (step, input) => {
    expect(compileRule(createRemedierSpec(withStep(step, input))).problems).toEqual([]);
  });

  it.each(refused)('%s refuses %j', (step, { with: input, at, message }) => {
    const { problems } = compileRule(createRemedierSpec(withStep(step, input)));
    const path = `spec.ladder[0].plan[3].with${at === '' ? '' : `.${at}`}`;
    expect(problems).toEqual([
      { path, message: expect.stringMatching(`^step ${step}: .*${escaped(message)}`) as string },
    ]);
  });

  it('is checked in onVerified too', () => {
    const { problems } = compileRule(createRemedierSpec({ '/ladder/0/onVerified/0': { step: 'Untaint' } }));
    expect(problems.map(({ path }) => path)).toEqual(['spec.ladder[0].onVerified[0].with.key']);
  });

  it('may be left out where nothing is required', () => {
    expect(compileRule(createRemedierSpec({ '/ladder/0/plan/3': { step: 'Reboot' } })).problems).toEqual([]);
  });
});

/** A step that replaces the node is proved by the new one. */
function withStep(step: string, input: unknown): Readonly<Record<string, unknown>> {
  return {
    '/ladder/0/plan/3': { step, with: input },
    ...(step === 'ReplaceMachine' ? { '/ladder/0/verify/target': 'Replacement' } : {}),
  };
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
}
