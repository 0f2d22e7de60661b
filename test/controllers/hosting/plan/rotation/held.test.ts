import { describe, expect, it } from 'vitest';
import { MAX_WAIT_MESSAGE } from '../../../../../src/api/status/waiting.ts';
import { MEMBERS } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type {
  HostingDecision,
  HostingInput,
  HostingWait,
} from '../../../../../src/controllers/hosting/plan/input.ts';
import {
  beginHeld,
  clientsBehind,
  completionHeld,
  isRotationAsked,
  rotationHeld,
} from '../../../../../src/controllers/hosting/plan/rotation/held.ts';
import {
  decisionText,
  freeze,
  HOSTED,
  hostingInput,
  INSIDE,
  window,
} from '../../../../support/hosting/objects.ts';

type Upgrade = Partial<typeof HOSTED.upgrade>;

interface Parts {
  readonly target?: 'Prepare' | 'Complete';
  readonly id?: string;
  readonly rotation?: RotationReport;
  readonly upgrade?: Upgrade;
  readonly status?: object;
  readonly input?: Partial<HostingInput>;
}

function at(phase: RotationPhase, parts: Partial<RotationReport> = {}): RotationReport {
  const proofs = MEMBERS.map((member) => ({ member, old: 'Accepted', new: 'Accepted' }) as const);
  const state = { isApplied: true, isEnding: false, hasIssued: true };
  return { id: '2026', phase, ...state, behind: [], proofs, tokenKeyId: 'new', ...parts };
}

function inputOf({ target, id = '2026', rotation, upgrade, status, input }: Parts): HostingInput {
  const caRotation = target ? { caRotation: { id, target } } : {};
  return hostingInput({
    hosted: { pki: { ...HOSTED.pki, ...caRotation }, upgrade: { ...HOSTED.upgrade, ...upgrade } },
    status: { conditions: [], ...status },
    plane: rotation ? { rotation } : {},
    input: { clients: { nodes: [], tokens: [] }, ...input },
  });
}

/** Returns the wait in one line, or `nothing`. */
function textOf(wait: HostingWait | undefined): string {
  const decision: HostingDecision = wait ? { wait } : {};
  return decisionText(decision);
}

const FROZEN: Upgrade = { freezes: [freeze()] };
const UNKNOWN = { clients: undefined };
const NODE = { clients: { nodes: ['worker-1'], tokens: [] } };
const TOKEN = { clients: { nodes: [], tokens: [{ name: 'default/bot', keyId: 'old' }] } };
const SYNC = { sync: { lastContactAt: '2029-12-31T00:00:00Z' } };

