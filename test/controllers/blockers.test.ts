/** MAC-04: whatever blocks a Machine or a MachineSet is named within 30 s, and past its deadline it is Stalled, with an Event and a metric. */
import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { MACHINE_SETS, MACHINES } from '../../src/api/generated/resources.ts';
import type { Condition, Machine, MachineSet, Wait } from '../../src/api/generated/types.ts';
import { SIGNER_AGENT, SIGNER_KUBELET } from '../../src/api/names.ts';
import { formatTokenRecord } from '../../src/api/secrets/bootstrap-token.ts';
import { EVENTS } from '../../src/kube/events/object.ts';
import { conditionOf } from '../../src/kube/objects/conditions.ts';
import { NODES } from '../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../src/kube/objects/json.ts';
import type { KubeObject } from '../../src/kube/objects/object.ts';
import { createMetrics } from '../../src/kube/process/metrics.ts';
import { createCertificateRequest } from '../../src/os/x509/certificate-request.ts';
import { registerStalledObjects } from '../../src/rollout/stalled.ts';
import {
  type BlockedBed,
  blockedBed,
  DRAIN_SECONDS,
  declaredMachine,
  declaredSet,
} from '../support/blocked-bed.ts';
import { condition, NOW } from '../support/builders.ts';

const DEADLINE = 600;
const HOLD = { hold: { reason: 'forensics', scope: 'All' } } as const;
const WITH_INSTANCE = { infra: { provider: 'local', config: { type: 'sandbox' } } } as const;
const PROVIDER = 'Provider/local';
const QUIET = {
  granted: false,
  reason: 'QuietWindow',
  message: 'it is night',
  policy: 'nights',
  also: [],
} as const;

interface Blocker {
  readonly spec?: Partial<Machine['spec']>;
  readonly set?: MachineSet['spec'];
  /** Makes it happen; called before the controllers start, and again every 10 seconds. */
  readonly inject?: (bed: BlockedBed, seconds: number) => void;
  /** Once, when what is there has settled. */
  readonly afterStart?: (bed: BlockedBed) => Promise<void> | void;
  /** `reason Kind/name` */
  readonly want: string;
  readonly deadline: number;
  /** Of Stalled, where it is another one. */
  readonly stalled?: string;
}

const NOTHING = { spec: {}, inject: () => {}, afterStart: () => {} } satisfies Partial<Blocker>;

function token(expiresIn: number): string {
  const expiresAt = new Date(NOW.getTime() + expiresIn * 1000).toISOString();
  return formatTokenRecord({ id: 'abc123', secretUid: 's', expiresAt, epoch: 0, replacesAgent: false });
}

const KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const AGENT = { commonName: 'kubenode:agent:m', organization: 'kubenode:agents' };
const KUBELET = { commonName: 'system:node:m', organization: 'system:nodes' };

function request(name: typeof AGENT, signerName: string, type?: 'Approved' | 'Denied'): KubeObject {
  const spec = { request: Buffer.from(createCertificateRequest(name, KEY)).toString('base64'), signerName };
  const decided = { type, status: 'True', reason: 'WrongUid', message: 'expected another UID' };
  return {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata: { name: 'csr-1' },
    spec,
    status: { conditions: type ? [decided] : [] },
  };
}

/** It comes when the controllers run: nothing but the request itself makes them look. */
const agentRequest = (type?: 'Approved' | 'Denied') => (bed: BlockedBed, seconds: number) => {
  if (seconds >= 10) bed.apply(request(AGENT, SIGNER_AGENT, type));
};
const failing = (fault: 'Quota' | 'Auth') => (bed: BlockedBed) => {
  bed.provider.fault = (call) => (call.startsWith('create') ? fault : undefined);
};
const FETCHING = { name: 'kubelet', desiredRef: 'kubelet-1.34.2', state: 'Fetching', running: false };

/** Ready, and then deleted. */
const deleted = async (bed: BlockedBed): Promise<void> => {
  bed.delete(MACHINES, 'm');
};

