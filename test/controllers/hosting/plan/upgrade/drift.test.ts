import { describe, expect, it } from 'vitest';
import { planCorrection } from '../../../../../src/controllers/hosting/plan/upgrade/drift.ts';
import { NOW } from '../../../../support/builders.ts';
import { decisionText, hostingInput, type InputParts, members } from '../../../../support/hosting/objects.ts';

const EDITED = { drift: { what: 'another image', isDisruptive: true } };
const SCALED = { drift: { what: 'no replica', isDisruptive: false } };
const JUST_STARTED = [60, 40, 20].map((seconds) => new Date(+NOW - seconds * 1000));
const CORRECT = 'Correct kube-scheduler: it was edited by others: another image';
const UPGRADING = { conditions: [], hosted: { upgrade: { step: 'Soak' } } };

type But = NonNullable<Parameters<typeof members>[0]>;

function decision(but: But, parts: InputParts = {}): string {
  const found = planCorrection(hostingInput({ ...parts, plane: { members: members(but) } }));
  return found ? decisionText(found) : 'none';
}

describe('a member that somebody edited', () => {
  it.each<readonly [name: string, but: But, parts: InputParts, expected: string]>([
    ['nobody did', {}, {}, 'none'],
    ['is corrected', { 'kube-scheduler': EDITED }, {}, CORRECT],
    ['is corrected in the middle of a change', { 'kube-scheduler': EDITED }, { status: UPGRADING }, CORRECT],
    [
      'waits while another one does not answer',
      { 'kube-scheduler': EDITED, etcd: { state: 'Starting' } },
      {},
      'none',
    ],
    [
      'is corrected first when it does not answer itself',
      { 'kube-scheduler': { ...EDITED, state: 'Starting' }, etcd: EDITED },
      {},
      CORRECT,
    ],
    [
      'gets its replicas back whatever else does not answer',
      { 'kube-scheduler': SCALED, etcd: { state: 'Starting' } },
      { input: { halt: 'ops: fire' } },
      'Correct kube-scheduler: it was edited by others: no replica',
    ],
    [
      'waits for the kill switch',
      { 'kube-scheduler': EDITED },
      { input: { halt: 'ops: fire' } },
      'wait KillSwitch',
    ],
    [
      'is reported when it was corrected three times within five minutes',
      { 'kube-scheduler': { ...EDITED, starts: JUST_STARTED } },
      {},
      'stalled DriftReturns',
    ],
    [
      'does not keep a change from being taken back',
      { 'kube-scheduler': { ...EDITED, starts: JUST_STARTED } },
      { status: UPGRADING },
      'none',
    ],
  ])('%s', (_, but, parts, expected) => {
    expect(decision(but, parts)).toBe(expected);
  });
});
