import { describe, expect, it } from 'vitest';
import { unapprovedPercentages } from '../../../src/defender/policies/machine-percent.ts';

const SCOPE = { nodeSelector: { all: true } };
const MESSAGE =
  'at most 33% without an approval rule for acts of risk Machine: lower it, or add the rule to spec.approval';

function found(spec: object, scope: object = SCOPE): readonly string[] {
  return unapprovedPercentages({ scope, ...spec }).map(({ path, message }) => `${path}: ${message}`);
}

function limit(max: number | string, more: object = {}): object {
  return {
    concurrency: [
      { name: 'other', per: 'Zone', max: 1 },
      { name: 'all', per: 'Cluster', max, ...more },
    ],
  };
}

const APPROVAL = { name: 'a', approvers: ['sre'] };

describe('a limit that permits more than a third of the machines to be replaced at once', () => {
  it.each<[name: string, spec: object, scope?: object]>([
    ['for all acts', limit('34%')],
    ['for acts of risk Machine', limit('100%', { risks: ['Node', 'Machine'] })],
    ['for an action of risk Machine', limit('50%', { actions: ['Reboot', 'ReplaceMachine'] })],
    ['approved only with local data', { ...limit('34%'), approval: [{ ...APPROVAL, onlyLocalData: true }] }],
    ['approved for other risks', { ...limit('34%'), approval: [{ ...APPROVAL, risks: ['Data'] }] }],
    [
      'approved for some actions',
      { ...limit('34%'), approval: [{ ...APPROVAL, actions: ['ReplaceMachine'] }] },
    ],
  ])('R15 is refused by the judge of git %s', (_, spec, scope) => {
    expect(found(spec, scope)).toEqual([`spec.concurrency[1].max: ${MESSAGE}`]);
  });

  it.each<[name: string, spec: object, scope?: object]>([
    ['up to 33 %', limit('33%')],
    ['as a number of machines', limit(500)],
    ['for acts below risk Machine', limit('50%', { risks: ['None', 'Pod', 'Node'] })],
    ['for actions below risk Machine', limit('50%', { actions: ['Reboot'] })],
    ['in a policy without such acts', limit('50%'), { ...SCOPE, risks: ['Pod'] }],
    ['approved by a person', { ...limit('100%'), approval: [{ ...APPROVAL, risks: ['Machine'] }] }],
    [
      'approved for its action',
      {
        ...limit('50%', { actions: ['ReplaceMachine'] }),
        approval: [{ ...APPROVAL, actions: ['ReplaceMachine'] }],
      },
    ],
  ])('is accepted %s', (_, spec, scope) => {
    expect(found(spec, scope)).toEqual([]);
  });
});
