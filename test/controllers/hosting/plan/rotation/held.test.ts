import { describe, expect, it } from 'vitest';
import type { MachineAuthorities } from '../../../../../src/api/generated/types.ts';
import { MAX_WAIT_MESSAGE } from '../../../../../src/api/status/waiting.ts';
import { MEMBERS } from '../../../../../src/controllers/hosting/drivers/driver.ts';
import type {
  RotationPhase,
  RotationReport,
} from '../../../../../src/controllers/hosting/drivers/rotation.ts';
import type { MachineClient } from '../../../../../src/controllers/hosting/inside/clients.ts';
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
  returnHeld,
  rotationHeld,
} from '../../../../../src/controllers/hosting/plan/rotation/held.ts';
import { documentOf, signedBy, testAuthority } from '../../../../support/authorities.ts';
import { NOW } from '../../../../support/builders.ts';
import { decisionText, freeze, HOSTED, hostingInput, window } from '../../../../support/hosting/objects.ts';

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
  const state = { isApplied: true, isEnding: false, isSigned: true, hasIssued: true };
  return { id: '2026', phase, ...state, behind: [], proofs, tokenKeyId: 'new', ...parts };
}

function inputOf({ target, id = '2026', rotation, upgrade, status, input }: Parts): HostingInput {
  const caRotation = target ? { caRotation: { id, target } } : {};
  return hostingInput({
    hosted: { pki: { ...HOSTED.pki, ...caRotation }, upgrade: { ...HOSTED.upgrade, ...upgrade } },
    status: { conditions: [], ...status },
    plane: rotation ? { rotation } : {},
    input: { clients: { nodes: [], machines: [], tokens: [] }, ...input },
  });
}

/** Returns the wait in one line, or `nothing`. */
function textOf(wait: HostingWait | undefined): string {
  const decision: HostingDecision = wait ? { wait } : {};
  return decisionText(decision);
}

const FROZEN: Upgrade = { freezes: [freeze()] };
const UNKNOWN = { clients: undefined };
const NODE = { clients: { nodes: ['worker-1'], machines: [], tokens: [] } };
const TOKEN = { clients: { nodes: [], machines: [], tokens: [{ name: 'default/bot', keyId: 'old' }] } };
const SYNC = { sync: { lastContactAt: '2029-12-31T00:00:00Z' } };

const [OLD, NEW] = [testAuthority('old'), testAuthority('new')];
const SIGNED = signedBy([OLD, NEW], documentOf([NEW, OLD], { rotation: '2026', phase: 'IssueNew' }));
const FOLLOWED = { rotation: '2026', order: 1, trusted: [OLD.sha256, NEW.sha256], issuer: NEW.sha256 };
const OLD_AGENT: MachineClient = { name: 'm-1', agent: { version: '0.1.0' } };

