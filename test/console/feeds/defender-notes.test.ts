import { describe, expect, it } from 'vitest';
import type { DefenderLedger, DefenderPolicy } from '../../../src/api/generated/types.ts';
import { defenderNotes } from '../../../src/console/feeds/defender-notes.ts';
import { ago, ledgerSpec, policy } from '../../defender/builders.ts';
import { condition } from '../../support/builders.ts';

const READY = condition('Ready', 'True');

function ledger(status: DefenderLedger['status'] = { conditions: [READY] }): DefenderLedger {
  const metadata = { name: 'default' };
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderLedger',
    metadata,
    spec: ledgerSpec({}),
    status,
  };
}

function withCondition(type: string, status: 'True' | 'False', message: string): DefenderPolicy {
  return { ...policy(), status: { conditions: [condition(type, status, { message })] } };
}

function auditOnly(its: DefenderPolicy): DefenderPolicy {
  return { ...its, spec: { ...its.spec, mode: 'Audit' } };
}

function notesOf(policies: readonly DefenderPolicy[], its: DefenderLedger | undefined): readonly string[] {
  const notes = Object.values(defenderNotes('prod', policies, its));
  expect(notes.filter(({ bad }) => !bad)).toEqual([]);
  return notes.map(({ text }) => text);
}

const APPROVAL = {
  machine: 'm-1',
  action: 'WipeDisk',
  risk: 'Data',
  holder: { kind: 'Other', name: 'alice' },
  since: ago(120),
} as const;

it('CON-04 marks what stops the Defender as an incident, and not an act that waits for an answer', () => {
  const its = ledger({ conditions: [READY], approvals: [APPROVAL] });
  const stopped = withCondition('KillSwitchEngaged', 'True', 'bad kernel image (ada)');
  const notes = Object.values(defenderNotes('prod', [stopped], its));
  expect(notes.map(({ isIncident }) => isIncident)).toEqual([true, undefined]);
});

describe('defenderNotes', () => {
  it.each<
    [what: string, policies: readonly DefenderPolicy[], its: DefenderLedger | undefined, notes: string[]]
  >([
    ['nothing while all is well', [policy()], ledger(), []],
    ['nothing of a cluster that has no Defender yet', [], undefined, []],
    [
      'a missing default policy',
      [],
      ledger(),
      [
        'prod: the Defender denies every act: DefenderPolicy fleet-default does not exist. Add it to the fleet repository',
      ],
    ],
    [
      'a kill switch',
      [withCondition('KillSwitchEngaged', 'True', 'bad kernel image (ada)')],
      ledger(),
      [
        'prod: automation is stopped by DefenderPolicy fleet-default: bad kernel image (ada). kubenode defender resume',
      ],
    ],
    [
      'no kill switch that is not engaged',
      [withCondition('KillSwitchEngaged', 'False', 'not')],
      ledger(),
      [],
    ],
    [
      'a policy that is refused',
      [withCondition('Accepted', 'False', 'rates: no name')],
      ledger(),
      [
        'prod: the Defender denies every act: DefenderPolicy fleet-default is refused: rates: no name. Fix it in git',
      ],
    ],
    [
      'a policy in mode Audit that is refused, which denies nothing',
      [auditOnly(withCondition('Accepted', 'False', 'rates: no name'))],
      ledger(),
      ['prod: DefenderPolicy fleet-default is refused: rates: no name. Fix it in git'],
    ],
    [
      'an open breaker',
      [withCondition('BreakerOpen', 'True', 'unhealthy of zone a is Open: 5 of 9')],
      ledger(),
      [
        'prod: a breaker of DefenderPolicy fleet-default is open: unhealthy of zone a is Open: 5 of 9. kubenode defender status',
      ],
    ],
    [
      'a ledger that is not ready',
      [policy()],
      ledger({ conditions: [condition('Ready', 'False', { message: 'recovering until 12:05' })] }),
      [
        expect.stringMatching(
          /^prod: the ledger of the Defender is \w+: recovering until 12:05\. kubenode/,
        ) as string,
      ],
    ],
    [
      'an act that waits for an answer',
      [policy()],
      ledger({ conditions: [READY], approvals: [APPROVAL] }),
      ['prod: WipeDisk of m-1 for Other alice waits for a person: kubenode defender approve m-1'],
    ],
  ])('names %s', (_, policies, its, notes) => {
    expect(notesOf(policies, its)).toEqual(notes);
  });
});