const BLOCKERS: Readonly<Record<string, Blocker>> = {
  'an instance that does not come up': {
    spec: WITH_INSTANCE,
    inject: ({ provider }) => {
      for (const id of provider.instances.keys()) provider.setState(id, 'Pending');
    },
    want: `InstancePending ${PROVIDER}`,
    deadline: DEADLINE,
  },
  'credentials of the provider': {
    spec: WITH_INSTANCE,
    inject: failing('Auth'),
    want: `Auth ${PROVIDER}`,
    deadline: DEADLINE,
  },
  'the quota of the provider': {
    spec: WITH_INSTANCE,
    inject: failing('Quota'),
    want: `Quota ${PROVIDER}`,
    deadline: DEADLINE,
  },
  'a host without a token': { want: 'NoToken Machine/m', deadline: DEADLINE },
  'a token that no host uses': {
    inject: (bed, seconds) => {
      if (seconds === 0) bed.annotate('kubenode.dev/bootstrap-token', token(900));
    },
    want: 'TokenUnused Secret/bootstrap-token-abc123',
    deadline: DEADLINE,
  },
  'a token that ended': {
    inject: (bed, seconds) => {
      if (seconds === 0) bed.annotate('kubenode.dev/bootstrap-token', token(-1));
    },
    want: 'TokenEnded Machine/m',
    deadline: DEADLINE,
  },
  'a certificate request that was denied': {
    inject: agentRequest('Denied'),
    want: 'RequestDenied CertificateSigningRequest/csr-1',
    deadline: DEADLINE,
  },
  'a certificate request that no controller approves': {
    inject: agentRequest(),
    want: 'RequestPending CertificateSigningRequest/csr-1',
    deadline: DEADLINE,
  },
  'a certificate request that is not signed': {
    inject: agentRequest('Approved'),
    want: 'RequestNotSigned CertificateSigningRequest/csr-1',
    deadline: DEADLINE,
  },
  'a component whose download fails': {
    inject: (bed) => {
      bed.beat();
      bed.report([condition('ComponentsReady', 'False', { reason: 'ComponentsNotReady' })], [FETCHING]);
    },
    want: 'ComponentsNotReady MachineComponent/kubelet-1.34.2',
    deadline: DRAIN_SECONDS,
  },
  'an agent that falls silent': {
    inject: (bed, seconds) => {
      bed.nodeIs('True');
      if (seconds <= 10) bed.beat();
      bed.reportAll();
    },
    // No age grows without contact with the server: the next one is a bookmark.
    afterStart: (bed) => bed.wait(130),
    want: 'AgentSilent Lease/m',
    deadline: DEADLINE,
  },
  'a Node that does not register': {
    inject: (bed) => {
      bed.beat();
      bed.reportAll();
    },
    want: 'NodeMissing Node/m',
    deadline: DEADLINE,
  },
  'a kubelet whose certificate request was denied': {
    inject: (bed) => {
      bed.beat();
      bed.reportAll();
      bed.apply(request(KUBELET, SIGNER_KUBELET, 'Denied'));
    },
    want: 'RequestDenied CertificateSigningRequest/csr-1',
    deadline: DEADLINE,
  },
  'a Node that is not Ready': {
    inject: (bed) => {
      bed.join();
      bed.nodeIs('False');
    },
    want: 'NodeNotReady Node/m',
    deadline: DEADLINE,
  },
  'a label that others set to another value': {
    spec: { node: { labels: { 'kubernetes.io/hostname': 'other' }, taints: [] } },
    inject: (bed) => bed.join(),
    want: 'KeysOfOthers Node/m',
    deadline: DEADLINE,
  },
  'a readiness gate that is not reported': {
    spec: { readinessGates: [{ conditionType: 'NetworkReady' }] },
    inject: (bed) => bed.join(),
    want: 'NotReported Machine/m',
    deadline: DEADLINE,
  },
  'a readiness gate that flaps': {
    spec: { readinessGates: [{ conditionType: 'NetworkReady' }] },
    inject: (bed, seconds) => {
      bed.join();
      const status = Math.floor(seconds / 20) % 2 === 0 ? 'False' : 'True';
      const lastTransitionTime = new Date(NOW.getTime() + Math.floor(seconds / 20) * 20_000).toISOString();
      bed.report([condition('NetworkReady', status, { lastTransitionTime })], [], 'network');
    },
    afterStart: (bed) => bed.wait(20),
    want: 'NotReady Machine/m',
    deadline: DEADLINE,
    stalled: 'GateFlapping',
  },
  'the deletion of a machine that a person holds': {
    spec: HOLD,
    inject: (bed) => bed.join(),
    afterStart: deleted,
    want: 'HeldAll Machine/m',
    deadline: DRAIN_SECONDS,
  },
  'a grant that the Defender denies': {
    inject: (bed) => {
      bed.join();
      bed.grants.deny = () => QUIET;
    },
    afterStart: deleted,
    want: 'GrantDenied DefenderPolicy/nights',
    deadline: DRAIN_SECONDS,
  },
  'a drain that a PodDisruptionBudget refuses': {
    inject: (bed, seconds) => {
      bed.join();
      if (seconds === 0) bed.addBudgetedPod();
    },
    afterStart: deleted,
    want: 'PodDisruptionBudget PodDisruptionBudget/web',
    deadline: DRAIN_SECONDS,
  },
  'an instance that cannot be deleted': {
    spec: WITH_INSTANCE,
    inject: (bed) => {
      bed.provider.fault = (call) => (call === 'delete' ? 'Auth' : undefined);
    },
    afterStart: deleted,
    want: `Auth ${PROVIDER}`,
    deadline: DRAIN_SECONDS,
  },
};