function machine(parts: Partial<MachineAuthorities> = {}): MachineClient {
  const authorities: MachineAuthorities = {
    managed: true,
    trusted: [OLD.sha256],
    kubelet: 'Current',
    ...parts,
  };
  return { name: 'm-1', agent: { authorities }, heartbeat: 'Renewed', heardAt: NOW };
}

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

  it.each<[what: string, minutes: number, nodes: readonly string[], expected: string]>([
    ['a moment after the new key signs', 0, ['m-1'], 'wait PodTokens'],
    ['an hour later', 60, ['m-1'], 'wait PodTokens'],
    ['when the last token was renewed', 61, ['m-1'], 'nothing'],
    ['without Nodes', 0, [], 'nothing'],
  ])(
    'HOS-22 waits at its end for the tokens of pods, which cannot be listed: %s',
    (_, minutes, nodes, expected) => {
      const signedAt = new Date(+NOW - minutes * 60_000);
      const rotation = at('IssueNew', { signedAt });
      const clients = { nodes, machines: [machine(FOLLOWED)], tokens: [] };
      const input = inputOf({ target: 'Complete', rotation, input: { clients } });
      const { plane } = input;
      expect(textOf(completionHeld({ ...input, plane: { ...plane, authorities: SIGNED } }, rotation))).toBe(
        expected,
      );
    },
  );

  it('HOS-22 waits for the tokens of pods also before the new key is refused, when a rotation is taken back', () => {
    const returned = signedBy(
      [OLD],
      documentOf([OLD, NEW], { rotation: '2026', phase: 'TrustBoth', order: 3 }),
    );
    const trusted = [OLD.sha256, NEW.sha256];
    const report = { rotation: '2026', order: 3, trusted, issuer: OLD.sha256 };
    const clients = { nodes: ['m-1'], machines: [machine(report)], tokens: [] };
    const held = (minutes: number): HostingWait | undefined => {
      const rotation = at('TrustBoth', { signedAt: new Date(+NOW - minutes * 60_000) });
      const input = inputOf({ rotation, input: { clients } });
      return returnHeld({ ...input, plane: { ...input.plane, authorities: returned } }, rotation);
    };
    expect(held(60)?.message).toMatch(/^pods may have tokens that the new key signed, until 2/);
    expect(held(61)).toBeUndefined();
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
      '5 of 7 clients have what the new authorities issue; not yet: Secret default/bot, Node worker-1 (it has no Machine); change or remove what cannot follow; delete the key `token` of each Secret: it is filled again',
    ],
    [
      'a token, beside sync',
      { input: TOKEN, status: SYNC },
      '5 of 7 clients have what the new authorities issue; not yet: sync, Secret default/bot; delete the key `token` of each Secret: it is filled again; sync has to reach the cluster with its new kubeconfig, which it reports within five minutes',
    ],
    [
      'sync alone',
      { status: SYNC },
      '5 of 6 clients have what the new authorities issue; not yet: sync; sync has to reach the cluster with its new kubeconfig, which it reports within five minutes',
    ],
  ])('HOS-22 names the clients behind and what moves them: %s', (_, parts, message) => {
    const rotation = at('ServeNew');
    expect(clientsBehind(inputOf({ target: 'Complete', rotation, ...parts }), rotation)).toEqual({
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

  it.each<[what: string, clients: Partial<HostingInput['clients']>, named: string]>([
    ['a Node without a Machine', { nodes: ['worker-1'] }, 'Node worker-1 (it has no Machine)'],
    [
      'an agent that reports nothing',
      { machines: [OLD_AGENT] },
      'Machine m-1 (its agent of version 0.1.0 reports no authorities)',
    ],
    [
      'an agent whose certificate another program keeps',
      { machines: [machine({ managed: false })] },
      'Machine m-1 (another program keeps the certificate of its agent)',
    ],
    [
      'a kubelet that kubenode does not manage',
      { machines: [machine({ kubelet: 'None' })], nodes: ['m-1'] },
      'Node m-1 (its kubelet is not a component with identity Kubelet)',
    ],
  ])('HOS-22 refuses to begin where somebody would lose its access: %s', (_, found, named) => {
    const clients = { nodes: [], machines: [], tokens: [], ...found };
    expect(beginHeld(inputOf({ target: 'Prepare', input: { clients } }))).toEqual({
      reason: 'RotationNotSupported',
      message: `1 agents or kubelets cannot follow the authorities, and would lose their access: ${named}; change or remove them, or remove spec.hosted.pki.caRotation`,
      blocker: { kind: 'Cluster', name: 'ci' },
      isStalled: true,
    });
  });

  it.each<[what: string, clients: Partial<HostingInput['clients']>]>([
    ['agents and kubelets that kubenode manages', { machines: [machine()], nodes: ['m-1'] }],
    ['an agent without a kubelet', { machines: [machine({ kubelet: 'None' })] }],
    ['a Machine that never had an agent', { machines: [{ name: 'm-1' }] }],
  ])('HOS-22 begins with machines that can follow: %s', (_, found) => {
    const clients = { nodes: [], machines: [], tokens: [], ...found };
    expect(textOf(beginHeld(inputOf({ target: 'Prepare', input: { clients } })))).toBe('nothing');
  });

  it('HOS-22 keeps what ends the wait beside a long list of machines', () => {
    const nodes = Array.from({ length: 25 }, (_, index) => `machine-of-the-pool-${index}`);
    const clients = { nodes, machines: [], tokens: [] };
    const held = beginHeld(inputOf({ target: 'Prepare', input: { clients } }));
    expect(held?.message).toHaveLength(MAX_WAIT_MESSAGE);
    expect(held?.message.endsWith('…; change or remove them, or remove spec.hosted.pki.caRotation')).toBe(
      true,
    );
  });

  it('HOS-22 waits in each phase for machines that are behind, and names since when they are silent', () => {
    const silent = { ...machine(), heartbeat: 'Silent' as const, heardAt: new Date('2029-12-31T00:00:00Z') };
    const clients = { nodes: [], machines: [silent], tokens: [] };
    const held = (phase: RotationPhase, target?: 'Prepare' | 'Complete'): string | undefined => {
      const input = inputOf({ ...(target ? { target } : {}), rotation: at(phase), input: { clients } });
      return rotationHeld({ ...input, plane: { ...input.plane, authorities: SIGNED } })?.message;
    };
    const forward = [
      held('TrustBoth', 'Prepare'),
      held('IssueNew', 'Complete'),
      held('ServeNew', 'Complete'),
    ];
    expect(forward.map((message) => message?.split(' clients ')[1]?.split(';')[0])).toEqual([
      'trust both the former and the new authorities',
      'have what the new authorities issue',
      'have what the new authorities issue',
    ]);
    // The return waits as well, where anything was issued.
    expect(held('TrustBoth')).toContain('have what the former authorities issue');
    for (const message of [...forward, held('TrustBoth')]) {
      expect(message).toContain('Machine m-1 (its agent is silent since 2029-12-31T00:00:00Z)');
      expect(message).toMatch(/; bring agents back that are silent, or delete their Machines$/);
    }
    expect(held('IssueNew', 'Prepare')).toBeUndefined();
    const unused = at('TrustBoth', { hasIssued: false });
    expect(rotationHeld(inputOf({ rotation: unused, input: { clients } }))).toBeUndefined();
  });
});
