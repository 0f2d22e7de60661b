import { describe, expect, it } from 'vitest';
import type { Denial, DenialCause } from '../../../../src/api/grants.ts';
import { handOffOfLemon } from '../../../../src/controllers/remedy/case/lemon.ts';
import type { RemedyAct } from '../../../../src/controllers/remedy/plan.ts';
import { NOW } from '../../../support/builders.ts';
import { remedier } from '../../../support/remediers.ts';

const REBOOT = { name: 'soft', plan: [{ step: 'Reboot' }] };
const TAINT = { name: 'mark', plan: [{ step: 'Drain' }, { step: 'HandOff' }] };
const DIAGNOSE = { name: 'diagnose', plan: [{ step: 'CollectDiagnostics' }] };
const PERSON = { name: 'person', plan: [{ step: 'CollectDiagnostics' }, { step: 'HandOff' }] };
const LEMON: DenialCause = { reason: 'Lemon', message: '5 repairs of a lemon' };

function act(ladder: readonly object[], index = 1): RemedyAct {
  const rule = remedier({ '/ladder': ladder });
  const rung = rule.spec.ladder[index - 1];
  if (!rung) throw new Error(`the ladder has no rung ${index}`);
  return {
    remedier: rule,
    rung,
    index,
    attempt: 2,
    digest: 'd',
    commit: 'c',
    case: '0a1b2c3d',
    since: NOW,
    isSinceKnown: true,
    detectedAt: NOW,
    node: { uid: 'u', bootID: 'b' },
    jobName: `m-r1-a1-${rule.metadata.name}-0a1b2c3d-r${index}-a2`,
  };
}

function denial(cause: DenialCause, also: readonly DenialCause[] = []): Denial {
  return { granted: false, ...cause, also };
}

function explain(planned: RemedyAct, denied: Denial): string | undefined {
  const found = handOffOfLemon(planned, denied, 'm-r1-a1');
  return found && `${found.rung.name} ${found.index}.${found.attempt} ${found.jobName}: ${found.why}`;
}

const HANDED = 'person 2.1 m-r1-a1-kernel-hang-0a1b2c3d-r2-a1: 5 repairs of a lemon';

describe('a denial because of the hardware', () => {
  it.each<[string, RemedyAct, Denial, string | undefined]>([
    ['hands the case off', act([REBOOT, PERSON]), denial(LEMON), HANDED],
    [
      'hands off also where another limit has precedence',
      act([REBOOT, PERSON]),
      denial({ reason: 'NodeInterval', message: 'soon' }, [LEMON]),
      HANDED,
    ],
    [
      'does not hand off for other limits',
      act([REBOOT, PERSON]),
      denial({ reason: 'NodeJobLimit', message: 'many' }),
      undefined,
    ],
    [
      'takes the first rung that hands off and leaves the machine as it is',
      act([REBOOT, TAINT, DIAGNOSE, PERSON]),
      denial(LEMON),
      'person 4.1 m-r1-a1-kernel-hang-0a1b2c3d-r4-a1: 5 repairs of a lemon',
    ],
    ['waits where the last rung disturbs the machine', act([REBOOT, TAINT]), denial(LEMON), undefined],
    ['does not repeat the rung that was denied', act([REBOOT, PERSON], 2), denial(LEMON), undefined],
  ])('R26 a rule whose repair is denied %s', (_, planned, denied, expected) => {
    expect(explain(planned, denied)).toBe(expected);
  });
});
