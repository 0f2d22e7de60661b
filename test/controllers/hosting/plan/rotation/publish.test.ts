import { describe, expect, it } from 'vitest';
import type { PublishedPhase } from '../../../../../src/api/authorities/document.ts';
import type { RotationReport } from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import {
  isPublished,
  knownOrders,
  planPublication,
} from '../../../../../src/controllers/hosting/plan/rotation/publish.ts';
import { documentOf, signedBy, testAuthority } from '../../../../support/authorities.ts';
import { decisionText, hostingInput, INSIDE, type InputParts } from '../../../../support/hosting/objects.ts';

const SIGNED = { document: 'd', signatures: 's' };
const ROTATION: RotationReport = {
  id: '2026',
  phase: 'IssueNew',
  isApplied: true,
  isEnding: false,
  isSigned: false,
  hasIssued: true,
  behind: [],
  proofs: ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'].map((member) => ({
    member,
    old: 'Accepted',
    new: 'Accepted',
  })),
};
const OVER: RotationReport = { ...ROTATION, phase: 'Completed' };
const FOLLOW = 'PublishAuthorities: agents are to follow the phase IssueNew';
const END = 'PublishAuthorities: agents are to follow the end of the rotation';
const CA = testAuthority('ca');
const DIFFERS = 'PublishAuthorities: what agents follow is not what was signed';

function inside(authorities?: typeof SIGNED): InputParts['input'] {
  return { inside: authorities ? { ...INSIDE, authorities } : INSIDE };
}

/** A rotation that is over, with the document of a phase that agents find. */
function ended(id: string, phase: PublishedPhase, rotation?: RotationReport): InputParts {
  const authorities = signedBy([CA], documentOf([CA], { rotation: id, phase }));
  return {
    plane: { authorities, ...(rotation ? { rotation } : {}) },
    input: { inside: { ...INSIDE, authorities } },
  };
}

describe('planPublication', () => {
  it.each<[what: string, parts: InputParts, expected: string]>([
    ['nothing where nothing was ever rotated', {}, 'nothing'],
    ['a phase that every member has reached', { plane: { rotation: ROTATION } }, FOLLOW],
    [
      'no phase whose files are not written',
      { plane: { rotation: { ...ROTATION, isApplied: false } } },
      'nothing',
    ],
    [
      'no phase that a member was not started in',
      { plane: { rotation: { ...ROTATION, behind: ['etcd'] } } },
      'nothing',
    ],
    ['no phase that a client does not see', { plane: { rotation: { ...ROTATION, proofs: [] } } }, 'nothing'],
    ['nothing of a rotation that an earlier version completed', { plane: { rotation: OVER } }, 'nothing'],
    [
      'nothing again of what is there',
      {
        plane: { rotation: { ...ROTATION, isSigned: true }, authorities: SIGNED },
        input: inside(SIGNED) ?? {},
      },
      'nothing',
    ],
    [
      'what was signed, after a crash in between',
      { plane: { rotation: { ...ROTATION, isSigned: true }, authorities: SIGNED } },
      DIFFERS,
    ],
    [
      'what was deleted, also when the rotation is over',
      { plane: { rotation: OVER, authorities: SIGNED } },
      DIFFERS,
    ],
    ['what was deleted, also when the rotation was taken back', { plane: { authorities: SIGNED } }, DIFFERS],
    [
      'what somebody has edited',
      { plane: { authorities: SIGNED }, input: inside({ ...SIGNED, document: 'forged' }) ?? {} },
      DIFFERS,
    ],
    [
      'what somebody has signed otherwise',
      { plane: { authorities: SIGNED }, input: inside({ ...SIGNED, signatures: 'forged' }) ?? {} },
      DIFFERS,
    ],
    [
      'nothing into an API server without an answer',
      { plane: { authorities: SIGNED }, input: { inside: undefined } },
      'nothing',
    ],
    [
      'no phase before one that is not reached, also where the one before was deleted',
      { plane: { rotation: { ...ROTATION, behind: ['etcd'] }, authorities: SIGNED } },
      'nothing',
    ],
    ['the end of a rotation that completed before it was signed', ended('2026', 'ServeNew', OVER), END],
    ['the end of another rotation', ended('2025', 'TrustNew', OVER), END],
    ['the end of a rotation that was taken back before it was signed', ended('2026', 'TrustBoth'), END],
    ['nothing again of the end that is there', ended('2026', 'TrustNew', OVER), 'nothing'],
    ['nothing again of the return that is there', ended('2026', 'TrustOld'), 'nothing'],
    ['nothing again of the end of a rotation before', ended('2025', 'TrustNew'), 'nothing'],
    [
      'nothing before our namespaces are installed, which comes first',
      { plane: { authorities: SIGNED }, input: { inside: { ...INSIDE, isInstalled: false } } },
      'nothing',
    ],
  ])('HOS-22 publishes each phase that is reached, and keeps it: %s', (_, parts, expected) => {
    expect(decisionText(planPublication(hostingInput(parts)) ?? {})).toBe(expected);
  });

  it.each<[what: string, parts: InputParts, expected: boolean]>([
    ['nothing was signed', {}, false],
    ['it is there', { plane: { authorities: SIGNED }, input: inside(SIGNED) ?? {} }, true],
    ['it was deleted', { plane: { authorities: SIGNED } }, false],
    [
      'the API server does not answer',
      { plane: { authorities: SIGNED }, input: { inside: undefined } },
      false,
    ],
  ])('HOS-22 takes for published only what agents find: %s', (_, parts, expected) => {
    expect(isPublished(hostingInput(parts))).toBe(expected);
  });

  it('HOS-22 collects the orders that agents may have followed', () => {
    const report = { managed: true, trusted: [], kubelet: 'None', order: 7 } as const;
    const machines = [
      { name: 'm-1', agent: { authorities: report } },
      { name: 'm-2', agent: {} },
      { name: 'm-3' },
    ];
    const input = hostingInput({
      input: { inside: { ...INSIDE, authorities: SIGNED }, clients: { nodes: [], machines, tokens: [] } },
    });
    const observed = { rotation: undefined };
    expect(knownOrders(input)).toEqual({ published: SIGNED, reported: [7], observed });
    expect(knownOrders(hostingInput({ plane: { rotation: ROTATION } }))).toEqual({
      published: undefined,
      reported: [],
      observed: { rotation: ROTATION },
    });
  });
});
