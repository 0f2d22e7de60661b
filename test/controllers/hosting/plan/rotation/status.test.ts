import { describe, expect, it } from 'vitest';
import { MEMBERS } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { HostedStatus, HostingInput } from '../../../../../src/controllers/hosting/plan/input.ts';
import { rotationStatus } from '../../../../../src/controllers/hosting/plan/rotation/status.ts';
import { HOSTED, hostingInput, INSIDE } from '../../../../support/hosting/objects.ts';

type Expected = HostedStatus['caRotation'];

interface Parts {
  readonly id?: string;
  readonly rotation?: RotationReport;
  readonly input?: Partial<HostingInput>;
  /** The step in the status before. */
  readonly step?: 'Preparing' | 'Prepared';
}

function at(phase: RotationPhase, parts: Partial<RotationReport> = {}): RotationReport {
  const proofs = MEMBERS.map((member) => ({ member, old: 'Accepted', new: 'Accepted' }) as const);
  const state = { isApplied: true, isEnding: false, isSigned: true, hasIssued: true };
  return { id: '2026', phase, ...state, behind: [], proofs, tokenKeyId: 'new', ...parts };
}

function status({ id, rotation, input, step }: Parts): Expected {
  const caRotation = id === undefined ? {} : { caRotation: { id, target: 'Prepare' as const } };
  return rotationStatus(
    hostingInput({
      hosted: { pki: { ...HOSTED.pki, ...caRotation } },
      ...(step ? { status: { conditions: [], hosted: { caRotation: { id: '2026', step } } } } : {}),
      plane: rotation ? { rotation, authorities: SIGNED } : {},
      input: {
        clients: { nodes: [], machines: [], tokens: [] },
        inside: { ...INSIDE, authorities: SIGNED },
        ...input,
      },
    }),
  );
}

function tokens(count: number): Partial<HostingInput> {
  const secrets = Array.from({ length: count }, (_, index) => ({ name: `ns/t-${index}`, keyId: 'old' }));
  return { clients: { nodes: [], machines: [], tokens: secrets } };
}

const SIGNED = { document: 'd', signatures: 's' };
const ALL = { clients: { total: 5, moved: 5 }, behind: [] };

describe('the status of a rotation of authorities', () => {
  it.each<[what: string, parts: Parts, expected: Expected]>([
    ['nothing where none is asked for', {}, undefined],
    ['one that is not begun', { id: '2026' }, { id: '2026', step: 'Idle' }],
    [
      'both become trusted, and clients are not counted',
      { id: '2026', rotation: at('TrustBoth') },
      { id: '2026', step: 'Preparing' },
    ],
    [
      'new ones are not all issued',
      { id: '2026', rotation: at('IssueNew', { behind: ['etcd'] }) },
      { id: '2026', step: 'Preparing', clients: { total: 5, moved: 4 }, behind: ['etcd'] },
    ],
    [
      'all is prepared for the end',
      { id: '2026', rotation: at('IssueNew') },
      { id: '2026', step: 'Prepared', ...ALL },
    ],
    [
      'new ones are issued, and agents do not know it yet',
      { id: '2026', rotation: at('IssueNew', { isSigned: false }) },
      { id: '2026', step: 'Preparing', ...ALL },
    ],
    [
      'new ones are issued, and agents do not find what was signed',
      { id: '2026', rotation: at('IssueNew'), step: 'Prepared', input: { inside: INSIDE } },
      { id: '2026', step: 'Preparing', ...ALL },
    ],
    [
      'new ones are served',
      { id: '2026', rotation: at('ServeNew') },
      { id: '2026', step: 'Completing', ...ALL },
    ],
    [
      'the former ones become refused, and clients are not counted',
      { id: '2026', rotation: at('TrustNew') },
      { id: '2026', step: 'Completing' },
    ],
    [
      'the former ones become refused, though the spec asks for none',
      { rotation: at('TrustNew') },
      { id: '2026', step: 'Completing' },
    ],
    ['it is over', { id: '2026', rotation: at('Completed') }, { id: '2026', step: 'Completed' }],
    [
      'it is over, and the spec asks for none',
      { rotation: at('Completed') },
      { id: '2026', step: 'Completed' },
    ],
  ])('HOS-22 shows the step of a rotation: %s', (_, parts, expected) => {
    expect(status(parts)).toEqual(expected);
  });

  it.each<[what: string, parts: Parts, expected: Expected]>([
    ['before new ones issue', { rotation: at('TrustBoth') }, { id: '2026', step: 'Aborting' }],
    ['with the clients to move back', { rotation: at('IssueNew') }, { id: '2026', step: 'Aborting', ...ALL }],
    [
      'for another one, under the ID of the one in work',
      { id: '2027', rotation: at('ServeNew') },
      { id: '2026', step: 'Aborting', ...ALL },
    ],
    [
      'while the new ones become refused',
      { id: '2026', rotation: at('TrustOld') },
      { id: '2026', step: 'Aborting' },
    ],
  ])('HOS-22 shows that it is taken back: %s', (_, parts, expected) => {
    expect(status(parts)).toEqual(expected);
  });

  it.each<[what: string, input: Partial<HostingInput>]>([
    ['the API server does not answer', { inside: undefined }],
    ['Nodes and Secrets could not be read', { clients: undefined }],
  ])('HOS-22 leaves out clients that are unknown: %s', (_, input) => {
    const rotation = at('IssueNew');
    expect(status({ id: '2026', rotation, input, step: 'Prepared' })).toEqual({
      id: '2026',
      step: 'Prepared',
    });
  });

  it('HOS-22 takes nothing for prepared while the API server does not answer', () => {
    const rotation = at('IssueNew');
    const unknown = { id: '2026', rotation, input: { inside: undefined } };
    expect(status({ ...unknown, step: 'Preparing' })?.step).toBe('Preparing');
    expect(
      status({ ...unknown, step: 'Prepared', rotation: at('IssueNew', { isSigned: false }) })?.step,
    ).toBe('Preparing');
  });

  it.each<[count: number, shown: number, last: string]>([
    [1, 1, 'Secret ns/t-0'],
    [20, 20, 'Secret ns/t-19'],
    [25, 20, 'Secret ns/t-19'],
  ])('HOS-22 counts all clients and names the first twenty: %s behind', (count, shown, last) => {
    const result = status({ id: '2026', rotation: at('ServeNew'), input: tokens(count) });
    expect(result?.clients).toEqual({ total: 5 + count, moved: 5 });
    expect([result?.behind?.length, result?.behind?.at(-1)]).toEqual([shown, last]);
  });
});
