import { describe, expect, it } from 'vitest';
import { actsIn, canHaveRisk, coversActs, type DeclaredActs } from '../../../src/defender/policies/acts.ts';

const REBOOTS = { actions: ['Reboot'], risks: [] };

describe('coversActs', () => {
  it.each<[name: string, covers: boolean, ...DeclaredActs[]]>([
    ['all acts cover all', true],
    ['all acts cover some', true, { actions: [], risks: [] }, REBOOTS],
    ['some do not cover all', false, REBOOTS],
    ['some cover the same', true, REBOOTS, REBOOTS],
    ['some do not cover others', false, REBOOTS, { actions: ['Reboot', 'Drain'] }],
    ['a scope narrows a limit for all', true, REBOOTS, {}, { actions: ['Reboot'] }],
    [
      'a scope narrows a limit for more',
      true,
      REBOOTS,
      { actions: ['Reboot', 'Drain'] },
      { actions: ['Reboot'] },
    ],
    ['a risk that is not covered', false, { risks: ['Node'] }, { risks: ['Node', 'Machine'] }],
    [
      'a risk that the scope takes out',
      true,
      { risks: ['Node'] },
      { risks: ['Node', 'Machine'] },
      { risks: ['Node'] },
    ],
  ])('%s', (_, covers, ...[theirs = {}, mine = {}, scope = {}]) => {
    expect(coversActs(theirs, actsIn(scope, mine))).toBe(covers);
  });
});

describe('canHaveRisk', () => {
  it.each<[name: string, acts: DeclaredActs, can: boolean]>([
    ['all acts', {}, true],
    ['risks with it', { risks: ['Node', 'Machine'] }, true],
    ['risks without it', { risks: ['Node', 'Data'] }, false],
    ['an action of it', { actions: ['Reboot', 'ReplaceMachine'] }, true],
    ['actions below it', { actions: ['Reboot', 'Drain'] }, false],
  ])('R15 machines are replaced by %s', (_, acts, can) => {
    expect(canHaveRisk(actsIn({}, acts), 'Machine')).toBe(can);
  });
});