function explain(bed: BlockedBed): readonly string[] {
  const { waiting, conditions } = bed.get<Machine>(MACHINES, 'm')?.status ?? {};
  const since = Date.parse(waiting?.since ?? '');
  const isSince = since >= NOW.getTime() && since <= bed.clock.now().getTime();
  return [waitText(waiting), isSince ? 'since after the start' : 'since when?', stalledText(conditions)];
}

function waitText(waiting: Wait | undefined): string {
  return waiting
    ? `${waiting.reason} ${waiting.blocker?.kind}/${waiting.blocker?.name}`
    : 'waits for nothing';
}

function stalledText(conditions: readonly Condition[] | undefined): string {
  const found = conditionOf(conditions, 'Stalled');
  return `Stalled ${found?.status} ${found?.reason}`;
}

async function stalledSamples(bed: BlockedBed): Promise<readonly string[]> {
  const metrics = createMetrics();
  registerStalledObjects(metrics, bed.views(), ['Machine', 'MachineSet']);
  const text = await metrics.text();
  return text.split('\n').filter((line) => /stalled_objects\{/.test(line));
}

function stalledEvents(bed: BlockedBed): readonly string[] {
  const events = bed.api.objects.list({ resource: EVENTS }, undefined);
  return events
    .filter((event) => textAt(event, 'reason')?.endsWith('Stalled'))
    .map((event) => textAt(event, 'note') ?? '');
}

describe('a blocker of a Machine', () => {
  it.each(Object.entries(BLOCKERS).map(([name, blocker]) => [name, { ...NOTHING, ...blocker }] as const))(
    'MAC-04 is named within 30 s, and Stalled with an Event and a metric past its deadline: %s',
    async (_name, { spec, inject, afterStart, want, deadline, ...rest }) => {
      const bed = await blockedBed(declaredMachine(spec), inject);
      await bed.wait(10);
      await afterStart(bed);
      await bed.wait(20);
      expect(explain(bed)).toEqual([want, 'since after the start', 'Stalled False AsWanted']);
      await bed.wait(deadline + 30);
      const reason = rest.stalled ?? want.slice(0, want.indexOf(' '));
      expect(explain(bed).at(-1)).toBe(`Stalled True ${reason}`);
      expect(stalledEvents(bed).some((note) => note.startsWith(`${reason}: since `))).toBe(true);
      const labels = `kind="Machine",reason="${reason}"`;
      expect(await stalledSamples(bed)).toEqual([`kubenode_stalled_objects{${labels}} 1`]);
    },
  );
});

describe('a blocker of a MachineSet', () => {
  it('MAC-04 is named while starts fail: in a set of one, whose machine is replaced again and again', async () => {
    const bed = await blockedBed(declaredSet(1, { startupTimeoutSeconds: 60 }), failing('Quota'));
    await bed.wait(240);
    const set = (): MachineSet | undefined => bed.get<MachineSet>(MACHINE_SETS, 'general');
    const stalled = () => conditionOf(set()?.status?.conditions, 'Stalled');
    expect([stalled()?.status, stalled()?.reason]).toEqual(['True', 'StartupFailing']);
    expect(stalled()?.message).toContain('(Quota: InfraReady: no capacity)');
    // The next machine starts, and still nothing is well.
    await bed.wait(30);
    expect(stalled()?.status).toBe('True');
    expect(stalledEvents(bed).filter((note) => note.startsWith('StartupFailing: '))).toHaveLength(1);
    expect(await stalledSamples(bed)).toContain(
      'kubenode_stalled_objects{kind="MachineSet",reason="StartupFailing"} 1',
    );
  });

  it('MAC-04 is named when the Defender denies each deletion', async () => {
    const bed = await blockedBed(declaredSet(1), ({ grants }) => {
      grants.deny = () => QUIET;
    });
    await bed.wait(10);
    bed.apply(declaredSet(0));
    await bed.wait(30);
    const status = () => bed.get<MachineSet>(MACHINE_SETS, 'general')?.status;
    expect(status()?.waiting).toMatchObject({ reason: 'GrantDenied', blocker: { kind: 'Machine' } });
    await bed.wait(DRAIN_SECONDS + 30);
    const stalled = conditionOf(status()?.conditions, 'Stalled');
    expect([stalled?.status, stalled?.reason]).toEqual(['True', 'GrantDenied']);
    expect(bed.get(NODES, 'm')).toBeUndefined();
  });
});