describe('what a rotation of authorities waits for', () => {
  it.each<[what: string, parts: Parts, expected: boolean]>([
    ['none in the spec', {}, false],
    ['a first one', { target: 'Prepare' }, true],
    ['one that is begun', { target: 'Prepare', rotation: at('TrustBoth') }, false],
    ['one that is over', { target: 'Prepare', rotation: at('Completed') }, false],
    ['another one after it', { target: 'Prepare', id: '2027', rotation: at('Completed') }, true],
    ['one that the spec already completes', { target: 'Complete' }, false],
  ])('HOS-22 asks only for what was not begun: %s', (_, parts, expected) => {
    expect(isRotationAsked(inputOf(parts))).toBe(expected);
  });

  it.each<[what: string, parts: Parts, expected: string]>([
    ['nothing is asked for', { upgrade: FROZEN, input: NODE }, 'nothing'],
    ['it may begin', { target: 'Prepare' }, 'nothing'],
    ['it may not begin in a freeze', { target: 'Prepare', upgrade: FROZEN }, 'wait Freeze'],
    [
      'another one after one that is over, in a freeze',
      { target: 'Prepare', id: '2027', rotation: at('Completed'), upgrade: FROZEN },
      'wait Freeze',
    ],
    [
      'Nodes while both become trusted',
      { target: 'Prepare', rotation: at('TrustBoth'), input: NODE },
      'stalled RotationNotSupported',
    ],
    [
      'no freeze while both become trusted',
      { target: 'Prepare', rotation: at('TrustBoth'), upgrade: FROZEN },
      'nothing',
    ],
    [
      'no client before a person asks for the end',
      { target: 'Prepare', rotation: at('IssueNew'), upgrade: FROZEN, input: TOKEN },
      'nothing',
    ],
    [
      'clients, before a freeze, when a person asks for the end',
      { target: 'Complete', rotation: at('IssueNew'), upgrade: FROZEN, input: TOKEN },
      'wait ClientsBehind',
    ],
    [
      'a freeze when a person asks for the end',
      { target: 'Complete', rotation: at('IssueNew'), upgrade: FROZEN },
      'wait Freeze',
    ],
    [
      'clients once the end is begun',
      { target: 'Complete', rotation: at('ServeNew'), upgrade: FROZEN, input: TOKEN },
      'wait ClientsBehind',
    ],
    [
      'no freeze once the end is begun',
      { target: 'Complete', rotation: at('ServeNew'), upgrade: FROZEN },
      'nothing',
    ],
    [
      'nothing once the former ones are refused',
      { target: 'Complete', rotation: at('TrustNew'), upgrade: FROZEN, input: TOKEN },
      'nothing',
    ],
    [
      'nothing while it is taken back',
      { rotation: at('ServeNew'), upgrade: FROZEN, input: TOKEN },
      'nothing',
    ],
  ])('HOS-22 is held by what its phase needs: %s', (_, parts, expected) => {
    expect(textOf(rotationHeld(inputOf(parts)))).toBe(expected);
  });

  it.each<[what: string, parts: Parts, expected: string]>([
    ['nothing where all is well', {}, 'nothing'],
    ['an API server without an answer', { input: { inside: undefined } }, 'wait ClientsUnknown'],
    ['unknown clients, before a freeze', { upgrade: FROZEN, input: UNKNOWN }, 'wait ClientsUnknown'],
    ['a Node, before a freeze', { upgrade: FROZEN, input: NODE }, 'stalled RotationNotSupported'],
    ['no token: it is filled again later', { input: TOKEN }, 'nothing'],
    ['a closed window', { upgrade: { windows: [window('03:00', '04:00')] } }, 'wait OutsideWindow'],
  ])('HOS-22 names what holds its begin: %s', (_, parts, expected) => {
    expect(textOf(beginHeld(inputOf({ target: 'Prepare', ...parts })))).toBe(expected);
  });

  it.each<[what: string, parts: Parts, expected: string]>([
    ['nothing when every client has moved', {}, 'nothing'],
    ['unknown clients, before a freeze', { upgrade: FROZEN, input: UNKNOWN }, 'wait ClientsUnknown'],
    ['a token, before a freeze', { upgrade: FROZEN, input: TOKEN }, 'wait ClientsBehind'],
    ['a freeze after all clients', { upgrade: FROZEN }, 'wait Freeze'],
  ])('HOS-22 names what holds its end: %s', (_, parts, expected) => {
    const rotation = at('IssueNew');
    const input = inputOf({ target: 'Complete', rotation, ...parts });
    expect(textOf(completionHeld(input, rotation))).toBe(expected);
  });

  it.each<[what: string, parts: Parts, held: string]>([
    ['its begin', { target: 'Prepare' }, 'the rotation'],
    ['its end', { target: 'Complete', rotation: at('IssueNew') }, 'the completion of the rotation'],
  ])('HOS-22 tells in a freeze what is held: %s', (_, parts, held) => {
    const message = rotationHeld(inputOf({ ...parts, upgrade: FROZEN }))?.message;
    expect(message?.startsWith(`${held} of the authorities is held: `)).toBe(true);
  });

  it.each<[what: string, parts: Parts, message: string]>([
    [
      'a Node, beside a token',
      { input: { clients: { ...TOKEN.clients, nodes: ['worker-1'] } } },
      '5 of 7 clients have what the new authorities issue; not yet: Secret default/bot, Node worker-1; remove these machines, or take the rotation back: remove spec.hosted.pki.caRotation',
    ],
    [
      'a token, beside sync',
      { input: TOKEN, status: SYNC },
      '5 of 7 clients have what the new authorities issue; not yet: sync, Secret default/bot; delete the key `token` of each Secret: it is filled again',
    ],
    [
      'sync alone',
      { status: SYNC },
      '5 of 6 clients have what the new authorities issue; not yet: sync; sync has to reach the cluster with its new kubeconfig, which it reports within five minutes',
    ],
  ])('HOS-22 names the clients behind and what moves them: %s', (_, parts, message) => {
    const rotation = at('ServeNew');
    expect(clientsBehind(inputOf({ rotation, ...parts }), rotation)).toEqual({
      reason: 'ClientsBehind',
      message,
      blocker: { kind: 'Cluster', name: 'ci' },
      isStalled: false,
    });
  });

  it.each<[what: string, rotation: RotationReport]>([
    ['files are not written', at('IssueNew', { isApplied: false })],
    ['a member was not started again', at('IssueNew', { behind: ['etcd'] })],
    ['a member is not proven', at('IssueNew', { proofs: [] })],
  ])('HOS-22 blames no client before the control plane is done: %s', (_, rotation) => {
    expect(clientsBehind(inputOf({ rotation, input: TOKEN }), rotation)).toBeUndefined();
    expect(clientsBehind(inputOf({ rotation, input: UNKNOWN }), rotation)?.reason).toBe('ClientsUnknown');
  });

  it.each<[count: number, named: string]>([
    [1, '1 would lose their access: Machine m-0; remove spec.hosted.pki.caRotation, or these machines'],
    [
      2,
      '2 would lose their access: Machine m-0, Machine m-1; remove spec.hosted.pki.caRotation, or these machines',
    ],
  ])('HOS-22 names the machines that it would strand: %s', (count, named) => {
    const machines = Array.from({ length: count }, (_, index) => `m-${index}`);
    expect(beginHeld(inputOf({ target: 'Prepare', input: { inside: { ...INSIDE, machines } } }))).toEqual({
      reason: 'RotationNotSupported',
      message: `agents and kubelets do not take another authority yet, and ${named}`,
      blocker: { kind: 'Cluster', name: 'ci' },
      isStalled: true,
    });
  });

  it('HOS-22 keeps what ends the wait beside a long list of machines', () => {
    const machines = Array.from({ length: 25 }, (_, index) => `machine-of-the-pool-${index}`);
    const held = beginHeld(inputOf({ target: 'Prepare', input: { inside: { ...INSIDE, machines } } }));
    expect(held?.message).toHaveLength(MAX_WAIT_MESSAGE);
    expect(held?.message.endsWith('…; remove spec.hosted.pki.caRotation, or these machines')).toBe(true);
  });
});
